//! The observer of a run: receives progress and warnings, and can stop the run.

use hnefi_arena::MatchResult;
use hnefi_arena::ladder::Standings;
use hnefi_run::store::Location;
use hnefi_selfplay::FleetProgress;

use crate::config::TrainConfig;
use hnefi_run::{GenerationMetrics, LossValues};

/// Progress of the training of a generation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainingProgress {
    /// Steps taken in this generation.
    pub step: u64,
    /// Total number of steps.
    pub steps: u64,
    /// Mean losses so far.
    pub losses: LossValues,
}

/// The state in which a run begins or resumes.
#[derive(Clone, Debug, PartialEq)]
pub struct RunStart<'a> {
    /// The run directory or bucket.
    pub location: &'a Location,
    /// Generations complete; 0 for a new run.
    pub generations: u32,
    /// Number of games in flight.
    pub games_in_flight: usize,
    /// Seconds of the budget used up.
    pub elapsed_seconds: f64,
    /// Trainable parameters of the network.
    pub parameters: usize,
}

/// Observes a run. All methods are called on the thread that called [`super::train`].
pub trait TrainObserver: Sync {
    /// The run begins or resumes.
    fn begins(&self, _start: &RunStart<'_>) {}

    /// The run is in stage number `index` (from 0) of `count`, with this configuration. Not called for a run without
    /// stages.
    fn stage(&self, _index: usize, _count: usize, _name: &str, _config: &TrainConfig) {}

    /// Devices were chosen by trying.
    fn chose(&self, _text: &str) {}

    /// A problem that does not stop the run, such as a damaged file.
    fn warning(&self, _text: &str) {}

    /// Progress of self-play; called a few times a second. `run` is the progress of the budget, 0 to 1.
    fn generating(&self, _generation: u32, _progress: &FleetProgress, _run: f64) {}

    /// Progress of training; called at every step. `run` is the progress of the budget, 0 to 1.
    fn training(&self, _generation: u32, _progress: &TrainingProgress, _run: f64) {}

    /// A generation is complete and written.
    fn generation(&self, _metrics: &GenerationMetrics) {}

    /// The newest checkpoint plays a match of `games` games on the ladder; called after each of them.
    fn rating(&self, _generation: u32, _so_far: &MatchResult, _games: u32) {}

    /// The newest checkpoint has played all its matches on the ladder.
    fn standings(&self, _generation: u32, _standings: &Standings) {}

    /// Whether to stop; called several times a second. The same call resumes later.
    fn should_stop(&self) -> bool {
        false
    }
}

/// An observer that ignores everything and never stops the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl TrainObserver for Silent {}
