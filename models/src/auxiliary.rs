//! Auxiliary heads: questions asked of the trunk in training alone, whose answers teach it what matters.
//!
//! They are scaffolding. Play never computes them, checkpoints do not hold them, and a run has only those whose losses
//! have a weight. Each is small, reads the trunk with its channels last, `[B, S, C]` with S = N * N squares, and serves
//! both roles: the trunk knows whose move it is.

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use crate::parameters::fresh;
use hnefi_inference::{NetworkConfig, POLICY_PLANES};

use crate::Network;

/// Ways a game ends with the king, each on a square of the board: he escapes, he holds a fort, he is captured.
pub const KING_ENDINGS: usize = 3;

/// Other ways a game ends: encirclement, repetition, a draw fort, no moves, no capture, the ply cap.
pub const OTHER_ENDINGS: usize = 6;

/// Which auxiliary heads a network has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Auxiliaries {
    /// The opponent's policy on the next ply.
    pub reply: bool,
    /// The policy made soft.
    pub soft_policy: bool,
    /// Horizons at which the coming searched values are averaged; 0 for no such head.
    pub short_values: usize,
    /// Whether the piece on a square is captured soon.
    pub captured: bool,
    /// How and where the game ends.
    pub ending: bool,
}

impl Auxiliaries {
    /// No head at all.
    pub const NONE: Auxiliaries =
        Auxiliaries { reply: false, soft_policy: false, short_values: 0, captured: false, ending: false };
}

/// A policy from every square: 1x1 convolutions, written as linear layers over the channels.
#[derive(Module, Debug)]
pub struct SquarePolicy {
    /// `[C, head channels]`.
    pub hidden: Linear,
    /// `[head channels, 40]`.
    pub out: Linear,
}

/// Win, draw and loss at several horizons.
#[derive(Module, Debug)]
pub struct ShortValues {
    /// `[3C, value hidden]`: from the pooled trunk.
    pub hidden: Linear,
    /// `[value hidden, 3 * horizons]`.
    pub out: Linear,
}

/// How and where the game ends.
#[derive(Module, Debug)]
pub struct EndingHead {
    /// `[C, 3]`: [`KING_ENDINGS`] on every square.
    pub king: Linear,
    /// `[3C, 6]`: [`OTHER_ENDINGS`], from the pooled trunk.
    pub other: Linear,
}

/// The auxiliary heads of a network in training.
#[derive(Module, Debug)]
pub struct AuxiliaryHeads {
    /// The opponent's reply.
    pub reply: Option<SquarePolicy>,
    /// The soft policy.
    pub soft_policy: Option<SquarePolicy>,
    /// Values at short horizons.
    pub short_values: Option<ShortValues>,
    /// `[C, 2]`: stays or is captured, on every square.
    pub captured: Option<Linear>,
    /// The way and the place of the end.
    pub ending: Option<EndingHead>,
}

/// What the auxiliary heads say of a batch; each `None` where there is no such head.
#[derive(Clone, Debug, Default)]
pub struct AuxiliaryOutputs {
    /// Policy logits of the opponent's next ply, `[B, 40, N, N]`.
    pub reply: Option<Tensor<4>>,
    /// Logits of the soft policy, `[B, 40, N, N]`.
    pub soft_policy: Option<Tensor<4>>,
    /// Win, draw and loss logits of the side to move at each horizon, `[B, horizons, 3]`.
    pub short_values: Option<Tensor<3>>,
    /// Logits of staying and of being captured, `[B, 2, N, N]`.
    pub captured: Option<Tensor<4>>,
    /// Logits of all endings, `[B, 3 * N * N + 6]`: every king's ending on every square, then the others.
    pub ending: Option<Tensor<2>>,
}

impl AuxiliaryHeads {
    /// Auxiliary heads for a network of this shape, on `device`; `None` where none is wanted. Their weights are drawn
    /// as [`Network::fresh`] draws the network's, which do not depend on what is drawn here.
    pub fn fresh(config: &NetworkConfig, which: Auxiliaries, seed: u64, device: &Device) -> Option<AuxiliaryHeads> {
        (which != Auxiliaries::NONE).then(|| fresh(AuxiliaryHeads::skeleton(config, which, device), seed ^ SEED))
    }

