//! Evaluation by burn on any of its devices: the slow and sure one on a CPU, the only one on a GPU.
//!
//! | file | what it does |
//! |---|---|
//! | `rows` | requests to numbers, and numbers to answers |
//! | `forward` | one device crossing |
//! | `queue` | a GPU shared by many threads, whose requests go together |

mod forward;
mod queue;
mod rows;

use burn::tensor::Device;
use rayon::{ThreadPool, ThreadPoolBuilder};

pub use queue::GpuQueue;

use crate::Network;
use forward::Forward;
use hnefi_inference::{EvalError, EvalRequest, Evaluations, Evaluator};
use rows::{Answered, Asked};

/// Runs a [`Network`] through burn. A batch may mix board sizes: each size crosses to the device once.
pub struct BurnEvaluator {
    forward: Forward,
    /// burn's CPU backend spreads its work over the thread pool it is called in. With an evaluator per thread that pool
    /// must be the evaluator's own, of one thread, or the evaluators would wait for each other. `None` on other
    /// devices.
    pool: Option<ThreadPool>,
    on_cpu: bool,
}

impl BurnEvaluator {
    /// Moves a copy of the network to the device, without its training state.
    pub fn new(network: &Network, device: &Device) -> BurnEvaluator {
        let on_cpu = device.clone().without_autodiff() == Device::flex();
        BurnEvaluator { forward: Forward::new(network, device, !on_cpu), pool: None, on_cpu }
    }
}

impl Evaluator for BurnEvaluator {
    fn evaluate(&mut self, requests: &[EvalRequest<'_>], out: &mut Evaluations) -> Result<(), EvalError> {
        let failed = |problem| self.forward.failed(requests.len(), problem);
        if self.on_cpu && self.pool.is_none() {
            let pool = ThreadPoolBuilder::new().num_threads(1).build();
            self.pool = Some(pool.map_err(|error| failed(error.to_string()))?);
        }
        let run = || -> Result<Vec<Answered>, String> {
            Asked::by_size(requests).map(|asked| Ok(Answered::of(&asked, self.forward.run(&asked)?))).collect()
        };
        let answered = match &self.pool {
            Some(pool) => pool.install(run),
            None => run(),
        };
        rows::write(requests, answered.map_err(failed)?, out)
            .map_err(|problem| self.forward.failed(requests.len(), problem))
    }
}

#[cfg(test)]
mod tests {
    use hnefi_engine::{MoveList, Position, Preset};
    use hnefi_inference::Handicap;

    use super::*;
    use hnefi_inference::NetworkConfig;

    #[test]
    fn padding_a_batch_changes_no_answer() {
        let config = NetworkConfig { blocks: 1, channels: 8, pool_every: 1, head_channels: 8, value_hidden: 8 };
        let network = Network::fresh(&config, 0, &Device::flex());
        let positions: Vec<(Position, MoveList)> =
            [Preset::Brandubh, Preset::Tablut, Preset::Brandubh, Preset::Brandubh]
                .iter()
                .map(|preset| {
                    let position = Position::start(&preset.rules());
                    let mut moves = MoveList::new();
                    position.legal_moves(&mut moves);
                    (position, moves)
                })
                .collect();
        let requests: Vec<EvalRequest<'_>> = positions
            .iter()
            .map(|(position, moves)| EvalRequest { position, moves, handicap: Handicap::NONE, auxiliary: true })
            .collect();

        let answers = |pads: bool| {
            let mut evaluator = BurnEvaluator::new(&network, &Device::flex());
            evaluator.forward.pads = pads;
            let mut out = Evaluations::new();
            evaluator.evaluate(&requests, &mut out).unwrap();
            out
        };
        let (plain, padded) = (answers(false), answers(true));
        assert_eq!(padded.len(), requests.len());
        for index in 0..requests.len() {
            assert!((plain.get(index).wdl.win - padded.get(index).wdl.win).abs() < 1e-6);
            for (a, b) in plain.priors(index).iter().zip(padded.priors(index)) {
                assert!((a - b).abs() < 1e-6);
            }
        }
    }
}
