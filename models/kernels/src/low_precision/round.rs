//! Rounding of the operands of bf16 products, two values to a word.

use super::super::PANEL;
use super::super::vector::Vector;
use super::Bf16;

/// Rounds floats; neighbours share a word.
///
/// # Safety
/// The CPU has the instruction set of `D`; `values` is a multiple of [`PANEL`] long and `out` half as long.
#[inline(always)]
pub(super) unsafe fn round<D: Bf16>(values: &[f32], out: &mut [u32]) {
    for at in (0..values.len()).step_by(PANEL) {
        // SAFETY: as the caller vouches.
        unsafe {
            D::round(D::Vector::load(values.as_ptr().add(at)), out.as_mut_ptr().add(at / 2));
        }
    }
}

/// Rounds rows of floats, two rows to a row of words; the last one stands alone where the rows are odd.
///
/// # Safety
/// The CPU has the instruction set of `D`; `channels` is a multiple of [`PANEL`], `values` holds whole rows of
/// channels, and `out` has half as many rows, rounded up.
#[inline(always)]
pub(super) unsafe fn pair_rows<D: Bf16>(channels: usize, values: &[f32], out: &mut [u32]) {
    let rows = values.len() / channels;
    for row in (0..rows).step_by(2) {
        for channel in (0..channels).step_by(PANEL) {
            // SAFETY: as the caller vouches.
            unsafe {
                let from = values.as_ptr().add(row * channels + channel);
                let low = D::Vector::load(from);
                let high = if row + 1 < rows { D::Vector::load(from.add(channels)) } else { D::Vector::splat(0.0) };
                D::pair(low, high, out.as_mut_ptr().add(row / 2 * channels + channel));
            }
        }
    }
}
