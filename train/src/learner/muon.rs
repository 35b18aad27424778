//! Muon (Jordan et al. 2024, <https://kellerjordan.github.io/posts/muon/>): momentum whose step is made orthogonal, so
//! that all directions of a layer learn at the same speed.
//!
//! The step of a weight matrix is close to the nearest matrix with singular values of 1, by five Newton-Schulz
//! iterations, times the learning rate and `STEP sqrt(max(rows, columns))`, so that its size does not depend on the
//! layer's shape (Liu et al., arXiv 2502.16982). A convolution `[out, in, height, width]` is a matrix
//! `[out, in * height * width]`. (burn's own Muon takes matrices alone.)

use burn::optim::momentum::{Momentum, MomentumConfig, MomentumState};
use burn::optim::{LearningRate, Optimizer};
use burn::tensor::{Device, Tensor};

/// Root of the mean square of a step at a learning rate of 1, for a square matrix or a wide one. 0.2 is the size of a
/// step of AdamW; 0.8 learned faster (lab/2026-11-24-muon-against-adamw.md).
const STEP: f64 = 0.8;

/// Coefficients of an iteration, which brings singular values between 0 and 1 close to 1 quickly.
const COEFFICIENTS: [f32; 3] = [3.4445, -4.775, 2.0315];

const ITERATIONS: usize = 5;

const SMALLEST_NORM: f32 = 1e-7;

/// Entries below this share of the norm count as zero. The momentum of weights without a gradient, of a dead unit for
/// example, shrinks to subnormal numbers, whose products slowed training by a fifth on an Intel CPU
/// (docs/RESULTS.md).
const SMALLEST_ENTRY: f32 = 1e-8;

#[derive(Clone)]
pub(super) struct Muon {
    momentum: Momentum,
    weight_decay: f32,
}

impl Muon {
    /// `weight_decay` is a share of a weight per step and learning rate, as AdamW's.
    pub(super) fn new(weight_decay: f32) -> Muon {
        let momentum = MomentumConfig { momentum: 0.95, dampening: 0.0, nesterov: true };
        Muon { momentum: Momentum::new(&momentum), weight_decay }
    }
}

impl Optimizer for Muon {
    type State<const D: usize> = MomentumState<D>;

    fn step<const D: usize>(
        &self,
        rate: LearningRate,
        weights: Tensor<D>,
        gradient: Tensor<D>,
        state: Option<MomentumState<D>>,
    ) -> (Tensor<D>, Option<MomentumState<D>>) {
        let (direction, state) = self.momentum.transform(gradient, state);
        let shape = direction.dims();
        let (rows, columns) = (shape[0], shape[1..].iter().product::<usize>());
        let step = orthogonal(direction.reshape([rows, columns])).reshape(shape);
        let size = STEP * rate * (rows.max(columns) as f64).sqrt();
        let decayed = weights.mul_scalar(1.0 - rate * f64::from(self.weight_decay));
        (decayed - step.mul_scalar(size), Some(state))
    }

    fn to_device<const D: usize>(state: MomentumState<D>, device: &Device) -> MomentumState<D> {
        state.to_device(device)
    }
}

