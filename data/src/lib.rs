//! Games for other tools: datasets for training elsewhere, texts for people, and a checker of games from anywhere.
//!
//! [`export()`] writes recorded games as JSON lines, as numpy arrays or as a PGN-like text; [`PgnReader`] reads that text
//! back; [`replay()`] plays moves given as JSON lines and says what each did. `docs/DATASETS.md` describes every field.

mod export;
mod jsonl;
mod npz;
mod pgn;
mod replay;
mod rules_text;
mod steps;

pub use export::{ExportParams, ExportSummary, Format, export, write_jsonl, write_pgn};
pub use pgn::PgnReader;
pub use replay::{ReplayAnswer, ReplayPly, ReplaySummary, replay, replay_line};

use std::path::{Path, PathBuf};

use hnefi_selfplay::RecordError;

/// Why a dataset could not be written or a text not be read.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// A file could not be written or moved to its place; nothing was left behind under the asked name.
    #[error("writing {path}: {problem}")]
    Write {
        /// The file or folder asked for.
        path: PathBuf,
        /// What the file system said.
        problem: String,
    },
    /// A stream handed in by the caller failed.
    #[error("{doing}: {source}")]
    Stream {
        /// What was being done.
        doing: &'static str,
        /// What the stream said.
        source: std::io::Error,
    },
    /// An export format nobody knows.
    #[error("unknown export format {found:?}: expected jsonl, npz or pgn")]
    UnknownFormat {
        /// What was asked for.
        found: String,
    },
    /// A record does not hold together under its own rules.
    #[error(transparent)]
    BadGame(#[from] RecordError),
    /// A game cannot be put into JSON.
    #[error("game {game} as JSON: {source}")]
    Json {
        /// The game's number.
        game: u64,
        /// What JSON cannot say.
        source: serde_json::Error,
    },
    /// A game text does not parse or does not replay.
    #[error("line {line}: {problem}")]
    BadText {
        /// Line of the text, from 1.
        line: usize,
        /// What was found and what was expected.
        problem: String,
    },
}

impl DataError {
    fn write(path: &Path, problem: impl std::fmt::Display) -> DataError {
        DataError::Write { path: path.to_owned(), problem: problem.to_string() }
    }
}
