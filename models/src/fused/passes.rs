//! Forward and backward passes of one fused layer over a batch: `relu(norm(conv(x)) + skip + bias)`.
//!
//! The batch is cut into parts of a fixed number of boards; threads take whole parts and partial sums are added in
//! their order, so results do not depend on the number of threads.

use rayon::prelude::*;

use super::convolution::{Convolution, Shape};
use hnefi_inference::TrainPrecision;
use hnefi_kernels::Kernels;

/// Boards of a part.
pub(super) const PART: usize = 64;

/// What the forward pass keeps for the backward pass.
#[derive(Clone, Debug)]
pub struct Saved {
    /// Convolution output before normalisation, `[N, N, cout]` a board, part by part.
    convolved: Vec<Vec<f32>>,
    /// Batch mean per channel.
    pub mean: Vec<f32>,
    /// Batch variance per channel (biased).
    pub variance: Vec<f32>,
    /// 1 / sqrt(variance + epsilon).
    inverse: Vec<f32>,
}

/// Gradients of the inputs but the skip.
pub struct Gradients {
    /// `[B, N, N, cin]`; empty when not asked for.
    pub x: Vec<f32>,
    /// `[cout, cin, 3, 3]`.
    pub weights: Vec<f32>,
    /// Per channel.
    pub gamma: Vec<f32>,
    /// Per channel.
    pub beta: Vec<f32>,
    /// Of the bias per board and channel, `[B, cout]`.
    pub bias: Vec<f32>,
}

/// Adds one board's sums per channel to the sums of a part.
fn add_to(total: &mut [f64], sums: &[f32]) {
    for (total, &sum) in total.iter_mut().zip(sums) {
        *total += f64::from(sum);
    }
}

/// Adds up partial sums per channel in their order.
fn total<'a>(parts: impl Iterator<Item = &'a Vec<f64>>, len: usize) -> Vec<f64> {
    let mut sum = vec![0.0; len];
    for part in parts {
        for (sum, value) in sum.iter_mut().zip(part) {
            *sum += value;
        }
    }
    sum
}

/// Forward pass in training mode (batch statistics). `x` is `[B, N, N, cin]`, `skip` `[B, N, N, cout]`, `bias` `[B,
/// cout]`. Returns the activations `[B, N, N, cout]` and what the backward pass needs.
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
    precision: TrainPrecision,
) -> (Vec<f32>, Saved) {
    let (input_len, output_len, cout) = (shape.input_len(), shape.output_len(), shape.cout);
    assert_eq!(x.len(), shape.batch * input_len);
    let (convolution, kernels) = (Convolution::forward(shape, weights, precision), Kernels::best());
    let (convolved, moments): (Vec<_>, Vec<_>) = x
        .par_chunks(PART * input_len)
        .map(|x| {
            let mut convolved = vec![0.0; x.len() / input_len * output_len];
            convolution.run(x, &mut convolved);
            let (mut total, mut moments) = (vec![0.0; 2 * cout], vec![0.0; 2 * cout]);
            for board in convolved.chunks_exact(output_len) {
                kernels.moments(board, &mut moments);
                add_to(&mut total, &moments);
            }
            (convolved, total)
        })
        .unzip();
    let count = (shape.batch * shape.side * shape.side) as f64;
    let moments = total(moments.iter(), 2 * cout);
    let (sums, squares) = moments.split_at(cout);
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
    out.par_chunks_mut(PART * output_len).zip(&saved.convolved).enumerate().for_each(|(part, (out, convolved))| {
        let mut shifted = shift.clone();
        let boards = out.chunks_exact_mut(output_len).zip(convolved.chunks_exact(output_len));
        for (index, (out, convolved)) in boards.enumerate() {
            let board = part * PART + index;
            if let Some(bias) = bias {
                let bias = &bias[board * cout..][..cout];
                shifted.iter_mut().zip(&shift).zip(bias).for_each(|((sum, shift), bias)| *sum = shift + bias);
            }
            let skip = skip.map(|skip| &skip[board * output_len..][..output_len]);
            kernels.activate(convolved, skip, &scale, &shifted, out);
        }
    });
    (out, saved)
}

/// Backward pass: `out` is what [`forward`] returned and `gradient` its gradient, which becomes the gradient of the sum
/// before the ReLU and so of the skip. The gradient of `x` is only computed when wanted.
#[expect(clippy::too_many_arguments, reason = "one layer has that many inputs")]
pub fn backward(
    shape: Shape,
    x: &[f32],
    weights: &[f32],
    gamma: &[f32],
    out: &[f32],
    gradient: &mut [f32],
    saved: &Saved,
    wants_x: bool,
    precision: TrainPrecision,
) -> Gradients {
    let (input_len, output_len, cout) = (shape.input_len(), shape.output_len(), shape.cout);
    assert_eq!(gradient.len(), shape.batch * output_len);
    let kernels = Kernels::best();
    // Through the ReLU, and the sums that the normalisation's gradient needs.
    let mut bias = vec![0.0; shape.batch * cout];
    let sums: Vec<Vec<f64>> = gradient
        .par_chunks_mut(PART * output_len)
        .zip(bias.par_chunks_mut(PART * cout))
        .zip(out.par_chunks(PART * output_len))
        .zip(&saved.convolved)
        .map(|(((gradient, bias), out), convolved)| {
            let (mut total, mut sums) = (vec![0.0; 2 * cout], vec![0.0; 2 * cout]);
            let gradient = gradient.chunks_exact_mut(output_len);
            let saved_boards = out.chunks_exact(output_len).zip(convolved.chunks_exact(output_len));
            for ((gradient, (out, convolved)), bias) in gradient.zip(saved_boards).zip(bias.chunks_exact_mut(cout)) {
                kernels.mask(convolved, out, &saved.mean, gradient, &mut sums);
                bias.copy_from_slice(&sums[..cout]);
                add_to(&mut total, &sums);
            }
            total
        })
        .collect();
    let sums = total(sums.iter(), 2 * cout);
    let (beta, products) = sums.split_at(cout);
    let gamma_gradient: Vec<f64> =
        products.iter().zip(&saved.inverse).map(|(product, inverse)| product * f64::from(*inverse)).collect();

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
    let convolution = Convolution::backward(shape, weights, wants_x, precision);
    let mut x_gradient = vec![0.0; if wants_x { x.len() } else { 0 }];
    let x_parts: Vec<&mut [f32]> = if wants_x {
        x_gradient.chunks_mut(PART * input_len).collect()
    } else {
        (0..shape.batch.div_ceil(PART)).map(|_| Default::default()).collect()
    };
    let parts: Vec<Vec<f32>> = x_parts
        .into_par_iter()
        .zip(x.par_chunks(PART * input_len))
        .zip(gradient.par_chunks(PART * output_len))
        .zip(&saved.convolved)
        .map(|(((x_gradient, x), gradient), convolved)| {
            let gradient_of = |board: usize, out: &mut [f32]| {
                let here = board * output_len..(board + 1) * output_len;
                kernels.before_norm(&gradient[here.clone()], &convolved[here], [&scale, &slope, &offset], out);
            };
            convolution.run_back(x, gradient_of, x_gradient)
        })
        .collect();
    Gradients {
        x: x_gradient,
        weights: convolution.weights_gradient(&parts),
        gamma: gamma_gradient.iter().map(|&v| v as f32).collect(),
        beta: beta.iter().map(|&v| v as f32).collect(),
        bias,
    }
}
