//! Games for other tools: datasets for training elsewhere, texts for people, and a checker of games from anywhere.
//!
//! [`export()`] writes recorded games as datasets: Parquet tables, numpy arrays, JSON lines or a PGN-like text.
//! [`import()`] reads games that others recorded, [`judge()`] compares a network with them. [`replay()`] plays moves
//! given as JSON lines and says what each did. `docs/DATASETS.md` describes every field.

mod export;
mod import;
mod jsonl;
mod judge;
mod lines;
mod pgn;
mod place;
mod reference;
mod replay;
mod rules_text;
mod steps;

pub use export::{
    BoardColumns, Bounds, CardText, ExportParams, ExportSummary, Filter, Format, GameId, GameResult, PolicyColumns,
    SourceGame, Splits, Table, export, export_unless, write_jsonl, write_pgn,
};
pub use import::{Imported, LeftOut, RecordedGames, import, recorded_games};
pub use judge::{Agreement, Calibration, Decile, JudgeParams, JudgeProgress, Judgement, Rate, SideJudgement, judge};
pub use lines::BoundedLines;
pub use pgn::PgnReader;
pub use place::{check_new_file, check_new_folder, write_new_file};
pub use reference::write_reference;
pub use replay::{ReplayAnswer, ReplayPly, ReplaySummary, replay, replay_line};

use std::path::{Path, PathBuf};

use hnefi_inference::names;
use hnefi_run::RecordError;

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
    /// Whoever asked for it wants it no more; nothing was left behind.
    #[error("stopped before {path} was complete; nothing was written")]
    Stopped {
        /// The file or folder asked for.
        path: PathBuf,
    },
    /// An export format nobody knows.
    #[error(
        "unknown export format {found:?}: expected jsonl, npz, parquet or pgn{}",
        names::did_you_mean(found, Format::ALL.map(Format::as_str))
    )]
    UnknownFormat {
        /// What was asked for.
        found: String,
    },
    /// An option that cannot be, by itself or beside the others.
    #[error("{option} {found:?}: {problem}")]
    BadOption {
        /// What it is for.
        option: &'static str,
        /// What was asked for.
        found: String,
        /// What is wrong with it and what was expected.
        problem: String,
    },
    /// A file of games could not be read at all.
    #[error("{path}: {problem}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it and what was expected.
        problem: String,
    },
    /// The network could not be evaluated.
    #[error(transparent)]
    Evaluation(#[from] hnefi_inference::EvalError),
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
