//! The network's training pass with fused layers, channels last throughout.
//!
//! The same arithmetic as [`Network::forward`], for devices where [`super::serves`] says yes. With channels last the
//! 1x1 convolutions of the heads are plain matrix products over the squares, and no layer but the last changes the
//! layout.

use burn::nn::Linear;
use burn::nn::conv::Conv2d;
use burn::tensor::Tensor;
use burn::tensor::activation::relu;

use super::destinations::destinations;
use super::global_pool::{self, serves_channels};
use super::passes::Tower;
use super::pointwise::{PointwiseInputs, pointwise};
use super::tower::{serves, tower};
use crate::network::{Heads, Network, RoleHeads, move_running};
use hnefi_inference::{DIRECTIONS, DISTANCES, TrainPrecision, policy_planes};

/// Whether the fused layers serve this network and input: in training, on flex, and for whole panels of channels.
pub(crate) fn serves_network(network: &Network, planes: &Tensor<4>) -> bool {
    let [_, inputs, side, _] = planes.dims();
    let [channels] = network.stem.norm.gamma.dims();
    let device = planes.device();
    device.is_autodiff() && serves(&device, side, inputs, channels)
}

/// [`Network::forward`] in training mode.
pub(crate) fn forward(network: &Network, planes: Tensor<4>, globals: Tensor<2>, precision: TrainPrecision) -> Heads {
    let trunk = trunk(network, planes, &globals, precision);
    let pooled = global_pool(trunk.clone());
    heads(network, trunk, pooled, globals)
}

/// The tower's output `[B, N, N, C]`; moves the running statistics.
fn trunk(network: &Network, planes: Tensor<4>, globals: &Tensor<2>, precision: TrainPrecision) -> Tensor<4> {
    let bias = network.globals.forward(globals.clone());
    let config = network.config();
    let [_, planes_count, side, _] = planes.dims();
    let stem = (&network.stem, None);
    let blocks = network.blocks.iter().flat_map(|block| [(&block.first, None), (&block.second, block.pool.as_ref())]);
    let mut parameters = Vec::new();
    for (layer, pool) in std::iter::once(stem).chain(blocks.clone()) {
        parameters.extend([layer.conv.weight.val().flatten(0, 3), layer.norm.gamma.val(), layer.norm.beta.val()]);
        if let Some(Linear { weight, bias: Some(bias), .. }) = pool {
            parameters.extend([weight.val().flatten(0, 1), bias.val()]);
        }
    }
    let shape = Tower {
        side,
        planes: planes_count,
        channels: config.channels,
        blocks: config.blocks,
        pool_every: config.pool_every,
        epsilon: network.stem.norm.epsilon,
        precision,
    };
    let layers = std::iter::once(stem).chain(blocks).map(|(layer, _)| &layer.norm);
    let device = planes.device();
    let running: Vec<[Tensor<1>; 2]> = layers
        .clone()
        .map(|norm| [&norm.running_mean, &norm.running_var].map(|running| running.value_sync().to_device(&device)))
        .collect();
    let stacked = Tensor::cat(running.iter().flatten().cloned().collect(), 0).reshape([-1, config.channels as i32]);
    let (out, statistics) = tower(shape, planes.permute([0, 2, 3, 1]), bias, Tensor::cat(parameters, 0), stacked);
    for (number, (norm, present)) in layers.zip(running).enumerate() {
        let row = |row| statistics.clone().narrow(0, 2 * number + row, 1).reshape([config.channels]).detach();
        move_running(norm, present, [row(0), row(1)]);
    }
    out
}

fn heads(network: &Network, trunk: Tensor<4>, pooled: Tensor<2>, globals: Tensor<2>) -> Heads {
    let batch = trunk.dims()[0];
    let roles = &network.roles;
    let attacking = globals.narrow(1, 0, 1);
    let first_role = attacking.clone().reshape([batch]);
    let layer = |(weights, bias): Layers, x: Tensor<4>, board_bias: Option<Tensor<2>>, hidden: bool| {
        pointwise(PointwiseInputs { x, weights, bias, board_bias, first_role: first_role.clone(), hidden })
    };
    // The layers that see one row a board go through both roles' weights: they are small.
    let by_role = |of: &dyn Fn(&RoleHeads) -> Tensor<2>| {
        of(&roles[0]) * attacking.clone() + of(&roles[1]) * attacking.clone().neg().add_scalar(1.0)
    };
    let board_bias = by_role(&|heads| heads.policy_pool.forward(pooled.clone()));
    let each = |conv: fn(&RoleHeads) -> &Conv2d| stacked(roles.iter().map(conv));
    let hidden = layer(each(|heads| &heads.policy_conv), trunk.clone(), Some(board_bias), true);
    let rows = of_board(each(|heads| &heads.policy_out), trunk.dims()[1]);
    let policy = layer(rows, hidden.clone(), None, false);
    let keys = layer(each(|heads| &heads.policy_destination), trunk.clone(), None, false);
    let policy = policy + destinations(hidden, keys.permute([0, 2, 3, 1]));
    let value = global_pool(layer(each(|heads| &heads.value_conv), trunk.clone(), None, true));
    let value = by_role(&|heads| heads.value_out.forward(relu(heads.value_hidden.forward(value.clone()))));
    Heads {
        policy,
        wdl: value.clone().narrow(1, 0, 3),
        moves_left: value.narrow(1, 3, 1),
        occupancy: layer(stacked([&network.occupancy]), trunk, None, false),
    }
}

/// 1x1 convolutions of one shape: weights `[count, cout, cin]` and biases `[count, cout]`.
type Layers = (Tensor<3>, Tensor<2>);

fn stacked<'a>(convs: impl IntoIterator<Item = &'a Conv2d>) -> Layers {
    let parts = convs.into_iter().map(|conv| {
        let weights = conv.weight.val();
        let [cout, cin, _, _] = weights.dims();
        let bias = conv.bias.as_ref().map_or_else(|| Tensor::zeros([cout], &weights.device()), |bias| bias.val());
        (weights.reshape([1, cout, cin]), bias.reshape([1, cout]))
    });
    let (weights, biases): (Vec<_>, Vec<_>) = parts.unzip();
    (Tensor::cat(weights, 0), Tensor::cat(biases, 0))
}

/// The rows of the policy for the distances of a board.
fn of_board((weights, bias): Layers, side: usize) -> Layers {
    let [roles, _, cin] = weights.dims();
    let planes = policy_planes(side);
    let weights = weights.reshape([roles, DIRECTIONS, DISTANCES, cin]).narrow(2, 0, side - 1);
    let bias = bias.reshape([roles, DIRECTIONS, DISTANCES]).narrow(2, 0, side - 1);
    (weights.reshape([roles, planes, cin]), bias.reshape([roles, planes]))
}

/// Mean, scaled mean and maximum over the squares of `[B, N, N, C]`, as in [`Network::forward`].
fn global_pool(x: Tensor<4>) -> Tensor<2> {
    let [batch, side, _, channels] = x.dims();
    if serves_channels(channels) {
        return global_pool::global_pool(x);
    }
    let x = x.reshape([batch, side * side, channels]);
    let mean = x.clone().mean_dim(1).reshape([batch, channels]);
    let max = x.max_dim(1).reshape([batch, channels]);
    let scaled = mean.clone().mul_scalar((side as f32 - 9.0) / 2.0);
    Tensor::cat(vec![mean, scaled, max], 1)
}
