//! The loop: generate, train, publish, again until the budget is used up.
//!
//! A **generation** is self-play with the newest network until enough games have ended, training on the replay window,
//! and a new checkpoint. Each stage leaves whole objects in the run directory, in this order:
//!
//! ```text
//! inflight/000002-0000.*    games in flight at the end of generation 1's self-play
//! games/000001.hgames       its finished games
//! checkpoints/000001/       what plays next
//! state/000001/             the learner's state; with it the generation is complete
//! metrics/000001.json       metrics, also under tensorboard/
//! terms/000001.json         the job of the workers
//! ladder/000010-....json    at intervals, rated matches
//! ```
//!
//! The same call resumes after any interruption: from the newest readable state, with the recorded games and the saved
//! games in flight. Interrupted work is repeated with the same result, because all randomness is derived from the seed.
//!
//! Workers on any machine that reaches the store may play for the run ([`crate::worker`]); `intake.rs` adds their
//! games. A lock keeps a second trainer out of a directory. A bucket has no lock: there a replaced trainer finds out
//! before it publishes anything (`fence.rs`), and games in flight are not saved.

mod check;
mod clock;
mod fence;
mod generate;
mod intake;
mod job;
mod ladder;
mod learn;
mod observer;
mod open;
mod origin;
mod overlap;
mod publish;
mod saved;
mod settings;
mod stage;

use std::collections::BTreeMap;
use std::path::Path;

use hnefi_engine::Preset;
use hnefi_run::GameRecord;
use hnefi_run::store::{Location, RetryPolicy, Store, checkpoint_key};
use hnefi_selfplay::Fleet;

pub use check::{CheckedObjects, check};
pub(crate) use job::PROGRAM;
pub use job::{Job, PROTOCOL};
pub use ladder::ladder_params;
pub use observer::{RunStart, Silent, TrainObserver, TrainingProgress};
pub(crate) use origin::{Ancestor, ancestor};
pub use settings::configuration;

use clock::Clock;
use fence::Fence;
use overlap::Link;
use saved::{Counters, FinishedSelfPlay};

use crate::TrainError;
use crate::config::{Span, TrainConfig};
use crate::learner::Learner;

/// The result of a run, finished or stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Number of complete generations.
    pub generations: u32,
    /// Path or URL of the newest checkpoint.
    pub checkpoint: String,
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
pub struct RunParams<'a> {
    /// The run directory or bucket.
    pub location: Location,
    /// Origin of a new run's weights: a run directory (with its optimiser state), a checkpoint folder, or the name of a
    /// shipped checkpoint; `None` for random weights. A resumed run accepts its own origin or `None`.
    pub origin: Option<&'a Path>,
    /// Whether and when this process plays games, besides the workers.
    pub selfplay: SelfPlay,
    /// Whether this process plays ladder matches.
    pub ladder: bool,
    /// Timeouts of requests to a bucket.
    pub retry: RetryPolicy,
    /// The hardware in words, which the run notes for those who look at it.
    pub machine: String,
}

impl RunParams<'_> {
    /// A run in a directory, with self-play in turns and ladder.
    pub fn new(dir: &Path) -> RunParams<'static> {
        RunParams {
            location: dir.into(),
            origin: None,
            selfplay: SelfPlay::InTurns,
            ladder: true,
            retry: RetryPolicy::default(),
            machine: String::new(),
        }
    }
}

/// Trains in `dir` until the budget of `config` is used up. Begins with random weights, or resumes an earlier call.
///
/// # Errors
/// As [`run_at`].
pub fn run(config: &TrainConfig, dir: &Path, observer: &dyn TrainObserver) -> Result<Summary, TrainError> {
    run_at(config, &RunParams::new(dir), observer)
}

/// As [`run`], at any location.
///
/// # Errors
/// When the configuration has errors, the location holds another run or is in use, the origin cannot be read, does not
/// grow to the configured network or is not the run's own, or an operation fails. Everything written before stays
/// usable, and the same call resumes.
pub fn run_at(
    config: &TrainConfig,
    params: &RunParams<'_>,
    observer: &dyn TrainObserver,
) -> Result<Summary, TrainError> {
    let run = Run::open(config, params, observer)?;
    match params.selfplay {
        SelfPlay::Overlapping => overlap::train(run, &Link::default()),
        SelfPlay::InTurns | SelfPlay::Elsewhere => run.train(),
    }
}

/// A run in progress.
struct Run<'a> {
    /// The configuration with all its stages.
    whole: &'a TrainConfig,
    /// The configuration in the present stage, `counters.stage`.
    config: TrainConfig,
    /// The present stage's part of the budget.
    span: Span,
    /// The rulesets of all stages.
    rulesets: Vec<Preset>,
    params: &'a RunParams<'a>,
    observer: &'a dyn TrainObserver,
    /// To the worker of this process, if self-play overlaps training.
    link: Option<&'a Link>,
    store: Store,
    fence: Fence,
    clock: Clock,
    learner: Learner,
    fleet: Fleet,
    counters: Counters,
    /// The newest generation that has a network.
    network: u32,
    /// Games by generation: the replay window and the games not trained on yet.
    games: BTreeMap<u32, Vec<GameRecord>>,
    /// The newest generation with recorded games; games after the last complete generation are not trained on yet.
    played_until: u32,
    /// Statistics of that generation's self-play, if known.
    finished: FinishedSelfPlay,
    /// Seconds that earlier processes spent on self-play of the next generation.
    selfplay_seconds: f64,
    /// Number of the newest save of the games in flight.
    save: u32,
    /// Id of the averaged weights.
    checkpoint_id: String,
    /// Id of the newest checkpoint in the store, which workers play with. It differs from `checkpoint_id` if a
    /// generation was trained again with another result.
    published_id: String,
    /// Whether the budget is used up, as published in the newest job.
    finished_budget: bool,
}

impl Run<'_> {
    /// Trains until the budget is used up or the observer stops it.
    fn train(mut self) -> Result<Summary, TrainError> {
        loop {
            if !self.play_ladder()? {
                return Ok(self.summary(true));
            }
            if self.finished_budget {
                return Ok(self.summary(false));
            }
            let Some(played) = self.generate()? else { return Ok(self.summary(true)) };
            let Some(training) = self.learn()? else { return Ok(self.summary(true)) };
            self.publish(&played, training)?;
        }
    }

    /// Progress of the present stage after the last complete generation, 0 to 1.
    fn stage_progress(&self) -> f64 {
        self.span.within(self.clock.progress(self.complete(), 0.0))
    }

    /// Number of complete generations.
    fn complete(&self) -> u32 {
        self.counters.generation
    }

    fn summary(&self, stopped: bool) -> Summary {
        Summary {
            generations: self.complete(),
            checkpoint: self.store.name(&checkpoint_key(self.complete())),
            checkpoint_id: self.checkpoint_id.clone(),
            steps: self.counters.counts.steps,
            samples: self.counters.counts.samples,
            elapsed_seconds: self.clock.elapsed(),
            stopped,
        }
    }
}
