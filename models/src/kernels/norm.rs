//! Passes over the squares of one board for training: batch normalisation, skip and ReLU, forward and backward.
//!
//! A board is `[squares][channels]` without border, its channels a multiple of the panel.

use super::PANEL;
use super::vector::Vector;

/// Registers added up side by side, enough to hide the latency of an addition together with the other sums of a kernel.
const CHAINS: usize = 2;

/// Sums per channel over the squares and sums of squared values: `out` is `[2][channels]`.
///
/// # Safety
/// The CPU has the instruction set of `V`; `board` holds whole squares of as many channels as half of `out`.
#[inline(always)]
pub(super) unsafe fn moments<V: Vector>(board: &[f32], out: &mut [f32]) {
    const { assert!(PANEL.is_multiple_of(CHAINS * V::LANES)) };
    let channels = out.len() / 2;
    for channel in (0..channels).step_by(CHAINS * V::LANES) {
        // SAFETY: the channels are a multiple of the panel, and a panel of the step.
        unsafe {
            let mut sums = [V::splat(0.0); CHAINS];
            let mut squares = [V::splat(0.0); CHAINS];
            for begin in (0..board.len()).step_by(channels) {
                for chain in 0..CHAINS {
                    let value = V::load(board.as_ptr().add(begin + channel + chain * V::LANES));
                    sums[chain] = sums[chain].add(value);
                    squares[chain] = value.mul_add(value, squares[chain]);
                }
            }
            for chain in 0..CHAINS {
                let to = out.as_mut_ptr().add(channel + chain * V::LANES);
                sums[chain].store(to);
                squares[chain].store(to.add(channels));
            }
        }
    }
}

/// `relu(board * scale + shift + skip)`, where not a number stays so.
///
/// # Safety
/// The CPU has the instruction set of `V`; `skip` and `out` are as long as `board`, `shift` as `scale`, and `board` holds
/// whole squares of that many channels.
#[inline(always)]
pub(super) unsafe fn activate<V: Vector>(
    board: &[f32],
    skip: Option<&[f32]>,
    scale: &[f32],
    shift: &[f32],
    out: &mut [f32],
) {
    let channels = scale.len();
    for channel in (0..channels).step_by(V::LANES) {
        // SAFETY: the channels are a multiple of the lanes.
        unsafe {
            let zero = V::splat(0.0);
            let (scale, shift) = (V::load(scale.as_ptr().add(channel)), V::load(shift.as_ptr().add(channel)));
            for at in (channel..board.len()).step_by(channels) {
                let mut value = V::load(board.as_ptr().add(at)).mul_add(scale, shift);
                if let Some(skip) = skip {
                    value = value.add(V::load(skip.as_ptr().add(at)));
                }
                // In this order the result is the value where that is not a number.
                zero.max(value).store(out.as_mut_ptr().add(at));
            }
        }
    }
}

/// Takes the gradient of [`activate`]'s result back through the ReLU, in place: it stays where `out` is positive. `sums`
/// becomes `[2][channels]`: the sum of the gradient over the squares, and of the gradient times `board - mean`.
///
/// # Safety
/// The CPU has the instruction set of `V`; `out` and `gradient` are as long as `board`, `sums` twice as long as `mean`, and
/// `board` holds whole squares of as many channels as `mean`.
#[inline(always)]
pub(super) unsafe fn mask<V: Vector>(board: &[f32], out: &[f32], mean: &[f32], gradient: &mut [f32], sums: &mut [f32]) {
    const { assert!(PANEL.is_multiple_of(CHAINS * V::LANES)) };
    let channels = mean.len();
    for channel in (0..channels).step_by(CHAINS * V::LANES) {
        // SAFETY: the channels are a multiple of the panel, and a panel of the step.
        unsafe {
            let means: [V; CHAINS] =
                std::array::from_fn(|chain| V::load(mean.as_ptr().add(channel + chain * V::LANES)));
            let mut sum = [V::splat(0.0); CHAINS];
            let mut products = [V::splat(0.0); CHAINS];
            for begin in (0..board.len()).step_by(channels) {
                for chain in 0..CHAINS {
                    let at = begin + channel + chain * V::LANES;
                    let place = gradient.as_mut_ptr().add(at);
                    let value = V::load(place).where_positive(V::load(out.as_ptr().add(at)));
                    let centred = V::load(board.as_ptr().add(at)).sub(means[chain]);
                    value.store(place);
                    sum[chain] = sum[chain].add(value);
                    products[chain] = value.mul_add(centred, products[chain]);
                }
            }
            for chain in 0..CHAINS {
                let to = sums.as_mut_ptr().add(channel + chain * V::LANES);
                sum[chain].store(to);
                products[chain].store(to.add(channels));
            }
        }
    }
}

/// `scale * gradient + slope * board + offset`: the gradient before a normalisation over the batch from that after it.
///
/// # Safety
/// The CPU has the instruction set of `V`; `gradient` and `out` are as long as `board`, the three lines as long as each
/// other, and `board` holds whole squares of that many channels.
#[inline(always)]
pub(super) unsafe fn before_norm<V: Vector>(
    gradient: &[f32],
    board: &[f32],
    [scale, slope, offset]: [&[f32]; 3],
    out: &mut [f32],
) {
    let channels = scale.len();
    for channel in (0..channels).step_by(V::LANES) {
        // SAFETY: the channels are a multiple of the lanes.
        unsafe {
            let [scale, slope, offset] = [scale, slope, offset].map(|line| V::load(line.as_ptr().add(channel)));
            for at in (channel..board.len()).step_by(channels) {
                let value = V::load(board.as_ptr().add(at)).mul_add(slope, offset);
                let value = V::load(gradient.as_ptr().add(at)).mul_add(scale, value);
                value.store(out.as_mut_ptr().add(at));
            }
        }
    }
}
