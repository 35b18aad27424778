//! An evaluator that costs time and nothing else, to measure a run's store and trainer without machines to match.

use std::time::Duration;

use hnefi_inference::{EvalError, EvalRequest, Evaluations, Evaluator, UniformEvaluator};

/// Answers with even chances after a pause, as a distant accelerator would: the processor is free meanwhile.
pub(super) struct PretendEvaluator {
    inner: UniformEvaluator,
    delay: Duration,
}

impl PretendEvaluator {
    /// Takes so long for every batch.
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
