//! An evaluator made of hashes: opinions as varied as a network's, and exactly the same everywhere.

use hnefi_engine::Move;

use crate::mixing::{mix, unit};
use crate::{EvalError, EvalRequest, Evaluations, Evaluator, Wdl};

/// Answers with pseudo-random chances and priors that depend only on the seed, [`hnefi_engine::Position::hash`] and the
/// move. It makes search trees reproducible to the last visit without a network.
#[derive(Clone, Copy, Debug)]
pub struct HashEvaluator {
    /// Two seeds give two unrelated sets of opinions.
    pub seed: u64,
}

/// Logits of moves and results lie in `-SPREAD..SPREAD`: enough that opinions differ, not so much that one move takes
/// all.
const SPREAD: f32 = 2.0;

impl HashEvaluator {
    /// An evaluator with this seed.
    pub fn new(seed: u64) -> HashEvaluator {
        HashEvaluator { seed }
    }

    fn logit(key: u64, what: u64) -> f32 {
        SPREAD * (2.0 * unit(mix(key ^ mix(what))) - 1.0)
    }
}

impl Evaluator for HashEvaluator {
    fn evaluate(&mut self, requests: &[EvalRequest<'_>], out: &mut Evaluations) -> Result<(), EvalError> {
        out.clear();
        for request in requests {
            let key = mix(request.position.hash() ^ mix(self.seed));
            // Moves of boards up to 11x11 are numbers of 14 bits, so the other draws use numbers above them. On larger
            // boards some draws coincide, which does no harm.
            let wdl = Wdl::from_logits([1 << 14, 2 << 14, 3 << 14].map(|what| HashEvaluator::logit(key, what)));
            let moves_left = 100.0 * unit(mix(key ^ mix(4 << 14)));
            let occupancy = request.auxiliary.then(|| vec![[0.25; 4]; request.position.size().squares()]);
            out.push(wdl, moves_left, occupancy, |logits| {
                let number = |mv: &Move| (mv.from().index() + (mv.to().index() << 7)) as u64;
                logits.extend(request.moves.iter().map(|mv| HashEvaluator::logit(key, number(mv))));
            });
        }
        Ok(())
    }
}
