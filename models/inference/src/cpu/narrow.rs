//! The residual tower in bf16 or in eight-bit numbers.
//!
//! The trunk is kept in single precision, so that roundings do not add up along the skip connections; beside it lies a
//! copy in narrow numbers, which the convolutions read. Eight-bit numbers count steps: for weights of each output
//! channel's own, for activations of each layer's and each board size's own, the largest activation of the calibration
//! being 255 of them. All activations are behind a ReLU, so none is negative; one that is larger than any of the
//! calibration counts as the largest.

use hnefi_engine::BoardSize;

use super::calibration::Peaks;
use super::fold::{Folded, FoldedBlock};
use super::layers::{Dense, padded, padded_bias};
use hnefi_kernels::{Aligned, Finish, Floats, Grid, Int8Weights, Kernels, LARGEST_INPUT, NarrowKernels, Pool, Weights};

/// A tower of narrow convolutions.
#[derive(Debug)]
pub(super) struct NarrowTower {
    kernels: &'static NarrowKernels,
    blocks: Vec<NarrowBlock>,
    /// What the tower's own inputs count.
    inputs: Steps,
}

/// What a narrow activation of one counts on each board size; 1 in bf16.
type Steps = [f32; BoardSize::ALL.len()];

/// A residual block.
#[derive(Debug)]
struct NarrowBlock {
    first: NarrowConvolution,
    second: NarrowConvolution,
    /// As in [`FoldedBlock`].
    pool: Option<Dense>,
}

/// A 3x3 convolution.
#[derive(Debug)]
struct NarrowConvolution {
    weights: Weights,
    bias: Floats,
    /// What each channel's sums count, on each board size.
    scales: [Floats; BoardSize::ALL.len()],
    /// What the outputs count.
    outputs: Steps,
}

/// What the tower needs for its intermediate values, one board after the other, without borders.
#[derive(Debug)]
pub(super) struct NarrowScratch {
    trunk: Aligned<u32>,
    inner: Aligned<u32>,
    /// A board as floats, to be pooled.
    wide: Floats,
    bias: Floats,
    pooled: Floats,
}

impl NarrowTower {
    /// Rounds a tower of so many channels to bf16.
    pub fn bf16(kernels: &'static NarrowKernels, blocks: &[FoldedBlock], channels: usize) -> NarrowTower {
        let ones = [1.0; BoardSize::ALL.len()];
        let convolution = |folded: &Folded| NarrowConvolution {
            weights: Weights::bf16(padded(channels), weight(folded, channels)),
            bias: padded_bias(&folded.bias),
            scales: ones.map(|_| Floats::zeros(padded(channels))),
            outputs: ones,
        };
        let block = |block: &FoldedBlock| NarrowBlock {
            first: convolution(&block.first),
            second: convolution(&block.second),
            pool: block.pool.as_ref().map(|pool| Dense::pack(pool, 3)),
        };
        NarrowTower { kernels, blocks: blocks.iter().map(block).collect(), inputs: ones }
    }

    /// Rounds a tower of so many channels to eight bits. `peaks` are its largest activations: before each convolution
    /// in turn, and behind the last.
    pub fn int8(
        kernels: &'static NarrowKernels,
        blocks: &[FoldedBlock],
        channels: usize,
        peaks: &[Peaks],
    ) -> NarrowTower {
        let steps = |place: usize| -> Steps {
            // What is never reached may have any step.
            peaks[place].map(|peak| if peak > 0.0 { peak / LARGEST_INPUT } else { 1.0 })
        };
        let convolution = |folded: &Folded, place: usize| {
            let Int8Weights { weights, steps: weight_steps } =
                Weights::int8(padded(channels), weight(folded, channels));
            let scales = steps(place).map(|step| {
                let mut scale = Floats::zeros(padded(channels));
                for (scale, weight_step) in scale.iter_mut().zip(weight_steps.iter()) {
                    *scale = weight_step * step;
                }
                scale
            });
            NarrowConvolution { weights, bias: padded_bias(&folded.bias), scales, outputs: steps(place + 1) }
        };
        let block = |(index, block): (usize, &FoldedBlock)| NarrowBlock {
            first: convolution(&block.first, 2 * index),
            second: convolution(&block.second, 2 * index + 1),
            pool: block.pool.as_ref().map(|pool| Dense::pack(pool, 3)),
        };
        NarrowTower { kernels, blocks: blocks.iter().enumerate().map(block).collect(), inputs: steps(0) }
    }

    /// Name of the kernels it runs on.
    pub fn kernels(&self) -> &'static str {
        self.kernels.name
    }

    /// Scratch memory for groups of so many squares, and boards of no more than the largest's.
    pub fn scratch(&self, channels: usize, squares: usize) -> NarrowScratch {
        let words = squares * channels / self.kernels.numbers;
        NarrowScratch {
            trunk: Aligned::zeros(words),
            inner: Aligned::zeros(words),
            wide: Floats::zeros(BoardSize::Eleven.squares() * channels),
            bias: Floats::zeros(channels),
            pooled: Floats::zeros(3 * channels),
        }
    }

    /// Takes `boards` boards, which lie one after the other in `trunk`, through the tower.
    pub fn run(&self, floats: &Kernels, grid: Grid, boards: usize, trunk: &mut [f32], scratch: &mut NarrowScratch) {
        let NarrowScratch { trunk: narrow, inner, wide, bias, pooled } = scratch;
        let kernels = self.kernels;
        let size = BoardSize::ALL.iter().position(|size| size.side() == grid.side).unwrap_or(0);
        let len = kernels.board_len(grid);
        for (board, narrow) in trunk.chunks_exact(grid.len()).zip(narrow.chunks_exact_mut(len)).take(boards) {
            kernels.narrow(grid, board, 1.0 / self.inputs[size], narrow);
        }
        for NarrowBlock { first, second, pool } in &self.blocks {
            for (from, to) in narrow.chunks_exact(len).zip(inner.chunks_exact_mut(len)).take(boards) {
                kernels.convolve(grid, &first.weights, from, &first.finish(size, &first.bias), None, to);
            }
            let outputs = trunk.chunks_exact_mut(grid.len()).zip(narrow.chunks_exact_mut(len));
            for (from, (trunk, to)) in inner.chunks_exact(len).zip(outputs).take(boards) {
                let bias = match pool {
                    None => &second.bias,
                    Some(layer) => {
                        let wide = &mut wide[..grid.inner_len()];
                        kernels.widen(from, first.outputs[size], wide);
                        let row_step = grid.side * grid.channels;
                        floats.pool(&Pool { side: grid.side, row_step, channels: grid.channels }, wide, pooled);
                        layer.run(floats, pooled, false, bias);
                        &*bias
                    }
                };
                kernels.convolve(grid, &second.weights, from, &second.finish(size, bias), Some(trunk), to);
            }
        }
    }
}

impl NarrowConvolution {
    fn finish<'a>(&'a self, size: usize, bias: &'a [f32]) -> Finish<'a> {
        Finish { scale: &self.scales[size], bias, inverse: 1.0 / self.outputs[size] }
    }
}

/// A convolution's weight from an input to an output, zero for padding.
fn weight(folded: &Folded, channels: usize) -> impl Fn(usize, usize, usize) -> f64 {
    move |output, input, tap| {
        if output < channels && input < channels { folded.kernel(input, output)[tap] } else { 0.0 }
    }
}
