//! Hnefatafl rules: geometry, bitboards, moves, captures, outcomes, symmetry, hashing, notation and perft.
//!
//! No I/O, clock, randomness, network or globals: a position goes in, a position comes out.
//!
//! [`Position`] is the way in. It chooses, once, code monomorphised for its rules (`ruleset.rs`); making a move is
//! then a function from one plain state to the next (`make.rs`), which calls on captures (`capture.rs`), floods
//! (`enclosure.rs`) and sliding (`slide.rs`), all over sets of squares in a `u128`. Counting moves and drawing one at
//! random go by a second form of the board, line by line (`lanes.rs`).

#![forbid(unsafe_code)]

mod bitboard;
mod capture;
mod enclosure;
mod fen;
mod geometry;
mod history;
mod lanes;
mod legality;
mod make;
mod movegen;
mod moves;
mod outcome;
mod perft;
mod position;
mod preset;
mod rules;
mod ruleset;
mod side;
mod slide;
mod state;
mod symmetry;
mod tables;
mod views;

pub use bitboard::Bitboard;
pub use fen::FenError;
pub use geometry::BoardSize;
pub use legality::IllegalMove;
pub use moves::{Move, MoveList, MoveTextError, Square};
pub use outcome::{Outcome, Reason};
pub use perft::{perft, perft_made};
pub use position::{Position, Undo};
pub use preset::Preset;
pub use rules::{
    Encirclement, Escape, KingArmed, KingCapture, KingOnEdge, NoLegalMove, Repetition, RepetitionCompares, Rules,
    ThroneHostileToAttackers, ThroneHostileToDefenders, ThronePass, ThroneStop,
};
pub use side::{Piece, Side};
pub use state::Board;
pub use symmetry::Symmetry;
pub use views::CaptureThreats;
