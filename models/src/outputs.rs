//! What a network says by burn's own layers: the reference of the other evaluators.

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use hnefi_engine::BoardSize;

use hnefi_inference::{Features, GLOBALS, PLANES, RawOutputs};

use crate::Network;

impl Network {
    /// Evaluates positions on burn's CPU device, by burn's own layers.
    ///
    /// # Panics
    /// When burn fails.
    pub fn raw_outputs(&self, features: &[Features], size: BoardSize) -> RawOutputs {
        let device = Device::flex();
        let (batch, side, squares) = (features.len(), size.side(), size.squares());
        let mut planes = vec![0.0; batch * PLANES * squares];
        for (features, out) in features.iter().zip(planes.chunks_exact_mut(PLANES * squares)) {
            features.write_planes(squares, out);
        }
        let globals: Vec<f32> = features.iter().flat_map(|features| features.globals).collect();
        let planes = Tensor::<4>::from_data(TensorData::new(planes, [batch, PLANES, side, side]), &device);
        let globals = Tensor::<2>::from_data(TensorData::new(globals, [batch, GLOBALS]), &device);
        let heads = self.valid().to_device(&device).forward_unfused(planes, globals);
        let read = |values: Tensor<1>| values.into_data().try_into_vec().expect("32-bit floats");
        RawOutputs {
            policy: read(heads.policy.flatten(0, 3)),
            wdl: read(heads.wdl.flatten(0, 1)),
            moves_left: read(heads.moves_left.flatten(0, 1)),
            occupancy: read(heads.occupancy.flatten(0, 3)),
        }
    }
}
