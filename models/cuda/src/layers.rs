//! Layers on a card.

use hnefi_inference::{GLOBALS, NORM_EPSILON, NetworkConfig, POLICY_ROWS, Weights};

use crate::card::{Arg, Buffer, CardError, Grid, SHARED, Stream, args};

/// The 16-bit numbers of activations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    /// Half precision, for evaluation.
    F16,
    /// bfloat16, for training.
    Bf16,
}

/// Boards of one size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Boards {
    pub count: usize,
    pub side: usize,
}

impl Boards {
    pub fn squares(self) -> usize {
        self.side * self.side
    }

    /// The squares of all boards.
    pub fn rows(self) -> usize {
        self.count * self.squares()
    }

    /// What the scaled mean of pooling is multiplied by.
    pub fn pool_scale(self) -> f32 {
        (self.side as f32 - 9.0) / 2.0
    }

    /// The most places among the lines of boards with their zeros (`kernels/convolution.h`) that a block of `rows` rows
    /// reads.
    pub fn most_places(self, rows: usize, taps: usize) -> usize {
        let (side, width) = (self.side, self.side + 1);
        let place = |row: usize| {
            let (board, square) = (row / self.squares(), row % self.squares());
            (board * width + 1 + square / side) * width + 1 + square % side
        };
        let reach = if taps == 9 { width + 1 } else { 0 };
        let tiles = (0..self.squares()).map(|tile| (tile * rows, (tile + 1) * rows - 1));
        tiles.map(|(first, last)| place(last) - place(first) + 2 * reach + 1).max().unwrap_or(0)
    }
}

/// Rows of a block of `convolution`, and of `weight_gradients`.
const BLOCK_ROWS: usize = 128;
pub(crate) const GRADIENT_ROWS: usize = 64;

/// Channels as the kernels take them: whole groups of 32, and of 64 where there are more than 96.
pub(crate) fn padded(channels: usize) -> usize {
    channels.next_multiple_of(if channels > 96 { 64 } else { 32 })
}

/// The sizes of a network as they are on a card.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub config: NetworkConfig,
    /// Channels of the tower, padded.
    pub channels: usize,
    /// Hidden channels of the heads.
    pub units: usize,
    /// Channels of the heads' convolutions together: three for each unit and role, and four of the occupancy; padded.
    pub width: usize,
    /// Hidden units of the value.
    pub hidden: usize,
}

impl Sizes {
    /// # Errors
    /// When the kernels have no room for it.
    pub fn of(config: &NetworkConfig) -> Result<Sizes, CardError> {
        let (units, hidden) = (config.head_channels, config.value_hidden);
        let bounds =
            [("channels", config.channels, 512), ("head_channels", units, 128), ("value_hidden", hidden, 1024)];
        if let Some((name, found, most)) = bounds.into_iter().find(|(_, found, most)| found > most) {
            return Err(CardError::TooLarge { name, found, most });
        }
        let (channels, width) = (padded(config.channels), padded(6 * units + 4));
        Ok(Sizes { config: *config, channels, units, width, hidden })
    }

    /// Numbers of the heads' weights behind the convolutions (`HeadWeights` in `kernels/heads.h`).
    pub fn head_weights(&self) -> usize {
        let Sizes { units, hidden, .. } = *self;
        2 * (POLICY_ROWS * (units + 1) + (3 * units + 1) * hidden + (hidden + 1) * 4)
    }
}

/// A convolution, with its weights in the order of the kernel.
pub(crate) struct Convolution {
    pub weights: Buffer,
    pub cin: usize,
    pub cout: usize,
    pub taps: usize,
}

/// What a convolution reads and writes, in the card's memory.
pub(crate) struct Operands {
    /// `[rows, cin]`.
    pub x: u64,
    /// Whether `x` is a word a row, whose bits are the channels.
    pub bits: bool,
    /// `[cout]`, or for each board with `by_board`.
    pub bias: u64,
    pub by_board: bool,
    /// `[rows, cout]`; 0 for none.
    pub skip: u64,
    /// `[rows, cout]`.
    pub out: u64,
    pub relu: bool,
}

impl Stream {
    /// Puts weights `[cout, cin, taps]` in the kernel's order; an output's are multiplied by a scale, if there is one.
    /// With `turned` they are the weights of the convolution that goes back.
    pub fn pack(
        &mut self,
        half: Half,
        (weights, scale): (u64, Option<&Buffer>),
        out: &Buffer,
        [cin, cout, taps]: [usize; 3],
        turned: bool,
    ) -> Result<(), CardError> {
        let kernel = if half == Half::F16 { "pack_f16" } else { "pack_bf16" };
        let scale = scale.map_or(0, Buffer::pointer);
        let args = args![Arg::Pointer(weights), Arg::Pointer(scale), out, cin, cout, taps, turned];
        self.start(kernel, Grid::over(cin * cout * taps), args)
    }

