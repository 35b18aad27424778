//! Datasets, what they are made of, and what is asked of games in files.

mod analyse;
mod dataset;
mod export;
mod games;
mod import;
mod judge;
mod npz;
mod pgn;
mod replay;

use hnefi_inference::{EvalError, EvalRequest, Evaluations, Evaluator};

/// A device that fails.
struct Broken;

impl Evaluator for Broken {
    fn evaluate(&mut self, requests: &[EvalRequest<'_>], _: &mut Evaluations) -> Result<(), EvalError> {
        Err(EvalError::Device { count: requests.len(), device: "test".to_owned(), problem: "unplugged".to_owned() })
    }
}
