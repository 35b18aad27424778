//! Games and evaluators of the tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use hnefi_inference::{EvalError, EvalRequest, Evaluations, Evaluator, HashEvaluator};
use hnefi_run::PlyCaps;
use hnefi_selfplay::SelfPlayConfig;

/// Two game batches of short games without handicaps.
pub fn config(ply_cap: u16) -> SelfPlayConfig {
    SelfPlayConfig {
        games_in_flight: 64,
        ply_caps: PlyCaps { seven: ply_cap, nine: ply_cap, eleven: ply_cap },
        ..SelfPlayConfig::default().without_handicaps()
    }
}

/// Makes an evaluator with the opinions of a seed.
pub fn opinions(seed: u64) -> impl Fn() -> Box<dyn Evaluator> + Sync {
    move || Box::new(HashEvaluator { seed })
}

/// Answers like another evaluator until it has been asked often enough, then fails.
struct Failing {
    inner: HashEvaluator,
    batches_left: Arc<AtomicI64>,
}

impl Evaluator for Failing {
    fn evaluate(&mut self, requests: &[EvalRequest<'_>], out: &mut Evaluations) -> Result<(), EvalError> {
        if self.batches_left.fetch_sub(1, Ordering::Relaxed) <= 0 {
            let problem = "unplugged".to_string();
            return Err(EvalError::Device { count: requests.len(), device: "test".to_string(), problem });
        }
        self.inner.evaluate(requests, out)
    }
}

/// Makes evaluators with the opinions of a seed, which fail once they have evaluated this number of batches together.
pub fn failing_after(batches: i64, seed: u64) -> impl Fn() -> Box<dyn Evaluator> + Sync {
    let batches_left = Arc::new(AtomicI64::new(batches));
    move || Box::new(Failing { inner: HashEvaluator { seed }, batches_left: Arc::clone(&batches_left) })
}
