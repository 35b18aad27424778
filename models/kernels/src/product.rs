//! Matrix products: the heart of the tower and of every dense layer.
//!
//! The right-hand matrix is packed in panels of [`PANEL`] columns, so that it is read from memory in order. Sums run
//! over the depth one by one in every block shape: a row's result does not depend on the rows computed beside it.

use super::vector::Vector;
use super::{PANEL, Packed};

/// Shape of a product `[rows, depth] x [depth, columns]`, repeated for several pairs of matrices, of floats or of words
/// of bf16 values.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    /// How many products.
    pub matrices: usize,
    /// Rows of each left-hand matrix, stored one after the other.
    pub rows: usize,
    /// Elements from one left-hand matrix to the next.
    pub left_step: usize,
    /// Floats from one result to the next; rows of a result lie one after the other.
    pub out_step: usize,
    /// Whether negative results become zero.
    pub relu: bool,
}

impl Product {
    /// Whether slices of these lengths hold every operand of the product.
    pub(super) fn fits<T>(&self, left: &[T], right: &Packed<T>, out: &[f32]) -> bool {
        let Some(last) = self.matrices.checked_sub(1) else { return true };
        right.holds(self.matrices)
            && last * self.left_step + self.rows * right.depth <= left.len()
            && last * self.out_step + self.rows * right.columns <= out.len()
    }
}

/// Rows of the register block of sixteen registers; groups of boards are made of them.
pub const BLOCK: usize = 6;

/// Calls the function with the number of rows as its last generic, for `$rows` rows, no more than `$most`, which are at
/// most twelve.
macro_rules! for_rows {
    ($rows:expr, $most:ident, $function:ident::<$($generic:tt),+>$arguments:tt) => {
        match $rows {
            1 => $function::<$($generic),+, 1>$arguments,
            2 => $function::<$($generic),+, 2>$arguments,
            3 => $function::<$($generic),+, 3>$arguments,
            4 => $function::<$($generic),+, 4>$arguments,
            5 => $function::<$($generic),+, 5>$arguments,
            7 if $most >= 7 => $function::<$($generic),+, 7>$arguments,
            8 if $most >= 8 => $function::<$($generic),+, 8>$arguments,
            9 if $most >= 9 => $function::<$($generic),+, 9>$arguments,
            10 if $most >= 10 => $function::<$($generic),+, 10>$arguments,
            11 if $most >= 11 => $function::<$($generic),+, 11>$arguments,
            12 if $most >= 12 => $function::<$($generic),+, 12>$arguments,
            _ => $function::<$($generic),+, 6>$arguments,
        }
    };
}

pub(super) use for_rows;

