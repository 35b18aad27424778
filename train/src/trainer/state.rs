//! The state of a run between two steps, as data.
//!
//! All of it is in the store: `counters` and `finished` as they stand here (`saved.rs`), the games in `games/`, the job
//! in `jobs/`. Beside it a run has the learner's state (`state/`) and the fleet's (`inflight/`).

use std::collections::BTreeMap;
use std::ops::Range;

use hnefi_inference::{ENCODING_VERSION, json};
use hnefi_selfplay::GenerationStats;
use serde::{Deserialize, Serialize};

use super::clock::Spent;
use super::games::Games;
use crate::config::TrainSection;
use crate::job::{Job, MOST_STAGES};
use crate::learner::StepCounts;
use crate::window;

pub(super) const FORMAT: u32 = 1;

/// What a run is between two steps, besides its learner and its fleet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RunState {
    /// Counts of complete generations.
    pub(super) counters: Counters,
    /// The replay window and the games not trained on yet.
    pub(super) games: Games,
    /// The newest generation with recorded games; games after the last complete generation are not trained on yet.
    pub(super) played_until: u32,
    /// Statistics of that generation's self-play, if known.
    pub(super) finished: FinishedSelfPlay,
    /// Id of the averaged weights.
    pub(super) checkpoint_id: String,
    /// The newest job of the workers. Its generation is the newest that has a network, and its checkpoint is the one in
    /// the store, whose id differs from `checkpoint_id` if a generation was trained again with another result. It says
    /// whether the budget is used up.
    pub(super) job: Job,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Counters {
    pub(super) format: u32,
    pub(super) generation: u32,
    /// Id of the origin's checkpoint; `None` for random weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<String>,
    /// The stage that the run began with; may be later than the first one if the run has an origin.
    #[serde(default)]
    pub(super) first_stage: usize,
    /// The stage of the next generation.
    #[serde(default)]
    pub(super) stage: usize,
    pub(super) spent: Spent,
    /// Training plies of the games from the origin, which are generation 0.
    #[serde(default)]
    pub(super) plies_taken_over: u64,
    /// Training plies of every generation from the first on.
    pub(super) plies: Vec<u64>,
    pub(super) counts: StepCounts,
    /// Speed of the latest training, to plan the next generation; 0 if unknown.
    pub(super) samples_per_second: f64,
    /// Seconds of the latest generation; 0 if unknown.
    pub(super) generation_seconds: f64,
    /// Version of the network's encoding ([`ENCODING_VERSION`]).
    pub(super) encoding: u32,
    pub(super) parts: BTreeMap<String, Part>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) bytes: u64,
    pub(super) crc32c: u32,
}

/// Clock and figures at a save of the games in flight.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct InFlight {
    pub(super) spent: Spent,
    /// Seconds of self-play in the generation being played.
    pub(super) selfplay_seconds: f64,
    /// In the save at the end of a generation: statistics of its self-play.
    pub(super) finished: Option<FinishedSelfPlay>,
}

/// Statistics of a generation's self-play, kept until its training is done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct FinishedSelfPlay {
    pub(super) stats: GenerationStats,
    pub(super) playouts: u32,
    pub(super) seconds: f64,
    /// Share of the time in which cards had work.
    pub(super) card_busy: f64,
}

impl InFlight {
    pub(super) fn check(&self) -> Result<(), String> {
        let Spent { wall, processor } = self.spent;
        let seconds =
            [("spent.wall", wall), ("spent.processor", processor), ("selfplay_seconds", self.selfplay_seconds)];
        json::check(json::AMOUNT, &seconds)?;
        let Some(finished) = &self.finished else { return Ok(()) };
        json::check(json::AMOUNT, &[("seconds", finished.seconds)])?;
        json::check(json::SHARE, &[("card_busy", finished.card_busy)])?;
        Ok(finished.stats.check()?)
    }
}

impl Counters {
    pub(super) fn fresh(parent: Option<String>) -> Counters {
        Counters {
            format: FORMAT,
            generation: 0,
            parent,
            first_stage: 0,
            stage: 0,
            spent: Spent::default(),
            plies_taken_over: 0,
            plies: Vec::new(),
            counts: StepCounts::default(),
            samples_per_second: 0.0,
            generation_seconds: 0.0,
            encoding: ENCODING_VERSION,
            parts: BTreeMap::new(),
        }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let StepCounts { steps, samples, averaged_before, .. } = self.counts;
        let amounts = [
            ("spent.wall", self.spent.wall),
            ("spent.processor", self.spent.processor),
            ("samples_per_second", self.samples_per_second),
            ("generation_seconds", self.generation_seconds),
        ];
        json::check(json::AMOUNT, &amounts)?;
        json::check(0..=MOST_STAGES, &[("first_stage", self.first_stage), ("stage", self.stage)])?;
        json::check(json::COUNT, &[("steps", steps), ("samples", samples), ("averaged_before", averaged_before)])?;
        json::check(json::COUNT, &[("plies_taken_over", self.plies_taken_over)])?;
        Ok(self.plies.iter().try_for_each(|&plies| json::check(json::COUNT, &[("plies", plies)]))?)
    }

    /// The generations that a replay window holds now; games that were taken over are generation 0.
    pub(super) fn window(&self, section: &TrainSection) -> Range<u32> {
        let played: Vec<u64> = std::iter::once(self.plies_taken_over).chain(self.plies.iter().copied()).collect();
        let window = window::range(section, &played);
        let first = if self.plies_taken_over == 0 { window.start.max(1) } else { window.start };
        first as u32..window.end as u32
    }
}
