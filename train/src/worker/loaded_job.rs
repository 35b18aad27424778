//! A job with its network.

use std::path::Path;

use hnefi_inference::{CARD_FILE, Card, Checkpoint, Evaluator, WEIGHTS_FILE, evaluators};
use hnefi_run::store::{Store, checkpoint_key};

use crate::run::Job;
use crate::{TrainConfig, TrainError};

/// Makes the evaluator of one thread.
type MakeEvaluator = Box<dyn Fn() -> Box<dyn Evaluator> + Send + Sync>;

/// A job with its network.
pub(super) struct LoadedJob {
    pub(super) job: Job,
    pub(super) make_evaluator: MakeEvaluator,
}

impl LoadedJob {
    /// Fetches the network that the job names, unless `before` has it.
    pub(super) fn load(
        store: &Store,
        config: &TrainConfig,
        job: Job,
        before: Option<LoadedJob>,
    ) -> Result<LoadedJob, TrainError> {
        if let Some(before) = before.filter(|before| before.job.checkpoint == job.checkpoint) {
            return Ok(LoadedJob { job, ..before });
        }
        let checkpoint = read_checkpoint(store, job.generation)?;
        if checkpoint.card.id != job.checkpoint {
            let (found, expected) = (checkpoint.card.id, &job.checkpoint);
            let problem = format!("its id is {found}; the trainer announced {expected}");
            let object = format!("checkpoint {} of {}", job.generation, store.place());
            return Err(TrainError::State { object, problem });
        }
        hnefi_models::device::install();
        let make_evaluator = evaluators(&checkpoint.weights, &config.run.device, config.run.precision)?;
        Ok(LoadedJob { job, make_evaluator })
    }
}

/// Reads the checkpoint of a generation.
fn read_checkpoint(store: &Store, generation: u32) -> Result<Checkpoint, TrainError> {
    let folder = checkpoint_key(generation);
    let [card_key, weights_key] = [CARD_FILE, WEIGHTS_FILE].map(|file| format!("{folder}/{file}"));
    let card = Card::from_json(&store.get(&card_key)?, Path::new(&store.name(&card_key)))?;
    let (weights, name) = (store.get(&weights_key)?, store.name(&weights_key));
    Ok(Checkpoint::from_parts(card, &weights, Path::new(&name))?)
}