    /// Room for weights in the kernel's order.
    pub fn convolution(&mut self, [cin, cout, taps]: [usize; 3]) -> Result<Convolution, CardError> {
        Ok(Convolution { weights: self.allocate(2 * cin * cout * taps)?, cin, cout, taps })
    }

    pub fn convolve(
        &mut self,
        half: Half,
        layer: &Convolution,
        boards: Boards,
        operands: &Operands,
    ) -> Result<(), CardError> {
        let Convolution { weights, cin, cout, taps } = layer;
        let [one, two, four] = match half {
            Half::F16 => ["convolution_f16_1", "convolution_f16_2", "convolution_f16_4"],
            Half::Bf16 => ["convolution_bf16_1", "convolution_bf16_2", "convolution_bf16_4"],
        };
        let columns = cout / 32;
        let (kernel, wide) = match columns % 4 {
            0 => (four, 4),
            2 => (two, 2),
            _ => (one, 1),
        };
        let chunk = if cin.is_multiple_of(64) { 64 } else { 32 };
        let shared = boards.most_places(BLOCK_ROWS, *taps) * (chunk + 8) * 2;
        debug_assert!(shared <= SHARED, "{shared} bytes of shared memory");
        let rows = boards.rows();
        let grid = Grid { blocks: (rows.div_ceil(BLOCK_ROWS), columns / wide), threads: 256, shared };
        let Operands { x, bits, bias, by_board, skip, out, relu } = *operands;
        let [x, bias, skip, out] = [x, bias, skip, out].map(Arg::Pointer);
        let step = if by_board { *cout } else { 0 };
        self.start(
            kernel,
            grid,
            args![x, bits, weights, bias, step, skip, out, rows, boards.side, *cin, *cout, *taps, relu],
        )
    }

    /// Mean, scaled mean and maximum over each board: `[rows, channels]` to `[boards, 3, channels]`.
    pub fn pool(&mut self, half: Half, boards: Boards, channels: usize, x: u64, out: &Buffer) -> Result<(), CardError> {
        let kernel = if half == Half::F16 { "pool_f16" } else { "pool_bf16" };
        let grid = Grid { blocks: (boards.count, channels / 32), threads: 256, shared: 2048 };
        self.start(kernel, grid, args![Arg::Pointer(x), out, boards.squares(), channels, boards.pool_scale()])
    }

    /// `[boards, inputs]` times `[inputs, outputs]`, plus a bias if there is one.
    pub fn linear(
        &mut self,
        boards: usize,
        input: u64,
        (weights, bias): (u64, u64),
        out: u64,
        [inputs, outputs]: [usize; 2],
    ) -> Result<(), CardError> {
        let [input, weights, bias, out] = [input, weights, bias, out].map(Arg::Pointer);
        let grid = Grid::boards(boards, outputs.next_multiple_of(32).min(128), 4 * inputs);
        self.start("linear_layer", grid, args![input, weights, bias, out, inputs, outputs])
    }
}

/// A network's weights by name, in the shapes that the card has.
pub(crate) struct Padded<'a> {
    pub weights: &'a Weights,
    pub sizes: Sizes,
}

