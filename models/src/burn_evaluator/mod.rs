//! Evaluation by burn's own layers: slow and sure, the reference of the evaluators that play.

mod rows;

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};

use crate::Network;
use hnefi_inference::{EvalError, EvalRequest, Evaluations, Evaluator, GLOBALS, PLANES};
use rows::{Answered, Asked};

/// Runs a [`Network`] through burn on the CPU. A batch may mix board sizes.
pub struct BurnEvaluator {
    network: Network,
}

impl BurnEvaluator {
    /// With a copy of the network, without its training state.
    pub fn new(network: &Network) -> BurnEvaluator {
        BurnEvaluator { network: network.valid() }
    }

    /// A row of numbers per position asked about, as [`Answered`] reads them.
    fn forward(&self, asked: &Asked) -> Result<Vec<f32>, String> {
        let (batch, side, device) = (asked.count, asked.size.side(), Device::flex());
        let planes = TensorData::new(asked.planes.clone(), [batch, PLANES, side, side]);
        let globals = TensorData::new(asked.globals.clone(), [batch, GLOBALS]);
        let heads = self.network.forward(Tensor::from_data(planes, &device), Tensor::from_data(globals, &device));
        let mut parts = vec![heads.policy.flatten::<2>(1, 3), heads.wdl, heads.moves_left];
        if asked.auxiliary {
            parts.push(heads.occupancy.flatten::<2>(1, 3));
        }
        let data = Tensor::cat(parts, 1).try_into_data().map_err(|error| format!("{error:?}"))?;
        data.try_into_vec::<f32>().map_err(|error| format!("{error:?}"))
    }
}

impl Evaluator for BurnEvaluator {
    fn evaluate(&mut self, requests: &[EvalRequest<'_>], out: &mut Evaluations) -> Result<(), EvalError> {
        let failed = |problem| EvalError::Device { count: requests.len(), device: "burn".to_owned(), problem };
        let answered: Result<Vec<Answered>, String> =
            Asked::by_size(requests).map(|asked| Ok(Answered::of(&asked, self.forward(&asked)?))).collect();
        rows::write(requests, answered.map_err(failed)?, out).map_err(failed)
    }
}
