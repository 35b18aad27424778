//! Matrix products of bf16 numbers, for training: operands are rounded to bf16 and sums are of floats.
//!
//! Two numbers that are neighbours along a sum share a word. A product over channels has neighbouring channels in a
//! word ([`round`]); an outer product, which sums over rows, two rows' numbers of a channel ([`pair_rows`]).

use super::super::product::{Outer, Product, for_rows};
use super::super::vector::Vector;
use super::super::{PANEL, Packed};
use super::dot::{Bf16, Dot};

/// Rounds floats, two to a word.
///
/// # Safety
/// The CPU has the instruction set of `D`; `values` is a multiple of [`PANEL`] long and `out` half as long.
#[inline(always)]
pub(super) unsafe fn round<D: Bf16>(values: &[f32], out: &mut [u32]) {
    for at in (0..values.len()).step_by(PANEL) {
        // SAFETY: as the caller vouches.
        unsafe {
            let panel = D::Vector::load(values.as_ptr().add(at));
            D::quantise(panel, panel, out.as_mut_ptr().add(at / 2));
        }
    }
}

/// Rounds rows of floats, two rows to a row of words; the last one stands alone where the rows are odd.
///
/// # Safety
/// The CPU has the instruction set of `D`; `channels` is a multiple of [`PANEL`], `values` whole rows of so many, and
/// `out` has half as many rows, rounded up.
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

/// [`super::super::product::multiply`] of words.
///
/// # Safety
/// The CPU has the instruction set of `D`, and [`Product::fits`] holds.
#[inline(always)]
pub(super) unsafe fn multiply<D: Dot, const PANELS: usize, const ROWS: usize>(
    product: &Product,
    left: &[u32],
    right: &Packed<u32>,
    out: &mut [f32],
) {
    const { assert!(ROWS <= 12) };
    let (depth, columns, rows) = (right.depth, right.columns, product.rows);
    let blocks = rows.div_ceil(ROWS);
    for matrix in 0..product.matrices {
        let weights = right.matrix(matrix);
        let mut column = 0;
        while column < columns {
            let wide = PANELS > 1 && column + PANELS * PANEL <= columns;
            let mut first = 0;
            for block in 1..=blocks {
                let end = block * rows / blocks;
                // SAFETY: `fits` keeps every row of every matrix inside `left` and `out`, and `matrix` returned
                // `columns * depth` words.
                unsafe {
                    let left = left.as_ptr().add(matrix * product.left_step + first * depth);
                    let out = out.as_mut_ptr().add(matrix * product.out_step + first * columns + column);
                    let weights = weights.as_ptr().add(column * depth);
                    if wide {
                        for_rows!(end - first, ROWS, rows_by_panels::<D, PANELS>(left, depth, weights, out, columns));
                    } else {
                        for_rows!(end - first, ROWS, rows_by_panels::<D, 1>(left, depth, weights, out, columns));
                    }
                }
                first = end;
            }
            column += if wide { PANELS * PANEL } else { PANEL };
        }
    }
}

/// `ROWS` rows by `PANELS` panels, in registers throughout.
///
/// # Safety
/// The CPU has the instruction set of `D`; `left` has `ROWS * depth` words, `weights` `depth * PANEL` for each panel,
/// and `out` room for the panels at every `columns`.
#[inline(always)]
unsafe fn rows_by_panels<D: Dot, const PANELS: usize, const ROWS: usize>(
    left: *const u32,
    depth: usize,
    weights: *const u32,
    out: *mut f32,
    columns: usize,
) {
    // SAFETY: all offsets stay below the lengths that the caller vouches for.
    unsafe {
        let one = D::Vector::splat(1.0);
        let mut sums = [[D::zero(); PANELS]; ROWS];
        for k in 0..depth {
            let mut weight = [D::load(weights.add(k * PANEL)); PANELS];
            for (panel, weight) in weight.iter_mut().enumerate().skip(1) {
                *weight = D::load(weights.add((panel * depth + k) * PANEL));
            }
            for (row, sums) in sums.iter_mut().enumerate() {
                let inputs = D::splat(left.add(row * depth + k));
                for (sum, weight) in sums.iter_mut().zip(weight) {
                    *sum = sum.add_products(inputs, weight);
                }
            }
        }
        for (row, sums) in sums.iter().enumerate() {
            for (panel, sum) in sums.iter().enumerate() {
                sum.floats(one).store(out.add(row * columns + panel * PANEL));
            }
        }
    }
}

/// [`super::super::product::add_outer`] of words, whose rows are pairs of rows.
///
/// # Safety
/// The CPU has the instruction set of `D`, and [`Outer::fits`] holds.
#[inline(always)]
pub(super) unsafe fn add_outer<D: Dot, const PANELS: usize, const ROWS: usize>(
    product: &Outer,
    left: &[u32],
    right: &[u32],
    out: &mut [f32],
) {
    const { assert!(ROWS <= 12) };
    let Outer { matrices, rows, left_columns, right_columns, left_step, right_step } = *product;
    let blocks = left_columns.div_ceil(ROWS);
    for matrix in 0..matrices {
        let mut column = 0;
        while column < right_columns {
            let wide = PANELS > 1 && column + PANELS * PANEL <= right_columns;
            let mut first = 0;
            for block in 1..=blocks {
                let end = block * left_columns / blocks;
                // SAFETY: `fits` keeps every row of every matrix inside its slice.
                unsafe {
                    let left = left.as_ptr().add(matrix * left_step + first);
                    let right = right.as_ptr().add(matrix * right_step + column);
                    let out = out.as_mut_ptr().add((matrix * left_columns + first) * right_columns + column);
                    if wide {
                        for_rows!(
                            end - first,
                            ROWS,
                            add_block::<D, PANELS>(rows, left, left_columns, right, right_columns, out)
                        );
                    } else {
                        for_rows!(
                            end - first,
                            ROWS,
                            add_block::<D, 1>(rows, left, left_columns, right, right_columns, out)
                        );
                    }
                }
                first = end;
            }
            column += if wide { PANELS * PANEL } else { PANEL };
        }
    }
}

/// `LEFT` columns of the left-hand matrix by `PANELS` panels of the right-hand one, in registers throughout.
///
/// # Safety
/// The CPU has the instruction set of `D`; there are `LEFT` words at every `left_columns` from `left` on and the panels
/// at every `right_columns` from `right` and from `out` on, for each row they have.
#[inline(always)]
unsafe fn add_block<D: Dot, const PANELS: usize, const LEFT: usize>(
    rows: usize,
    left: *const u32,
    left_columns: usize,
    right: *const u32,
    right_columns: usize,
    out: *mut f32,
) {
    // SAFETY: all offsets stay below the lengths that the caller vouches for.
    unsafe {
        let one = D::Vector::splat(1.0);
        let mut sums = [[D::zero(); PANELS]; LEFT];
        for row in 0..rows {
            let mut values = [D::load(right.add(row * right_columns)); PANELS];
            for (panel, values) in values.iter_mut().enumerate().skip(1) {
                *values = D::load(right.add(row * right_columns + panel * PANEL));
            }
            for (column, sums) in sums.iter_mut().enumerate() {
                let factor = D::splat(left.add(row * left_columns + column));
                for (sum, values) in sums.iter_mut().zip(values) {
                    *sum = sum.add_products(factor, values);
                }
            }
        }
        for (column, sums) in sums.iter().enumerate() {
            for (panel, sum) in sums.iter().enumerate() {
                let at = out.add(column * right_columns + panel * PANEL);
                D::Vector::load(at).add(sum.floats(one)).store(at);
            }
        }
    }
}
