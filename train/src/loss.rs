//! The losses of one batch.
//!
//! | part | formula, mean over the rows |
//! |---|---|
//! | policy | cross-entropy of the search's policy target and the softmax over legal moves |
//! | value | cross-entropy of win, draw, loss |
//! | moves left | Huber loss (delta 1) of `ln(1 + plies left)` |
//! | occupancy | cross-entropy of every square's final content, mean over the squares |
//!
//! A row with weight 0 for a part contributes nothing to it. The mean is over all rows, so that a few rows with weight
//! do not count more when most rows have none.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Int, Tensor};
use hnefi_models::Heads;

use crate::batch::BatchTensors;
use crate::config::TrainSection;

/// The weights of the parts in the minimised sum.
#[derive(Clone, Copy, Debug, PartialEq)]
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

impl From<&TrainSection> for LossWeights {
    /// The other weights are relative to the policy's.
    fn from(section: &TrainSection) -> LossWeights {
        LossWeights {
            policy: 1.0,
            value: section.value_weight,
            moves_left: section.moves_left_weight,
            occupancy: section.occupancy_weight,
        }
    }
}

/// The losses of a batch, each a tensor `[1]`.
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
    /// Computes the losses of a network's outputs.
    pub fn of(heads: Heads, targets: &BatchTensors, weights: &LossWeights) -> Losses {
        let rows = targets.value.dims()[0];

        let side = heads.policy.dims()[2];
        let log_policy = log_policy(heads.policy, &targets.policy_index, &targets.policy_bar);
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

/// Log-probabilities of the legal moves, `[B, L]`, from the policy logits `[B, 40, N, N]`.
fn log_policy(policy: Tensor<4>, index: &Tensor<2, Int>, bar: &Tensor<2>) -> Tensor<2> {
    let [rows, planes, side, _] = policy.dims();
    let legal = policy.reshape([rows, planes * side * side]).gather(1, index.clone());
    log_softmax(legal + bar.clone(), 1)
}

/// Huber loss with delta 1 of a distance `d >= 0`: `d^2 / 2` up to 1 and `d - 1/2` beyond, computed as `c (d - c/2)`
/// with `c = min(d, 1)`.
fn huber(distance: Tensor<2>) -> Tensor<2> {
    let near = distance.clone().clamp_max(1.0);
    near.clone() * (distance - near * 0.5)
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;
    use hnefi_engine::BoardSize;
    use hnefi_inference::{GLOBALS, PLANES, policy_planes};

    use super::*;
    use hnefi_run::sample::{Batch, Row};

    const WEIGHTS: LossWeights = LossWeights { policy: 1.0, value: 2.0, moves_left: 4.0, occupancy: 8.0 };

    /// A row with two legal moves, at places 3 and 7 of the policy output, that was drawn with one ply left.
    fn row(policy: [f32; 2]) -> Row {
        let squares = BoardSize::SEVEN.squares();
        Row {
            planes: vec![0.0; PLANES * squares],
            globals: [0.0; GLOBALS],
            policy: vec![(3, policy[0]), (7, policy[1])],
            policy_weight: 1.0,
            value: [0.0, 1.0, 0.0],
            moves_left: 2_f32.ln(),
            occupancy: vec![2; squares],
            end_weight: 1.0,
        }
    }

    /// All logits 0 but the policy's, and moves left as given.
    fn heads(rows: usize, policy: &[(usize, f32)], moves_left: f32) -> Heads {
        let device = Device::flex();
        let mut logits = vec![0.0; policy_planes(7) * 49];
        for &(place, logit) in policy {
            logits[place] = logit;
        }
        Heads {
            policy: Tensor::<1>::from_floats(logits.repeat(rows).as_slice(), &device).reshape([
                rows,
                policy_planes(7),
                7,
                7,
            ]),
            wdl: Tensor::zeros([rows, 3], &device),
            moves_left: Tensor::full([rows, 1], moves_left, &device),
            occupancy: Tensor::zeros([rows, 4, 7, 7], &device),
        }
    }

    fn losses(rows: &[Row], heads: Heads) -> [f32; 5] {
        let targets = BatchTensors::of(&Batch::new(BoardSize::SEVEN, rows), &Device::flex());
        let losses = Losses::of(heads, &targets, &WEIGHTS);
        [losses.total, losses.policy, losses.value, losses.moves_left, losses.occupancy]
            .map(|loss| loss.into_data().try_to_vec::<f32>().unwrap()[0])
    }

    fn near(found: f32, expected: f32) {
        assert!((found - expected).abs() < 1e-5, "{found} is not {expected}");
    }

    #[test]
    fn every_part_by_hand() {
        // Legal logits ln 2 and 0: probabilities 2/3 and 1/3. The illegal move at place 4 has the highest logit of all.
        let heads = heads(1, &[(3, 2_f32.ln()), (4, 50.0)], 2_f32.ln() + 2.0);
        let [total, policy, value, moves_left, occupancy] = losses(&[row([0.75, 0.25])], heads);
        near(policy, 0.75 * 1.5_f32.ln() + 0.25 * 3_f32.ln());
        near(value, 3_f32.ln());
        near(moves_left, 1.5); // off by 2, beyond delta: 2 - 1/2
        near(occupancy, 4_f32.ln());
        near(total, policy + 2.0 * value + 4.0 * moves_left + 8.0 * occupancy);
    }

    #[test]
    fn near_misses_are_squared() {
        let [.., moves_left, _] = losses(&[row([1.0, 0.0])], heads(1, &[], 2_f32.ln() - 0.5));
        near(moves_left, 0.125);
    }

    #[test]
    fn weightless_rows_pull_nothing() {
        let still = Row { policy_weight: 0.0, end_weight: 0.0, ..row([0.0, 0.0]) };
        let [_, policy, value, moves_left, occupancy] = losses(&[row([0.5, 0.5]), still], heads(2, &[], 5.0));
        let [_, whole_policy, whole_value, whole_moves_left, whole_occupancy] =
            losses(&[row([0.5, 0.5])], heads(1, &[], 5.0));
        near(policy, whole_policy / 2.0);
        near(value, whole_value);
        near(moves_left, whole_moves_left / 2.0);
        near(occupancy, whole_occupancy / 2.0);
    }

    #[test]
    fn rows_with_fewer_moves_are_padded_without_effect() {
        let long = Row { policy: (0..40).map(|place| (place, 1.0 / 40.0)).collect(), ..row([0.0, 0.0]) };
        let heads = heads(2, &[(3, 1.0), (7, 1.0)], 0.0);
        let [_, policy, ..] = losses(&[row([0.5, 0.5]), long], heads);
        let long_loss = (38.0 + 2.0 * 1_f32.exp()).ln() - 2.0 / 40.0;
        near(policy, (2_f32.ln() + long_loss) / 2.0);
    }
}
