//! Why a fleet could not play.

use hnefi_inference::EvalError;
use hnefi_run::RecordError;
use hnefi_run::store::StoreError;

/// Why a fleet could not play.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// The observer asked to stop. The games are kept: take a snapshot, or end the generation early.
    #[error("self-play was stopped")]
    Stopped,
    /// A network could not be evaluated.
    #[error("self-play: {source}")]
    Evaluation {
        /// The evaluator's error.
        source: EvalError,
    },
    /// The operating system starts no thread.
    #[error("self-play: no thread can be started: {source}")]
    NoThread {
        /// The operating system's error.
        source: std::io::Error,
    },
    /// A snapshot belongs to another fleet.
    #[error("fleet snapshot with {what} {found}; expected {expected}")]
    Mismatch {
        /// What differs.
        what: &'static str,
        /// The snapshot's value.
        found: String,
        /// The fleet's value.
        expected: String,
    },
    /// A record could not be read or continued.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Earlier games, which later ones depend on, cannot be read.
    #[error("{problem}; remove it and all later files of games: they are played again, the same")]
    NeedsGames {
        /// What is wrong; names the file.
        problem: RecordError,
    },
    /// An error of the run directory.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run directory belongs to another run.
    #[error("{place} holds another run: {differences}; expected the same settings or a new directory")]
    OtherRun {
        /// The directory.
        place: String,
        /// The keys that differ, with both values.
        differences: String,
    },
}
