//! The residual tower's passes over a batch, forward here and backward in [`super::backward`]: layers
//! `relu(norm(conv(x)) + skip + bias)`.
//!
//! Activations pass through memory as seldom as statistics over the batch allow. A pass reads the convolution's outputs
//! of the layer before, normalises them on the way into its own convolution, and sums up what its own normalisation
//! needs while its outputs are in the cache; backward, in the same way, it masks the gradient on its way out. Of
//! activations only those that are skip connections are kept.
//!
//! The batch is cut into parts of a fixed number of boards; threads take whole parts and partial sums are added in
//! their order, so results do not depend on the number of threads.

use rayon::prelude::*;

use super::convolution::{Convolution, Shape};
use crate::network::{RENORM_RATIO, RENORM_SHIFT};
use hnefi_inference::TrainPrecision;
use hnefi_kernels::{Kernels, PANEL, Packed, Pool};

/// Boards of a part.
pub const PART: usize = 64;

/// Sizes of a tower. Layer 0 is the stem, layers `2k + 1` and `2k + 2` are block `k`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tower {
    /// Squares along an edge.
    pub side: usize,
    /// Input channels of the stem.
    pub planes: usize,
    /// Channels of every other layer.
    pub channels: usize,
    /// Residual blocks.
    pub blocks: usize,
    /// Every block with a number that this divides, from 1 on, adds a bias made of the pooled activations of its first
    /// layer; with 0 no block does.
    pub pool_every: usize,
    /// Added to the variance.
    pub epsilon: f64,
    /// What convolutions are computed in, forward and backward.
    pub precision: TrainPrecision,
}

/// Parameters of a layer, or their gradients.
pub(super) struct Layer<'a> {
    /// `[cout, cin, 3, 3]`.
    pub(super) weights: &'a [f32],
    /// `[cout]`.
    pub(super) gamma: &'a [f32],
    /// `[cout]`.
    beta: &'a [f32],
    /// From pooled activations to a bias: `[3 cout, cout]` and `[cout]`.
    pub(super) pool: Option<[&'a [f32]; 2]>,
}

impl Tower {
    /// The number of layers.
    pub fn layers(&self) -> usize {
        2 * self.blocks + 1
    }

    /// The sizes of a layer's convolution.
    pub fn shape(&self, layer: usize) -> Shape {
        Shape { side: self.side, cin: if layer == 0 { self.planes } else { self.channels }, cout: self.channels }
    }

    /// Whether the layer adds a bias made of the pooled activations of the layer before.
    pub fn pools(&self, layer: usize) -> bool {
        layer > 0 && layer.is_multiple_of(2) && self.pool_every > 0 && (layer / 2).is_multiple_of(self.pool_every)
    }

    /// Floats of a board of activations.
    pub(super) fn len(&self) -> usize {
        self.shape(0).output_len()
    }

    /// How a board of activations is pooled.
    pub(super) fn pool(&self) -> Pool {
        Pool { side: self.side, row_step: self.side * self.channels, channels: self.channels }
    }

    /// The parameters, which lie one after the other in the order of [`Layer`].
    pub(super) fn split<'a>(&self, mut parameters: &'a [f32]) -> Vec<Layer<'a>> {
        let channels = self.channels;
        let mut next = |len| {
            let (first, rest) = parameters.split_at(len);
            parameters = rest;
            first
        };
        let layer = |number| Layer {
            weights: next(channels * self.shape(number).cin * 9),
            gamma: next(channels),
            beta: next(channels),
            pool: self.pools(number).then(|| [next(3 * channels * channels), next(channels)]),
        };
        let layers = (0..self.layers()).map(layer).collect();
        assert!(parameters.is_empty(), "parameters of {self:?}");
        layers
    }
}

/// A layer's normalisation over the batch, per channel.
#[derive(Clone, Debug)]
pub struct Norm {
    /// Mean.
    pub mean: Vec<f32>,
    /// Variance (biased).
    pub variance: Vec<f32>,
    /// 1 / sqrt(variance + epsilon).
    pub(super) inverse: Vec<f32>,
    /// Batch renormalisation: what the normalised values are multiplied by, and what is then added to them.
    pub(super) renorm: [Vec<f32>; 2],
    /// Normalised values are `scale * value + shift`.
    scale: Vec<f32>,
    shift: Vec<f32>,
}

