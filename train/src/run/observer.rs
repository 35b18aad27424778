//! How a run tells what it is doing, and how it is told to stop.

use hnefi_arena::MatchResult;
use hnefi_arena::ladder::Standings;
use hnefi_run::store::Location;
use hnefi_selfplay::FleetProgress;

use crate::config::TrainConfig;
use hnefi_run::{GenerationMetrics, LossValues};

/// How far the training of a generation is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainingProgress {
    /// Steps taken in this generation.
    pub step: u64,
    /// Steps it is to have.
    pub steps: u64,
    /// Mean losses so far.
    pub losses: LossValues,
}

/// What a run goes on from.
#[derive(Clone, Debug, PartialEq)]
pub struct Beginning<'a> {
    /// The run directory or bucket.
    pub location: &'a Location,
    /// Generations complete; 0 for a new run.
    pub generations: u32,
    /// Whether games of the next generation were found.
    pub games_in_flight: usize,
    /// Seconds of the budget used up.
    pub elapsed_seconds: f64,
    /// Trainable parameters of the network.
    pub parameters: usize,
}

/// Watches a run. All methods are called from the thread that called [`super::run`].
pub trait TrainObserver: Sync {
    /// The run begins or goes on.
    fn begins(&self, beginning: &Beginning<'_>) {
        let _ = beginning;
    }

    /// The run is in this stage now, number `index` (from 0) of `count`, by this configuration. Not called for a run
    /// without stages.
    fn stage(&self, index: usize, count: usize, name: &str, config: &TrainConfig) {
        let _ = (index, count, name, config);
    }

    /// Something is not as it should be, and the run goes on without it: a damaged file, for instance.
    fn warning(&self, text: &str) {
        let _ = text;
    }

    /// Self-play of a generation goes forward; called a few times a second. `run` is the part of the budget used up.
    fn generating(&self, generation: u32, progress: &FleetProgress, run: f64) {
        let _ = (generation, progress, run);
    }

    /// Training of a generation goes forward; called at every step. `run` is the part of the budget used up.
    fn training(&self, generation: u32, progress: &TrainingProgress, run: f64) {
        let _ = (generation, progress, run);
    }

    /// A generation is complete and on the disk.
    fn generation(&self, metrics: &GenerationMetrics) {
        let _ = metrics;
    }

    /// The newest checkpoint plays a match of `games` games on the ladder; called after each of them.
    fn climbing(&self, generation: u32, so_far: &MatchResult, games: u32) {
        let _ = (generation, so_far, games);
    }

    /// The newest checkpoint has played all its matches on the ladder.
    fn standings(&self, generation: u32, standings: &Standings) {
        let _ = (generation, standings);
    }

    /// Whether to stop; asked several times a second. Everything played is saved then, and the same call goes on later.
    fn should_stop(&self) -> bool {
        false
    }
}

/// Watches nothing and never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl TrainObserver for Silent {}
