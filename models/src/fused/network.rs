//! The network's training pass with fused layers, channels last throughout.
//!
//! The same arithmetic as [`Network::forward`], for devices where [`super::serves`] says yes. With channels last the 1x1
//! convolutions of the heads are plain matrix products over all squares of the batch, and no layer changes the layout.

use burn::nn::conv::Conv2d;
use burn::tensor::Tensor;
use burn::tensor::activation::relu;

use super::global_pool::{self, serves_channels};
use super::{ConvNormInputs, conv_norm, serves};
use crate::auxiliary::AuxiliaryOutputs;
use crate::network::{Block, ConvNorm, Heads, Network, RoleHeads};

/// Whether the fused layers serve this network and input: in training, on flex, and for whole panels of channels.
pub(crate) fn serves_network(network: &Network, planes: &Tensor<4>) -> bool {
    let [_, inputs, side, _] = planes.dims();
    let [channels] = network.stem.norm.gamma.dims();
    let device = planes.device();
    device.is_autodiff() && serves(&device, side, inputs, channels)
}

/// [`Network::forward`] in training mode.
pub(crate) fn forward(network: &Network, planes: Tensor<4>, globals: Tensor<2>) -> Heads {
    let trunk = trunk(network, planes, &globals);
    let pooled = global_pool(trunk.clone());
    heads(network, trunk, pooled, globals)
}

/// [`Network::forward_in_training`]: the auxiliary heads, small as they are, by burn's own layers on the fused trunk.
pub(crate) fn forward_in_training(
    network: &Network,
    planes: Tensor<4>,
    globals: Tensor<2>,
) -> (Heads, AuxiliaryOutputs) {
    let trunk = trunk(network, planes, &globals);
    let pooled = global_pool(trunk.clone());
    let auxiliary = network.auxiliary.as_ref().map(|heads| {
        let [batch, side, _, channels] = trunk.dims();
        heads.forward(&trunk.clone().reshape([batch, side * side, channels]), &pooled, side)
    });
    (heads(network, trunk, pooled, globals), auxiliary.unwrap_or_default())
}

/// The tower's output `[B, N, N, C]`.
fn trunk(network: &Network, planes: Tensor<4>, globals: &Tensor<2>) -> Tensor<4> {
    let bias = network.globals.forward(globals.clone());
    let stem = layer(&network.stem, planes.permute([0, 2, 3, 1]), None, Some(bias));
    network.blocks.iter().fold(stem, block)
}

/// `relu(norm(conv(x)) + skip + bias)`; moves the running statistics as burn's batch normalisation does.
fn layer(layer: &ConvNorm, x: Tensor<4>, skip: Option<Tensor<4>>, bias: Option<Tensor<2>>) -> Tensor<4> {
    let norm = &layer.norm;
    let (out, statistics) = conv_norm(ConvNormInputs {
        x,
        weights: layer.conv.weight.val(),
        gamma: norm.gamma.val(),
        beta: norm.beta.val(),
        skip,
        bias,
        epsilon: norm.epsilon,
    });
    let device = out.device();
    let [_, channels] = statistics.dims();
    for (row, running) in [&norm.running_mean, &norm.running_var].into_iter().enumerate() {
        let batch = statistics.clone().narrow(0, row, 1).reshape([channels]).detach();
        let old = running.value_sync().to_device(&device);
        running.update(old.mul_scalar(1.0 - norm.momentum).add(batch.mul_scalar(norm.momentum)).detach());
    }
    out
}

fn block(x: Tensor<4>, block: &Block) -> Tensor<4> {
    let y = layer(&block.first, x.clone(), None, None);
    let bias = block.pool.as_ref().map(|pool| pool.forward(global_pool(y.clone())));
    layer(&block.second, y, Some(x), bias)
}

fn heads(network: &Network, trunk: Tensor<4>, pooled: Tensor<2>, globals: Tensor<2>) -> Heads {
    let [batch, side, _, channels] = trunk.dims();
    let squares = side * side;
    let trunk = trunk.reshape([batch, squares, channels]);
    let (mut policy, mut value) = role(&network.roles[0], trunk.clone(), pooled.clone(), side);
    if let Some(defenders) = network.roles.get(1) {
        let (other_policy, other_value) = role(defenders, trunk.clone(), pooled, side);
        let attacking = globals.narrow(1, 0, 1);
        let defending = attacking.clone().neg().add_scalar(1.0);
        let over_squares = |weight: &Tensor<2>| weight.clone().reshape([batch, 1, 1]);
        policy = policy * over_squares(&attacking) + other_policy * over_squares(&defending);
        value = value * attacking + other_value * defending;
    }
    let occupancy = pointwise(&network.occupancy, trunk);
    let channels_first = |x: Tensor<3>| {
        let [batch, _, channels] = x.dims();
        x.swap_dims(1, 2).reshape([batch, channels, side, side])
    };
    Heads {
        policy: channels_first(policy),
        wdl: value.clone().narrow(1, 0, 3),
        moves_left: value.narrow(1, 3, 1),
        occupancy: channels_first(occupancy),
    }
}

/// One role's policy `[B, S, 40]` and value `[B, 4]` from the trunk `[B, S, C]` and its pooled features.
fn role(heads: &RoleHeads, trunk: Tensor<3>, pooled: Tensor<2>, side: usize) -> (Tensor<3>, Tensor<2>) {
    let bias = heads.policy_pool.forward(pooled);
    let [batch, channels] = bias.dims();
    let hidden = relu(pointwise(&heads.policy_conv, trunk.clone()) + bias.reshape([batch, 1, channels]));
    let policy = pointwise(&heads.policy_out, hidden);
    let value = relu(pointwise(&heads.value_conv, trunk));
    let value = global_pool(value.reshape([batch as i32, side as i32, side as i32, -1]));
    let value = heads.value_out.forward(relu(heads.value_hidden.forward(value)));
    (policy, value)
}

/// A 1x1 convolution of `[B, S, C]` as one matrix product over all squares.
fn pointwise(conv: &Conv2d, x: Tensor<3>) -> Tensor<3> {
    let [batch, squares, inputs] = x.dims();
    let weights = conv.weight.val();
    let outputs = weights.dims()[0];
    let product = x.reshape([batch * squares, inputs]).matmul(weights.reshape([outputs, inputs]).transpose());
    let product = match &conv.bias {
        Some(bias) => product + bias.val().reshape([1, outputs]),
        None => product,
    };
    product.reshape([batch, squares, outputs])
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
