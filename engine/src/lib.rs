//! Hnefatafl rules: boards, moves, captures, outcomes, notation, and counting of move trees.
//!
//! [`Position`] makes moves under any mixture of [`Rules`]; [`Preset`] names the published ones. [`Game`] keeps what
//! was played. The crate has no I/O, clock, randomness or network, and no globals but constant tables: a position goes
//! in, a position comes out.
//!
//! ```
//! use hnefi_engine::{Game, IllegalMoveReason, Move, MoveList, Preset};
//!
//! let rules = Preset::Brandubh.rules();
//! let mut game = Game::new(&rules);
//! assert_eq!(game.position().fen(), "3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 a");
//!
//! let mut moves = MoveList::new();
//! game.position().legal_moves(&mut moves);
//! assert_eq!(moves.len(), 40);
//!
//! let ply = game.play(Move::parse("d6f6", rules.size())?)?;
//! assert!(ply.captured.is_empty());
//! assert_eq!(game.position().fen(), "3a3/5a1/3d3/aadkdaa/3d3/3a3/3a3 d");
//! assert_eq!(game.outcome(), None);
//!
//! let illegal = game.play(Move::parse("d4d7", rules.size())?).unwrap_err();
//! assert!(matches!(illegal.reason, IllegalMoveReason::Blocked(square) if square.name(rules.size()) == "d5"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is where
//! - [`Position`]: the board, the side to move and just the history the rules need. It lists moves, plays and takes
//!   back.
//! - [`Game`]: a start, all plies with their captures, and the ending; for boards, records and players.
//! - [`Rules`] and [`Preset`], [`BoardSize`], [`Side`], [`Piece`], [`Square`], [`Move`]: plain values.
//! - [`Bitboard`]: a set of squares with set operators and the regions of each board.
//! - [`Outcome`], [`Ending`] and [`GameResult`]: how a game ended, by the rules, by resignation too, and for one side.
//! - [`perft`](fn@perft): the standard test of a rules engine.
//!
//! The examples of the crate play a random game, count a move tree and search with alpha-beta.
//!
//! # Features
//! `serde`: `Serialize` and `Deserialize` for rules, presets, sides, squares, moves and outcomes. Off by default.
//!
//! # Inside
//! A position chooses, once, code monomorphised for its rules (`ruleset.rs`); making a move is then a function from one
//! plain state to the next (`make.rs`), which calls on captures (`capture.rs`), floods (`enclosure.rs`) and sliding
//! (`slide.rs`), all over sets of squares (`set.rs`): a `u128` on boards of up to 11x11, words above. Counting moves
//! and drawing one at random go by a second form of the board, line by line (`lines.rs`).

// One exception, for calling code that is compiled for more than the oldest x86-64, see `cpu.rs`.
#![deny(unsafe_code)]

mod bitboard;
mod capture;
mod cpu;
mod enclosure;
mod fen;
mod game;
mod geometry;
mod history;
mod legality;
mod lines;
mod make;
mod masks;
mod movegen;
mod moves;
mod names;
mod notation;
mod outcome;
mod perft;
mod position;
mod preset;
mod rules;
mod ruleset;
mod set;
mod side;
mod slide;
mod special;
mod start;
mod state;
mod symmetry;
mod tables;
mod views;

pub use bitboard::Bitboard;
pub use fen::{FenError, FenProblem};
pub use game::{Game, GameOver, Ply};
pub use geometry::{BoardSize, BoardSizeError};
pub use legality::{IllegalMove, IllegalMoveReason};
pub use moves::{Move, MoveList, MoveTextError, NotationProblem, Square, SquareTextError};
pub use names::UnknownName;
pub use notation::{NamedRules, NamedRulesError, RecordError, RulesRecord};
pub use outcome::{Ending, GameResult, Outcome, Reason};
pub use perft::{perft, perft_made};
pub use position::{Position, Undo};
pub use preset::Preset;
pub use rules::{
    Encirclement, Escape, KingArmed, KingCapture, KingOnEdge, NoLegalMove, Repetition, RepetitionCompares, Rules,
};
pub use side::{Piece, Side};
pub use special::{Marks, Pieces, Special, Speed};
pub use start::Start;
pub use state::Board;
pub use symmetry::Symmetry;
pub use views::CaptureThreats;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
