//! What a page may ask, field by field. Unknown fields are refused, so that a misspelt name is not silently lost.

use serde::{Deserialize, Serialize};

use super::clock::ClockRequest;
use super::kept::KeptGame;
use super::players::PlayerId;
use super::rooms::RoomId;
use super::strength::SeatRequest;

/// A new game.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewGame {
    /// A ruleset's name or a rules record.
    pub rules: String,
    /// Who moves the attackers.
    pub attackers: SeatRequest,
    /// Who moves the defenders.
    pub defenders: SeatRequest,
    /// FEN to begin from; nothing for the standard start.
    #[serde(default)]
    pub fen: Option<String>,
    /// Clocks; nothing for a game without.
    #[serde(default)]
    pub clock: Option<ClockRequest>,
}

/// A game to look at: a pasted text, or one of a file or of a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
pub enum OpenGame {
    /// A pasted text.
    Text {
        /// The text: a game, moves or a FEN.
        text: String,
        /// Rules for texts that name none: a ruleset's name or a rules record.
        rules: String,
    },
    /// A game of a file.
    File {
        /// Number of the folder.
        folder: usize,
        /// Path below it.
        path: String,
        /// Place of the game in the file, from 0.
        index: usize,
    },
    /// A game of a run.
    Run {
        /// Number of the run.
        run: usize,
        /// Its generation.
        generation: u32,
        /// Place of the game in the generation, from 0.
        index: usize,
    },
    /// A permanent address, such as `brandubh/moves=d6c6_d5e5`.
    Address(String),
    /// A game of an earlier visit, which the board knows no more.
    Kept {
        /// The id that it had.
        id: RoomId,
        /// What the page kept of it.
        game: Box<KeptGame>,
    },
}

/// A move, and the state it was made in: a move for another position is refused.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MoveRequest {
    #[serde(rename = "move")]
    pub(super) mv: String,
    pub(super) stamp: u64,
}

/// A place in the game.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum GoRequest {
    /// This number of plies from the start, on the line that is shown.
    Ply(usize),
    /// A place of the tree.
    Place(u32),
}

/// A place whose variation becomes more important.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PromoteRequest {
    pub(super) place: u32,
    /// Whether it becomes the main line, and not only the first of its alternatives.
    #[serde(default)]
    pub(super) main: bool,
}

/// A place that goes, with all that follows.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RemoveRequest {
    pub(super) place: u32,
}

/// What is said of a place.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommentRequest {
    pub(super) place: u32,
    pub(super) text: String,
}

/// Whether to analyse, and who does.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnalysisRequest {
    pub(super) on: bool,
    #[serde(default)]
    pub(super) player: Option<PlayerId>,
}

/// Whether to review the game.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReviewRequest {
    pub(super) on: bool,
}

/// A move to try in the place of one that was reviewed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TryRequest {
    pub(super) ply: usize,
    #[serde(rename = "move")]
    pub(super) mv: String,
}

/// Another game by the same players.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgainRequest {
    /// Whether they change seats.
    pub(super) swap: bool,
}

/// The format of a download.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct ExportQuery {
    pub(super) format: ExportFormat,
}

/// The formats of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ExportFormat {
    Pgn,
    Jsonl,
}
