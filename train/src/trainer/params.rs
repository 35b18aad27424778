//! What a trainer is asked to do, and what it has done.

use std::path::Path;

use hnefi_cuda::Cards;
use hnefi_run::store::{Location, RetryPolicy};

/// The result of a run, finished or stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Number of complete generations.
    pub generations: u32,
    /// Path or URL of the newest checkpoint.
    pub checkpoint: String,
    /// Its generation, an earlier one where a trainer died while it published the latest.
    pub checkpoint_generation: u32,
    /// Its id.
    pub checkpoint_id: String,
    /// Training steps.
    pub steps: u64,
    /// Training samples.
    pub samples: u64,
    /// Seconds of self-play and training.
    pub elapsed_seconds: f64,
    /// Whether the observer stopped the run before its budget was used up.
    pub stopped: bool,
}

/// Whether and when the process of a trainer plays games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelfPlay {
    /// In turns with training, both on all threads.
    InTurns,
    /// All the time, beside training. Results then depend on timing.
    Overlapping,
    /// Never: workers play.
    Elsewhere,
}

/// Location of a run, and what this process does for it.
#[derive(Clone, Debug)]
pub struct TrainerParams<'a> {
    /// The run directory or bucket.
    pub location: Location,
    /// Origin of a new run's weights: a run directory (with its optimiser state), a checkpoint folder, or the name of a
    /// shipped checkpoint; `None` for random weights. A resumed run accepts its own origin or `None`.
    pub origin: Option<&'a Path>,
    /// Whether and when this process plays games, besides the workers.
    pub selfplay: SelfPlay,
    /// What trains in place of the learner: a command that is given tasks (docs/TRAINER.md). `None` for the learner.
    pub trainer: Option<&'a str>,
    /// Whether this process plays ladder matches.
    pub ladder: bool,
    /// Timeouts of requests to a bucket.
    pub retry: RetryPolicy,
    /// The cards of training and self-play.
    pub cards: Cards,
    /// The hardware in words, which the run notes for those who look at it.
    pub machine: String,
}

impl TrainerParams<'_> {
    /// For a run in a directory, with self-play in turns and ladder.
    pub fn new(dir: &Path) -> TrainerParams<'static> {
        TrainerParams {
            location: dir.into(),
            origin: None,
            selfplay: SelfPlay::InTurns,
            trainer: None,
            ladder: true,
            retry: RetryPolicy::default(),
            cards: Cards::default(),
            machine: String::new(),
        }
    }
}
