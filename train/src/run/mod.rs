//! The loop: generate, train, publish, again until the budget is used up.
//!
//! A **generation** is self-play with the newest network until enough games have ended, training on the replay window,
//! and a new checkpoint. Each stage leaves whole objects in the run directory, in this order:
//!
//! ```text
//! inflight/000002-0000.*    games in flight at the end of generation 1's self-play
//! games/000001.hgames       its finished games
//! checkpoints/000001/       what plays next
//! state/000001/             what the learner goes on from; with it the generation is complete
//! metrics/000001.json       what was measured, and the same under tensorboard/
//! terms/000001.json         what the workers are to play with
//! ladder/000010-....json    now and then, matches that say how strong it is
//! ```
//!
//! So the same call goes on after any interruption: from the newest state that can be read, with the games that are
//! already there, and with the games in flight as last saved. What was interrupted in between is done again, with the
//! same result, since all randomness comes from the seed and from what is drawn for.
//!
//! Others may play for the run, on any machine that reaches its store ([`crate::worker`]): their games are taken in
//! beside those played here (`intake.rs`). In a directory a lock keeps a second trainer out. A bucket has none, so
//! there a trainer that has been replaced finds out before it publishes anything (`fence.rs`), and games in flight are
//! not saved.

mod check;
mod climb;
mod clock;
mod fence;
mod generate;
mod intake;
mod learn;
mod observer;
mod open;
mod origin;
mod publish;
mod saved;
mod settings;
mod stage;
mod terms;

use std::collections::BTreeMap;
use std::path::Path;

use hnefi_engine::Preset;
use hnefi_run::GameRecord;
use hnefi_run::store::{Location, Patience, Store, checkpoint_key};
use hnefi_selfplay::Fleet;

pub use check::{CheckedObjects, check};
pub use climb::ladder_params;
pub use observer::{Beginning, Silent, TrainObserver, TrainingProgress};
pub(crate) use origin::{Ancestor, ancestor};
pub use settings::configuration;
pub(crate) use terms::PROGRAM;
pub use terms::{PROTOCOL, Terms};

use clock::Clock;
use fence::Fence;
use saved::{Counters, FinishedSelfPlay};

use crate::TrainError;
use crate::config::{Span, TrainConfig};
use crate::learner::Learner;

/// How a run ended, or where it stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Generations complete.
    pub generations: u32,
    /// Where the newest checkpoint lies: a folder or a URL.
    pub checkpoint: String,
    /// Its identity.
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

/// Where a run lies and who plays for it.
#[derive(Clone, Debug)]
pub struct RunParams<'a> {
    /// The run directory or bucket.
    pub location: Location,
    /// What a new run begins with instead of random weights: those of a run directory with its optimiser, or those of a
    /// checkpoint folder or of a shipped checkpoint by its name. For a run that goes on, it is what it began with, or
    /// `None`.
    pub origin: Option<&'a Path>,
    /// Whether games are played here, or by workers alone.
    pub selfplay: bool,
    /// Whether the ladder is played here.
    pub ladder: bool,
    /// How long a bucket is waited for.
    pub patience: Patience,
}

impl RunParams<'_> {
    /// A run in a directory, all on its own.
    pub fn new(dir: &Path) -> RunParams<'static> {
        let patience = Patience::default();
        RunParams { location: dir.into(), origin: None, selfplay: true, ladder: true, patience }
    }
}

/// Trains in `dir` until the budget of `config` is used up, from random weights or from where an earlier call stopped.
///
/// # Errors
/// As [`run_at`].
pub fn run(config: &TrainConfig, dir: &Path, observer: &dyn TrainObserver) -> Result<Summary, TrainError> {
    run_at(config, &RunParams::new(dir), observer)
}

/// As [`run`], wherever the run lies and whoever plays for it.
///
/// # Errors
/// When the configuration has faults, the place holds another run or is in use, the origin cannot be read or has a
/// network of another shape or is not what the run began with, or a stage fails. What was written before stays usable,
/// and the same call goes on from there.
pub fn run_at(
    config: &TrainConfig,
    params: &RunParams<'_>,
    observer: &dyn TrainObserver,
) -> Result<Summary, TrainError> {
    Run::open(config, params, observer)?.train()
}

/// A run at work.
struct Run<'a> {
    /// The configuration with all its stages.
    whole: &'a TrainConfig,
    /// What it says in the present stage, whose number is in the counters.
    config: TrainConfig,
    /// The part of the budget that the present stage has.
    span: Span,
    /// The rulesets of all stages.
    rulesets: Vec<Preset>,
    params: &'a RunParams<'a>,
    observer: &'a dyn TrainObserver,
    store: Store,
    fence: Fence,
    clock: Clock,
    learner: Learner,
    fleet: Fleet,
    counters: Counters,
    /// The newest generation that has a network of its own.
    network: u32,
    /// Games by generation, from as far back as the replay window may reach up to those still to be trained on.
    games: BTreeMap<u32, Vec<GameRecord>>,
    /// The newest generation whose games are there; those after the last complete one are still to be trained on.
    played_until: u32,
    /// What the self-play of that generation did, as far as it is known.
    finished: FinishedSelfPlay,
    /// Seconds of self-play spent on the next generation before this process.
    selfplay_seconds: f64,
    /// Number of the newest save of the games in flight.
    save: u32,
    /// Identity of the averaged weights.
    checkpoint_id: String,
    /// Identity of the newest checkpoint in the store, which workers play with. It is another one where a generation
    /// was trained again with another result.
    published_id: String,
    /// Whether the budget is used up, as the workers have been told.
    finished_budget: bool,
}

impl Run<'_> {
    /// Goes on until the budget is used up or the observer stops it.
    fn train(mut self) -> Result<Summary, TrainError> {
        loop {
            if !self.climb()? {
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

    /// The part of the present stage that is over after the last complete generation, 0 to 1.
    fn stage_progress(&self) -> f64 {
        self.span.within(self.clock.progress(self.complete(), 0.0))
    }

    /// Generations complete.
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
