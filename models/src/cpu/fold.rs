//! Takes the weights out of burn's modules: plain numbers, with the normalisation folded into its convolution.

use burn::nn::Linear;
use burn::nn::conv::Conv2d;
use burn::tensor::Tensor;

use crate::network::{Block, ConvNorm};

/// Why a network cannot be evaluated by the fast CPU kernels.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum CpuNetworkError {
    /// A weight is infinite or not a number, as after training that diverged.
    #[error("network weights {part}: found {value}, expected finite numbers")]
    NotFinite {
        /// Which weights.
        part: String,
        /// The first such weight.
        value: f32,
    },
    /// Weights have another shape than the network's architecture gives them.
    #[error("network weights {part}: found shape {found:?}, expected {expected:?}")]
    Shape {
        /// Which weights.
        part: String,
        /// Their shape.
        found: Vec<usize>,
        /// The shape that fits the rest of the network.
        expected: Vec<usize>,
    },
    /// The network overflows single precision on the sample positions, so that no eight-bit steps fit it.
    #[error("network weights: activations of block {block} reach {value}, expected finite numbers for int8")]
    Overflow {
        /// The block that they go into, or behind the last its number plus one.
        block: usize,
        /// The largest.
        value: f32,
    },
    /// The device would not hand out the weights as numbers.
    #[error("network weights {part}: {problem}")]
    Unreadable {
        /// Which weights.
        part: String,
        /// What the device said.
        problem: String,
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

    /// Checks the number of outputs against what the next layer takes.
    pub fn with_outputs(self, part: &str, columns: usize) -> Result<Matrix, CpuNetworkError> {
        if self.columns == columns {
            return Ok(self);
        }
        let (found, expected) = (vec![self.rows, self.columns], vec![self.rows, columns]);
        Err(CpuNetworkError::Shape { part: part.to_owned(), found, expected })
    }

    /// A linear layer with `rows` inputs.
    pub fn of_linear(part: &str, linear: &Linear, rows: usize) -> Result<Matrix, CpuNetworkError> {
        let columns = linear.weight.dims()[1];
        let weights = numbers(part, linear.weight.val(), [rows, columns])?;
        let bias = match &linear.bias {
            Some(bias) => numbers(part, bias.val(), [columns])?,
            None => vec![0.0; columns],
        };
        Ok(Matrix { rows, columns, weights, bias })
    }

    /// A 1x1 convolution with `rows` inputs.
    pub fn of_pointwise(part: &str, conv: &Conv2d, rows: usize) -> Result<Matrix, CpuNetworkError> {
        let columns = conv.weight.dims()[0];
        let outputs_first = numbers(part, conv.weight.val(), [columns, rows, 1, 1])?;
        let weights = (0..rows * columns).map(|at| outputs_first[at % columns * rows + at / columns]).collect();
        let bias = match &conv.bias {
            Some(bias) => numbers(part, bias.val(), [columns])?,
            None => vec![0.0; columns],
        };
        Ok(Matrix { rows, columns, weights, bias })
    }
}

/// A 3x3 convolution with its normalisation folded in, in double precision.
pub(super) struct Folded {
    pub outputs: usize,
    inputs: usize,
    kernels: Vec<[f64; 9]>,
    pub bias: Vec<f32>,
}

impl Folded {
    /// Folds a convolution from `inputs` to `outputs` channels.
    pub fn of(part: &str, conv: &ConvNorm, inputs: usize, outputs: usize) -> Result<Folded, CpuNetworkError> {
        let weights = numbers(part, conv.conv.weight.val(), [outputs, inputs, 3, 3])?;
        let norm = |name: &str, values: Tensor<1>| numbers(&format!("{part} {name}"), values, [outputs]);
        let gamma = norm("gamma", conv.norm.gamma.val())?;
        let beta = norm("beta", conv.norm.beta.val())?;
        let mean = norm("running mean", conv.norm.running_mean.value())?;
        let variance = norm("running variance", conv.norm.running_var.value())?;
        let scale: Vec<f64> = gamma
            .iter()
            .zip(&variance)
            .map(|(&gamma, &variance)| f64::from(gamma) / (f64::from(variance) + conv.norm.epsilon).sqrt())
            .collect();
        let kernels = weights
            .chunks_exact(9)
            .enumerate()
            .map(|(index, taps)| std::array::from_fn(|tap| f64::from(taps[tap]) * scale[index / inputs]))
            .collect();
        let bias = (0..outputs)
            .map(|output| (f64::from(beta[output]) - f64::from(mean[output]) * scale[output]) as f32)
            .collect();
        Ok(Folded { outputs, inputs, kernels, bias })
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
    /// Folds the block with this number, of so many channels.
    pub fn of(index: usize, block: &Block, channels: usize) -> Result<FoldedBlock, CpuNetworkError> {
        let part = |name: &str| format!("block {index} {name}");
        let first = Folded::of(&part("first"), &block.first, channels, channels)?;
        let second = Folded::of(&part("second"), &block.second, channels, channels)?;
        let pool = match &block.pool {
            None => None,
            Some(pool) => {
                let pool = Matrix::of_linear(&part("pool"), pool, 3 * channels)?;
                let mut pool = pool.with_outputs(&part("pool"), channels)?;
                for (bias, own) in pool.bias.iter_mut().zip(&second.bias) {
                    *bias += own;
                }
                Some(pool)
            }
        };
        Ok(FoldedBlock { first, second, pool })
    }
}

/// The values of a tensor of this shape.
fn numbers<const D: usize>(part: &str, tensor: Tensor<D>, expected: [usize; D]) -> Result<Vec<f32>, CpuNetworkError> {
    if tensor.dims() != expected {
        let (found, expected) = (tensor.dims().to_vec(), expected.to_vec());
        return Err(CpuNetworkError::Shape { part: part.to_owned(), found, expected });
    }
    let data = tensor.into_data().convert::<f32>();
    let values = data
        .try_to_vec::<f32>()
        .map_err(|problem| CpuNetworkError::Unreadable { part: part.to_owned(), problem: format!("{problem:?}") })?;
    match values.iter().find(|value| !value.is_finite()) {
        Some(&value) => Err(CpuNetworkError::NotFinite { part: part.to_owned(), value }),
        None => Ok(values),
    }
}
