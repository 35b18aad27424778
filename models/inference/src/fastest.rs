//! Which precision and which devices evaluate a network fastest on this machine, found out by trying.
//!
//! Only precisions that the CPU has instructions for are tried, so on most machines there is nothing to try and the
//! answer is single precision. A lower one must be clearly faster to be worth what it costs in accuracy. The answer is
//! remembered for the life of the process, by the network's shape: weights do not change how long it takes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hnefi_engine::{MoveList, Position, Preset};

use crate::{
    CpuEvaluator, CpuNetwork, CpuNetworkError, EvalError, EvalRequest, Evaluations, Evaluator, Handicap, Precision,
    Weights,
};

/// A lower precision is taken when it is this much faster than single precision.
const WORTH_IT: f64 = 1.25;

/// How long each precision is tried, in rounds of which the best counts.
const ROUND: Duration = Duration::from_millis(4);

/// Rounds of each.
const ROUNDS: u32 = 4;

/// Positions evaluated at once, as a search on one thread does.
const BATCH: usize = 8;

/// Shapes, as blocks and channels, with what was found.
static FOUND: Mutex<Vec<((usize, usize), Precision)>> = Mutex::new(Vec::new());

/// The precision in which this CPU evaluates the network fastest, [`Precision::F32`] unless a lower one is faster by a
/// quarter.
///
/// # Errors
/// When the network cannot be packed.
pub(crate) fn fastest(weights: &Weights) -> Result<Precision, CpuNetworkError> {
    let candidates: Vec<Precision> =
        Precision::ALL.into_iter().filter(|&one| one != Precision::F32 && one.missing().is_none()).collect();
    if candidates.is_empty() {
        return Ok(Precision::F32);
    }
    let shape = (weights.config().blocks, weights.config().channels);
    // Held while it is tried, so that threads that ask at the same time do not disturb each other's trial.
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&(_, precision)) = found.iter().find(|(known, _)| *known == shape) {
        return Ok(precision);
    }
    let mut best = (Precision::F32, WORTH_IT * speed(weights, Precision::F32)?);
    for precision in candidates {
        let speed = speed(weights, precision)?;
        if speed > best.1 {
            best = (precision, speed);
        }
    }
    found.push((shape, best.0));
    Ok(best.0)
}

/// Evaluations a second of one thread of the CPU, by batches as a search makes them.
fn speed(weights: &Weights, precision: Precision) -> Result<f64, CpuNetworkError> {
    let mut evaluator = CpuEvaluator::new(Arc::new(CpuNetwork::with_precision(weights, precision)?));
    // This evaluator has nothing that could fail.
    Ok(rate(&mut evaluator, BATCH).unwrap_or(0.0))
}

/// Evaluations a second of the 11x11 start, the board that most networks play on, `batch` at once; the best of a few
/// short rounds.
///
/// # Errors
/// When the evaluator fails.
pub(crate) fn rate(evaluator: &mut dyn Evaluator, batch: usize) -> Result<f64, EvalError> {
    let position = Position::start(&Preset::Copenhagen.rules());
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    let request = EvalRequest { position: &position, moves: &moves, handicap: Handicap::NONE, auxiliary: false };
    let requests = vec![request; batch];
    let mut out = Evaluations::new();
    // A card makes its kernels ready at the first.
    evaluator.evaluate(&requests, &mut out)?;
    let mut best = 0.0_f64;
    for _ in 0..ROUNDS {
        let (began, mut count) = (Instant::now(), 0);
        while began.elapsed() < ROUND {
            evaluator.evaluate(&requests, &mut out)?;
            count += batch;
        }
        best = best.max(count as f64 / began.elapsed().as_secs_f64());
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NetworkConfig;

    #[test]
    fn what_the_cpu_has_no_instructions_for_is_not_taken() {
        let config = NetworkConfig { blocks: 1, channels: 32, pool_every: 1, head_channels: 4, value_hidden: 8 };
        let network = Weights::fresh(&config, 3);
        let found = fastest(&network).unwrap();
        assert_eq!(found.missing(), None);
        assert_eq!(fastest(&network).unwrap(), found, "remembered");
        assert!(speed(&network, Precision::F32).unwrap() > 0.0);
    }
}
