//! The end of a generation: publishes checkpoint, state, metrics and job.

use hnefi_engine::NamedRules;
use hnefi_inference::{Card, Checkpoint, json};
use hnefi_run::store::{Store, check_checkpoint, checkpoint_key, metrics_key, tensorboard_key};
use hnefi_run::{GenerationMetrics, PROGRAM};
use hnefi_selfplay::Adaptation;

use super::clock::Clock;
use super::context::Context;
use super::fence::Fence;
use super::saved;
use super::stage::CurrentStage;
use super::state::Counters;
use crate::TrainError;
use crate::config::TrainConfig;
use crate::job::{Job, PROTOCOL};
use crate::learner::{Learner, LearnerState};
use crate::schedule::playouts_at;
use crate::tensorboard::event_file;

/// A checkpoint to publish, besides its weights.
pub(super) struct NewCheckpoint<'a> {
    pub(super) config: &'a TrainConfig,
    pub(super) generation: u32,
    /// The stages whose games it has learned from.
    pub(super) stages: std::ops::RangeInclusive<usize>,
    /// Id of the checkpoint before it.
    pub(super) parent: Option<String>,
    pub(super) was_there: bool,
}

pub(super) struct CheckpointIds {
    /// Of the averaged weights.
    pub(super) averaged: String,
    /// Of the checkpoint in the store, another one if the generation was trained again with another result.
    pub(super) in_store: String,
}

/// Writes the averaged weights as a checkpoint. If the generation is trained again after a lost state, the existing
/// checkpoint stays, because it may have played games.
pub(super) fn publish_checkpoint(
    context: &Context<'_>,
    learner: &Learner,
    new: NewCheckpoint<'_>,
) -> Result<CheckpointIds, TrainError> {
    let NewCheckpoint { config, generation, stages, parent, was_there } = new;
    let counts = learner.counts();
    let card = Card {
        rulesets: context.whole.rulesets_of(stages)?.iter().map(NamedRules::name).collect(),
        generation,
        steps: counts.steps,
        samples: counts.samples,
        parent,
        seed: config.run.seed,
        ..Card::new(config.network)
    };
    let mut checkpoint = learner.average().checkpoint(card)?;
    // Checkpoint 0 has the same id as the origin, unless the network was grown.
    checkpoint.card.parent.take_if(|parent| *parent == checkpoint.card.id);
    let in_store = write_or_keep(context, generation, &checkpoint, was_there)?;
    Ok(CheckpointIds { averaged: checkpoint.card.id, in_store })
}

/// Writes the missing parts of a checkpoint and leaves existing ones. Returns the id of the checkpoint in the store.
fn write_or_keep(
    context: &Context<'_>,
    generation: u32,
    checkpoint: &Checkpoint,
    was_there: bool,
) -> Result<String, TrainError> {
    let Context { store, observer, .. } = context;
    let folder = checkpoint_key(generation);
    let name = store.name(&folder);
    let id = checkpoint.card.id.clone();
    let problem = match check_checkpoint(store, generation)? {
        Ok(card) => {
            if card.id != id {
                observer.warning(&format!(
                    "{name} has other weights than the training state: the generation was trained again with another \
                     result, or one of them is of another run; it stays as it is"
                ));
            }
            return Ok(card.id);
        }
        Err(problem) => problem,
    };
    let parts = checkpoint.parts()?;
    if store.list(&format!("{folder}/"))?.is_empty() {
        store.create_folder(&folder, &parts.each_ref().map(|(name, bytes)| (*name, bytes.as_slice())))?;
    } else {
        for (part, bytes) in &parts {
            store.create_once(&format!("{folder}/{part}"), bytes)?;
        }
    }
    let is_whole = check_checkpoint(store, generation)?.is_ok();
    if !is_whole {
        observer.warning(&format!("{problem}; once {name} is removed it is written again"));
    } else if was_there {
        observer.warning(&format!("{problem}; it was written again"));
    }
    Ok(id)
}

/// Writes the state of a complete generation. The state before it stays, in case the newest is damaged.
pub(super) fn publish_state(store: &Store, counters: &Counters, learner: &LearnerState) -> Result<(), TrainError> {
    saved::write_state(store, counters, learner)?;
    saved::remove_old_states(store, counters.generation)
}

/// Writes the metrics of a generation, also for TensorBoard.
pub(super) fn publish_metrics(store: &Store, metrics: &GenerationMetrics) -> Result<(), TrainError> {
    let line = json::with_checksum(&metrics.to_line());
    store.create_once(&metrics_key(metrics.generation), line.as_bytes())?;
    let events = event_file(metrics.unix_seconds, i64::from(metrics.generation), &metrics.scalars());
    Ok(store.create_once(&tensorboard_key(metrics.generation), &events)?)
}

/// Publishes the job of the workers for the checkpoint of `network`, the newest generation that has one. Whether the
/// budget is used up is decided here, once: with another answer a moment later, workers might wait for a trainer that
/// has ended.
pub(super) fn publish_job(
    store: &Store,
    fence: &Fence,
    clock: &Clock,
    stage: &CurrentStage,
    counters: &Counters,
    (network, checkpoint): (u32, String),
    adaptation: Adaptation,
) -> Result<Job, TrainError> {
    let progress = stage.progress_after(clock, counters.generation);
    let job = Job {
        protocol: PROTOCOL,
        program: PROGRAM.to_owned(),
        epoch: fence.epoch,
        generation: network,
        checkpoint,
        stage: counters.stage,
        finished: !clock.has_room(counters.generation, counters.generation_seconds),
        playouts: playouts_at(&stage.config.budget.playouts, progress),
        adaptation,
    };
    job.publish(store, fence.newest)?;
    Ok(job)
}
