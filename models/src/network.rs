//! The burn network: a convolutional residual tower with global pooling and heads chosen by role.
//!
//! Size-agnostic: the same weights serve every board, because no layer depends on the number of squares.
//! Board tensors are `[B, C, N, N]`.

use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::{BatchNorm, BatchNormConfig, Linear, LinearConfig, PaddingConfig2d};
use burn::tensor::activation::relu;
use burn::tensor::module::batch_norm_train;
use burn::tensor::{Device, Int, Tensor, TensorData};
use hnefi_inference::{
    DIRECTIONS, DISTANCES, GLOBALS, NetworkConfig, PLANES, POLICY_ROWS, PolicyIndex, TrainPrecision, policy_planes,
};

use crate::fused;
use crate::relu::reviving_relu;

/// Batch renormalisation: the most by which the deviation of a batch may differ from the running one, as a factor.
pub const RENORM_RATIO: f32 = 3.0;

/// The most by which the mean of a batch may differ from the running one, in running deviations.
pub const RENORM_SHIFT: f32 = 5.0;

/// A 3x3 convolution without bias and the batch normalisation that folds into it.
#[derive(Module, Debug)]
pub struct ConvNorm {
    /// `[out, in, 3, 3]`.
    pub conv: Conv2d,
    /// Over the output channels.
    pub norm: BatchNorm,
}

impl ConvNorm {
    fn new(inputs: usize, outputs: usize, device: &Device) -> ConvNorm {
        ConvNorm {
            conv: Conv2dConfig::new([inputs, outputs], [3, 3])
                .with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1))
                .with_bias(false)
                .init(device),
            norm: BatchNormConfig::new(outputs).init(device),
        }
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let convolved = self.conv.forward(x);
        if convolved.device().is_autodiff() {
            renormalised(&self.norm, convolved)
        } else {
            self.norm.forward(convolved)
        }
    }
}

/// Batch renormalisation (Ioffe, arXiv 1702.03275) of `[B, C, N, N]` in training: the batch's own statistics carry the
/// gradient, and the output is what the running statistics give, as long as the two are not too far apart. So a layer
/// does in training what it does in play, on every board: a batch has boards of one size, whose statistics differ from
/// another's, and there is one set of running statistics for all.
///
/// Moves the running statistics.
fn renormalised(norm: &BatchNorm, x: Tensor<4>) -> Tensor<4> {
    let device = x.device();
    let [gamma, beta] = [&norm.gamma, &norm.beta].map(|parameter| parameter.val());
    let batch = batch_norm_train(x, gamma.ones_like(), beta.zeros_like(), norm.epsilon);
    let [mean, variance] = [batch.mean.detach(), batch.variance.detach()];
    let [running_mean, running_variance] =
        [&norm.running_mean, &norm.running_var].map(|running| running.value_sync().to_device(&device));
    let running_deviation = running_variance.clone().add_scalar(norm.epsilon).sqrt();
    let ratio = variance.clone().add_scalar(norm.epsilon).sqrt() / running_deviation.clone();
    let ratio = ratio.clamp(1.0 / RENORM_RATIO, RENORM_RATIO);
    let shift = ((mean.clone() - running_mean.clone()) / running_deviation).clamp(-RENORM_SHIFT, RENORM_SHIFT);
    move_running(norm, [running_mean, running_variance], [mean, variance]);
    let per_channel = |values: Tensor<1>| values.reshape([1, -1, 1, 1]);
    batch.output * per_channel(gamma.clone() * ratio) + per_channel(beta + gamma * shift)
}

/// Moves the running statistics from their present values towards a batch's.
pub(crate) fn move_running(norm: &BatchNorm, present: [Tensor<1>; 2], batch: [Tensor<1>; 2]) {
    for ((running, old), new) in [&norm.running_mean, &norm.running_var].into_iter().zip(present).zip(batch) {
        running.update((old.mul_scalar(1.0 - norm.momentum) + new.mul_scalar(norm.momentum)).detach());
    }
}

/// A residual block: `relu(x + norm2(conv2(y)) + pool(y))` with `y = relu(norm1(conv1(x)))`; the pooled term, a bias
/// per channel, only where the block has one.
#[derive(Module, Debug)]
pub struct Block {
    /// First convolution.
    pub first: ConvNorm,
    /// Second convolution.
    pub second: ConvNorm,
    /// `[3C, C]`: from the pooled features of `y` to a bias per channel.
    pub pool: Option<Linear>,
}

impl Block {
    fn new(channels: usize, pools: bool, device: &Device) -> Block {
        Block {
            first: ConvNorm::new(channels, channels, device),
            second: ConvNorm::new(channels, channels, device),
            pool: pools.then(|| LinearConfig::new(3 * channels, channels).init(device)),
        }
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let y = relu(self.first.forward(x.clone()));
        let bias = self.pool.as_ref().map(|pool| per_channel(pool.forward(global_pool(y.clone()))));
        let mut sum = self.second.forward(y) + x;
        if let Some(bias) = bias {
            sum = sum + bias;
        }
        relu(sum)
    }
}

