//! How people and programs meet a checkpoint.
//!
//! A [`Table`] says what is played and who sits at it. [`terminal::run`] plays it on a board drawn in the terminal,
//! [`plain::run`] line by line over any reader and writer; players think in threads of their own, the [`Thinker`]s.
//! [`web`] serves boards to browsers. All three drive a [`Session`], which knows the game, its moves back and forth and
//! how it ended, and nothing about screens. [`watch`] shows how a training run is doing. [`uci::run`] puts a checkpoint
//! behind a text protocol for other programs; [`online::run`] seats a player at a server of the protocol of
//! hnefatafl.org.

pub mod online;
pub mod plain;
mod save;
#[cfg(test)]
mod scripted;
mod table;
pub mod terminal;
mod thinker;
pub mod uci;
pub mod watch;
pub mod web;

pub use hnefi_board::{Chances, NoResignation, Seat, Session, WITHOUT_NETWORK, foreign, shipped_network, words};
pub use save::{format_of, save, save_numbered};
pub use table::Table;
pub use thinker::{Thinker, Thought};

use std::path::PathBuf;

/// The most threads that search one tree unless more are asked for: they share it behind one lock.
const MOST_SEARCH_THREADS: usize = 4;

/// Threads that search one tree together where nobody says how many: one per core, at most 4.
pub fn search_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST_SEARCH_THREADS))
}

/// Why a game could not be begun, continued or saved.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// The start position does not stand under these rules.
    #[error("the start position: {0}")]
    Start(#[from] hnefi_engine::FenError),
    /// A player failed to choose a move.
    #[error("{name} could not choose a move: {problem}")]
    Player {
        /// The player's name.
        name: String,
        /// What it said.
        problem: String,
    },
    /// A player chose a move the rules forbid.
    #[error("{name} chose an {illegal}")]
    PlayerCheats {
        /// The player's name.
        name: String,
        /// The move and the rule against it.
        illegal: hnefi_engine::IllegalMove,
    },
    /// The network asked for cannot be used.
    #[error("{problem}")]
    Network {
        /// Why not.
        problem: String,
    },
    /// A run that is watched cannot be read.
    #[error("{problem}")]
    Run {
        /// Which and why.
        problem: String,
    },
    /// Resigning needs a person whose turn it is or whose game it is.
    #[error(transparent)]
    NoResignation(#[from] NoResignation),
    /// A file name that does not say how to save.
    #[error("cannot save as {path}: expected a name ending in .pgn or .jsonl")]
    SaveName {
        /// The name given.
        path: PathBuf,
    },
    /// The game could not be written.
    #[error("the game was not saved: {0}")]
    Save(#[from] hnefi_data::DataError),
    /// The terminal or the streams failed.
    #[error("{doing}: {source}")]
    Stream {
        /// What was being done.
        doing: &'static str,
        /// What went wrong.
        source: std::io::Error,
    },
}

impl PlayError {
    /// For `map_err` on the streams of a board.
    fn stream(doing: &'static str) -> impl Fn(std::io::Error) -> PlayError {
        move |source| PlayError::Stream { doing, source }
    }
}