impl Norm {
    /// From the sums of values and of squared values, `[2][channels]`, over `count` squares, and the running mean and
    /// variance, `[2][channels]`.
    fn new(moments: &[f64], count: f64, layer: &Layer<'_>, running: &[f32], epsilon: f64) -> Norm {
        let channels = moments.len() / 2;
        let fresh = || vec![0.0; channels];
        let mut norm = Norm {
            mean: fresh(),
            variance: fresh(),
            inverse: fresh(),
            renorm: [fresh(), fresh()],
            scale: fresh(),
            shift: fresh(),
        };
        let (ratios, shifts) = (f64::from(RENORM_RATIO), f64::from(RENORM_SHIFT));
        for c in 0..channels {
            let mean = moments[c] / count;
            let variance = (moments[channels + c] / count - mean * mean).max(0.0);
            let deviation = (variance + epsilon).sqrt();
            let running_deviation = (f64::from(running[channels + c]) + epsilon).sqrt();
            let ratio = (deviation / running_deviation).clamp(1.0 / ratios, ratios);
            let shift = ((mean - f64::from(running[c])) / running_deviation).clamp(-shifts, shifts);
            let gamma = f64::from(layer.gamma[c]);
            let scale = gamma * ratio / deviation;
            norm.mean[c] = mean as f32;
            norm.variance[c] = variance as f32;
            norm.inverse[c] = (1.0 / deviation) as f32;
            (norm.renorm[0][c], norm.renorm[1][c]) = (ratio as f32, shift as f32);
            norm.scale[c] = scale as f32;
            norm.shift[c] = (f64::from(layer.beta[c]) + gamma * shift - mean * scale) as f32;
        }
        norm
    }
}

/// What the forward pass keeps of a part of the batch, boards one after the other.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) boards: usize,
    /// Every layer's convolution before normalisation, `[N, N, C]` a board.
    pub(super) convolved: Vec<Vec<f32>>,
    /// Activations `[N, N, C]` of the even layers but the last.
    pub(super) trunk: Vec<Vec<f32>>,
    /// Every layer's bias, `[C]` a board; nothing where there is none.
    bias: Vec<Vec<f32>>,
    /// Pooled activations, `[3C]` a board, which the layer's bias is made of; nothing where there are none.
    pub(super) pooled: Vec<Vec<f32>>,
}

/// What the forward pass keeps for the backward pass.
#[derive(Debug)]
pub struct Saved {
    /// Every layer's.
    pub norms: Vec<Norm>,
    pub(super) parts: Vec<Part>,
}

/// Adds up partial sums per channel in their order.
pub(super) fn total<'a>(parts: impl Iterator<Item = &'a Vec<f64>>, len: usize) -> Vec<f64> {
    let mut sum = vec![0.0; len];
    for part in parts {
        for (sum, value) in sum.iter_mut().zip(part) {
            *sum += value;
        }
    }
    sum
}

/// Adds one board's sums per channel to the sums of a part.
pub(super) fn add_to(total: &mut [f64], sums: &[f32]) {
    for (total, &sum) in total.iter_mut().zip(sums) {
        *total += f64::from(sum);
    }
}

/// A matrix `[rows, columns]`, its rows padded to whole panels, or its transpose `[columns, rows]`, for products.
pub(super) fn packed(matrix: &[f32], columns: usize, transposed: bool) -> Packed {
    let rows = matrix.len() / columns;
    let (depth, width) = if transposed { (columns, rows) } else { (rows.next_multiple_of(PANEL), columns) };
    let mut packed = Packed::zeros(1, depth, width);
    for (at, &value) in matrix.iter().enumerate() {
        let (row, column) = (at / columns, at % columns);
        if transposed { packed.set(0, column, row, value) } else { packed.set(0, row, column, value) }
    }
    packed
}

/// One item of a list whose items have this length; nothing of an empty list.
fn item(list: &[f32], index: usize, len: usize) -> Option<&[f32]> {
    (!list.is_empty()).then(|| &list[index * len..(index + 1) * len])
}

impl Part {
    /// The activations of a layer on one board, by its normalisation.
    pub(super) fn activate(&self, tower: &Tower, layer: usize, norm: &Norm, board: usize, out: &mut [f32]) {
        let len = tower.len();
        let bias = item(&self.bias[layer], board, tower.channels);
        let shifted = bias.map(|bias| norm.shift.iter().zip(bias).map(|(shift, bias)| shift + bias).collect());
        let shifted: &Vec<f32> = shifted.as_ref().unwrap_or(&norm.shift);
        let skip = (layer > 0 && layer.is_multiple_of(2)).then(|| &self.trunk[layer / 2 - 1][board * len..][..len]);
        let convolved = &self.convolved[layer][board * len..][..len];
        Kernels::best().activate(convolved, skip, &norm.scale, shifted, out);
    }

