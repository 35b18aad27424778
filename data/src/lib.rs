//! Recorded games and other tools: datasets, game texts, imports, and a checker of games.
//!
//! [`export()`] writes recorded games as datasets: Parquet tables, numpy arrays, JSON lines or a PGN-like text.
//! [`import()`] reads games recorded by other programs, [`judge()`] compares a network with recorded games.
//! [`replay()`] plays moves given as JSON lines and reports the effect of each, [`analyse()`] searches positions given
//! so, [`review()`] judges the moves of games, and [`relabel()`] gives them better targets. `docs/DATASETS.md` describes
//! every field.

mod analyse;
mod export;
mod import;
mod judge;
mod npz;
mod place;
mod recorded_values;
mod reference;
mod replay;

pub use analyse::{AnalyseParams, AnalyseSummary, MOST_PLAYOUTS, PositionProgress, analyse, relabel, review};
pub use export::{
    BoardColumns, Bounds, CardText, ExportParams, ExportSummary, Filter, Format, GameResult, PolicyColumns, SourceGame,
    Splits, TableKind, export, export_unless, write_jsonl, write_pgn,
};
pub use hnefi_record::{BoundedLines, GameId, PgnReader, TextError};
pub use import::{Imported, LeftOut, RecordedGames, import, recorded_games};
pub use judge::{
    Agreement, Calibration, Decile, JudgeParams, JudgeProgress, Judgement, Phases, Rate, SideJudgement, judge,
};
pub use place::{check_new_file, check_new_folder, is_missing_file, replace_file, write_new_file, write_new_folder};
pub use recorded_values::{RecordedValues, contradicts};
pub use reference::reference_bytes;
pub use replay::{ReplayAnswer, ReplayPly, ReplaySummary, replay, replay_line};

use std::io::Write;
use std::path::{Path, PathBuf};

use hnefi_run::RecordError;

/// Why a dataset could not be written or a text could not be read.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// A file could not be written or renamed; nothing remains under the requested name.
    #[error("writing {path}: {problem}")]
    Write {
        /// The requested file or folder.
        path: PathBuf,
        /// The file system's error.
        problem: String,
    },
    /// A stream of the caller failed.
    #[error("{doing}: {source}")]
    Stream {
        /// The operation.
        doing: &'static str,
        /// The stream's error.
        source: std::io::Error,
    },
    /// The caller stopped it; nothing remains.
    #[error("stopped before {path} was complete; nothing was written")]
    Stopped {
        /// The requested file or folder.
        path: PathBuf,
    },
    /// An option is invalid, alone or together with others.
    #[error("{option} {found:?}: {problem}")]
    BadOption {
        /// The option's name.
        option: &'static str,
        /// The value given.
        found: String,
        /// What is wrong, and what was expected.
        problem: String,
    },
    /// A file of games could not be read.
    #[error("{path}: {problem}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what was expected.
        problem: String,
    },
    /// The network could not be evaluated.
    #[error(transparent)]
    Evaluation(#[from] hnefi_inference::EvalError),
    /// A record is inconsistent with its rules.
    #[error(transparent)]
    BadGame(#[from] RecordError),
    /// A game could not be written as text or read from it.
    #[error(transparent)]
    Text(#[from] TextError),
}

impl DataError {
    fn write(path: &Path, problem: impl std::fmt::Display) -> DataError {
        DataError::Write { path: path.to_owned(), problem: problem.to_string() }
    }
}

/// Writes a value as a line of JSON and flushes it, so that a program may alternate requests and answers.
fn write_line(mut output: impl Write, value: &impl serde::Serialize, doing: &'static str) -> Result<(), DataError> {
    let written = serde_json::to_writer(&mut output, value)
        .map_err(std::io::Error::from)
        .and_then(|()| output.write_all(b"\n"))
        .and_then(|()| output.flush());
    written.map_err(|source| DataError::Stream { doing, source })
}
