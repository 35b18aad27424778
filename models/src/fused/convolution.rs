//! The 3x3 convolution of a layer and its gradients over some boards, by Winograd's method in both directions.
//!
//! Forward: the input transform, a matrix product at each point, the output transform. Backward: the output transform
//! transposed, products for the gradients of the weights and of the input, the input transform transposed.
//!
//! See [`hnefi_kernels`] for the method. A group of boards goes through together, small enough for a core's own cache.

use super::products::{Points, Products, Rounded};
use hnefi_inference::TrainPrecision;
use hnefi_kernels::{Floats, Grid, Kernels, PANEL, POINTS, Packed, filters};

/// Most bytes of a group's transformed inputs, and of its sums: both share a core's cache.
const GROUP_BYTES: usize = 160 << 10;

/// Most boards in a group.
const GROUP: usize = 8;

/// Sizes of a layer and its batch.
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

    /// Whether the kernels serve these sizes.
    pub fn is_served(self) -> bool {
        self.side > 0 && [self.cin, self.cout].iter().all(|&channels| channels > 0 && channels.is_multiple_of(PANEL))
    }
}

/// A layer's convolution with its weights transformed for one direction.
pub struct Convolution {
    kernels: &'static Kernels,
    input: Grid,
    output: Grid,
    /// Boards of a group.
    group: usize,
    /// Without weights backward where the input's gradient is not wanted.
    products: Products,
}

/// Memory for one group of boards, reused from group to group.
struct Scratch {
    /// Transformed inputs, and backward their gradients.
    inputs: Floats,
    /// Sums, or their gradients.
    sums: Floats,
    rounded: Rounded,
}

impl Convolution {
    /// For [`Convolution::run`].
    pub fn forward(shape: Shape, weights: &[f32], precision: TrainPrecision) -> Convolution {
        Convolution::new(shape, Some(filters::transform(weights, shape.cin, shape.cout)), precision)
    }

    /// For [`Convolution::run_back`], with the input's gradient or without.
    pub fn backward(shape: Shape, weights: &[f32], wants_x: bool, precision: TrainPrecision) -> Convolution {
        let weights = wants_x.then(|| filters::transform_transposed(weights, shape.cin, shape.cout));
        Convolution::new(shape, weights, precision)
    }

    fn new(shape: Shape, weights: Option<Packed>, precision: TrainPrecision) -> Convolution {
        let grid = |channels| Grid { side: shape.side, channels };
        let (input, output) = (grid(shape.cin), grid(shape.cout));
        let board = POINTS * input.tiles() * shape.cin.max(shape.cout) * size_of::<f32>();
        let products = Products::new(precision, weights);
        Convolution { kernels: Kernels::best(), input, output, group: (GROUP_BYTES / board).clamp(1, GROUP), products }
    }

    /// How the transformed boards of a group lie in memory: one panel more from point to point than needed, because
    /// points a power of two apart would compete for the same few lines of the cache.
    fn points(grid: Grid, boards: usize) -> Points {
        Points { channels: grid.channels, step: boards * grid.tiles() * grid.channels + PANEL }
    }

    fn scratch(&self) -> Scratch {
        let [inputs, sums] = [self.input, self.output].map(|grid| POINTS * Convolution::points(grid, self.group).step);
        let rounded = self.products.scratch(inputs.max(sums));
        Scratch { inputs: Floats::zeros(inputs), sums: Floats::zeros(sums), rounded }
    }

    /// Convolves boards `[N, N, cin]` to boards `[N, N, cout]`.
    pub fn run(&self, x: &[f32], out: &mut [f32]) {
        let (input_len, output_len) = (self.input.inner_len(), self.output.inner_len());
        let mut scratch = self.scratch();
        for (x, out) in x.chunks(self.group * input_len).zip(out.chunks_mut(self.group * output_len)) {
            let boards = x.len() / input_len;
            let (inputs, sums) = (Self::points(self.input, boards), Self::points(self.output, boards));
            self.transform_inputs(x, inputs.step, &mut scratch);
            let Scratch { inputs: left, sums: right, rounded } = &mut scratch;
            self.products.multiply(boards * self.input.tiles(), (left, inputs), (right, sums), rounded);
            for (index, out) in out.chunks_exact_mut(output_len).enumerate() {
                let from = &right[index * self.output.tiles() * self.output.channels..];
                self.kernels.output_transform(self.output, from, sums.step, out);
            }
        }
    }

    /// Takes gradients back: `gradient_of(i, g)` writes the gradient of output board `i` to `g`. Adds the gradient of
    /// the boards `x` to `x_gradient` where it is wanted, and returns the sum over the boards of the gradient of the
    /// transformed weights, `[POINTS][cin][cout]`.
    pub fn run_back(&self, x: &[f32], gradient_of: impl Fn(usize, &mut [f32]), x_gradient: &mut [f32]) -> Vec<f32> {
        let (input, output) = (self.input, self.output);
        let mut sum = vec![0.0; POINTS * input.channels * output.channels];
        let mut scratch = self.scratch();
        let mut gradient = vec![0.0; output.inner_len()];
        for (group, x) in x.chunks(self.group * input.inner_len()).enumerate() {
            let boards = x.len() / input.inner_len();
            let (inputs, sums) = (Self::points(input, boards), Self::points(output, boards));
            self.transform_inputs(x, inputs.step, &mut scratch);
            let Scratch { inputs: left, sums: right, rounded } = &mut scratch;
            for index in 0..boards {
                gradient_of(group * self.group + index, &mut gradient);
                let to = &mut right[index * output.tiles() * output.channels..];
                self.kernels.output_transform_transposed(output, &gradient, to, sums.step);
            }
            let rows = boards * input.tiles();
            self.products.add_outer(rows, (left, inputs), (right, sums), &mut sum, rounded);
            if !self.products.has_weights() {
                continue;
            }
            // The inputs have served; their gradients take their place.
            self.products.multiply(rows, (right, sums), (left, inputs), rounded);
            let x_gradient = x_gradient.chunks_exact_mut(input.inner_len()).skip(group * self.group);
            for (index, x_gradient) in x_gradient.take(boards).enumerate() {
                let transformed = &left[index * input.tiles() * input.channels..];
                self.kernels.input_transform_transposed(input, transformed, inputs.step, x_gradient);
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
    fn transform_inputs(&self, x: &[f32], step: usize, scratch: &mut Scratch) {
        let input = self.input;
        for (index, x) in x.chunks_exact(input.inner_len()).enumerate() {
            let to = &mut scratch.inputs[index * input.tiles() * input.channels..];
            self.kernels.input_transform(input, x, to, step);
        }
    }
}
