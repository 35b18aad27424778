//! A shard's forward and backward pass on a card.

use std::collections::BTreeMap;

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor, TensorData};
use hnefi_cuda::{CardError, CardTrainer, Gradients, Renormalisation, Samples, Targets};
use hnefi_inference::{GLOBALS, PLANES, PolicyIndex, Weights};
use hnefi_models::{Network, RENORM_RATIO, RENORM_SHIFT};
use hnefi_run::sample::{Batch, CONTENTS};

use super::{LearnerParams, ShardResult};
use crate::loss::LossWeights;

/// One shard's pass; `weights` are the network's.
pub(super) fn run_shard(
    trainer: &mut CardTrainer,
    network: &Network,
    weights: &Weights,
    batch: &Batch,
    params: &LearnerParams,
) -> Result<ShardResult, CardError> {
    let LossWeights { policy, value, moves_left, occupancy } = params.weights;
    let part_weights = [policy, value, moves_left, occupancy];
    let renormalisation = Renormalisation { ratio: RENORM_RATIO, offset: RENORM_SHIFT };
    let found = trainer.gradients(weights, &samples(batch), part_weights, renormalisation)?;
    let [policy, value, moves_left, occupancy] = found.losses;
    let total: f32 = found.losses.iter().zip(part_weights).map(|(loss, weight)| loss * weight).sum();
    let losses = Tensor::from_floats([total, policy, value, moves_left, occupancy], &Device::flex());
    let statistics = running(weights, &found, network.stem.norm.momentum as f32);
    let names = network.parameter_ids().into_iter().map(|(name, id)| (id, name)).collect();
    let mut register = Register { names, found, gradients: GradientsParams::new() };
    network.visit(&mut register);
    Ok(ShardResult { gradients: register.gradients, losses, statistics })
}

fn samples(batch: &Batch) -> Samples {
    let (size, squares) = (batch.size, batch.size.squares());
    let mut samples = Samples::new(size);
    for row in 0..batch.rows {
        let moves = row * batch.moves..(row + 1) * batch.moves;
        let moves = moves
            .filter(|&at| batch.policy_bar[at] == 0.0)
            .map(|at| (PolicyIndex::from_flat(batch.policy_index[at] as usize, size), batch.policy_target[at]));
        let targets = Targets {
            policy_weight: batch.policy_weight[row],
            value: std::array::from_fn(|at| batch.value[3 * row + at]),
            moves_left: batch.moves_left[row],
            end_weight: batch.end_weight[row],
        };
        let occupancy = &batch.occupancy[row * CONTENTS * squares..][..CONTENTS * squares];
        let content = |square: usize| (0..CONTENTS).find(|kind| occupancy[kind * squares + square] != 0.0);
        samples.push(
            &batch.planes[row * PLANES * squares..][..PLANES * squares],
            &batch.globals[row * GLOBALS..][..GLOBALS],
            moves,
            targets,
            (0..squares).map(|square| content(square).unwrap_or(0) as u8),
        );
    }
    samples
}

/// The running statistics after the step, in the order of the network's fields.
fn running(weights: &Weights, found: &Gradients, momentum: f32) -> Vec<Tensor<1>> {
    let blocks = weights.config().blocks;
    let of_block = |block| ["first", "second"].map(|layer| format!("blocks.{block}.{layer}"));
    let layers = std::iter::once("stem".to_owned()).chain((0..blocks).flat_map(of_block));
    let both = layers.flat_map(|layer| {
        let batch = &found.statistics[&layer];
        [("running_mean", &batch[0]), ("running_var", &batch[1])].map(|(part, batch)| {
            let present = &weights.tensors()[&format!("{layer}.norm.{part}")].values;
            let moved = |(old, new): (&f32, &f32)| old * (1.0 - momentum) + new * momentum;
            let values: Vec<f32> = present.iter().zip(batch).map(moved).collect();
            Tensor::from_floats(values.as_slice(), &Device::flex())
        })
    });
    both.collect()
}

/// Registers the gradients that were found by name with the parameters.
struct Register {
    names: BTreeMap<u64, String>,
    found: Gradients,
    gradients: GradientsParams,
}

impl ModuleVisitor for Register {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let name = self.names.get(&param.id.val());
        let Some(values) = name.and_then(|name| self.found.tensors.remove(name)) else { return };
        let gradient = TensorData::new(values, param.lazy_shape());
        self.gradients.register(param.id, Tensor::<D>::from_data(gradient, &Device::flex()));
    }
}
