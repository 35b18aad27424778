//! What a page may ask, field by field. Unknown fields are refused, so that a misspelt name is not silently lost.

use serde::{Deserialize, Serialize};

use super::players::PlayerId;
use super::strength::Strength;

/// A seat of a new game.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeatRequest {
    /// Who plays; nobody means a person.
    #[serde(default)]
    pub player: Option<PlayerId>,
    /// How strongly it plays; 200 playouts where nobody says it.
    #[serde(default)]
    pub strength: Option<Strength>,
}

/// A new game.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewGame {
    /// A preset's name.
    pub rules: String,
    /// Who moves the attackers.
    pub attackers: SeatRequest,
    /// Who moves the defenders.
    pub defenders: SeatRequest,
    /// FEN to begin from; nothing for the standard start.
    #[serde(default)]
    pub fen: Option<String>,
}

/// A game to look at: a pasted text, or one of a file or of a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
pub enum OpenGame {
    /// A pasted text.
    Text {
        /// The text: a game, moves or a FEN.
        text: String,
        /// Rules for texts that name none, a preset's name.
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
