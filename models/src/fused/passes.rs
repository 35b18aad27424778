//! Forward and backward passes of one fused layer over a batch: `relu(norm(conv(x)) + skip + bias)`.
//!
//! The batch is cut into parts of a fixed number of boards; threads take whole parts and partial sums are added in their
//! order, so results do not depend on the number of threads.

use rayon::prelude::*;

use super::convolution::Convolution;

/// Boards a part.
const PART: usize = 64;

/// Channels that the loops below take at a time, which the compiler makes registers of.
const LANES: usize = 16;

/// So many channels of one square, or a sum over squares.
type Lanes = [f32; LANES];

/// Sizes of one call.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Boards in the batch.
    pub batch: usize,
    /// Squares along an edge.
    pub side: usize,
    /// Input channels.
    pub cin: usize,
    /// Output channels.
    pub cout: usize,
}

impl Shape {
    pub(super) fn input_len(self) -> usize {
        self.side * self.side * self.cin
    }

    pub(super) fn output_len(self) -> usize {
        self.side * self.side * self.cout
    }

    /// Whether the passes serve these sizes.
    pub fn is_served(self) -> bool {
        self.side > 0 && [self.cin, self.cout].iter().all(|&channels| channels > 0 && channels.is_multiple_of(LANES))
    }
}

/// What the forward pass keeps for the backward pass.
#[derive(Clone, Debug)]
pub struct Saved {
    /// Convolution output before normalisation, `[B, N, N, cout]`.
    convolved: Vec<f32>,
    /// Batch mean per channel.
    pub mean: Vec<f32>,
    /// Batch variance per channel (biased).
    pub variance: Vec<f32>,
    /// 1 / sqrt(variance + epsilon).
    inverse: Vec<f32>,
}

/// Gradients of all inputs.
pub struct Gradients {
    /// `[B, N, N, cin]`; empty when not asked for.
    pub x: Vec<f32>,
    /// `[cout, cin, 3, 3]`.
    pub weights: Vec<f32>,
    /// Per channel.
    pub gamma: Vec<f32>,
    /// Per channel.
    pub beta: Vec<f32>,
    /// Of the sum before the ReLU, `[B, N, N, cout]`, which is also the skip's gradient.
    pub skip: Vec<f32>,
    /// Of the bias per board and channel, `[B, cout]`.
    pub bias: Vec<f32>,
}

/// A slice over channels as whole lanes.
fn lanes(values: &[f32]) -> &[Lanes] {
    values.as_chunks().0
}

fn lanes_mut(values: &mut [f32]) -> &mut [Lanes] {
    values.as_chunks_mut().0
}

/// Adds one board's sums over a block of channels to the totals of all channels.
fn add_to(total: &mut [f64], block: usize, sum: &Lanes) {
    for (total, &value) in total[block * LANES..][..LANES].iter_mut().zip(sum) {
        *total += f64::from(value);
    }
}

/// Adds up partial sums per channel in their order.
fn total<'a>(parts: impl Iterator<Item = &'a [f64]>, channels: usize) -> Vec<f64> {
    let mut sum = vec![0.0; channels];
    for part in parts {
        for (sum, value) in sum.iter_mut().zip(part) {
            *sum += value;
        }
    }
    sum
}

/// Forward pass in training mode (batch statistics). `x` is `[B, N, N, cin]`, `skip` `[B, N, N, cout]`, `bias` `[B, cout]`.
/// Returns the activations `[B, N, N, cout]` and what the backward pass needs.
#[expect(clippy::too_many_arguments, reason = "one layer has that many inputs")]
pub fn forward(
    shape: Shape,
    x: &[f32],
    weights: &[f32],
    gamma: &[f32],
    beta: &[f32],
    skip: Option<&[f32]>,
    bias: Option<&[f32]>,
    epsilon: f64,
) -> (Vec<f32>, Saved) {
    let (input_len, output_len, cout) = (shape.input_len(), shape.output_len(), shape.cout);
    assert_eq!(x.len(), shape.batch * input_len);
    let convolution = Convolution::forward(shape, weights);
    let mut convolved = vec![0.0; shape.batch * output_len];
    let moments: Vec<Moments> = convolved
        .par_chunks_mut(PART * output_len)
        .zip(x.par_chunks(PART * input_len))
        .map(|(out, x)| {
            convolution.run(x, out);
            Moments::of(out, output_len, cout)
        })
        .collect();
    let count = (shape.batch * shape.side * shape.side) as f64;
    let sums = total(moments.iter().map(|part| &part.sums[..]), cout);
    let squares = total(moments.iter().map(|part| &part.squares[..]), cout);
    let mean: Vec<f64> = sums.iter().map(|sum| sum / count).collect();
    let variance: Vec<f64> =
        squares.iter().zip(&mean).map(|(square, mean)| (square / count - mean * mean).max(0.0)).collect();
    let saved = Saved {
        mean: mean.iter().map(|&v| v as f32).collect(),
        inverse: variance.iter().map(|&v| (1.0 / (v + epsilon).sqrt()) as f32).collect(),
        variance: variance.iter().map(|&v| v as f32).collect(),
        convolved,
    };
    let scale: Vec<f32> = gamma.iter().zip(&saved.inverse).map(|(gamma, inverse)| gamma * inverse).collect();
    let shift: Vec<f32> =
        beta.iter().zip(&saved.mean).zip(&scale).map(|((beta, mean), scale)| beta - mean * scale).collect();

    let mut out = vec![0.0; shape.batch * output_len];
    out.par_chunks_mut(output_len).enumerate().for_each(|(board, out)| {
        let convolved = &saved.convolved[board * output_len..][..output_len];
        let skip = skip.map(|skip| &skip[board * output_len..][..output_len]);
        let shift: Vec<f32> = match bias {
            Some(bias) => shift.iter().zip(&bias[board * cout..][..cout]).map(|(shift, bias)| shift + bias).collect(),
            None => shift.clone(),
        };
        activate(out, convolved, skip, &scale, &shift);
    });
    (out, saved)
}