impl Padded<'_> {
    fn values(&self, name: &str) -> &[f32] {
        &self.weights.tensors()[name].values
    }

    /// A tensor `[outer, rows, inner]` with as many rows as the card has, zeros in the new ones.
    fn grown(values: &[f32], [outer, rows, inner]: [usize; 3], to: usize, fill: f32) -> Vec<f32> {
        let mut out = vec![fill; outer * to * inner];
        for part in 0..outer {
            out[part * to * inner..][..rows * inner].copy_from_slice(&values[part * rows * inner..][..rows * inner]);
        }
        out
    }

    /// A vector over the tower's channels; `fill` behind.
    pub fn channels(&self, name: &str, fill: f32) -> Vec<f32> {
        Padded::grown(self.values(name), [1, self.sizes.config.channels, 1], self.sizes.channels, fill)
    }

    /// A 3x3 convolution, `[channels, cin, 9]`.
    pub fn convolution(&self, name: &str) -> Vec<f32> {
        let (channels, padded) = (self.sizes.config.channels, self.sizes.channels);
        let tensor = &self.weights.tensors()[&format!("{name}.conv.weight")];
        let cin = tensor.shape[1];
        let is_stem = name == "stem";
        let inputs = if is_stem { cin } else { padded };
        let wide = Padded::grown(&tensor.values, [channels, cin, 9], inputs, 0.0);
        Padded::grown(&wide, [1, channels, inputs * 9], padded, 0.0)
    }

    /// A linear layer's weights `[inputs, outputs]`: `pooled` where its inputs are three times the tower's channels,
    /// `to_channels` where its outputs are these channels.
    pub fn linear(&self, name: &str, pooled: bool, to_channels: bool) -> Vec<f32> {
        let (channels, padded) = (self.sizes.config.channels, self.sizes.channels);
        let tensor = &self.weights.tensors()[&format!("{name}.weight")];
        let [inputs, outputs] = [tensor.shape[0], tensor.shape[1]];
        let (wide, outputs) = if to_channels {
            (Padded::grown(&tensor.values, [inputs, outputs, 1], padded, 0.0), padded)
        } else {
            (tensor.values.clone(), outputs)
        };
        if pooled { Padded::grown(&wide, [3, channels, outputs], padded, 0.0) } else { wide }
    }

    /// Scale and shift that a normalisation comes to in play, over the card's channels.
    pub fn folded(&self, name: &str) -> (Vec<f32>, Vec<f32>) {
        let of = |part: &str, fill| self.channels(&format!("{name}.norm.{part}"), fill);
        let (gamma, beta, mean, variance) =
            (of("gamma", 0.0), of("beta", 0.0), of("running_mean", 0.0), of("running_var", 1.0));
        let scale: Vec<f32> = gamma
            .iter()
            .zip(&variance)
            .map(|(gamma, variance)| (f64::from(*gamma) / (f64::from(*variance) + NORM_EPSILON).sqrt()) as f32)
            .collect();
        let shift = beta.iter().zip(&mean).zip(&scale).map(|((beta, mean), scale)| beta - mean * scale).collect();
        (scale, shift)
    }

    /// The 1x1 convolutions of the heads, one behind the other: weights `[width, channels]` and biases `[width]`.
    pub fn head_convolutions(&self) -> (Vec<f32>, Vec<f32>) {
        let Sizes { config, channels, width, .. } = self.sizes;
        let (mut weights, mut bias) = (Vec::new(), Vec::new());
        for name in head_convolutions() {
            let tensor = &self.weights.tensors()[&format!("{name}.weight")];
            let outputs = tensor.shape[0];
            weights.extend(Padded::grown(&tensor.values, [outputs, config.channels, 1], channels, 0.0));
            match self.weights.tensors().get(&format!("{name}.bias")) {
                Some(own) => bias.extend(&own.values),
                None => bias.resize(bias.len() + outputs, 0.0),
            }
        }
        weights.resize(width * channels, 0.0);
        bias.resize(width, 0.0);
        (weights, bias)
    }

    /// The policy's layer on pooled features, both roles side by side: `[3 channels, 2 units]`.
    pub fn policy_pool(&self) -> Vec<f32> {
        let units = self.sizes.units;
        let roles = [0, 1].map(|role| self.linear(&format!("roles.{role}.policy_pool"), true, false));
        let rows = roles[0].chunks_exact(units).zip(roles[1].chunks_exact(units));
        rows.flat_map(|(first, second)| first.iter().chain(second)).copied().collect()
    }

    /// The heads' weights behind the convolutions, in the order of `HeadWeights`.
    pub fn head_weights(&self) -> Vec<f32> {
        let mut all = Vec::with_capacity(self.sizes.head_weights());
        for part in HEAD_TENSORS {
            for role in [0, 1] {
                all.extend(self.values(&format!("roles.{role}.{part}")));
            }
        }
        all
    }

    /// The layer on the global vector, `[GLOBALS, channels]`.
    pub fn globals(&self) -> Vec<f32> {
        debug_assert_eq!(self.weights.tensors()["globals.weight"].shape[0], GLOBALS);
        self.linear("globals", false, true)
    }
}

/// The names of the heads' 1x1 convolutions, in the order of their outputs.
pub(crate) fn head_convolutions() -> impl Iterator<Item = String> {
    let of_role =
        |role| ["policy_conv", "policy_destination", "value_conv"].map(|layer| format!("roles.{role}.{layer}"));
    [0, 1].into_iter().flat_map(of_role).chain(["occupancy".to_owned()])
}

/// The tensors of a role in the order of `HeadWeights`.
const HEAD_TENSORS: [&str; 6] = [
    "policy_out.weight",
    "policy_out.bias",
    "value_hidden.weight",
    "value_hidden.bias",
    "value_out.weight",
    "value_out.bias",
];