    fn skeleton(config: &NetworkConfig, which: Auxiliaries, device: &Device) -> AuxiliaryHeads {
        let (channels, head) = (config.channels, config.head_channels);
        let linear = |inputs, outputs| LinearConfig::new(inputs, outputs).init(device);
        let policy = || SquarePolicy { hidden: linear(channels, head), out: linear(head, POLICY_PLANES) };
        AuxiliaryHeads {
            reply: which.reply.then(policy),
            soft_policy: which.soft_policy.then(policy),
            short_values: (which.short_values > 0).then(|| ShortValues {
                hidden: linear(3 * channels, config.value_hidden),
                out: linear(config.value_hidden, 3 * which.short_values),
            }),
            captured: which.captured.then(|| linear(channels, 2)),
            ending: which.ending.then(|| EndingHead {
                king: linear(channels, KING_ENDINGS),
                other: linear(3 * channels, OTHER_ENDINGS),
            }),
        }
    }
}

/// Tells the draws of auxiliary weights from those of the network.
const SEED: u64 = 0x6175_7869_6C69_6172;

impl Network {
    /// Which auxiliary heads there are.
    pub fn auxiliaries(&self) -> Auxiliaries {
        let Some(heads) = &self.auxiliary else { return Auxiliaries::NONE };
        Auxiliaries {
            reply: heads.reply.is_some(),
            soft_policy: heads.soft_policy.is_some(),
            short_values: heads.short_values.as_ref().map_or(0, |head| head.out.weight.dims()[1] / 3),
            captured: heads.captured.is_some(),
            ending: heads.ending.is_some(),
        }
    }

    /// The network with these auxiliary heads instead of those it has.
    #[must_use]
    pub fn with_auxiliary(self, auxiliary: Option<AuxiliaryHeads>) -> Network {
        Network { auxiliary, ..self }
    }
}

impl SquarePolicy {
    fn forward(&self, trunk: &Tensor<3>, side: usize) -> Tensor<4> {
        let hidden = relu(over_squares(&self.hidden, trunk));
        channels_first(over_squares(&self.out, &hidden), side)
    }
}

impl AuxiliaryHeads {
    /// The answers from the trunk `[B, S, C]` and its pooled features `[B, 3C]` on boards of this side.
    pub(crate) fn forward(&self, trunk: &Tensor<3>, pooled: &Tensor<2>, side: usize) -> AuxiliaryOutputs {
        let rows = trunk.dims()[0];
        AuxiliaryOutputs {
            reply: self.reply.as_ref().map(|head| head.forward(trunk, side)),
            soft_policy: self.soft_policy.as_ref().map(|head| head.forward(trunk, side)),
            short_values: self.short_values.as_ref().map(|head| {
                let out = head.out.forward(relu(head.hidden.forward(pooled.clone())));
                let horizons = out.dims()[1] / 3;
                out.reshape([rows, horizons, 3])
            }),
            captured: self.captured.as_ref().map(|head| channels_first(over_squares(head, trunk), side)),
            ending: self.ending.as_ref().map(|head| {
                let king = over_squares(&head.king, trunk).swap_dims(1, 2).reshape([rows, KING_ENDINGS * side * side]);
                Tensor::cat(vec![king, head.other.forward(pooled.clone())], 1)
            }),
        }
    }
}

/// A linear layer on every square of `[B, S, C]`, as one matrix product over all of them.
fn over_squares(layer: &Linear, x: &Tensor<3>) -> Tensor<3> {
    let [rows, squares, channels] = x.dims();
    let out = layer.forward(x.clone().reshape([rows * squares, channels]));
    let outputs = out.dims()[1];
    out.reshape([rows, squares, outputs])
}

/// `[B, S, C]` as `[B, C, N, N]`.
fn channels_first(x: Tensor<3>, side: usize) -> Tensor<4> {
    let [rows, _, channels] = x.dims();
    x.swap_dims(1, 2).reshape([rows, channels, side, side])
}