/// The heads of one role.
#[derive(Module, Debug)]
pub struct RoleHeads {
    /// 1x1, C to head channels, with bias.
    pub policy_conv: Conv2d,
    /// `[3C, head channels]`: pooled trunk to a bias per channel, no bias of its own.
    pub policy_pool: Linear,
    /// 1x1, head channels to a row for every direction and distance, with bias.
    pub policy_out: Conv2d,
    /// 1x1, C to head channels, without bias: from a move's destination to what is added to its plane's weights.
    pub policy_destination: Conv2d,
    /// 1x1, C to head channels, with bias.
    pub value_conv: Conv2d,
    /// `[3 * head channels, value hidden]`.
    pub value_hidden: Linear,
    /// `[value hidden, 4]`: win, draw, loss logits and ln(1 + plies left).
    pub value_out: Linear,
}

impl RoleHeads {
    fn new(config: &NetworkConfig, device: &Device) -> RoleHeads {
        let (channels, head) = (config.channels, config.head_channels);
        RoleHeads {
            policy_conv: Conv2dConfig::new([channels, head], [1, 1]).init(device),
            policy_pool: LinearConfig::new(3 * channels, head).with_bias(false).init(device),
            policy_out: Conv2dConfig::new([head, POLICY_ROWS], [1, 1]).init(device),
            policy_destination: Conv2dConfig::new([channels, head], [1, 1]).with_bias(false).init(device),
            value_conv: Conv2dConfig::new([channels, head], [1, 1]).init(device),
            value_hidden: LinearConfig::new(3 * head, config.value_hidden).init(device),
            value_out: LinearConfig::new(config.value_hidden, 4).init(device),
        }
    }

    /// Policy `[B, 4 (N - 1), N, N]` and value `[B, 4]`.
    fn forward(&self, trunk: Tensor<4>, pooled: Tensor<2>) -> (Tensor<4>, Tensor<2>) {
        let bias = per_channel(self.policy_pool.forward(pooled));
        let hidden = reviving_relu(self.policy_conv.forward(trunk.clone()) + bias);
        let value = reviving_relu(self.value_conv.forward(trunk.clone()));
        let value_hidden = relu(self.value_hidden.forward(global_pool(value)));
        let policy = of_board(self.policy_out.forward(hidden.clone()))
            + destinations(hidden, self.policy_destination.forward(trunk));
        (policy, self.value_out.forward(value_hidden))
    }
}

/// What the heads say of a batch.
#[derive(Clone, Debug)]
pub struct Heads {
    /// Policy logits, `[B, 4 (N - 1), N, N]`.
    pub policy: Tensor<4>,
    /// Win, draw and loss logits of the side to move, `[B, 3]`.
    pub wdl: Tensor<2>,
    /// ln(1 + plies to the end), `[B, 1]`.
    pub moves_left: Tensor<2>,
    /// Logits of each square's final content (empty, attacker, defender, king), `[B, 4, N, N]`.
    pub occupancy: Tensor<4>,
}

/// The whole network.
#[derive(Module, Debug)]
pub struct Network {
    /// Planes to channels.
    pub stem: ConvNorm,
    /// `[GLOBALS, C]`: global vector to a bias per channel after the stem's normalisation.
    pub globals: Linear,
    /// The tower.
    pub blocks: Vec<Block>,
    /// The attackers' heads and the defenders'.
    pub roles: Vec<RoleHeads>,
    /// Final occupancy: 1x1, C to 4, with bias.
    pub occupancy: Conv2d,
}

impl Network {
    /// The layers of a network on `device` without weights worth using: burn draws them when they are first read,
    /// unless they were set before.
    pub(crate) fn skeleton(config: &NetworkConfig, device: &Device) -> Network {
        let channels = config.channels;
        Network {
            stem: ConvNorm::new(PLANES, channels, device),
            globals: LinearConfig::new(GLOBALS, channels).init(device),
            blocks: (0..config.blocks).map(|index| Block::new(channels, config.block_pools(index), device)).collect(),
            roles: vec![RoleHeads::new(config, device), RoleHeads::new(config, device)],
            occupancy: Conv2dConfig::new([channels, 4], [1, 1]).init(device),
        }
    }

    /// The shape of the network.
    pub fn config(&self) -> NetworkConfig {
        let heads = &self.roles[0];
        let pool = self.blocks.iter().position(|block| block.pool.is_some());
        NetworkConfig {
            blocks: self.blocks.len(),
            channels: self.stem.norm.gamma.dims()[0],
            pool_every: pool.map_or(0, |index| index + 1),
            head_channels: heads.policy_conv.weight.dims()[0],
            value_hidden: heads.value_hidden.weight.dims()[1],
        }
    }

