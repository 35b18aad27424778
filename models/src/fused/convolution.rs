//! The 3x3 convolution of a layer and its gradients over some boards, by Winograd's method in both directions.
//!
//! | direction | steps |
//! |---|---|
//! | forward | tiles of the input to points, a matrix product at each point, points to tiles of the output |
//! | backward | tiles of the output's gradient to points (transposed), products for the weights' and for the input's gradient, points to tiles (transposed) |
//!
//! See [`crate::kernels`] for the method. A few boards go through together, as many as a core's own cache holds.

use super::passes::Shape;
use crate::kernels::{Floats, Grid, Kernels, Outer, PANEL, POINTS, Packed, Product, filters};

/// Bytes of one of the transformed sides that a group of boards may have: two of them share a core's cache.
const GROUP_BYTES: usize = 160 << 10;

/// Most boards in a group.
const GROUP: usize = 8;

/// A layer's convolution with its weights transformed for one direction.
pub struct Convolution {
    kernels: &'static Kernels,
    input: Grid,
    output: Grid,
    /// Boards of a group.
    group: usize,
    /// `None` backward where the input's gradient is not wanted.
    weights: Option<Packed>,
}

/// Memory for one group of boards, reused from group to group.
struct Scratch {
    /// Transformed inputs, and backward their gradients.
    inputs: Floats,
    /// Sums, or their gradients.
    sums: Floats,
}

impl Convolution {
    /// For [`Convolution::run`].
    pub fn forward(shape: Shape, weights: &[f32]) -> Convolution {
        Convolution::new(shape, Some(filters::transform(weights, shape.cin, shape.cout)))
    }

    /// For [`Convolution::run_back`], with the input's gradient or without.
    pub fn backward(shape: Shape, weights: &[f32], wants_x: bool) -> Convolution {
        Convolution::new(shape, wants_x.then(|| filters::transform_transposed(weights, shape.cin, shape.cout)))
    }

    fn new(shape: Shape, weights: Option<Packed>) -> Convolution {
        let grid = |channels| Grid { side: shape.side, channels };
        let (input, output) = (grid(shape.cin), grid(shape.cout));
        let board = POINTS * input.tiles() * shape.cin.max(shape.cout) * size_of::<f32>();
        Convolution { kernels: Kernels::best(), input, output, group: (GROUP_BYTES / board).clamp(1, GROUP), weights }
    }

    /// Floats from point to point: one panel more than needed, because points a power of two apart would compete for the
    /// same few lines of the cache.
    fn step(grid: Grid, boards: usize) -> usize {
        boards * grid.tiles() * grid.channels + PANEL
    }

    fn scratch(&self) -> Scratch {
        let points = |grid| Floats::zeros(POINTS * Convolution::step(grid, self.group));
        Scratch { inputs: points(self.input), sums: points(self.output) }
    }

    /// Convolves boards `[N, N, cin]` and hands each result `[N, N, cout]` on, in order.
    pub fn run(&self, x: &[f32], mut finish: impl FnMut(&[f32])) {
        let weights = self.weights.as_ref().expect("packed for the forward direction");
        let mut scratch = self.scratch();
        let mut board = vec![0.0; self.output.inner_len()];
        for x in x.chunks(self.group * self.input.inner_len()) {
            let boards = x.len() / self.input.inner_len();
            let (left_step, out_step) = (Self::step(self.input, boards), Self::step(self.output, boards));
            self.scatter(x, left_step, &mut scratch);
            let rows = boards * self.input.tiles();
            let product = Product { matrices: POINTS, rows, left_step, out_step, relu: false };
            self.kernels.multiply(&product, &scratch.inputs, weights, None, &mut scratch.sums);
            for index in 0..boards {
                let sums = &scratch.sums[index * self.output.tiles() * self.output.channels..];
                self.kernels.outputs(self.output, sums, out_step, &mut board);
                finish(&board);
            }
        }
    }

    /// Takes gradients back: `gradient_of(i, g)` writes the gradient of output board `i` to `g`. Adds the gradient of the
    /// boards `x` to `x_gradient` where it is wanted, and returns the sum over the boards of the gradient of the
    /// transformed weights, `[POINTS][cin][cout]`.
    pub fn run_back(&self, x: &[f32], gradient_of: impl Fn(usize, &mut [f32]), x_gradient: &mut [f32]) -> Vec<f32> {
        let (input, output) = (self.input, self.output);
        let mut sum = vec![0.0; POINTS * input.channels * output.channels];
        let mut scratch = self.scratch();
        let mut gradient = vec![0.0; output.inner_len()];
        for (group, x) in x.chunks(self.group * input.inner_len()).enumerate() {
            let boards = x.len() / input.inner_len();
            let (left_step, right_step) = (Self::step(input, boards), Self::step(output, boards));
            self.scatter(x, left_step, &mut scratch);
            for index in 0..boards {
                gradient_of(group * self.group + index, &mut gradient);
                let sums = &mut scratch.sums[index * output.tiles() * output.channels..];
                self.kernels.spread(output, &gradient, sums, right_step);
            }
            let rows = boards * input.tiles();
            let (left_columns, right_columns) = (input.channels, output.channels);
            let product = Outer { matrices: POINTS, rows, left_columns, right_columns, left_step, right_step };
            self.kernels.add_outer(&product, &scratch.inputs, &scratch.sums, &mut sum);
            let Some(weights) = &self.weights else { continue };
            // The inputs have served; their gradients take their place.
            let product = Product { matrices: POINTS, rows, left_step: right_step, out_step: left_step, relu: false };
            self.kernels.multiply(&product, &scratch.sums, weights, None, &mut scratch.inputs);
            let x_gradient = x_gradient.chunks_exact_mut(input.inner_len()).skip(group * self.group);
            for (index, x_gradient) in x_gradient.take(boards).enumerate() {
                let transformed = &scratch.inputs[index * input.tiles() * input.channels..];
                self.kernels.collect(input, transformed, left_step, x_gradient);
            }
        }
        sum
    }

    /// The gradient of the weights `[cout, cin, 3, 3]` from the parts that [`Convolution::run_back`] returned, added in
    /// their order.
    pub fn weights_gradient(&self, parts: &[Vec<f32>]) -> Vec<f32> {
        let (cin, cout) = (self.input.channels, self.output.channels);
        let mut sum = vec![0.0; POINTS * cin * cout];
        for part in parts {
            for (sum, value) in sum.iter_mut().zip(part) {
                *sum += value;
            }
        }
        filters::gradient(&sum, cin, cout)
    }

    /// Transforms the boards of a group.
    fn scatter(&self, x: &[f32], step: usize, scratch: &mut Scratch) {
        let input = self.input;
        for (index, x) in x.chunks_exact(input.inner_len()).enumerate() {
            let to = &mut scratch.inputs[index * input.tiles() * input.channels..];
            self.kernels.scatter_plain(input, x, to, step);
        }
    }
}