    /// Convolves what layer `layer` reads, the inputs `x` or the activations of the layer before. Returns the sums of
    /// its outputs and of their squares, `[2][C]`.
    fn convolve(
        &mut self,
        tower: &Tower,
        layer: usize,
        x: &[f32],
        convolution: &Convolution,
        before: Option<&Norm>,
        pool: Option<(&Packed, &[f32])>,
    ) -> Vec<f64> {
        let (channels, kernels) = (tower.channels, Kernels::best());
        let input_len = tower.shape(layer).input_len();
        let mut group = convolution.group();
        let mut board = vec![0.0; tower.len()];
        let (mut sums, mut moments) = (vec![0.0; 2 * channels], vec![0.0; 2 * channels]);
        let mut convolved = Vec::with_capacity(self.boards * tower.len());
        let keeps = before.is_some() && !layer.is_multiple_of(2);
        let mut trunk = Vec::with_capacity(if keeps { convolved.capacity() } else { 0 });
        let [mut bias, mut pooled] = [1, 3].map(|rows| vec![0.0; pool.map_or(0, |_| self.boards * rows * channels)]);
        for first in (0..self.boards).step_by(convolution.most) {
            let boards = first..self.boards.min(first + convolution.most);
            for number in boards.clone() {
                let Some(norm) = before else {
                    group.put(number - first, &x[number * input_len..][..input_len]);
                    continue;
                };
                self.activate(tower, layer - 1, norm, number, &mut board);
                if keeps {
                    trunk.extend_from_slice(&board);
                }
                if let Some((weights, own)) = pool {
                    let pooled = &mut pooled[number * 3 * channels..][..3 * channels];
                    kernels.pool(&tower.pool(), &board, pooled);
                    let bias = &mut bias[number * channels..][..channels];
                    kernels.dense(pooled, weights, own, false, bias);
                }
                group.put(number - first, &board);
            }
            group.multiply(boards.len());
            for slot in 0..boards.len() {
                group.take(slot, &mut board);
                kernels.moments(&board, &mut moments);
                add_to(&mut sums, &moments);
                convolved.extend_from_slice(&board);
            }
        }
        self.convolved.push(convolved);
        if keeps {
            self.trunk.push(trunk);
        }
        if layer > 0 {
            self.bias.push(bias);
            self.pooled.push(pooled);
        }
        sums
    }
}

/// Forward pass in training mode (batch renormalisation). `x` is `[B, N, N, planes]`, `bias`, which the stem adds,
/// `[B, C]`, `parameters` every layer's in turn: weights `[cout, cin, 3, 3]`, scale and shift of the normalisation
/// `[cout]`, and where it pools `[3 cout, cout]` and `[cout]`; `running` is every layer's running mean and variance,
/// `[2][C]`. Returns the activations of the last layer `[B, N, N, C]` and what the backward pass needs.
pub fn forward(tower: &Tower, x: &[f32], bias: &[f32], parameters: &[f32], running: &[f32]) -> (Vec<f32>, Saved) {
    let Tower { channels, .. } = *tower;
    let (input_len, len) = (tower.shape(0).input_len(), tower.len());
    let batch = bias.len() / channels;
    assert_eq!(x.len(), batch * input_len, "inputs of {tower:?}");
    assert_eq!(running.len(), 2 * tower.layers() * channels, "running statistics of {tower:?}");
    let mut parts: Vec<Part> = bias
        .chunks(PART * channels)
        .map(|bias| Part {
            boards: bias.len() / channels,
            bias: vec![bias.to_vec()],
            pooled: vec![Vec::new()],
            ..Part::default()
        })
        .collect();
    let count = (batch * tower.side * tower.side) as f64;
    let mut norms: Vec<Norm> = Vec::new();
    for (number, layer) in tower.split(parameters).iter().enumerate() {
        let convolution = Convolution::forward(tower.shape(number), layer.weights, tower.precision);
        let pool = layer.pool.map(|[weights, bias]| (packed(weights, channels, false), bias));
        let pool = pool.as_ref().map(|(weights, bias)| (weights, *bias));
        let moments: Vec<Vec<f64>> = parts
            .par_iter_mut()
            .zip(x.par_chunks(PART * input_len))
            .map(|(part, x)| part.convolve(tower, number, x, &convolution, norms.last(), pool))
            .collect();
        let running = &running[2 * channels * number..][..2 * channels];
        norms.push(Norm::new(&total(moments.iter(), 2 * channels), count, layer, running, tower.epsilon));
    }
    let mut out = vec![0.0; batch * len];
    let (last, norm) = (norms.len() - 1, &norms[norms.len() - 1]);
    out.par_chunks_mut(PART * len).zip(&parts).for_each(|(out, part)| {
        for (board, out) in out.chunks_exact_mut(len).enumerate() {
            part.activate(tower, last, norm, board, out);
        }
    });
    (out, Saved { norms, parts })
}
