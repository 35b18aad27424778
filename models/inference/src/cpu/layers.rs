//! The layers of the fast network: weights packed for the kernels, channels padded to whole panels.

use super::fold::{Folded, Matrix};
use hnefi_kernels::{Floats, Grid, Kernels, PANEL, POINTS, Packed, Product, filters};

/// `len` rounded up to whole panels. Padded channels have no weights and are zero throughout.
pub(super) fn padded(len: usize) -> usize {
    len.next_multiple_of(PANEL)
}

/// `values` followed by zeros up to whole panels.
pub(super) fn padded_bias(values: &[f32]) -> Floats {
    let mut bias = Floats::zeros(padded(values.len()));
    bias[..values.len()].copy_from_slice(values);
    bias
}

/// A dense layer or a 1x1 convolution.
#[derive(Debug)]
pub(super) struct Dense {
    pub weights: Packed,
    pub bias: Floats,
}

impl Dense {
    /// Packs a layer whose inputs come in `sections` (the parts of a pooled vector), each padded to whole panels.
    pub fn pack(matrix: &Matrix, sections: usize) -> Dense {
        let section = matrix.rows / sections;
        let mut weights = Packed::zeros(1, sections * padded(section), matrix.columns);
        for row in 0..matrix.rows {
            for column in 0..matrix.columns {
                let input = row / section * padded(section) + row % section;
                weights.set(0, input, column, matrix.weight(row, column));
            }
        }
        Dense { weights, bias: padded_bias(&matrix.bias) }
    }

    /// Outputs, padded.
    pub fn outputs(&self) -> usize {
        self.weights.columns()
    }

    /// Evaluates one row of inputs.
    pub fn run(&self, kernels: &Kernels, input: &[f32], relu: bool, out: &mut [f32]) {
        kernels.dense(input, &self.weights, &self.bias, relu, out);
    }
}

/// A 3x3 convolution by Winograd's method, with its bias.
#[derive(Debug)]
pub(super) struct Convolution {
    weights: Packed,
    pub bias: Floats,
}

/// What convolutions need for their intermediate values.
#[derive(Debug)]
pub(super) struct Tiles {
    inputs: Floats,
    sums: Floats,
}

impl Tiles {
    /// Room for groups whose [`Tiles::len`] is no more than this.
    pub fn new(len: usize) -> Tiles {
        Tiles { inputs: Floats::zeros(len), sums: Floats::zeros(len) }
    }

    /// Floats that a group of boards takes.
    pub fn len(grid: Grid, boards: usize) -> usize {
        POINTS * Tiles::step(grid, boards)
    }

    /// Floats from point to point: one panel more than needed, because points a power of two apart would compete for
    /// the same few lines of the cache.
    fn step(grid: Grid, boards: usize) -> usize {
        boards * grid.tiles() * grid.channels + PANEL
    }
}

impl Convolution {
    /// Transforms and packs a convolution.
    pub fn pack(folded: &Folded) -> Convolution {
        let channels = folded.outputs;
        let mut weights = Packed::zeros(POINTS, padded(channels), channels);
        for input in 0..channels {
            for output in 0..channels {
                let points = filters::transform_kernel(folded.kernel(input, output));
                for (point, value) in points.into_iter().enumerate() {
                    weights.set(point, input, output, value as f32);
                }
            }
        }
        Convolution { weights, bias: padded_bias(&folded.bias) }
    }

    /// Convolves `boards` boards that lie one after the other in `from`; the outputs wait in `tiles`.
    pub fn run(&self, kernels: &Kernels, grid: Grid, boards: usize, from: &[f32], tiles: &mut Tiles) {
        let step = Tiles::step(grid, boards);
        let rows = boards * grid.tiles();
        for (index, board) in from.chunks_exact(grid.bordered_len()).take(boards).enumerate() {
            kernels.input_transform(grid, board, &mut tiles.inputs[index * grid.tiles() * grid.channels..], step);
        }
        let product = Product { matrices: POINTS, rows, left_step: step, out_step: step, relu: false };
        kernels.multiply(&product, &tiles.inputs, &self.weights, None, &mut tiles.sums);
    }

    /// Writes board `index` of what [`Convolution::run`] left in `tiles`: `relu(outputs + bias)`, with the old values
    /// added before if `add`.
    #[expect(clippy::too_many_arguments, reason = "a kernel's operands")]
    pub fn finish(
        kernels: &Kernels,
        grid: Grid,
        boards: usize,
        index: usize,
        tiles: &Tiles,
        bias: &[f32],
        add: bool,
        to: &mut [f32],
    ) {
        let sums = &tiles.sums[index * grid.tiles() * grid.channels..];
        kernels.output_transform_relu(grid, sums, Tiles::step(grid, boards), bias, add, to);
    }
}
