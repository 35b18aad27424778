//! Hnefatafl rules: geometry, bitboards, moves, captures, outcomes, symmetry, hashing, notation and perft.
//!
//! No I/O, clock, randomness, network or globals: a position goes in, a position comes out.

mod bitboard;
mod geometry;
mod moves;
mod outcome;
mod position;
mod rules;
mod side;
mod symmetry;

pub use bitboard::Bitboard;
pub use geometry::BoardSize;
pub use moves::{Move, MoveList, MoveTextError, Square};
pub use outcome::{Outcome, Reason};
pub use position::{Board, CaptureThreats, FenError, IllegalMove, Position, Undo};
pub use rules::{
    Encirclement, Escape, KingArmed, KingCapture, KingOnEdge, NoLegalMove, Preset, Repetition, RepetitionCompares,
    Rules, ThroneHostileToAttackers, ThroneHostileToDefenders, ThronePass, ThroneStop,
};
pub use side::{Piece, Side};
pub use symmetry::Symmetry;
