//! Passes over the squares of one board for training: batch normalisation, skip and ReLU, forward and backward.
//!
//! A board is `[squares][channels]` without border, its channels a multiple of [`super::PANEL`]. `P` is a panel of
//! floats: wide enough to hide the latency of an addition.

use super::vector::Vector;

/// Sums per channel over the squares, and sums of squared values: `out` is `[2][channels]`.
///
/// # Safety
/// The CPU has the instruction set of `P`; `board` holds whole squares of half as many channels as `out` is long.
#[inline(always)]
pub(super) unsafe fn moments<P: Vector>(board: &[f32], out: &mut [f32]) {
    let channels = out.len() / 2;
    for channel in (0..channels).step_by(P::LANES) {
        // SAFETY: the channels are a multiple of the panel.
        unsafe {
            let (mut sum, mut squares) = (P::splat(0.0), P::splat(0.0));
            for at in (channel..board.len()).step_by(channels) {
                let value = P::load(board.as_ptr().add(at));
                sum = sum.add(value);
                squares = value.mul_add(value, squares);
            }
            let to = out.as_mut_ptr().add(channel);
            sum.store(to);
            squares.store(to.add(channels));
        }
    }
}

/// `relu(board * scale + shift + skip)`; a value that is not a number stays so.
///
/// # Safety
/// The CPU has the instruction set of `V`; `skip` and `out` are as long as `board`, `shift` as `scale`, and `board`
/// holds whole squares with the channels of `scale`.
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
/// `sums` becomes `[2][channels]`: sums over the squares of the gradient, and of the gradient times `board - mean`.
///
/// # Safety
/// The CPU has the instruction set of `P`; `out` and `gradient` are as long as `board`, `sums` twice as long as `mean`,
/// and `board` holds whole squares with the channels of `mean`.
#[inline(always)]
pub(super) unsafe fn mask<P: Vector>(board: &[f32], out: &[f32], mean: &[f32], gradient: &mut [f32], sums: &mut [f32]) {
    let channels = mean.len();
    for channel in (0..channels).step_by(P::LANES) {
        // SAFETY: the channels are a multiple of the panel.
        unsafe {
            let mean = P::load(mean.as_ptr().add(channel));
            let (mut sum, mut products) = (P::splat(0.0), P::splat(0.0));
            for at in (channel..board.len()).step_by(channels) {
                let place = gradient.as_mut_ptr().add(at);
                let value = P::load(place).where_positive(P::load(out.as_ptr().add(at)));
                let centred = P::load(board.as_ptr().add(at)).sub(mean);
                value.store(place);
                sum = sum.add(value);
                products = value.mul_add(centred, products);
            }
            let to = sums.as_mut_ptr().add(channel);
            sum.store(to);
            products.store(to.add(channels));
        }
    }
}

/// `scale * gradient + slope * board + offset`: takes the gradient back through a normalisation over the batch.
///
/// # Safety
/// The CPU has the instruction set of `V`; `gradient` and `out` are as long as `board`, the three lines as long as each
/// other, and `board` holds whole squares with the channels of the lines.
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
