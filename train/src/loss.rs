//! The losses of one batch.
//!
//! | part | formula, mean over the rows |
//! |---|---|
//! | policy | cross-entropy of the search's policy target and the softmax over legal moves |
//! | value | cross-entropy of win, draw, loss |
//! | moves left | Huber loss (delta 1) of `ln(1 + plies left)` |
//! | occupancy | cross-entropy of every square's final content, mean over the squares |
//!
//! A row whose weight for a part is 0 pulls nothing and the division is by all rows, so that a step in which few games
//! were seen to their end does not listen to those few the louder.

use burn::tensor::Tensor;
use burn::tensor::activation::log_softmax;
use hnefi_models::Heads;
use serde::{Deserialize, Serialize};

use crate::batch::BatchTensors;

/// How much each part counts in the sum that is minimised.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LossWeights {
    /// Policy.
    pub policy: f32,
    /// Win, draw and loss.
    pub value: f32,
    /// Moves left.
    pub moves_left: f32,
    /// Final occupancy.
    pub occupancy: f32,
}

/// The losses of a batch as tensors of one number, `[1]`.
#[derive(Clone, Debug)]
pub struct Losses {
    /// Weighted sum of the parts below.
    pub total: Tensor<1>,
    /// Unweighted policy loss in nats.
    pub policy: Tensor<1>,
    /// Unweighted value loss in nats.
    pub value: Tensor<1>,
    /// Unweighted Huber loss of the moves left.
    pub moves_left: Tensor<1>,
    /// Unweighted occupancy loss in nats a square.
    pub occupancy: Tensor<1>,
}

impl Losses {
    /// Compares a network's answer with the targets.
    pub fn of(heads: Heads, targets: &BatchTensors, weights: &LossWeights) -> Losses {
        let rows = targets.value.dims()[0];

        let [_, planes, side, _] = heads.policy.dims();
        let legal = heads.policy.reshape([rows, planes * side * side]).gather(1, targets.policy_index.clone());
        let log_policy = log_softmax(legal + targets.policy_bar.clone(), 1);
        let policy = -(log_policy * targets.policy_target.clone()).sum_dim(1) * targets.policy_weight.clone();

        let value = -(log_softmax(heads.wdl, 1) * targets.value.clone()).sum_dim(1);

        let distance = (heads.moves_left - targets.moves_left.clone()).abs();
        let moves_left = huber(distance) * targets.end_weight.clone();

        let log_occupancy = log_softmax(heads.occupancy, 1) * targets.occupancy.clone();
        let occupancy = -log_occupancy.reshape([rows as i32, -1]).sum_dim(1).div_scalar((side * side) as f32)
            * targets.end_weight.clone();

        let [policy, value, moves_left, occupancy] =
            [policy, value, moves_left, occupancy].map(|rows| rows.mean().reshape([1]));
        let total = policy.clone() * weights.policy
            + value.clone() * weights.value
            + moves_left.clone() * weights.moves_left
            + occupancy.clone() * weights.occupancy;
        Losses { total, policy, value, moves_left, occupancy }
    }
}

/// Huber loss with delta 1 of a distance that is not negative: `d^2 / 2` up to 1 and `d - 1/2` from there, written as
/// `c (d - c/2)` with `c = min(d, 1)`.
fn huber(distance: Tensor<2>) -> Tensor<2> {
    let near = distance.clone().clamp_max(1.0);
    near.clone() * (distance - near * 0.5)
}
