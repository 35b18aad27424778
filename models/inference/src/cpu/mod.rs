//! The fast evaluator for CPUs: the network's arithmetic without burn, in single precision or with a tower in low
//! precision.
//!
//! [`CpuNetwork`] packs [`crate::Weights`] once: norms are folded into their convolutions, kernels transformed for
//! Winograd's method, everything packed in the order in which it is read. [`CpuEvaluator`] then takes one board at a
//! time (or a few, where the weights outgrow the cache) through the layers:
//!
//! | folder or file | what it does |
//! |---|---|
//! | `fold` | layers out of weights, norms into convolutions |
//! | `stem` | binary planes to channels, by adding the rows of set bits |
//! | `layers` | 3x3 convolutions and dense layers, packed |
//! | `block` | a residual block in single precision |
//! | `low_precision` | the tower in int8 ([`crate::Precision`]) |
//! | `calibration` | the games that the steps of int8 values are measured on |
//! | `heads` | policy where moves start, value, occupancy |
//! | `network` | the order of it all, and the scratch memory |
//! | `outputs` | all logits of a position |
//!
//! The arithmetic is in [`hnefi_kernels`]. Boards lie channels last with a border of zeros. Nothing is allocated while
//! evaluating, but for auxiliary answers.

mod block;
mod calibration;
mod fold;
mod heads;
mod layers;
mod low_precision;
mod network;
mod outputs;
mod stem;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use fold::CpuNetworkError;
pub use network::CpuNetwork;
pub use outputs::RawOutputs;

use crate::evaluation::{plies_left, softmax};
use crate::{EvalError, EvalRequest, Evaluations, Evaluator, Features, PolicyIndex, Wdl};
use network::Scratch;

/// Keeps the multiply-add units of the calling thread's core as busy as this CPU's best kernels could at most, for
/// `rounds` short rounds. Returns how many multiply-adds of single floats were done: over the time taken, the peak that
/// evaluation and training are measured against.
pub fn peak_multiply_adds(rounds: u64) -> u64 {
    hnefi_kernels::Kernels::best().peak_multiply_adds(rounds)
}

/// Evaluates on the thread that asks, without any other. One per thread, all sharing the network.
#[derive(Debug)]
pub struct CpuEvaluator {
    network: Arc<CpuNetwork>,
    scratch: Scratch,
    logits: Vec<f32>,
}

impl CpuEvaluator {
    /// An evaluator with scratch memory of its own.
    pub fn new(network: Arc<CpuNetwork>) -> CpuEvaluator {
        let scratch = network.scratch();
        CpuEvaluator { network, scratch, logits: Vec::new() }
    }

    /// Answers the request that went through the tower as board `index`.
    fn answer(&mut self, index: usize, request: &EvalRequest<'_>, out: &mut Evaluations) -> Result<(), &'static str> {
        let (network, scratch, logits) = (&self.network, &mut self.scratch, &mut self.logits);
        let (side, size) = (request.position.side_to_move(), request.position.size());
        let value = network.value(index, side, scratch);
        logits.clear();
        let places = request.moves.iter().map(|&mv| PolicyIndex::of(mv, size));
        network.policy(index, side, places, scratch, logits);
        let occupancy = request.auxiliary.then(|| {
            let mut squares = network.occupancy(index, scratch);
            squares.iter_mut().for_each(|square| softmax(square));
            squares
        });
        // Finite weights can still overflow, and the search cannot do anything sensible with the result.
        let squares = occupancy.iter().flatten().flatten();
        if !value.iter().chain(logits.iter()).chain(squares).all(|value| value.is_finite()) {
            return Err("the network gave a value that is not a finite number");
        }
        out.push(Wdl::from_logits([value[0], value[1], value[2]]), plies_left(value[3]), occupancy, |into| {
            into.extend_from_slice(logits);
        });
        Ok(())
    }
}

impl Evaluator for CpuEvaluator {
    fn evaluate(&mut self, requests: &[EvalRequest<'_>], out: &mut Evaluations) -> Result<(), EvalError> {
        out.clear();
        let mut rest = requests;
        while let Some(first) = rest.first() {
            let size = first.position.size();
            let boards =
                rest.iter().take(self.network.group(size)).take_while(|next| next.position.size() == size).count();
            let (now, later) = rest.split_at(boards);
            self.network.lay_out(size, &mut self.scratch);
            for (index, request) in now.iter().enumerate() {
                let features = Features::of(request.position, request.handicap);
                self.network.enter(index, &features, &mut self.scratch);
            }
            self.network.run_tower(boards, &mut self.scratch);
            for (index, request) in now.iter().enumerate() {
                self.answer(index, request, out).map_err(|problem| EvalError::Device {
                    count: requests.len(),
                    device: "cpu".to_owned(),
                    problem: problem.to_owned(),
                })?;
            }
            rest = later;
        }
        Ok(())
    }
}
