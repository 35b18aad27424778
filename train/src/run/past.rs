//! What a generation takes from the run's past: a checkpoint to play against, and games whose positions new ones begin from.
//!
//! Both depend on the generation and on what is in the run directory alone, so a run that goes on after an interruption takes
//! the same.

use std::collections::BTreeMap;

use hnefi_models::{Checkpoint, DeviceChoice, EvalError, Evaluator, evaluators};
use hnefi_selfplay::fleet::PastCheckpoint;
use hnefi_selfplay::store::checkpoint_key;
use hnefi_selfplay::{GameRecord, rng_for};
use rand_xoshiro::rand_core::Rng as _;

use super::Run;
use crate::TrainError;

/// Tells this draw from everything else that comes from the seed.
const PURPOSE: u64 = 0x7061_7374;

/// Generations whose games new ones may begin from. Older mistakes are mostly not made any more.
const EARLIER_GENERATIONS: usize = 4;

/// Makes evaluators of a network.
type MakeEvaluator = Box<dyn Fn() -> Result<Box<dyn Evaluator>, EvalError> + Send + Sync>;

/// A past checkpoint, ready to play.
pub(super) struct Past {
    id: String,
    make_evaluator: MakeEvaluator,
}

impl Past {
    /// As the fleet wants it.
    pub(super) fn for_fleet(&self) -> PastCheckpoint<'_> {
        PastCheckpoint { id: &self.id, make_evaluator: &*self.make_evaluator }
    }
}

impl Run<'_> {
    /// The checkpoint that takes one side in a share of the next generation's games: one of the newest before the one that
    /// plays, drawn anew for every generation. `None` where the configuration wants none or there is none yet; one that cannot
    /// be read is named in a warning and another drawn.
    pub(super) fn past_checkpoint(&self) -> Result<Option<Past>, TrainError> {
        let selfplay = &self.config.selfplay;
        if selfplay.past_share <= 0.0 {
            return Ok(None);
        }
        let newest = self.complete();
        let mut candidates: Vec<u32> = self.store.checkpoints()?.into_iter().filter(|&other| other < newest).collect();
        candidates.drain(..candidates.len().saturating_sub(selfplay.past_checkpoints as usize));
        let mut rng = rng_for(&[self.config.run.seed, PURPOSE, u64::from(newest)]);
        // The host loads it, whatever device evaluates.
        let host = DeviceChoice::Flex.open()?;
        while !candidates.is_empty() {
            let place = ((u128::from(rng.next_u64()) * candidates.len() as u128) >> 64) as usize;
            let chosen = candidates.remove(place);
            match Checkpoint::load(&self.store.path(&checkpoint_key(chosen)), &host) {
                Ok(Checkpoint { card, network }) => {
                    let make = evaluators(&network, self.config.run.device, self.config.run.precision)?;
                    return Ok(Some(Past { id: card.id, make_evaluator: Box::new(move || Ok(make())) }));
                }
                Err(error) => self.observer.warning(&format!("skipped {error} as an opponent")),
            }
        }
        Ok(None)
    }
}

/// The games of the newest generations, oldest first.
pub(super) fn newest_games(games: &BTreeMap<u32, Vec<GameRecord>>) -> Vec<&GameRecord> {
    let first = games.keys().rev().nth(EARLIER_GENERATIONS - 1).copied().unwrap_or(0);
    games.range(first..).flat_map(|(_, games)| games).collect()
}
