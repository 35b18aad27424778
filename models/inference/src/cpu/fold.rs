//! Layers out of a network's weights, with each normalisation folded into its convolution.

use crate::Weights;
use crate::architecture::NORM_EPSILON;

/// Why a network cannot be evaluated by the fast CPU kernels.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum CpuNetworkError {
    /// The network overflows single precision on the sample positions, so that no eight-bit steps fit it.
    #[error("network weights: activations of block {block} reach {value}, expected finite numbers for int8")]
    Overflow {
        /// The block that they go into, or behind the last its number plus one.
        block: usize,
        /// The largest.
        value: f32,
    },
}

/// Weights `[rows, columns]` (inputs to outputs) and a bias, which is zero where the layer has none.
pub(super) struct Matrix {
    pub rows: usize,
    pub columns: usize,
    weights: Vec<f32>,
    pub bias: Vec<f32>,
}

impl Matrix {
    /// The weight from an input to an output.
    pub fn weight(&self, row: usize, column: usize) -> f32 {
        self.weights[row * self.columns + column]
    }

    /// A linear layer, such as `blocks.2.pool`.
    pub fn of_linear(weights: &Weights, name: &str) -> Matrix {
        let (shape, values) = numbers(weights, &format!("{name}.weight"));
        let (rows, columns) = (shape[0], shape[1]);
        Matrix { rows, columns, weights: values.to_vec(), bias: bias(weights, name, columns) }
    }

    /// A 1x1 convolution.
    pub fn of_pointwise(weights: &Weights, name: &str) -> Matrix {
        let (shape, outputs_first) = numbers(weights, &format!("{name}.weight"));
        let (columns, rows) = (shape[0], shape[1]);
        let values = (0..rows * columns).map(|at| outputs_first[at % columns * rows + at / columns]).collect();
        Matrix { rows, columns, weights: values, bias: bias(weights, name, columns) }
    }
}

/// The bias of a layer, zero where it has none.
fn bias(weights: &Weights, name: &str, outputs: usize) -> Vec<f32> {
    let name = format!("{name}.bias");
    if !weights.tensors().contains_key(&name) {
        return vec![0.0; outputs];
    }
    numbers(weights, &name).1.to_vec()
}

/// A 3x3 convolution with its normalisation folded in, in double precision.
pub(super) struct Folded {
    pub outputs: usize,
    inputs: usize,
    kernels: Vec<[f64; 9]>,
    pub bias: Vec<f32>,
}

impl Folded {
    /// Folds a convolution with its normalisation, such as `blocks.0.first`.
    pub fn of(weights: &Weights, name: &str) -> Folded {
        let (shape, taps) = numbers(weights, &format!("{name}.conv.weight"));
        let (outputs, inputs) = (shape[0], shape[1]);
        let norm = |part: &str| numbers(weights, &format!("{name}.norm.{part}")).1;
        let (gamma, beta) = (norm("gamma"), norm("beta"));
        let (mean, variance) = (norm("running_mean"), norm("running_var"));
        let scale: Vec<f64> = gamma
            .iter()
            .zip(variance)
            .map(|(&gamma, &variance)| f64::from(gamma) / (f64::from(variance) + NORM_EPSILON).sqrt())
            .collect();
        let kernels = taps
            .chunks_exact(9)
            .enumerate()
            .map(|(index, taps)| std::array::from_fn(|tap| f64::from(taps[tap]) * scale[index / inputs]))
            .collect();
        let bias = (0..outputs)
            .map(|output| (f64::from(beta[output]) - f64::from(mean[output]) * scale[output]) as f32)
            .collect();
        Folded { outputs, inputs, kernels, bias }
    }

    /// The 3x3 kernel from an input to an output, row-major.
    pub fn kernel(&self, input: usize, output: usize) -> &[f64; 9] {
        &self.kernels[output * self.inputs + input]
    }
}

/// A residual block, folded.
pub(super) struct FoldedBlock {
    pub first: Folded,
    pub second: Folded,
    /// From pooled features to the bias of the second convolution, whose own bias it holds too.
    pub pool: Option<Matrix>,
}

impl FoldedBlock {
    /// Folds block `index`.
    pub fn of(weights: &Weights, index: usize) -> FoldedBlock {
        let name = |part: &str| format!("blocks.{index}.{part}");
        let first = Folded::of(weights, &name("first"));
        let second = Folded::of(weights, &name("second"));
        let mut pool = None;
        if weights.config().block_pools(index) {
            let mut matrix = Matrix::of_linear(weights, &name("pool"));
            for (bias, own) in matrix.bias.iter_mut().zip(&second.bias) {
                *bias += own;
            }
            pool = Some(matrix);
        }
        FoldedBlock { first, second, pool }
    }
}

/// Shape and numbers of a tensor that the network has.
fn numbers<'a>(weights: &'a Weights, name: &str) -> (&'a [usize], &'a [f32]) {
    // Weights hold exactly the tensors of their shape.
    let tensor = &weights.tensors()[name];
    (&tensor.shape, &tensor.values)
}
