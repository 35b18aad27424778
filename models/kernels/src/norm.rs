//! Passes over the squares of one board for training: batch normalisation, skip and ReLU, forward and backward.
//!
//! A board is `[squares][channels]` without border, its channels a multiple of the panel, which is `REGISTERS`
//! registers.

use super::PANEL;
use super::vector::Vector;

/// Sums per channel over the squares and sums of squared values: `out` is `[2][channels]`.
///
/// # Safety
/// The CPU has the instruction set of `V`; `board` holds whole squares of as many channels as half of `out`.
#[inline(always)]
pub(super) unsafe fn moments<V: Vector, const REGISTERS: usize>(board: &[f32], out: &mut [f32]) {
    const { assert!(REGISTERS * V::LANES == PANEL) };
    let channels = out.len() / 2;
    for channel in (0..channels).step_by(PANEL) {
        // SAFETY: the channels are a multiple of the panel.
        unsafe {
            let mut sums = [V::splat(0.0); REGISTERS];
            let mut squares = [V::splat(0.0); REGISTERS];
            for begin in (0..board.len()).step_by(channels) {
                for register in 0..REGISTERS {
                    let value = V::load(board.as_ptr().add(begin + channel + register * V::LANES));
                    sums[register] = sums[register].add(value);
                    squares[register] = value.mul_add(value, squares[register]);
                }
            }
            for register in 0..REGISTERS {
                let to = out.as_mut_ptr().add(channel + register * V::LANES);
                sums[register].store(to);
                squares[register].store(to.add(channels));
            }
        }
    }
}

/// `relu(board * scale + shift + skip)`, where not a number stays so.
///
/// # Safety
/// The CPU has the instruction set of `V`; `skip` and `out` are as long as `board`, `shift` as `scale`, and `board`
/// holds whole squares of that many channels.
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

/// Takes the gradient of [`activate`]'s result back through the ReLU, in place: it stays where `out` is positive.
/// `sums` becomes `[2][channels]`: the sum of the gradient over the squares, and of the gradient times `board - mean`.
///
/// # Safety
/// The CPU has the instruction set of `V`; `out` and `gradient` are as long as `board`, `sums` twice as long as `mean`,
/// and `board` holds whole squares of as many channels as `mean`.
#[inline(always)]
pub(super) unsafe fn mask<V: Vector, const REGISTERS: usize>(
    board: &[f32],
    out: &[f32],
    mean: &[f32],
    gradient: &mut [f32],
    sums: &mut [f32],
) {
    const { assert!(REGISTERS * V::LANES == PANEL) };
    let channels = mean.len();
    for channel in (0..channels).step_by(PANEL) {
        // SAFETY: the channels are a multiple of the panel.
        unsafe {
            let means: [V; REGISTERS] =
                std::array::from_fn(|register| V::load(mean.as_ptr().add(channel + register * V::LANES)));
            let mut sum = [V::splat(0.0); REGISTERS];
            let mut products = [V::splat(0.0); REGISTERS];
            for begin in (0..board.len()).step_by(channels) {
                for register in 0..REGISTERS {
                    let at = begin + channel + register * V::LANES;
                    let place = gradient.as_mut_ptr().add(at);
                    let value = V::load(place).where_positive(V::load(out.as_ptr().add(at)));
                    let centred = V::load(board.as_ptr().add(at)).sub(means[register]);
                    value.store(place);
                    sum[register] = sum[register].add(value);
                    products[register] = value.mul_add(centred, products[register]);
                }
            }
            for register in 0..REGISTERS {
                let to = sums.as_mut_ptr().add(channel + register * V::LANES);
                sum[register].store(to);
                products[register].store(to.add(channels));
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
