//! Int8 weights of 3x3 kernels, in the order in which the convolution reads them.

use super::super::{Aligned, Floats, PANEL};
use super::{INT8_VALUES, TAPS};

/// The largest int8 weight; the lowest is its negative.
const LARGEST_WEIGHT: f64 = 127.0;

/// Quantised weights of a convolution, `[channels / PANEL][TAPS][words][PANEL]`: for each output of a panel the words
/// of a square's inputs.
#[derive(Debug)]
pub struct Weights {
    memory: Aligned<u32>,
    /// Words of a square's inputs.
    pub(super) words: usize,
}

impl Weights {
    /// Packs values to words: `value(output, input, tap)` returns one in the lowest bits. There are `channels` outputs
    /// and `channels` inputs, a multiple of [`PANEL`].
    fn pack(channels: usize, value: impl Fn(usize, usize, usize) -> u32) -> Weights {
        let words = channels / INT8_VALUES;
        let mut memory = Aligned::zeros(channels * TAPS * words);
        for (at, place) in memory.iter_mut().enumerate() {
            let (lane, word, tap) = (at % PANEL, at / PANEL % words, at / PANEL / words % TAPS);
            let output = at / PANEL / words / TAPS * PANEL + lane;
            for index in 0..INT8_VALUES {
                *place |= value(output, word * INT8_VALUES + index, tap) << (32 / INT8_VALUES * index);
            }
        }
        Weights { memory, words }
    }

    /// Rounds the weights `weight(output, input, tap)` to whole steps; the largest weight of an output channel is 127
    /// steps. Also returns what a step of each channel stands for.
    pub fn int8(channels: usize, weight: impl Fn(usize, usize, usize) -> f64) -> (Weights, Floats) {
        let mut steps = Floats::zeros(channels);
        for (output, step) in steps.iter_mut().enumerate() {
            let all = (0..channels).flat_map(|input| (0..TAPS).map(move |tap| (input, tap)));
            let largest = all.map(|(input, tap)| weight(output, input, tap).abs()).fold(0.0, f64::max);
            // A channel without weights may have any step.
            *step = if largest > 0.0 { (largest / LARGEST_WEIGHT) as f32 } else { 1.0 };
        }
        let weights = Weights::pack(channels, |output, input, tap| {
            let whole = (weight(output, input, tap) / f64::from(steps[output])).round_ties_even();
            u32::from((whole.clamp(-LARGEST_WEIGHT, LARGEST_WEIGHT) as i8) as u8)
        });
        (weights, steps)
    }

    /// Whether these weights connect `channels` inputs to `channels` outputs.
    pub(super) fn fit(&self, channels: usize) -> bool {
        self.words * INT8_VALUES == channels && self.memory.len() == channels * TAPS * self.words
    }

    /// Where the weights of the outputs from `channel` on begin, within their panel.
    #[inline(always)]
    pub(super) fn at_channel(&self, channel: usize) -> *const u32 {
        self.memory[channel / PANEL * TAPS * self.words * PANEL + channel % PANEL..].as_ptr()
    }
}
