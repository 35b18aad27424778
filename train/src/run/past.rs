//! What a generation takes from the run's past: a checkpoint to play against, and games whose positions new ones begin
//! from.
//!
//! Both depend on the generation and on what is in the run directory alone, so a run that goes on after an interruption
//! takes the same.

use std::collections::BTreeMap;
use std::path::Path;

use hnefi_inference::{CARD_FILE, Card, Checkpoint, EvalError, Evaluator, WEIGHTS_FILE, evaluators};
use hnefi_selfplay::fleet::PastCheckpoint;
use hnefi_selfplay::store::{Store, checkpoint_key};
use hnefi_selfplay::{GameRecord, rng_for};
use rand_xoshiro::rand_core::Rng as _;

use super::Run;
use crate::{TrainConfig, TrainError};

/// Tells this draw from everything else that comes from the seed.
const PURPOSE: u64 = 0x7061_7374;

/// Generations whose games new ones may begin from. Older mistakes are mostly not made any more.
pub(crate) const EARLIER_GENERATIONS: usize = 4;

/// Makes evaluators of a network.
type MakeEvaluator = Box<dyn Fn() -> Result<Box<dyn Evaluator>, EvalError> + Send + Sync>;

/// A past checkpoint, ready to play.
pub(crate) struct Past {
    id: String,
    make_evaluator: MakeEvaluator,
}

impl Past {
    /// The checkpoint of a generation, on the devices that self-play has.
    ///
    /// # Errors
    /// When it cannot be read or evaluated.
    pub(crate) fn load(store: &Store, generation: u32, config: &TrainConfig) -> Result<Past, TrainError> {
        let Checkpoint { card, weights } = read_checkpoint(store, generation)?;
        let make = evaluators(&weights, &config.run.device, config.run.precision)?;
        Ok(Past { id: card.id, make_evaluator: Box::new(move || Ok(make())) })
    }

    /// As the fleet wants it.
    pub(crate) fn for_fleet(&self) -> PastCheckpoint<'_> {
        PastCheckpoint { id: &self.id, make_evaluator: &*self.make_evaluator }
    }
}

impl Run<'_> {
    /// The checkpoint that takes one side in a share of the next generation's games: one of the newest before the one
    /// that plays, drawn anew for every generation. `None` where the configuration wants none or there is none yet; one
    /// that cannot be read is named in a warning and another drawn.
    pub(super) fn past_checkpoint(&self) -> Result<Option<Past>, TrainError> {
        for generation in self.past_generations()? {
            match Past::load(&self.store, generation, &self.config) {
                Ok(past) => return Ok(Some(past)),
                Err(error) => self.observer.warning(&format!("skipped {error} as an opponent")),
            }
        }
        Ok(None)
    }

    /// The candidates for this, in the order in which they are drawn.
    pub(super) fn past_generations(&self) -> Result<Vec<u32>, TrainError> {
        let selfplay = &self.config.selfplay;
        if selfplay.past_share <= 0.0 {
            return Ok(Vec::new());
        }
        let newest = self.complete();
        let mut candidates: Vec<u32> = self.store.checkpoints()?.into_iter().filter(|&other| other < newest).collect();
        candidates.drain(..candidates.len().saturating_sub(selfplay.past_checkpoints as usize));
        let mut rng = rng_for(&[self.config.run.seed, PURPOSE, u64::from(newest)]);
        let mut drawn = Vec::with_capacity(candidates.len());
        while !candidates.is_empty() {
            let place = ((u128::from(rng.next_u64()) * candidates.len() as u128) >> 64) as usize;
            drawn.push(candidates.remove(place));
        }
        Ok(drawn)
    }
}

/// The checkpoint of a generation.
///
/// # Errors
/// When it is not there or damaged.
pub(crate) fn read_checkpoint(store: &Store, generation: u32) -> Result<Checkpoint, TrainError> {
    let folder = checkpoint_key(generation);
    let [card_key, weights_key] = [CARD_FILE, WEIGHTS_FILE].map(|file| format!("{folder}/{file}"));
    let card = Card::from_json(&store.get(&card_key)?, Path::new(&store.name(&card_key)))?;
    let (weights, name) = (store.get(&weights_key)?, store.name(&weights_key));
    Ok(Checkpoint::from_parts(card, &weights, Path::new(&name))?)
}

/// The games of the newest generations, oldest first.
pub(crate) fn newest_games(games: &BTreeMap<u32, Vec<GameRecord>>) -> Vec<&GameRecord> {
    let first = games.keys().rev().nth(EARLIER_GENERATIONS - 1).copied().unwrap_or(0);
    games.range(first..).flat_map(|(_, games)| games).collect()
}