/// The matrix with the same singular vectors, and singular values between 0.68 and 1.14 in the place of all that are
/// not next to nothing.
///
/// An iteration takes `x` to `q x` with `q = a + b g + c g^2` and `g = x x^T`. Since every `q` commutes with `g`, the
/// iterations need the small `g` alone.
fn orthogonal(matrix: Tensor<2>) -> Tensor<2> {
    let [rows, columns] = matrix.dims();
    let wide = if rows > columns { matrix.transpose() } else { matrix };
    let norm = wide.clone().square().sum().sqrt().clamp_min(SMALLEST_NORM).reshape([1, 1]);
    let x = wide / norm;
    let x = x.clone().mask_fill(x.abs().lower_elem(SMALLEST_ENTRY), 0.0);
    let mut gram = x.clone().matmul(x.clone().transpose());
    let [a, b, c] = COEFFICIENTS;
    let constant = Tensor::<2>::eye(rows.min(columns), &x.device()) * a;
    let mut product: Option<Tensor<2>> = None;
    for _ in 0..ITERATIONS {
        let q = constant.clone() + gram.clone() * b + gram.clone().matmul(gram.clone()) * c;
        gram = q.clone().matmul(gram).matmul(q.clone());
        product = Some(match product {
            Some(product) => q.matmul(product),
            None => q,
        });
    }
    let x = product.map_or(x.clone(), |product| product.matmul(x));
    if rows > columns { x.transpose() } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix<const R: usize, const C: usize>(values: [[f32; C]; R]) -> Tensor<2> {
        Tensor::from_floats(values, &Device::flex())
    }

    fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.into_data().try_to_vec().unwrap()
    }

    /// Turns by 30 degrees after a stretch by 5 and 0.2 along the axes.
    const TURNED: [[f32; 2]; 2] = [[4.330_127, -0.1], [2.5, 0.173_205_08]];

    #[test]
    fn singular_values_become_one_and_singular_vectors_stay() {
        // Without the stretch: the columns are those of the rotation, each times its own singular value.
        let found = numbers(orthogonal(matrix(TURNED)));
        let (cos, sin) = (3_f32.sqrt() / 2.0, 0.5);
        for (column, direction) in [[cos, sin], [-sin, cos]].into_iter().enumerate() {
            let along = found[column] * direction[0] + found[2 + column] * direction[1];
            let across = found[column] * direction[1] - found[2 + column] * direction[0];
            assert!((0.68..=1.14).contains(&along), "singular value {along} of column {column}");
            assert!(across.abs() < 1e-3, "column {column} turned by {across}");
        }
    }

    #[test]
    fn rows_and_columns_next_to_nothing_do_not_move() {
        let found = numbers(orthogonal(matrix([[3.0, 1e-12, -1.0], [1e-41, -1e-30, 0.0], [1.0, 0.0, 2.0]])));
        let without = numbers(orthogonal(matrix([[3.0, 0.0, -1.0], [0.0; 3], [1.0, 0.0, 2.0]])));
        assert_eq!(found, without);
        assert_eq!((found[1], &found[3..6], found[7]), (0.0, &[0.0; 3][..], 0.0));
    }

    #[test]
    fn a_tall_matrix_is_a_wide_one_turned_over() {
        let tall = matrix([[1.0, 2.0], [3.0, -4.0], [0.5, 6.0]]);
        let wide = numbers(orthogonal(tall.clone().transpose()).transpose());
        assert_eq!(numbers(orthogonal(tall)), wide);
    }

    #[test]
    fn a_convolution_is_a_matrix_and_steps_do_not_depend_on_the_size_of_the_gradient() {
        let muon = Muon::new(0.0);
        let step = |gradient: Tensor<2>| numbers(muon.step(0.01, gradient.zeros_like(), gradient, None).0);
        let gradient = matrix([[1.0, 2.0, -3.0, 0.5], [0.0, 1.0, 4.0, -1.0]]);
        let as_matrix = step(gradient.clone());
        let convolution = gradient.clone().reshape([2, 1, 2, 2]);
        let (moved, _) = muon.step(0.01, convolution.zeros_like(), convolution, None);
        assert_eq!(numbers(moved), as_matrix);
        for (small, expected) in step(gradient * 1e-3).into_iter().zip(&as_matrix) {
            assert!((small - expected).abs() < 1e-5, "{small} is not {expected}");
        }
        // STEP * 0.01 * sqrt(4) * 2 singular values of about 1 over 8 numbers.
        let size = (as_matrix.iter().map(|v| v * v).sum::<f32>() / 8.0).sqrt();
        assert!((0.68..=1.14).contains(&(size / 0.008)), "size {size}");
    }

    #[test]
    fn no_gradient_decays_alone() {
        let weights = matrix([[2.0, -4.0]]);
        let (moved, state) = Muon::new(0.5).step(0.1, weights.clone(), weights.zeros_like(), None);
        assert_eq!(numbers(moved), [1.9, -3.8]);
        assert!(state.is_some());
    }
}
