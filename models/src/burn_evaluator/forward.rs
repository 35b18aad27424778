//! One crossing to a device and back.

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};

use super::rows::Asked;
use crate::Network;
use hnefi_inference::{EvalError, GLOBALS, PLANES};

/// A network on the device where it runs.
pub(super) struct Forward {
    network: Network,
    device: Device,
    /// GPU kernels are compiled and tuned per shape, so batches are padded there to powers of two.
    pub(super) pads: bool,
}

impl Forward {
    /// Moves a copy of the network to the device, without its training state.
    pub(super) fn new(network: &Network, device: &Device, pads: bool) -> Forward {
        let device = device.clone().without_autodiff();
        Forward { network: network.valid().to_device(&device), device, pads }
    }

    /// A row of numbers per position asked about, as [`super::rows::Answered`] reads them. Everything comes in one
    /// tensor, because each tensor read back from a GPU costs a wait.
    pub(super) fn run(&self, asked: &Asked) -> Result<Vec<f32>, String> {
        let batch = if self.pads { asked.count.next_power_of_two() } else { asked.count };
        let (side, width) = (asked.size.side(), asked.row_width());
        let padded = |values: &[f32], len: usize| {
            let mut values = values.to_vec();
            values.resize(len, 0.0);
            values
        };
        let planes = padded(&asked.planes, batch * PLANES * asked.size.squares());
        let globals = padded(&asked.globals, batch * GLOBALS);
        let planes = Tensor::<4>::from_data(TensorData::new(planes, [batch, PLANES, side, side]), &self.device);
        let globals = Tensor::<2>::from_data(TensorData::new(globals, [batch, GLOBALS]), &self.device);
        let heads = self.network.forward(planes, globals);
        let mut parts = vec![heads.policy.flatten::<2>(1, 3), heads.wdl, heads.moves_left];
        if asked.auxiliary {
            parts.push(heads.occupancy.flatten::<2>(1, 3));
        }
        let data = Tensor::cat(parts, 1).try_into_data().map_err(|error| format!("{error:?}"))?;
        let mut values = data.try_into_vec::<f32>().map_err(|error| format!("{error:?}"))?;
        values.truncate(asked.count * width);
        Ok(values)
    }

    /// The error of an evaluation of `count` positions.
    pub(super) fn failed(&self, count: usize, problem: String) -> EvalError {
        EvalError::Device { count, device: format!("{:?}", self.device), problem }
    }
}
