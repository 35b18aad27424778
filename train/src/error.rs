//! Why a run could not begin or go on.

use std::path::PathBuf;

use hnefi_arena::ladder::LadderError;
use hnefi_arena::players::PlayerError;
use hnefi_inference::{CheckpointError, EvalError};
use hnefi_run::store::StoreError;
use hnefi_run::{ReadError, RecordError};
use hnefi_selfplay::FleetError;

use crate::config::ConfigError;

/// Why a run could not begin or resume. Everything written before stays usable.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// There is no such configuration, or it has errors.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A stage's network is not larger than the one before. Configurations are checked for this before a run begins.
    #[error("a network {0}")]
    Growth(String),
    /// The run directory belongs to another run.
    #[error("{place} holds another run: {differences}; expected the same configuration or another place")]
    OtherRun {
        /// The run directory or store.
        place: String,
        /// The keys that differ, with both values.
        differences: String,
    },
    /// The run was written by a later version of the program.
    #[error(
        "{place} was written by {program} in format {found}; this program knows formats up to {known}, use a newer one"
    )]
    Newer {
        /// The run directory or store.
        place: String,
        /// What wrote it.
        program: String,
        /// Its format.
        found: u64,
        /// The newest format known.
        known: u64,
    },
    /// `run.json` cannot be understood.
    #[error(
        "{file}: {problem}; expected what `train` wrote when the run began: put a copy of it back, or remove it, and \
         the same command with the same configuration writes it again"
    )]
    RunFile {
        /// The file.
        file: String,
        /// What was found.
        problem: String,
    },
    /// A run cannot begin with these weights.
    #[error("beginning with the weights of {path}: {problem}")]
    Origin {
        /// What was given.
        path: PathBuf,
        /// What was found and what was expected.
        problem: String,
    },
    /// There are no games with a result and plies to train on.
    #[error("{games} games, none with a result and a ply to learn from; expected finished games")]
    NothingToLearn {
        /// Games that were given.
        games: usize,
    },
    /// The learner's state of a generation is damaged.
    #[error("{object}: {problem}")]
    State {
        /// The object within the run directory.
        object: String,
        /// What was found and what was expected.
        problem: String,
    },
    /// A run has generations but no state to go on from.
    #[error(
        "{place}: no readable training state for any generation ({problems}); expected at least one under state/: put \
         a copy back (`hnefi fetch` copies them with --all), or begin a new run with its newest checkpoint (--from)"
    )]
    NoState {
        /// The run directory or store.
        place: String,
        /// The problems of the existing states.
        problems: String,
    },
    /// Another trainer has claimed the run.
    #[error("{place}: another trainer has taken over: {by}; this one has stopped and writes nothing more")]
    Replaced {
        /// The run directory or store.
        place: String,
        /// The other one.
        by: String,
    },
    /// The observer stopped it before it was done.
    #[error("stopped before it was done; nothing was written")]
    Interrupted,
    /// Trainer and worker do not understand each other.
    #[error(
        "{place}: its trainer is {program} with protocol {found}, this is {} and speaks {known}; use the same version \
         on all machines",
        hnefi_run::PROGRAM
    )]
    Protocol {
        /// The run directory or store.
        place: String,
        /// The other program.
        program: String,
        /// Its protocol.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// Loss or gradient were not finite several times in a row.
    #[error(
        "training stopped at step {step}: {count} steps in a row without a finite loss and gradient (loss {loss}, \
         gradient norm {norm}); a lower train.rate may help"
    )]
    NotFinite {
        /// The step.
        step: u64,
        /// Bad steps in a row.
        count: u32,
        /// Loss of the last one.
        loss: f32,
        /// Gradient norm of the last one.
        norm: f32,
    },
    /// A trainer of one's own failed.
    #[error("trainer {command:?}: {problem}")]
    Command {
        /// The command.
        command: String,
        /// What was found and what was expected.
        problem: String,
    },
    /// The device failed.
    #[error("training on {device}: {problem}")]
    Device {
        /// Where it ran.
        device: String,
        /// The device's error.
        problem: String,
    },
    /// A network could not be evaluated, or a device could not be opened.
    #[error(transparent)]
    Evaluation(#[from] EvalError),
    /// Self-play failed.
    #[error(transparent)]
    SelfPlay(#[from] FleetError),
    /// A match on the ladder failed.
    #[error(transparent)]
    Ladder(#[from] LadderError),
    /// A player on the ladder is not valid.
    #[error(transparent)]
    Player(#[from] PlayerError),
    /// A checkpoint could not be written.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A record is inconsistent.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// An error of the store.
    #[error(transparent)]
    Store(StoreError),
}

impl From<ReadError> for TrainError {
    fn from(error: ReadError) -> TrainError {
        match error {
            ReadError::Store(error) => error.into(),
            ReadError::Checkpoint(error) => error.into(),
            ReadError::Games(error) => error.into(),
            ReadError::Json { key, source } => {
                TrainError::State { object: key.to_owned(), problem: source.to_string() }
            }
        }
    }
}

impl From<StoreError> for TrainError {
    /// What cannot be an object is as a damaged one.
    fn from(error: StoreError) -> TrainError {
        match error {
            StoreError::Unfit { place, key, problem } => {
                TrainError::State { object: format!("{key} in {place}"), problem }
            }
            error => TrainError::Store(error),
        }
    }
}