    /// Evaluates a batch. `planes` is `[B, PLANES, N, N]`; `globals` is `[B, GLOBALS]`, whose first entry is 1 where
    /// the attackers are to move and 0 where the defenders are, which picks the heads.
    pub fn forward(&self, planes: Tensor<4>, globals: Tensor<2>) -> Heads {
        self.forward_in_training(planes, globals, TrainPrecision::F32)
    }

    /// [`Network::forward`] by burn's own layers on every device: the oracle of the faster ways.
    pub fn forward_unfused(&self, planes: Tensor<4>, globals: Tensor<2>) -> Heads {
        let x = self.trunk(planes, &globals);
        let pooled = global_pool(x.clone());
        self.heads(x, pooled, globals)
    }

    /// As [`Network::forward`]. The tower is computed in this precision where there are fused layers for the device,
    /// and else in single precision.
    pub fn forward_in_training(&self, planes: Tensor<4>, globals: Tensor<2>, precision: TrainPrecision) -> Heads {
        if fused::serves_network(self, &planes) {
            return fused::forward(self, planes, globals, precision);
        }
        self.forward_unfused(planes, globals)
    }

    /// The tower's output `[B, C, N, N]`.
    fn trunk(&self, planes: Tensor<4>, globals: &Tensor<2>) -> Tensor<4> {
        let bias = self.globals.forward(globals.clone());
        let stem = relu(self.stem.forward(planes) + per_channel(bias));
        self.blocks.iter().fold(stem, |x, block| block.forward(x))
    }

    /// The heads on the tower's output `[B, C, N, N]` and its pooled features `[B, 3C]`.
    fn heads(&self, x: Tensor<4>, pooled: Tensor<2>, globals: Tensor<2>) -> Heads {
        let (policy, value) = self.roles[0].forward(x.clone(), pooled.clone());
        let (other_policy, other_value) = self.roles[1].forward(x.clone(), pooled);
        let attacking = globals.narrow(1, 0, 1);
        let defending = attacking.clone().neg().add_scalar(1.0);
        let policy = policy * per_channel(attacking.clone()) + other_policy * per_channel(defending.clone());
        let value = value * attacking + other_value * defending;
        Heads {
            policy,
            wdl: value.clone().narrow(1, 0, 3),
            moves_left: value.narrow(1, 3, 1),
            occupancy: self.occupancy.forward(x),
        }
    }
}

/// Mean, mean scaled by the board's size, and maximum over the squares: `[B, C, N, N]` to `[B, 3C]` (KataGo's pooling,
/// arXiv 1902.10565, section 3.3; the scale is `(N - 9) / 2`).
fn global_pool(x: Tensor<4>) -> Tensor<2> {
    let [batch, channels, side, _] = x.dims();
    let flat = x.reshape([batch, channels, side * side]);
    let mean = flat.clone().mean_dim(2).reshape([batch, channels]);
    let max = flat.max_dim(2).reshape([batch, channels]);
    let scaled = mean.clone().mul_scalar((side as f32 - 9.0) / 2.0);
    Tensor::cat(vec![mean, scaled, max], 1)
}

/// The policy of a board: of a row for every direction and distance, `[B, POLICY_ROWS, N, N]`, those that it has,
/// `[B, 4 (N - 1), N, N]`.
fn of_board(rows: Tensor<4>) -> Tensor<4> {
    let [batch, _, side, _] = rows.dims();
    let by_distance = rows.reshape([batch, DIRECTIONS, DISTANCES, side * side]);
    by_distance.narrow(2, 0, side - 1).reshape([batch, policy_planes(side), side, side])
}

/// For each move its plane at its origin: the product of `hidden` at the origin and `keys` at the destination. Both are
/// `[B, H, N, N]`, the result is `[B, 4 (N - 1), N, N]` and zero where a move would leave the board.
fn destinations(hidden: Tensor<4>, keys: Tensor<4>) -> Tensor<4> {
    let [batch, width, side, _] = hidden.dims();
    let squares = side * side;
    let pairs = PolicyIndex::all(side).map(|place| place.destination(side).map(|to| place.square * squares + to));
    let (index, on_board): (Vec<i64>, Vec<f32>) =
        pairs.map(|pair| pair.map_or((0, 0.0), |pair| (pair as i64, 1.0))).unzip();
    let device = hidden.device();
    let count = index.len();
    let index = Tensor::<1, Int>::from_data(TensorData::new(index, [count]), &device);
    let on_board = Tensor::<2>::from_data(TensorData::new(on_board, [1, count]), &device);
    let origins = hidden.reshape([batch, width, squares]).swap_dims(1, 2);
    let all = origins.matmul(keys.reshape([batch, width, squares])).reshape([batch, squares * squares]);
    (all.select(1, index) * on_board).reshape([batch, policy_planes(side), side, side])
}

/// `[B, C]` as `[B, C, 1, 1]`, to be added to every square.
fn per_channel(x: Tensor<2>) -> Tensor<4> {
    let [batch, channels] = x.dims();
    x.reshape([batch, channels, 1, 1])
}
