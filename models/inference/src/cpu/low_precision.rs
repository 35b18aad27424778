//! The residual tower in int8.
//!
//! The trunk is kept in single precision, so that roundings do not add up along the skip connections. Beside it lies a
//! quantised copy, which the convolutions read. An int8 value counts steps. Each output channel has a step of its own
//! for its weights; each layer has one on each board size for its activations, so that the largest activation of the
//! calibration is 255 steps. All activations come out of a ReLU, so none is negative; one that is larger than the
//! calibration's largest counts as the largest.

use hnefi_engine::BoardSize;

use super::calibration::Peaks;
use super::fold::{Folded, FoldedBlock};
use super::layers::{Dense, padded, padded_bias};
use hnefi_kernels::{
    Aligned, Epilogue, Floats, Grid, INT8_VALUES, Kernels, LARGEST_INPUT, LowPrecisionKernels, Pool, Weights,
};

/// A tower of convolutions in low precision.
#[derive(Debug)]
pub(super) struct LowPrecisionTower {
    kernels: &'static LowPrecisionKernels,
    blocks: Vec<LowPrecisionBlock>,
    /// The steps of the tower's inputs.
    inputs: Steps,
}

/// What a quantised activation of 1 stands for on each board size.
type Steps = Peaks;

/// A residual block.
#[derive(Debug)]
struct LowPrecisionBlock {
    first: LowPrecisionConvolution,
    second: LowPrecisionConvolution,
    /// As in [`FoldedBlock`].
    pool: Option<Dense>,
}

/// A 3x3 convolution.
#[derive(Debug)]
struct LowPrecisionConvolution {
    weights: Weights,
    bias: Floats,
    /// What a sum of 1 stands for, `[channels]` on each board size.
    scales: [Floats; BoardSize::ALL.len()],
    /// The steps of the outputs.
    outputs: Steps,
}

/// What the tower needs for its intermediate values, one board after the other, without borders.
#[derive(Debug)]
pub(super) struct LowPrecisionScratch {
    trunk: Aligned<u32>,
    inner: Aligned<u32>,
    /// A board as floats, to be pooled.
    wide: Floats,
    bias: Floats,
    pooled: Floats,
}

impl LowPrecisionTower {
    /// Quantises a tower of `channels` channels to int8. `peaks` are its largest activations: before each convolution
    /// in turn, and behind the last.
    pub fn new(
        kernels: &'static LowPrecisionKernels,
        blocks: &[FoldedBlock],
        channels: usize,
        peaks: &[Peaks],
    ) -> LowPrecisionTower {
        let steps = |place: usize| -> Steps {
            // A layer that is never active may have any step.
            peaks[place].map(|peak| if peak > 0.0 { peak / LARGEST_INPUT } else { 1.0 })
        };
        let convolution = |folded: &Folded, place: usize| {
            let (weights, weight_steps) = Weights::int8(padded(channels), weight(folded, channels));
            let scales = steps(place).map(|step| {
                let mut scale = Floats::zeros(padded(channels));
                for (scale, weight_step) in scale.iter_mut().zip(weight_steps.iter()) {
                    *scale = weight_step * step;
                }
                scale
            });
            LowPrecisionConvolution { weights, bias: padded_bias(&folded.bias), scales, outputs: steps(place + 1) }
        };
        let block = |(index, block): (usize, &FoldedBlock)| LowPrecisionBlock {
            first: convolution(&block.first, 2 * index),
            second: convolution(&block.second, 2 * index + 1),
            pool: block.pool.as_ref().map(|pool| Dense::pack(pool, 3)),
        };
        LowPrecisionTower { kernels, blocks: blocks.iter().enumerate().map(block).collect(), inputs: steps(0) }
    }

    /// Name of the kernels it runs on.
    pub fn kernels(&self) -> &'static str {
        self.kernels.name
    }

    /// Scratch memory for groups of `squares` squares.
    pub fn scratch(&self, channels: usize, squares: usize) -> LowPrecisionScratch {
        let words = squares * channels / INT8_VALUES;
        LowPrecisionScratch {
            trunk: Aligned::zeros(words),
            inner: Aligned::zeros(words),
            wide: Floats::zeros(BoardSize::LARGEST.squares() * channels),
            bias: Floats::zeros(channels),
            pooled: Floats::zeros(3 * channels),
        }
    }

    /// Takes `boards` boards, which lie one after the other in `trunk`, through the tower.
    pub fn run(
        &self,
        floats: &Kernels,
        grid: Grid,
        boards: usize,
        trunk: &mut [f32],
        scratch: &mut LowPrecisionScratch,
    ) {
        let LowPrecisionScratch { trunk: quantised, inner, wide, bias, pooled } = scratch;
        let kernels = self.kernels;
        let size = BoardSize::new(grid.side).map_or(0, BoardSize::index);
        let len = grid.quantised_len();
        for (board, to) in trunk.chunks_exact(grid.bordered_len()).zip(quantised.chunks_exact_mut(len)).take(boards) {
            kernels.quantise(grid, board, 1.0 / self.inputs[size], to);
        }
        for LowPrecisionBlock { first, second, pool } in &self.blocks {
            for (from, to) in quantised.chunks_exact(len).zip(inner.chunks_exact_mut(len)).take(boards) {
                kernels.convolve(grid, &first.weights, from, &first.epilogue(size, &first.bias), None, to);
            }
            let outputs = trunk.chunks_exact_mut(grid.bordered_len()).zip(quantised.chunks_exact_mut(len));
            for (from, (trunk, to)) in inner.chunks_exact(len).zip(outputs).take(boards) {
                let bias = match pool {
                    None => &second.bias,
                    Some(layer) => {
                        let wide = &mut wide[..grid.inner_len()];
                        kernels.dequantise(from, first.outputs[size], wide);
                        let row_step = grid.side * grid.channels;
                        floats.pool(&Pool { side: grid.side, row_step, channels: grid.channels }, wide, pooled);
                        layer.run(floats, pooled, false, bias);
                        &*bias
                    }
                };
                kernels.convolve(grid, &second.weights, from, &second.epilogue(size, bias), Some(trunk), to);
            }
        }
    }
}

impl LowPrecisionConvolution {
    fn epilogue<'a>(&'a self, size: usize, bias: &'a [f32]) -> Epilogue<'a> {
        Epilogue { scale: &self.scales[size], bias, inverse: 1.0 / self.outputs[size] }
    }
}

/// A convolution's weight from an input to an output, zero for padding.
fn weight(folded: &Folded, channels: usize) -> impl Fn(usize, usize, usize) -> f64 {
    move |output, input, tap| {
        if output < channels && input < channels { folded.kernel(input, output)[tap] } else { 0.0 }
    }
}
