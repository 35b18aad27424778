//! Forward and backward passes of one fused layer over a batch: `relu(norm(conv(x)) + skip + bias)`.
//!
//! The batch is cut into chunks of a fixed number of boards; threads take whole chunks and partial sums are added in chunk
//! order, so results do not depend on the number of threads.

use rayon::prelude::*;

use super::kernels::{LANES, Row, add_weight_gradient, convolve, pack, pack_transposed, unpack};

/// Boards a chunk.
const CHUNK: usize = 8;

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
    fn input_len(self) -> usize {
        self.side * self.side * self.cin
    }

    fn output_len(self) -> usize {
        self.side * self.side * self.cout
    }

    /// Whether the kernels are compiled for these sizes.
    pub fn is_served(self) -> bool {
        matches!(self.side, 7 | 9 | 11)
            && matches!(self.cout, 16 | 32 | 48 | 64 | 96 | 128)
            && (self.cin == self.cout || self.cin == 16)
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

/// Calls a kernel compiled for the run-time sizes.
macro_rules! sized {
    ($side:expr, $cin:expr, $call:ident) => {
        match ($side, $cin) {
            (7, 16) => $call!(7, 16),
            (7, 32) => $call!(7, 32),
            (7, 48) => $call!(7, 48),
            (7, 64) => $call!(7, 64),
            (7, 96) => $call!(7, 96),
            (7, 128) => $call!(7, 128),
            (9, 16) => $call!(9, 16),
            (9, 32) => $call!(9, 32),
            (9, 48) => $call!(9, 48),
            (9, 64) => $call!(9, 64),
            (9, 96) => $call!(9, 96),
            (9, 128) => $call!(9, 128),
            (11, 16) => $call!(11, 16),
            (11, 32) => $call!(11, 32),
            (11, 48) => $call!(11, 48),
            (11, 64) => $call!(11, 64),
            (11, 96) => $call!(11, 96),
            (11, 128) => $call!(11, 128),
            other => unreachable!("no kernel for (side, channels) {other:?}: Shape::is_served was not asked"),
        }
    };
}

fn convolve_sized(side: usize, cin: usize, input: &[f32], weights: &[Row], cout: usize, out: &mut [f32]) {
    macro_rules! call {
        ($n:literal, $c:literal) => {
            convolve::<$n, $c>(input, weights, cout, out)
        };
    }
    sized!(side, cin, call)
}

fn add_weight_gradient_sized(shape: Shape, x: &[f32], g: &[f32], sum: &mut [Row]) {
    macro_rules! call {
        ($n:literal, $c:literal) => {
            if shape.cin == $c {
                add_weight_gradient::<$n, $c, $c>(x, g, sum)
            } else {
                add_weight_gradient::<$n, 16, $c>(x, g, sum)
            }
        };
    }
    sized!(shape.side, shape.cout, call)
}

/// Adds up partial sums per channel in their order, in double precision.
fn total(parts: &[Vec<f32>], channels: usize) -> Vec<f64> {
    let mut sum = vec![0.0; channels];
    for part in parts {
        for (sum, value) in sum.iter_mut().zip(part) {
            *sum += f64::from(*value);
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
    let packed = pack(weights, shape.cin, cout);
    let mut convolved = vec![0.0; shape.batch * output_len];
    let sums: Vec<(Vec<f32>, Vec<f32>)> = convolved
        .par_chunks_mut(CHUNK * output_len)
        .zip(x.par_chunks(CHUNK * input_len))
        .map(|(out, x)| {
            let (mut sum, mut squares) = (vec![0.0; cout], vec![0.0; cout]);
            for (out, x) in out.chunks_exact_mut(output_len).zip(x.chunks_exact(input_len)) {
                convolve_sized(shape.side, shape.cin, x, &packed, cout, out);
                for position in out.chunks_exact(cout) {
                    for ((sum, square), z) in sum.iter_mut().zip(&mut squares).zip(position) {
                        *sum += z;
                        *square += z * z;
                    }
                }
            }
            (sum, squares)
        })
        .collect();
    let (sums, squares): (Vec<_>, Vec<_>) = sums.into_iter().unzip();
    let count = (shape.batch * shape.side * shape.side) as f64;
    let mean: Vec<f64> = total(&sums, cout).iter().map(|sum| sum / count).collect();
    let variance: Vec<f64> =
        total(&squares, cout).iter().zip(&mean).map(|(square, mean)| (square / count - mean * mean).max(0.0)).collect();
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
        let z = &saved.convolved[board * output_len..][..output_len];
        let shift: Vec<f32> = match bias {
            Some(bias) => shift.iter().zip(&bias[board * cout..][..cout]).map(|(shift, bias)| shift + bias).collect(),
            None => shift.clone(),
        };
        for (out, z) in out.chunks_exact_mut(cout).zip(z.chunks_exact(cout)) {
            for c in 0..cout {
                out[c] = z[c] * scale[c] + shift[c];
            }
        }
        if let Some(skip) = skip {
            for (out, skip) in out.iter_mut().zip(&skip[board * output_len..][..output_len]) {
                *out += skip;
            }
        }
        for out in out.iter_mut() {
            // Not `max`, which would turn a NaN into 0 and hide it from the learner's check.
            *out = if *out < 0.0 { 0.0 } else { *out };
        }
    });
    (out, saved)
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
    let products: Vec<Vec<f32>> = masked
        .par_chunks_mut(CHUNK * output_len)
        .zip(bias.par_chunks_mut(CHUNK * cout))
        .enumerate()
        .map(|(chunk, (masked, bias))| {
            let begin = chunk * CHUNK * output_len;
            let (out, g) = (&out[begin..][..masked.len()], &g[begin..][..masked.len()]);
            let z = &saved.convolved[begin..][..masked.len()];
            for ((masked, out), g) in masked.iter_mut().zip(out).zip(g) {
                *masked = if *out > 0.0 { *g } else { 0.0 };
            }
            let mut product = vec![0.0; cout];
            for ((masked, z), bias) in
                masked.chunks_exact(output_len).zip(z.chunks_exact(output_len)).zip(bias.chunks_exact_mut(cout))
            {
                for (masked, z) in masked.chunks_exact(cout).zip(z.chunks_exact(cout)) {
                    for c in 0..cout {
                        bias[c] += masked[c];
                        product[c] += masked[c] * (z[c] - saved.mean[c]);
                    }
                }
            }
            product
        })
        .collect();
    let beta: Vec<f64> = total(&bias.chunks_exact(cout).map(<[f32]>::to_vec).collect::<Vec<_>>(), cout);
    let gamma_gradient: Vec<f64> = total(&products, cout)
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
    let transposed = if wants_x { pack_transposed(weights, shape.cin, cout) } else { Vec::new() };
    let chunks = shape.batch.div_ceil(CHUNK);
    let mut x_gradient = vec![0.0; if wants_x { x.len() } else { 0 }];
    let x_parts: Vec<&mut [f32]> = if wants_x {
        x_gradient.chunks_mut(CHUNK * input_len).collect()
    } else {
        (0..chunks).map(|_| Default::default()).collect()
    };
    let parts: Vec<Vec<Row>> = x_parts
        .into_par_iter()
        .enumerate()
        .map(|(chunk, x_part)| {
            let mut sum = vec![[0.0; LANES]; cout / LANES * 9 * shape.cin];
            let mut gradient = vec![0.0; output_len];
            for board in chunk * CHUNK..shape.batch.min((chunk + 1) * CHUNK) {
                let masked = &masked[board * output_len..][..output_len];
                let z = &saved.convolved[board * output_len..][..output_len];
                for ((gradient, masked), z) in
                    gradient.chunks_exact_mut(cout).zip(masked.chunks_exact(cout)).zip(z.chunks_exact(cout))
                {
                    for c in 0..cout {
                        gradient[c] = scale[c] * masked[c] + slope[c] * z[c] + offset[c];
                    }
                }
                add_weight_gradient_sized(shape, &x[board * input_len..][..input_len], &gradient, &mut sum);
                if wants_x {
                    let begin = (board - chunk * CHUNK) * input_len;
                    let x_part = &mut x_part[begin..begin + input_len];
                    convolve_sized(shape.side, cout, &gradient, &transposed, shape.cin, x_part);
                }
            }
            sum
        })
        .collect();
    let mut sum = vec![[0.0; LANES]; cout / LANES * 9 * shape.cin];
    for part in &parts {
        for (sum, part) in sum.iter_mut().zip(part) {
            for lane in 0..LANES {
                sum[lane] += part[lane];
            }
        }
    }
    Gradients {
        x: x_gradient,
        weights: unpack(&sum, shape.cin, cout),
        gamma: gamma_gradient.iter().map(|&v| v as f32).collect(),
        beta: beta.iter().map(|&v| v as f32).collect(),
        skip: masked,
        bias,
    }
}
