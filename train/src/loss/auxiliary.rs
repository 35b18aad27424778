//! The losses of the auxiliary heads, means over the rows like the others.
//!
//! | part | formula |
//! |---|---|
//! | reply | cross-entropy of the opponent's next policy target and the softmax over his legal moves |
//! | soft policy | cross-entropy of the softened policy target and the softmax over legal moves |
//! | short values | cross-entropy of win, draw, loss, mean over the horizons |
//! | captured | cross-entropy of every piece's fate, mean over the pieces |
//! | ending | cross-entropy of all ways and places the game can end: that of the way and that of the place, given the way |

use burn::tensor::Tensor;
use burn::tensor::activation::log_softmax;
use hnefi_models::AuxiliaryOutputs;

use super::log_policy;
use crate::auxiliary::PerHead;
use crate::batch::BatchTensors;

/// The loss of every head that there is, `[1]` each.
///
/// # Panics
/// When a head has no targets in the batch.
pub(super) fn losses(outputs: AuxiliaryOutputs, targets: &BatchTensors) -> PerHead<Option<Tensor<1>>> {
    const MISSING: &str = "the batch holds the targets of every head in training";
    let wanted = &targets.auxiliary;
    let mean = |rows: Tensor<2>| rows.mean().reshape([1]);
    PerHead {
        reply: outputs.reply.map(|logits| {
            let reply = wanted.reply.as_ref().expect(MISSING);
            let log_policy = log_policy(logits, &reply.index, &reply.bar);
            mean(-(log_policy * reply.target.clone()).sum_dim(1))
        }),
        soft_policy: outputs.soft_policy.map(|logits| {
            let soft = wanted.soft_policy.clone().expect(MISSING);
            let log_policy = log_policy(logits, &targets.policy_index, &targets.policy_bar);
            mean(-(log_policy * soft).sum_dim(1) * targets.policy_weight.clone())
        }),
        short_values: outputs.short_values.map(|logits| {
            let values = wanted.short_values.clone().expect(MISSING);
            -(log_softmax(logits, 2) * values).sum_dim(2).mean().reshape([1])
        }),
        captured: outputs.captured.map(|logits| {
            let shares = wanted.captured.clone().expect(MISSING);
            let rows = shares.dims()[0] as i32;
            mean(-(log_softmax(logits, 1) * shares).reshape([rows, -1]).sum_dim(1))
        }),
        ending: outputs.ending.map(|logits| {
            let (index, weight) = wanted.ending.clone().expect(MISSING);
            mean(-log_softmax(logits, 1).gather(1, index) * weight)
        }),
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, TensorData};
    use hnefi_engine::BoardSize;
    use hnefi_inference::{GLOBALS, PLANES, POLICY_PLANES};

    use super::*;
    use crate::batch::{AuxiliaryRow, Batch, Ending, Row, endings};

    const SQUARES: usize = 49;

    fn row(auxiliary: AuxiliaryRow) -> Row {
        Row {
            planes: vec![0.0; PLANES * SQUARES],
            globals: [0.0; GLOBALS],
            policy: vec![(3, 0.75), (7, 0.25)],
            policy_weight: 1.0,
            value: [0.0, 1.0, 0.0],
            moves_left: 1.0,
            occupancy: vec![0; SQUARES],
            end_weight: 1.0,
            auxiliary,
        }
    }

    /// `[rows, POLICY_PLANES, 7, 7]`, 0 but for these places.
    fn policy(rows: usize, logits: &[(usize, f32)]) -> Tensor<4> {
        let mut values = vec![0.0; POLICY_PLANES * SQUARES];
        for &(place, logit) in logits {
            values[place] = logit;
        }
        Tensor::from_data(TensorData::new(values.repeat(rows), [rows, POLICY_PLANES, 7, 7]), &Device::flex())
    }

    fn loss(rows: Vec<AuxiliaryRow>, outputs: AuxiliaryOutputs) -> PerHead<Option<f32>> {
        let rows: Vec<Row> = rows.into_iter().map(row).collect();
        let targets = Batch::new(BoardSize::Seven, &rows).to_device(&Device::flex());
        losses(outputs, &targets).map(|loss| loss.map(|loss| loss.into_data().try_to_vec::<f32>().unwrap()[0]))
    }

    fn near(found: Option<f32>, expected: f32) {
        assert!(found.is_some_and(|found| (found - expected).abs() < 1e-5), "{found:?} is not {expected}");
    }

    #[test]
    fn the_reply_has_its_own_legal_moves() {
        // Logits ln 3 and 0 on the two legal replies: chances 3/4 and 1/4; place 4 is no legal reply. The other row has
        // none.
        let outputs = || AuxiliaryOutputs {
            reply: Some(policy(2, &[(11, 3_f32.ln()), (4, 50.0)])),
            ..AuxiliaryOutputs::default()
        };
        let reply = |moves| AuxiliaryRow { reply: Some(moves), ..AuxiliaryRow::default() };
        let found = loss(vec![reply(vec![(11, 0.5), (12, 0.5)]), reply(Vec::new())], outputs());
        near(found.reply, 0.5 * (0.5 * (4_f32 / 3.0).ln() + 0.5 * 4_f32.ln()));
        assert_eq!(found.ending, None, "no head, no loss");
    }

    #[test]
    fn the_soft_policy_shares_the_moves_of_the_policy() {
        let outputs =
            AuxiliaryOutputs { soft_policy: Some(policy(1, &[(3, 2_f32.ln())])), ..AuxiliaryOutputs::default() };
        let soft = AuxiliaryRow { soft_policy: Some(vec![0.6, 0.4]), ..AuxiliaryRow::default() };
        near(loss(vec![soft], outputs).soft_policy, 0.6 * 1.5_f32.ln() + 0.4 * 3_f32.ln());
    }

    #[test]
    fn short_values_are_means_over_their_horizons() {
        // At the first horizon even chances, at the second 1/2, 1/4, 1/4.
        let logits =
            Tensor::from_data(TensorData::from([[[0.0_f32, 0.0, 0.0], [2_f32.ln(), 0.0, 0.0]]]), &Device::flex());
        let outputs = AuxiliaryOutputs { short_values: Some(logits), ..AuxiliaryOutputs::default() };
        let values = vec![[0.2, 0.3, 0.5], [0.5, 0.0, 0.5]];
        let row = AuxiliaryRow { short_values: Some(values), ..AuxiliaryRow::default() };
        near(loss(vec![row], outputs).short_values, (3_f32.ln() + 0.5 * 2_f32.ln() + 0.5 * 4_f32.ln()) / 2.0);
    }

    #[test]
    fn fates_are_means_over_the_pieces() {
        // Everywhere the odds of being captured are 1 to 2; three pieces stay, one is captured.
        let mut logits = vec![2_f32.ln(); SQUARES];
        logits.extend([0.0; SQUARES]);
        let logits = Tensor::from_data(TensorData::new(logits.repeat(2), [2, 2, 7, 7]), &Device::flex());
        let outputs = AuxiliaryOutputs { captured: Some(logits), ..AuxiliaryOutputs::default() };
        let fates = |pieces: &[(usize, u8)]| {
            let mut fates = vec![0; SQUARES];
            pieces.iter().for_each(|&(square, fate)| fates[square] = fate);
            AuxiliaryRow { captured: Some(fates), ..AuxiliaryRow::default() }
        };
        let rows = vec![fates(&[(0, 1), (5, 1), (20, 1), (48, 2)]), fates(&[])];
        near(loss(rows, outputs).captured, 0.5 * (0.75 * 1.5_f32.ln() + 0.25 * 3_f32.ln()));
    }

    #[test]
    fn the_end_is_one_of_all_ways_and_places() {
        // The king captured on square 10 has logit ln 5, the ply cap ln 4, everything else 0.
        let count = endings(SQUARES);
        let mut logits = vec![0.0; count];
        logits[2 * SQUARES + 10] = 5_f32.ln();
        logits[count - 1] = 4_f32.ln();
        let sum = (count - 2) as f32 + 9.0;
        let logits = Tensor::from_data(TensorData::new(logits.repeat(4), [4, count]), &Device::flex());
        let outputs = AuxiliaryOutputs { ending: Some(logits), ..AuxiliaryOutputs::default() };
        let ended = [Ending::King(2, 10), Ending::King(0, 48), Ending::Other(5), Ending::Unseen];
        let rows = ended.map(|ending| AuxiliaryRow { ending: Some(ending), ..AuxiliaryRow::default() });
        let expected = ((sum / 5.0).ln() + sum.ln() + (sum / 4.0).ln()) / 4.0;
        near(loss(rows.to_vec(), outputs).ending, expected);
    }
}
