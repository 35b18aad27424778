//! An evaluator that only waits, to measure a run's store and trainer with many workers on one machine.

use std::time::Duration;

use hnefi_inference::{EvalError, EvalRequest, Evaluations, Evaluator, UniformEvaluator};

/// Evaluates with even chances after a pause, as a remote accelerator would; the CPU is free meanwhile.
pub(super) struct PretendEvaluator {
    inner: UniformEvaluator,
    delay: Duration,
}

impl PretendEvaluator {
    /// An evaluator that takes `delay` per batch.
    pub(super) fn new(delay: Duration) -> PretendEvaluator {
        PretendEvaluator { inner: UniformEvaluator, delay }
    }
}

impl Evaluator for PretendEvaluator {
    fn evaluate(&mut self, requests: &[EvalRequest<'_>], out: &mut Evaluations) -> Result<(), EvalError> {
        std::thread::sleep(self.delay);
        self.inner.evaluate(requests, out)
    }
}
