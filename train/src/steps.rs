//! Training steps, with batches prepared in advance on another thread.

use std::ops::Range;
use std::sync::mpsc::sync_channel;

use crate::TrainError;
use crate::config::TrainSection;
use crate::learner::{Learner, StepReport};
use hnefi_run::GameRecord;
use hnefi_run::sample::Sampler;

const AHEAD: usize = 2;

/// Takes the steps with these numbers. `rate` returns the learning rate of a step, or `None` to end before it.
/// `taken` is called after every step with its report and the mean entropy of its policy targets, nats.
pub(crate) fn take_steps(
    learner: &mut Learner,
    sampler: &Sampler<&GameRecord>,
    steps: Range<u64>,
    section: &TrainSection,
    rate: &mut dyn FnMut(u64) -> Result<Option<f64>, TrainError>,
    taken: &mut dyn FnMut(u64, &StepReport, f32),
) -> Result<(), TrainError> {
    std::thread::scope(|scope| {
        let (sender, batches) = sync_channel(AHEAD);
        let (numbers, rows, shards) = (steps.clone(), section.batch, section.shards);
        scope.spawn(move || {
            for step in numbers {
                // The receiver is dropped if the learner ends early.
                if sender.send(sampler.batch(step, rows, shards)).is_err() {
                    return;
                }
            }
        });
        for (step, batch) in steps.zip(batches) {
            let Some(rate) = rate(step)? else { break };
            let batch = batch?;
            let report = learner.step(&batch, rate)?;
            let entropy = batch.iter().map(|shard| shard.policy_entropy()).sum::<f32>() / batch.len() as f32;
            taken(step, &report, entropy);
        }
        Ok(())
    })
}