/// Computes the products. `REGISTERS` registers make a panel, and `PANELS` panels by `ROWS` rows a register block.
///
/// # Safety
/// The CPU has the instruction set of `V`, and [`Product::fits`] holds.
#[inline(always)]
pub(super) unsafe fn multiply<V: Vector, const REGISTERS: usize, const PANELS: usize, const ROWS: usize>(
    product: &Product,
    left: &[f32],
    right: &Packed,
    bias: Option<&[f32]>,
    out: &mut [f32],
) {
    const { assert!(REGISTERS * V::LANES == PANEL && BLOCK <= ROWS && ROWS <= 12) };
    let (depth, columns, rows, relu) = (right.depth, right.columns, product.rows, product.relu);
    let blocks = rows.div_ceil(ROWS);
    for matrix in 0..product.matrices {
        let weights = right.matrix(matrix);
        let mut column = 0;
        while column < columns {
            let wide = PANELS > 1 && column + PANELS * PANEL <= columns;
            let bias = bias.map(|bias| &bias[column..]);
            let mut first = 0;
            for block in 1..=blocks {
                let end = block * rows / blocks;
                // SAFETY: `fits` keeps every row of every matrix inside `left` and `out`, and `matrix` returned
                // `columns * depth` floats.
                unsafe {
                    let left = left.as_ptr().add(matrix * product.left_step + first * depth);
                    let out = out.as_mut_ptr().add(matrix * product.out_step + first * columns + column);
                    let weights = weights.as_ptr().add(column * depth);
                    if wide {
                        for_rows!(
                            end - first,
                            ROWS,
                            rows_by_panels::<V, REGISTERS, PANELS>(left, depth, weights, bias, relu, out, columns)
                        );
                    } else {
                        for_rows!(
                            end - first,
                            ROWS,
                            rows_by_panels::<V, REGISTERS, 1>(left, depth, weights, bias, relu, out, columns)
                        );
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
/// The CPU has the instruction set of `V`; `left` has `ROWS * depth` floats, `weights` `depth * PANEL` for each panel,
/// `bias` a float for each of their columns, and `out` room for the panels at every `columns`.
#[inline(always)]
unsafe fn rows_by_panels<V: Vector, const REGISTERS: usize, const PANELS: usize, const ROWS: usize>(
    left: *const f32,
    depth: usize,
    weights: *const f32,
    bias: Option<&[f32]>,
    relu: bool,
    out: *mut f32,
    columns: usize,
) {
    // SAFETY: all offsets stay below the lengths that the caller vouches for.
    unsafe {
        let zero = V::splat(0.0);
        let mut sums = [[[zero; REGISTERS]; PANELS]; ROWS];
        for k in 0..depth {
            let mut weight = [[zero; REGISTERS]; PANELS];
            for (panel, weight) in weight.iter_mut().enumerate() {
                for (register, weight) in weight.iter_mut().enumerate() {
                    *weight = V::load(weights.add((panel * depth + k) * PANEL + register * V::LANES));
                }
            }
            for (row, sums) in sums.iter_mut().enumerate() {
                let factor = V::splat(*left.add(row * depth + k));
                for (sums, weight) in sums.iter_mut().zip(&weight) {
                    for (sum, &weight) in sums.iter_mut().zip(weight) {
                        *sum = factor.mul_add(weight, *sum);
                    }
                }
            }
        }
        for (row, sums) in sums.iter().enumerate() {
            for (panel, sums) in sums.iter().enumerate() {
                for (register, &sum) in sums.iter().enumerate() {
                    let at = panel * PANEL + register * V::LANES;
                    let mut value = sum;
                    if let Some(bias) = bias {
                        value = value.add(V::load(bias.as_ptr().add(at)));
                    }
                    if relu {
                        value = value.max(zero);
                    }
                    value.store(out.add(row * columns + at));
                }
            }
        }
    }
}

/// Shape of a product `[rows, left columns]ᵀ x [rows, right columns]`, repeated for several pairs of matrices: what a
/// layer's inputs and the gradients of its outputs make of the gradient of its weights.
#[derive(Clone, Copy, Debug)]
pub struct Outer {
    /// How many products.
    pub matrices: usize,
    /// Rows of both matrices, stored one after the other.
    pub rows: usize,
    /// Columns of the left-hand matrix, which are the rows of the result.
    pub left_columns: usize,
    /// Columns of the right-hand matrix and of the result, a multiple of the panel.
    pub right_columns: usize,
    /// Elements from one left-hand matrix to the next.
    pub left_step: usize,
    /// Elements from one right-hand matrix to the next.
    pub right_step: usize,
}

impl Outer {
    /// Whether slices of these lengths hold every operand of the product.
    pub(super) fn fits<T>(&self, left: &[T], right: &[T], out: &[f32]) -> bool {
        let Some(last) = self.matrices.checked_sub(1) else { return true };
        self.right_columns.is_multiple_of(PANEL)
            && last * self.left_step + self.rows * self.left_columns <= left.len()
            && last * self.right_step + self.rows * self.right_columns <= right.len()
            && out.len() == self.matrices * self.left_columns * self.right_columns
    }
}

/// Adds the products to `out`, whose matrices lie one after the other. `REGISTERS` registers make a panel of the
/// right-hand matrix, and `PANELS` panels by `ROWS` columns of the left-hand one a register block.
///
/// # Safety
/// The CPU has the instruction set of `V`, and [`Outer::fits`] holds.
#[inline(always)]
pub(super) unsafe fn add_outer<V: Vector, const REGISTERS: usize, const PANELS: usize, const ROWS: usize>(
    product: &Outer,
    left: &[f32],
    right: &[f32],
    out: &mut [f32],
) {
    const { assert!(REGISTERS * V::LANES == PANEL && BLOCK <= ROWS && ROWS <= 12) };
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
                            add_block::<V, REGISTERS, PANELS>(rows, left, left_columns, right, right_columns, out)
                        );
                    } else {
                        for_rows!(
                            end - first,
                            ROWS,
                            add_block::<V, REGISTERS, 1>(rows, left, left_columns, right, right_columns, out)
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
/// The CPU has the instruction set of `V`; there are `LEFT` floats at every `left_columns` from `left` on and the
/// panels at every `right_columns` from `right` and from `out` on, for each row they have.
#[inline(always)]
unsafe fn add_block<V: Vector, const REGISTERS: usize, const PANELS: usize, const LEFT: usize>(
    rows: usize,
    left: *const f32,
    left_columns: usize,
    right: *const f32,
    right_columns: usize,
    out: *mut f32,
) {
    // SAFETY: all offsets stay below the lengths that the caller vouches for.
    unsafe {
        let zero = V::splat(0.0);
        let mut sums = [[[zero; REGISTERS]; PANELS]; LEFT];
        for (column, sums) in sums.iter_mut().enumerate() {
            for (panel, sums) in sums.iter_mut().enumerate() {
                for (register, sum) in sums.iter_mut().enumerate() {
                    *sum = V::load(out.add(column * right_columns + panel * PANEL + register * V::LANES));
                }
            }
        }
        for row in 0..rows {
            let mut values = [[zero; REGISTERS]; PANELS];
            for (panel, values) in values.iter_mut().enumerate() {
                for (register, value) in values.iter_mut().enumerate() {
                    *value = V::load(right.add(row * right_columns + panel * PANEL + register * V::LANES));
                }
            }
            for (column, sums) in sums.iter_mut().enumerate() {
                let factor = V::splat(*left.add(row * left_columns + column));
                for (sums, values) in sums.iter_mut().zip(&values) {
                    for (sum, &value) in sums.iter_mut().zip(values) {
                        *sum = factor.mul_add(value, *sum);
                    }
                }
            }
        }
        for (column, sums) in sums.iter().enumerate() {
            for (panel, sums) in sums.iter().enumerate() {
                for (register, &sum) in sums.iter().enumerate() {
                    sum.store(out.add(column * right_columns + panel * PANEL + register * V::LANES));
                }
            }
        }
    }
}
