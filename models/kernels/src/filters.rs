//! Winograd's transform of the weights, and its transpose for their gradient.
//!
//! A 3x3 kernel `k` becomes `G k Gᵀ`, 6x6; the points stand in `winograd.rs`.

use super::winograd::{A, B, EDGE, POINTS};
use super::{PANEL, Packed};

/// Weights of a 3x3 kernel.
const TAPS: usize = 9;

/// A number for each of a panel's columns.
type Panel = [f32; PANEL];

/// `G`: each point's powers 0 to 2, with Lagrange's denominator divided out here, where it costs nothing.
fn powers() -> [[f64; 3]; EDGE] {
    let (a, b) = (f64::from(A), f64::from(B));
    let nodes = [0.0, a, -a, b, -b];
    let mut powers = [[0.0, 0.0, 1.0]; EDGE];
    for (node, row) in nodes.iter().zip(&mut powers) {
        let scale: f64 = nodes.iter().filter(|other| *other != node).map(|other| node - other).product();
        *row = [1.0 / scale, node / scale, node * node / scale];
    }
    powers
}

/// The transform of a 3x3 kernel, row-major, in double precision for packing.
pub fn transform_kernel(kernel: &[f64; TAPS]) -> [f64; POINTS] {
    let powers = powers();
    std::array::from_fn(|point| {
        let (down, along) = (&powers[point / EDGE], &powers[point % EDGE]);
        (0..TAPS).map(|tap| down[tap / 3] * kernel[tap] * along[tap % 3]).sum()
    })
}

/// `[cout, cin, 3, 3]` weights as the right-hand sides of a convolution's products: at each point a matrix `[cin,
/// cout]`.
///
/// # Panics
/// When the channels are no multiple of [`PANEL`] or the length does not fit.
pub fn transform(weights: &[f32], cin: usize, cout: usize) -> Packed {
    pack(cin, cout, |input, output| kernel_of(weights, cin, cout, input, output))
}

/// [`transform`] with the channels exchanged, which takes a gradient back through the products: matrices `[cout, cin]`.
///
/// # Panics
/// When the channels are no multiple of [`PANEL`] or the length does not fit.
pub fn transform_transposed(weights: &[f32], cin: usize, cout: usize) -> Packed {
    pack(cout, cin, |output, input| kernel_of(weights, cin, cout, input, output))
}

fn kernel_of(weights: &[f32], cin: usize, cout: usize, input: usize, output: usize) -> &[f32; TAPS] {
    let kernels = weights.as_chunks::<TAPS>().0;
    assert_eq!(kernels.len(), cin * cout, "kernels for {cin} by {cout} channels");
    &kernels[output * cin + input]
}

/// Transforms the kernels that `kernel(row, column)` names, a panel of columns at a time.
fn pack<'a>(depth: usize, columns: usize, kernel: impl Fn(usize, usize) -> &'a [f32; TAPS]) -> Packed {
    assert!(columns.is_multiple_of(PANEL), "{columns} channels");
    let powers = powers().map(|row| row.map(|value| value as f32));
    let mut packed = Packed::zeros(POINTS, depth, columns);
    for first in (0..columns).step_by(PANEL) {
        for row in 0..depth {
            let mut taps = [[0.0; PANEL]; TAPS];
            for lane in 0..PANEL {
                for (tap, &weight) in taps.iter_mut().zip(kernel(row, first + lane)) {
                    tap[lane] = weight;
                }
            }
            // Down the columns of the kernel, then along the rows.
            let mut half = [[[0.0; PANEL]; 3]; EDGE];
            for (half, powers) in half.iter_mut().zip(&powers) {
                for (column, sum) in half.iter_mut().enumerate() {
                    *sum = weighted([&taps[column], &taps[3 + column], &taps[6 + column]], powers);
                }
            }
            for point in 0..POINTS {
                let [left, middle, right] = &half[point / EDGE];
                let values = weighted([left, middle, right], &powers[point % EDGE]);
                packed.set_row(point, row, first, &values);
            }
        }
    }
    packed
}

/// Takes the gradient of transformed weights, `[POINTS][cin][cout]`, to the gradient of the weights,
/// `[cout, cin, 3, 3]`.
///
/// # Panics
/// When the channels are no multiple of [`PANEL`] or the length does not fit.
pub fn gradient(transformed: &[f32], cin: usize, cout: usize) -> Vec<f32> {
    assert!(cout.is_multiple_of(PANEL) && transformed.len() == POINTS * cin * cout, "{cin} by {cout} channels");
    let powers = powers().map(|row| row.map(|value| value as f32));
    let panels = transformed.as_chunks::<PANEL>().0;
    let matrix = panels.len() / POINTS;
    let mut weights = vec![0.0; cout * cin * TAPS];
    for at in 0..matrix {
        let mut half = [[[0.0; PANEL]; EDGE]; 3];
        for point in 0..POINTS {
            for (half, power) in half.iter_mut().zip(powers[point / EDGE]) {
                add_weighted(&mut half[point % EDGE], &panels[point * matrix + at], power);
            }
        }
        for tap in 0..TAPS {
            let mut sum = [0.0; PANEL];
            for (half, powers) in half[tap / 3].iter().zip(&powers) {
                add_weighted(&mut sum, half, powers[tap % 3]);
            }
            let (input, first) = (at * PANEL / cout, at * PANEL % cout);
            for (lane, value) in sum.into_iter().enumerate() {
                weights[((first + lane) * cin + input) * TAPS + tap] = value;
            }
        }
    }
    weights
}

fn weighted(values: [&Panel; 3], weights: &[f32; 3]) -> Panel {
    std::array::from_fn(|lane| {
        values[0][lane] * weights[0] + values[1][lane] * weights[1] + values[2][lane] * weights[2]
    })
}

fn add_weighted(sum: &mut Panel, values: &Panel, weight: f32) {
    for (sum, value) in sum.iter_mut().zip(values) {
        *sum += value * weight;
    }
}
