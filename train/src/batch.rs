//! A batch of training samples as tensors on a device.

use burn::tensor::{Device, Int, Tensor, TensorData};
use hnefi_inference::{GLOBALS, PLANES};
use hnefi_run::sample::{Batch, CONTENTS};

/// A batch on a device.
#[derive(Clone, Debug)]
pub struct BatchTensors {
    /// `[B, PLANES, N, N]`.
    pub planes: Tensor<4>,
    /// `[B, GLOBALS]`.
    pub globals: Tensor<2>,
    /// `[B, L]`.
    pub policy_index: Tensor<2, Int>,
    /// `[B, L]`, added to the logits.
    pub policy_bar: Tensor<2>,
    /// `[B, L]`.
    pub policy_target: Tensor<2>,
    /// `[B, 1]`.
    pub policy_weight: Tensor<2>,
    /// `[B, 3]`.
    pub value: Tensor<2>,
    /// `[B, 1]`.
    pub moves_left: Tensor<2>,
    /// `[B, 4, N, N]`.
    pub occupancy: Tensor<4>,
    /// `[B, 1]`.
    pub end_weight: Tensor<2>,
}

impl BatchTensors {
    /// Copies a batch to a device.
    pub fn of(batch: &Batch, device: &Device) -> BatchTensors {
        let (rows, side, moves) = (batch.rows, batch.size.side(), batch.moves);
        let float = |values: &Vec<f32>, shape: &[usize]| TensorData::new(values.clone(), shape.to_vec());
        BatchTensors {
            planes: Tensor::from_data(float(&batch.planes, &[rows, PLANES, side, side]), device),
            globals: Tensor::from_data(float(&batch.globals, &[rows, GLOBALS]), device),
            policy_index: Tensor::from_data(TensorData::new(batch.policy_index.clone(), vec![rows, moves]), device),
            policy_bar: Tensor::from_data(float(&batch.policy_bar, &[rows, moves]), device),
            policy_target: Tensor::from_data(float(&batch.policy_target, &[rows, moves]), device),
            policy_weight: Tensor::from_data(float(&batch.policy_weight, &[rows, 1]), device),
            value: Tensor::from_data(float(&batch.value, &[rows, 3]), device),
            moves_left: Tensor::from_data(float(&batch.moves_left, &[rows, 1]), device),
            occupancy: Tensor::from_data(float(&batch.occupancy, &[rows, CONTENTS, side, side]), device),
            end_weight: Tensor::from_data(float(&batch.end_weight, &[rows, 1]), device),
        }
    }
}