/// Sums per channel over the squares of some boards.
struct Moments {
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl Moments {
    /// Sums over boards of `len` floats each.
    fn of(boards: &[f32], len: usize, channels: usize) -> Moments {
        let blocks = channels / LANES;
        let mut moments = Moments { sums: vec![0.0; channels], squares: vec![0.0; channels] };
        for board in boards.chunks_exact(len) {
            let board = lanes(board);
            for block in 0..blocks {
                let (mut sum, mut squares) = ([0.0; LANES], [0.0; LANES]);
                for square in board.chunks_exact(blocks) {
                    let values = &square[block];
                    for lane in 0..LANES {
                        sum[lane] += values[lane];
                        squares[lane] += values[lane] * values[lane];
                    }
                }
                add_to(&mut moments.sums, block, &sum);
                add_to(&mut moments.squares, block, &squares);
            }
        }
        moments
    }
}

/// `relu(convolved * scale + shift + skip)` of one board.
fn activate(out: &mut [f32], convolved: &[f32], skip: Option<&[f32]>, scale: &[f32], shift: &[f32]) {
    let (scale, shift) = (lanes(scale), lanes(shift));
    let blocks = scale.len();
    // Not `max`, which would turn a NaN into 0 and hide it from the learner's check.
    let relu = |value: f32| if value < 0.0 { 0.0 } else { value };
    let squares = lanes_mut(out).chunks_exact_mut(blocks).zip(lanes(convolved).chunks_exact(blocks));
    match skip {
        None => {
            for (out, convolved) in squares {
                for block in 0..blocks {
                    let (out, z, scale, shift) = (&mut out[block], &convolved[block], &scale[block], &shift[block]);
                    for lane in 0..LANES {
                        out[lane] = relu(z[lane] * scale[lane] + shift[lane]);
                    }
                }
            }
        }
        Some(skip) => {
            for ((out, convolved), skip) in squares.zip(lanes(skip).chunks_exact(blocks)) {
                for block in 0..blocks {
                    let (out, z, scale, shift) = (&mut out[block], &convolved[block], &scale[block], &shift[block]);
                    for lane in 0..LANES {
                        out[lane] = relu(z[lane] * scale[lane] + shift[lane] + skip[block][lane]);
                    }
                }
            }
        }
    }
}

/// Backward pass: `out` is what [`forward`] returned and `g` its gradient. The gradient of `x` is only computed when wanted.
#[expect(clippy::too_many_arguments, reason = "one layer has that many inputs")]
pub fn backward(
    shape: Shape,
    x: &[f32],
    weights: &[f32],
    gamma: &[f32],
    out: &[f32],
    g: &[f32],
    saved: &Saved,
    wants_x: bool,
) -> Gradients {
    let (input_len, output_len, cout) = (shape.input_len(), shape.output_len(), shape.cout);
    // Through the ReLU, and the sums that the normalisation's gradient needs.
    let mut masked = vec![0.0; g.len()];
    let mut bias = vec![0.0; shape.batch * cout];
    let products: Vec<Vec<f64>> = masked
        .par_chunks_mut(PART * output_len)
        .zip(bias.par_chunks_mut(PART * cout))
        .enumerate()
        .map(|(part, (masked, bias))| {
            let mut products = vec![0.0; cout];
            let boards = masked.chunks_exact_mut(output_len).zip(bias.chunks_exact_mut(cout));
            for (index, (masked, bias)) in boards.enumerate() {
                let begin = (part * PART + index) * output_len;
                let here = begin..begin + output_len;
                mask(lanes_mut(masked), lanes(&out[here.clone()]), lanes(&g[here.clone()]));
                sum_gradients(lanes(masked), lanes(&saved.convolved[here]), &saved.mean, bias, &mut products);
            }
            products
        })
        .collect();
    let beta = bias.chunks_exact(cout).fold(vec![0.0; cout], |mut sum, bias| {
        sum.iter_mut().zip(bias).for_each(|(sum, &value)| *sum += f64::from(value));
        sum
    });
    let gamma_gradient: Vec<f64> = total(products.iter().map(|part| &part[..]), cout)
        .iter()
        .zip(&saved.inverse)
        .map(|(product, inverse)| product * f64::from(*inverse))
        .collect();

    // d convolved = scale * (masked - mean(masked) - normalised * mean(masked * normalised)), written as a line in z.
    let count = (shape.batch * shape.side * shape.side) as f64;
    let (mut scale, mut slope, mut offset) = (vec![0.0f32; cout], vec![0.0f32; cout], vec![0.0f32; cout]);
    for c in 0..cout {
        let inverse = f64::from(saved.inverse[c]);
        let a = f64::from(gamma[c]) * inverse;
        let b = -a * inverse * gamma_gradient[c] / count;
        scale[c] = a as f32;
        slope[c] = b as f32;
        offset[c] = (-a * beta[c] / count - b * f64::from(saved.mean[c])) as f32;
    }
    let convolution = Convolution::backward(shape, weights, wants_x);
    let mut x_gradient = vec![0.0; if wants_x { x.len() } else { 0 }];
    let x_parts: Vec<&mut [f32]> = if wants_x {
        x_gradient.chunks_mut(PART * input_len).collect()
    } else {
        (0..shape.batch.div_ceil(PART)).map(|_| Default::default()).collect()
    };
    let parts: Vec<Vec<f32>> = x_parts
        .into_par_iter()
        .zip(x.par_chunks(PART * input_len))
        .enumerate()
        .map(|(part, (x_gradient, x))| {
            let gradient_of = |board: usize, gradient: &mut [f32]| {
                let begin = (part * PART + board) * output_len;
                let (masked, convolved) = (&masked[begin..][..output_len], &saved.convolved[begin..][..output_len]);
                before_norm(gradient, masked, convolved, [&scale, &slope, &offset]);
            };
            convolution.run_back(x, gradient_of, x_gradient)
        })
        .collect();
    Gradients {
        x: x_gradient,
        weights: convolution.weights_gradient(&parts),
        gamma: gamma_gradient.iter().map(|&v| v as f32).collect(),
        beta: beta.iter().map(|&v| v as f32).collect(),
        skip: masked,
        bias,
    }
}

/// The gradient before the ReLU: that after it where it let something through.
fn mask(masked: &mut [Lanes], out: &[Lanes], gradient: &[Lanes]) {
    for ((masked, out), gradient) in masked.iter_mut().zip(out).zip(gradient) {
        for lane in 0..LANES {
            masked[lane] = if out[lane] > 0.0 { gradient[lane] } else { 0.0 };
        }
    }
}

/// One board's sums per channel: of the gradient into `bias`, and of it times the centred convolution onto `products`.
fn sum_gradients(gradient: &[Lanes], convolved: &[Lanes], mean: &[f32], bias: &mut [f32], products: &mut [f64]) {
    let (mean, bias) = (lanes(mean), lanes_mut(bias));
    let blocks = mean.len();
    for block in 0..blocks {
        let (mut sum, mut product) = ([0.0; LANES], [0.0; LANES]);
        let mean = &mean[block];
        for (gradient, convolved) in gradient.chunks_exact(blocks).zip(convolved.chunks_exact(blocks)) {
            let (gradient, convolved) = (&gradient[block], &convolved[block]);
            for lane in 0..LANES {
                sum[lane] += gradient[lane];
                product[lane] += gradient[lane] * (convolved[lane] - mean[lane]);
            }
        }
        bias[block] = sum;
        add_to(products, block, &product);
    }
}

/// `scale * masked + slope * convolved + offset` of one board.
fn before_norm(gradient: &mut [f32], masked: &[f32], convolved: &[f32], [scale, slope, offset]: [&[f32]; 3]) {
    let (scale, slope, offset) = (lanes(scale), lanes(slope), lanes(offset));
    let blocks = scale.len();
    let squares = lanes_mut(gradient).chunks_exact_mut(blocks);
    let inputs = lanes(masked).chunks_exact(blocks).zip(lanes(convolved).chunks_exact(blocks));
    for (gradient, (masked, convolved)) in squares.zip(inputs) {
        for block in 0..blocks {
            let (gradient, masked, convolved) = (&mut gradient[block], &masked[block], &convolved[block]);
            let (scale, slope, offset) = (&scale[block], &slope[block], &offset[block]);
            for lane in 0..LANES {
                gradient[lane] = scale[lane] * masked[lane] + slope[lane] * convolved[lane] + offset[lane];
            }
        }
    }
}
