//! A game as it is played and as it was played: its moves with all variations, its record, its id, and the record as
//! text.
//!
//! A [`Session`] is a game at a board, of whatever kind: the moves back and forth, who sits where, how it ended.
//! [`pgn::text`] writes a game as PGN-like text and [`PgnReader`] reads it back; [`json_line`] writes it as one line of
//! JSON. A [`GameTree`] is a game with variations and comments, which [`pgn::tree_text`] writes and [`pgn::read_tree`]
//! reads. [`opentafl`] and [`json_game`] read what other programs record; whatever the format, a game that is read is a
//! [`RecordedGame`] before it is a record. A [`Review`] judges the moves of a game by what searches found. Nothing here
//! opens a file, so a program that shows games can use it, a page in a browser included.

mod identity;
mod json_game;
mod json_line;
mod lines;
pub mod opentafl;
pub mod pgn;
mod record;
mod recorded;
mod review;
mod rules_text;
mod seat;
mod session;
mod tree;
pub mod words;

pub use identity::GameId;
pub use json_game::{json_game, json_value};
pub use json_line::{GameLine, end, json_line};
pub use lines::{BadLine, BoundedLines};
pub use pgn::PgnReader;
pub use record::{GameKey, GameRecord, PlyRecord, RecordError, Replay, Step, recorded_policy, walk};
pub use recorded::{Recorded, RecordedGame, RecordedResult, gives_up, without_passable_ends};
pub use review::{MoveQuality, REVIEW_PLAYOUTS, Review, Searched, SideReview};
pub use rules_text::{NoGame, RulesText};
pub use seat::Seat;
pub use session::{Chances, MOST_WORDS, NoResignation, NoteError, Session, TreeError};
pub use tree::{GameTree, LONGEST_COMMENT, MOST_NAGS, MoveTree, Node, Place, START, TreeMove, comment_text};

/// Why a game could not be written as text or read from it.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// A stream of the caller failed.
    #[error("{doing}: {source}")]
    Stream {
        /// The operation.
        doing: &'static str,
        /// The stream's error.
        source: std::io::Error,
    },
    /// A record is inconsistent with its rules.
    #[error(transparent)]
    BadGame(#[from] RecordError),
    /// A game cannot be represented in JSON.
    #[error("game {game} as JSON: {source}")]
    Json {
        /// The game's number.
        game: u64,
        /// What JSON cannot represent.
        source: serde_json::Error,
    },
    /// A game text cannot be parsed or breaks the rules.
    #[error("line {line}: {problem}")]
    BadText {
        /// Line of the text, from 1.
        line: usize,
        /// What was found and what was expected.
        problem: String,
    },
}

impl TextError {
    /// The line of an error, 1 where it has none, and what it says.
    pub fn in_line(self) -> (usize, String) {
        match self {
            TextError::BadText { line, problem } => (line, problem),
            other => (1, other.to_string()),
        }
    }
}

fn bad(line: usize, problem: impl std::fmt::Display) -> TextError {
    TextError::BadText { line, problem: problem.to_string() }
}
