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

/// Sizes of a layer.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
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
    /// Most boards of a group.
    pub most: usize,
    /// Without weights backward where the input's gradient is not wanted.
    products: Products,
}

impl Convolution {
    /// For the way forward, by weights `[cout, cin, 3, 3]`.
    pub fn forward(shape: Shape, weights: &[f32], precision: TrainPrecision) -> Convolution {
        Convolution::new(shape, Some(filters::transform(weights, shape.cin, shape.cout)), precision)
    }

    /// For the way back, with the input's gradient or without.
    pub fn backward(shape: Shape, weights: &[f32], wants_x: bool, precision: TrainPrecision) -> Convolution {
        let weights = wants_x.then(|| filters::transform_transposed(weights, shape.cin, shape.cout));
        Convolution::new(shape, weights, precision)
    }

    fn new(shape: Shape, weights: Option<Packed>, precision: TrainPrecision) -> Convolution {
        let grid = |channels| Grid { side: shape.side, channels };
        let (input, output) = (grid(shape.cin), grid(shape.cout));
        let board = POINTS * input.tiles() * shape.cin.max(shape.cout) * size_of::<f32>();
        let products = Products::new(precision, weights);
        Convolution { kernels: Kernels::best(), input, output, most: (GROUP_BYTES / board).clamp(1, GROUP), products }
    }

    /// How the transformed boards of a group lie in memory: one panel more from point to point than needed, because
    /// points a power of two apart would compete for the same few lines of the cache.
    fn points(&self, grid: Grid) -> Points {
        Points { channels: grid.channels, step: self.most * grid.tiles() * grid.channels + PANEL }
    }

    /// The products for this many boards: their rows, and how inputs and sums lie in memory.
    fn sides(&self, boards: usize) -> (&Products, usize, Points, Points) {
        (&self.products, boards * self.input.tiles(), self.points(self.input), self.points(self.output))
    }

    /// Memory for one group of boards.
    pub fn group(&self) -> Group<'_> {
        let [inputs, sums] = [self.input, self.output].map(|grid| POINTS * self.points(grid).step);
        Group {
            convolution: self,
            board: Floats::zeros(self.input.bordered_len()),
            gradient: Floats::zeros(self.input.bordered_len()),
            inputs: Floats::zeros(inputs),
            sums: Floats::zeros(sums),
            rounded: self.products.scratch(inputs.max(sums)),
        }
    }

    /// The gradient of the weights `[cout, cin, 3, 3]` from the parts that [`Group::add_outer`] made, added in their
    /// order.
    pub fn weights_gradient<'a>(&self, parts: impl Iterator<Item = &'a Vec<f32>>) -> Vec<f32> {
        let mut sum = self.no_gradient();
        for part in parts {
            for (sum, value) in sum.iter_mut().zip(part) {
                *sum += value;
            }
        }
        filters::gradient(&sum, self.input.channels, self.output.channels)
    }

    /// A gradient of the transformed weights that is zero, `[POINTS][cin][cout]`.
    pub fn no_gradient(&self) -> Vec<f32> {
        vec![0.0; POINTS * self.input.channels * self.output.channels]
    }
}

/// A group of boards on its way through a convolution. Boards are `[N, N, channels]`; each has a slot.
pub struct Group<'a> {
    convolution: &'a Convolution,
    /// An input board with its border of zeros.
    board: Floats,
    /// The gradient of one; its border is never read.
    gradient: Floats,
    /// Transformed inputs, and backward their gradients.
    inputs: Floats,
    /// Sums, or their gradients.
    sums: Floats,
    rounded: Rounded,
}

impl Group<'_> {
    /// Takes an input board.
    pub fn put(&mut self, slot: usize, board: &[f32]) {
        let Convolution { kernels, input, .. } = *self.convolution;
        for (row, from) in board.chunks_exact(input.side * input.channels).enumerate() {
            self.board[input.square(row * input.side)..][..from.len()].copy_from_slice(from);
        }
        let to = &mut self.inputs[slot * input.tiles() * input.channels..];
        kernels.input_transform(input, &self.board, to, self.convolution.points(input).step);
    }

    /// Takes the gradient of an output board.
    pub fn put_gradient(&mut self, slot: usize, gradient: &[f32]) {
        let Convolution { kernels, output, .. } = *self.convolution;
        let to = &mut self.sums[slot * output.tiles() * output.channels..];
        kernels.output_transform_transposed(output, gradient, to, self.convolution.points(output).step);
    }

    /// Convolves this many boards.
    pub fn multiply(&mut self, boards: usize) {
        let (products, rows, inputs, sums) = self.convolution.sides(boards);
        products.multiply(rows, (&self.inputs, inputs), (&mut self.sums, sums), &mut self.rounded);
    }

    /// Writes an output board.
    pub fn take(&self, slot: usize, out: &mut [f32]) {
        let Convolution { kernels, output, .. } = *self.convolution;
        let from = &self.sums[slot * output.tiles() * output.channels..];
        kernels.output_transform(output, from, self.convolution.points(output).step, out);
    }

    /// Adds the gradient of the transformed weights, `[POINTS][cin][cout]`, over this many boards.
    pub fn add_outer(&mut self, boards: usize, gradient: &mut [f32]) {
        let (products, rows, inputs, sums) = self.convolution.sides(boards);
        products.add_outer(rows, (&self.inputs, inputs), (&self.sums, sums), gradient, &mut self.rounded);
    }

    /// Takes the gradients of this many output boards back to the inputs, whose place they take.
    pub fn multiply_back(&mut self, boards: usize) {
        let (products, rows, inputs, sums) = self.convolution.sides(boards);
        products.multiply(rows, (&self.sums, sums), (&mut self.inputs, inputs), &mut self.rounded);
    }

    /// Adds the gradient of an input board.
    pub fn add_gradient(&mut self, slot: usize, gradient: &mut [f32]) {
        let Convolution { kernels, input, .. } = *self.convolution;
        let inner = |row: usize| input.square(row * input.side);
        let row = input.side * input.channels;
        for (index, from) in gradient.chunks_exact(row).enumerate() {
            self.gradient[inner(index)..][..row].copy_from_slice(from);
        }
        let from = &self.inputs[slot * input.tiles() * input.channels..];
        kernels.input_transform_transposed(input, from, self.convolution.points(input).step, &mut self.gradient);
        for (index, to) in gradient.chunks_exact_mut(row).enumerate() {
            to.copy_from_slice(&self.gradient[inner(index)..][..row]);
        }
    }
}
