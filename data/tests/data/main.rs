//! Datasets, what they are made of, and what is asked of games in files.

mod analyse;
mod dataset;
mod export;
mod games;
mod import;
mod judge;
mod npz;
mod pgn;
mod replay;
