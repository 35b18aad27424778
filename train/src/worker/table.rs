//! What a worker plays with until there are newer terms: the network that they name.

use std::path::Path;

use hnefi_inference::{CARD_FILE, Card, Checkpoint, Evaluator, WEIGHTS_FILE, evaluators};
use hnefi_run::store::{Store, checkpoint_key};

use crate::run::Terms;
use crate::{TrainConfig, TrainError};

/// Makes the evaluator of one thread.
type MakeEvaluator = Box<dyn Fn() -> Box<dyn Evaluator> + Send + Sync>;

/// Terms with the network that they name.
pub(super) struct Table {
    pub(super) terms: Terms,
    pub(super) make_evaluator: MakeEvaluator,
}

impl Table {
    /// Fetches the network that the terms name, unless `before` has it.
    pub(super) fn set(
        store: &Store,
        config: &TrainConfig,
        terms: Terms,
        before: Option<Table>,
    ) -> Result<Table, TrainError> {
        if let Some(before) = before.filter(|before| before.terms.checkpoint == terms.checkpoint) {
            return Ok(Table { terms, ..before });
        }
        let checkpoint = read_checkpoint(store, terms.generation)?;
        if checkpoint.card.id != terms.checkpoint {
            let (found, expected) = (checkpoint.card.id, &terms.checkpoint);
            let problem = format!("its id is {found}; the trainer announced {expected}");
            let object = format!("checkpoint {} of {}", terms.generation, store.place());
            return Err(TrainError::State { object, problem });
        }
        hnefi_models::device::install();
        let make_evaluator = evaluators(&checkpoint.weights, &config.run.device, config.run.precision)?;
        Ok(Table { terms, make_evaluator })
    }
}

/// The checkpoint of a generation.
fn read_checkpoint(store: &Store, generation: u32) -> Result<Checkpoint, TrainError> {
    let folder = checkpoint_key(generation);
    let [card_key, weights_key] = [CARD_FILE, WEIGHTS_FILE].map(|file| format!("{folder}/{file}"));
    let card = Card::from_json(&store.get(&card_key)?, Path::new(&store.name(&card_key)))?;
    let (weights, name) = (store.get(&weights_key)?, store.name(&weights_key));
    Ok(Checkpoint::from_parts(card, &weights, Path::new(&name))?)
}
