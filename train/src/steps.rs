//! Training steps, with batches prepared in advance on another thread.

use std::ops::Range;
use std::sync::mpsc::sync_channel;

use crate::TrainError;
use crate::learner::{Learner, StepReport};
use crate::sample::Sampler;

/// Number of batches prepared in advance.
const AHEAD: usize = 2;

/// A step that was taken.
pub(crate) struct Taken {
    /// Its report.
    pub(crate) report: StepReport,
    /// Mean entropy of its policy targets, nats.
    pub(crate) entropy: f32,
}

/// Takes the steps with these numbers on batches of `rows` samples in `shards` parts. `rate` returns the learning rate
/// of a step, or `None` to end before it; `taken` is called after every step.
pub(crate) fn take_steps(
    learner: &mut Learner,
    sampler: &Sampler<'_>,
    steps: Range<u64>,
    (rows, shards): (usize, usize),
    rate: &mut dyn FnMut(u64) -> Option<f64>,
    taken: &mut dyn FnMut(u64, &Taken),
) -> Result<(), TrainError> {
    std::thread::scope(|scope| {
        let (sender, batches) = sync_channel(AHEAD);
        let numbers = steps.clone();
        scope.spawn(move || {
            for step in numbers {
                // The receiver is dropped if the learner ends early.
                if sender.send(sampler.batch(step, rows, shards)).is_err() {
                    return;
                }
            }
        });
        for (step, batch) in steps.zip(batches) {
            let Some(rate) = rate(step) else { break };
            let batch = batch?;
            let report = learner.step(&batch, rate)?;
            let entropy = batch.iter().map(|shard| shard.policy_entropy()).sum::<f32>() / batch.len() as f32;
            taken(step, &Taken { report, entropy });
        }
        Ok(())
    })
}
