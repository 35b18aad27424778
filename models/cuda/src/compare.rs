//! Comparing a card with the CPU.

use std::sync::Arc;

use hnefi_engine::{MoveList, Position, Preset};
use hnefi_inference::{
    DeviceChoice, Devices, EvalError, EvalRequest, Evaluation, Evaluations, Evaluator, Handicap, NetworkConfig,
    Precision, PrecisionChoice, Weights,
};

use crate::queue::CardQueue;
use crate::{Card, CardNetwork};

/// How far a chance may be from the CPU's.
const TOLERANCE: f32 = 0.01;

/// Compares evaluations of a small network with random weights on a card and on the CPU.
///
/// # Errors
/// When the card fails, or says something else; `device` names it.
pub fn compare_evaluation(card: &Arc<Card>, device: DeviceChoice) -> Result<(), EvalError> {
    let config = NetworkConfig { blocks: 3, channels: 32, pool_every: 2, head_channels: 16, value_hidden: 32 };
    let weights = Weights::fresh(&config, 1);
    let network = CardNetwork::new(card, &weights).map_err(|error| device.unavailable(error.to_string()))?;
    let queue = CardQueue::new(&Arc::new(network), device)?;
    let exact = PrecisionChoice::Exactly(Precision::F32);
    for preset in [Preset::Brandubh, Preset::Tablut, Preset::Copenhagen] {
        let position = Position::start(&preset.rules());
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        let request = EvalRequest { position: &position, moves: &moves, handicap: Handicap::NONE, auxiliary: false };
        let [mut expected, mut found] = [Evaluations::new(), Evaluations::new()];
        Devices::cpu().evaluator(&weights, exact)?.evaluate(&[request], &mut expected)?;
        queue.evaluator().evaluate(&[request], &mut found)?;
        let chances = |one: &Evaluation| [one.wdl.win, one.wdl.draw, one.wdl.loss];
        let results = chances(expected.get(0)).into_iter().zip(chances(found.get(0)));
        let priors = expected.priors(0).iter().copied().zip(found.priors(0).iter().copied());
        // What is no number is not near either.
        let is_near = |(expected, found): &(f32, f32)| (found - expected).abs() <= TOLERANCE;
        if let Some((expected, found)) = results.chain(priors).find(|pair| !is_near(pair)) {
            let problem = format!("it says {found} of the start of {preset} where the CPU says {expected}");
            return Err(device.unavailable(problem));
        }
    }
    Ok(())
}
