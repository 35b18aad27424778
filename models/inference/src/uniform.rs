//! The evaluator that knows nothing: every move and every result equally likely.

use crate::{EvalError, EvalRequest, Evaluations, Evaluator, Wdl};

/// Answers every position with equal chances and equal priors: search without a network, and the plainest of test
/// doubles.
#[derive(Clone, Copy, Debug, Default)]
pub struct UniformEvaluator;

impl UniformEvaluator {
    /// Plies to the end that it always expects.
    pub const MOVES_LEFT: f32 = 50.0;
}

impl Evaluator for UniformEvaluator {
    fn evaluate(&mut self, requests: &[EvalRequest<'_>], out: &mut Evaluations) -> Result<(), EvalError> {
        out.clear();
        for request in requests {
            let occupancy = request.auxiliary.then(|| vec![[0.25; 4]; request.position.size().squares()]);
            out.push(Wdl::UNKNOWN, UniformEvaluator::MOVES_LEFT, occupancy, |logits| {
                logits.resize(logits.len() + request.moves.len(), 0.0);
            });
        }
        Ok(())
    }
}
