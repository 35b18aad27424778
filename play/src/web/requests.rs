//! What a page may ask, field by field. Unknown fields are refused, so that a misspelt name is not silently lost.

use serde::{Deserialize, Serialize};

use super::models::PlayerId;
use super::strength::Strength;

/// A seat of a new game.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SeatRequest {
    /// Who plays; nobody means a person.
    #[serde(default)]
    pub(super) player: Option<PlayerId>,
    #[serde(default)]
    pub(super) strength: Option<Strength>,
}

/// A new game.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewGame {
    /// A preset's name.
    pub(super) rules: String,
    pub(super) attackers: SeatRequest,
    pub(super) defenders: SeatRequest,
    #[serde(default)]
    pub(super) fen: Option<String>,
}

/// A game to look at: a pasted text, or one of a file or of a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
pub(super) enum OpenGame {
    Text { text: String, rules: String },
    File { folder: usize, path: String, index: usize },
    Run { run: usize, generation: u32, index: usize },
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
#[serde(deny_unknown_fields)]
pub(super) struct GoRequest {
    pub(super) ply: usize,
}

/// Whether to analyse, and who does.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnalysisRequest {
    pub(super) on: bool,
    #[serde(default)]
    pub(super) player: Option<PlayerId>,
}

/// Another game by the same players.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgainRequest {
    /// Whether they change seats.
    pub(super) swap: bool,
}

/// A folder or file of the library.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct PathQuery {
    pub(super) folder: usize,
    #[serde(default)]
    pub(super) path: String,
    #[serde(default)]
    pub(super) first: usize,
}

/// A generation of a run, or a place in its metrics.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct RunQuery {
    #[serde(default)]
    pub(super) generation: Option<u32>,
    #[serde(default)]
    pub(super) after: u32,
    #[serde(default)]
    pub(super) first: usize,
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
