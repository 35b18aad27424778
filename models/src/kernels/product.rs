//! Matrix products: the heart of the tower and of every dense layer.
//!
//! The right-hand matrix is packed in panels of [`PANEL`] columns, so that it is read from memory in order. Sums run over
//! the depth one by one in every block shape: a row's result does not depend on the rows computed beside it.

use super::vector::Vector;
use super::{PANEL, Packed};

/// Shape of a product `[rows, depth] x [depth, columns]`, repeated for several pairs of matrices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Product {
    /// How many products.
    pub matrices: usize,
    /// Rows of each left-hand matrix, stored one after the other.
    pub rows: usize,
    /// Floats from one left-hand matrix to the next.
    pub left_step: usize,
    /// Floats from one result to the next; rows of a result lie one after the other.
    pub out_step: usize,
    /// Whether negative results become zero.
    pub relu: bool,
}

impl Product {
    /// Whether slices of these lengths hold every operand of the product.
    pub(super) fn fits(&self, left: &[f32], right: &Packed, out: &[f32]) -> bool {
        let Some(last) = self.matrices.checked_sub(1) else { return true };
        right.holds(self.matrices)
            && last * self.left_step + self.rows * right.depth <= left.len()
            && last * self.out_step + self.rows * right.columns <= out.len()
    }
}

/// Rows of one register block: twelve accumulators of two registers each leave room for the operands in sixteen.
pub(crate) const BLOCK: usize = 6;

/// Computes the products. `REGISTERS` registers make a panel.
///
/// # Safety
/// The CPU has the instruction set of `V`, and [`Product::fits`] holds.
#[inline(always)]
pub(super) unsafe fn multiply<V: Vector, const REGISTERS: usize>(
    product: &Product,
    left: &[f32],
    right: &Packed,
    bias: Option<&[f32]>,
    out: &mut [f32],
) {
    const { assert!(REGISTERS * V::LANES == PANEL) };
    let (depth, columns, rows) = (right.depth, right.columns, product.rows);
    let blocks = rows.div_ceil(BLOCK);
    for matrix in 0..product.matrices {
        let weights = right.matrix(matrix);
        for panel in 0..columns / PANEL {
            let bias = bias.map(|bias| &bias[panel * PANEL..][..PANEL]);
            let mut first = 0;
            for block in 1..=blocks {
                let end = block * rows / blocks;
                // SAFETY: `fits` keeps every row of every matrix inside `left` and `out`, and `matrix` returned
                // `columns * depth` floats.
                unsafe {
                    let left = left.as_ptr().add(matrix * product.left_step + first * depth);
                    let out = out.as_mut_ptr().add(matrix * product.out_step + first * columns + panel * PANEL);
                    let weights = weights.as_ptr().add(panel * PANEL * depth);
                    let relu = product.relu;
                    match end - first {
                        1 => rows_by_panel::<V, REGISTERS, 1>(left, depth, weights, bias, relu, out, columns),
                        2 => rows_by_panel::<V, REGISTERS, 2>(left, depth, weights, bias, relu, out, columns),
                        3 => rows_by_panel::<V, REGISTERS, 3>(left, depth, weights, bias, relu, out, columns),
                        4 => rows_by_panel::<V, REGISTERS, 4>(left, depth, weights, bias, relu, out, columns),
                        5 => rows_by_panel::<V, REGISTERS, 5>(left, depth, weights, bias, relu, out, columns),
                        _ => rows_by_panel::<V, REGISTERS, BLOCK>(left, depth, weights, bias, relu, out, columns),
                    }
                }
                first = end;
            }
        }
    }
}

/// `ROWS` rows by one panel, in registers throughout.
///
/// # Safety
/// The CPU has the instruction set of `V`; `left` has `ROWS * depth` floats, `weights` `depth * PANEL`, and `out` room for
/// a panel at every `columns`.
#[inline(always)]
unsafe fn rows_by_panel<V: Vector, const REGISTERS: usize, const ROWS: usize>(
    left: *const f32,
    depth: usize,
    weights: *const f32,
    bias: Option<&[f32]>,
    relu: bool,
    out: *mut f32,
    columns: usize,
) {
    // SAFETY: all offsets stay below the lengths that the caller vouches for; `bias` is a panel long.
    unsafe {
        let zero = V::splat(0.0);
        let mut sums = [[zero; REGISTERS]; ROWS];
        for k in 0..depth {
            let weight: [V; REGISTERS] =
                std::array::from_fn(|register| V::load(weights.add(k * PANEL + register * V::LANES)));
            for (row, sum) in sums.iter_mut().enumerate() {
                let factor = V::splat(*left.add(row * depth + k));
                for register in 0..REGISTERS {
                    sum[register] = factor.mul_add(weight[register], sum[register]);
                }
            }
        }
        for (row, sum) in sums.iter().enumerate() {
            for (register, &sum) in sum.iter().enumerate() {
                let mut value = sum;
                if let Some(bias) = bias {
                    value = value.add(V::load(bias.as_ptr().add(register * V::LANES)));
                }
                if relu {
                    value = value.max(zero);
                }
                value.store(out.add(row * columns + register * V::LANES));
            }
        }
    }
}

/// Shape of a product `[rows, left columns]ᵀ x [rows, right columns]`, repeated for several pairs of matrices: what a
/// layer's inputs and the gradients of its outputs make of the gradient of its weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outer {
    /// How many products.
    pub matrices: usize,
    /// Rows of both matrices, stored one after the other.
    pub rows: usize,
    /// Columns of the left-hand matrix, which are the rows of the result.
    pub left_columns: usize,
    /// Columns of the right-hand matrix and of the result, a multiple of the panel.
    pub right_columns: usize,
    /// Floats from one left-hand matrix to the next.
    pub left_step: usize,
    /// Floats from one right-hand matrix to the next.
    pub right_step: usize,
}

impl Outer {
    /// Whether slices of these lengths hold every operand of the product.
    pub(super) fn fits(&self, left: &[f32], right: &[f32], out: &[f32]) -> bool {
        let Some(last) = self.matrices.checked_sub(1) else { return true };
        self.right_columns.is_multiple_of(PANEL)
            && last * self.left_step + self.rows * self.left_columns <= left.len()
            && last * self.right_step + self.rows * self.right_columns <= right.len()
            && out.len() == self.matrices * self.left_columns * self.right_columns
    }
}

/// Adds the products to `out`, whose matrices lie one after the other. `REGISTERS` registers make a panel.
///
/// # Safety
/// The CPU has the instruction set of `V`, and [`Outer::fits`] holds.
#[inline(always)]
pub(super) unsafe fn add_outer<V: Vector, const REGISTERS: usize>(
    product: &Outer,
    left: &[f32],
    right: &[f32],
    out: &mut [f32],
) {
    const { assert!(REGISTERS * V::LANES == PANEL) };
    let Outer { matrices, rows, left_columns, right_columns, left_step, right_step } = *product;
    let blocks = left_columns.div_ceil(BLOCK);
    for matrix in 0..matrices {
        for panel in 0..right_columns / PANEL {
            let mut first = 0;
            for block in 1..=blocks {
                let end = block * left_columns / blocks;
                // SAFETY: `fits` keeps every row of every matrix inside its slice.
                unsafe {
                    let left = left.as_ptr().add(matrix * left_step + first);
                    let right = right.as_ptr().add(matrix * right_step + panel * PANEL);
                    let out = out.as_mut_ptr().add((matrix * left_columns + first) * right_columns + panel * PANEL);
                    match end - first {
                        1 => add_block::<V, REGISTERS, 1>(rows, left, left_columns, right, right_columns, out),
                        2 => add_block::<V, REGISTERS, 2>(rows, left, left_columns, right, right_columns, out),
                        3 => add_block::<V, REGISTERS, 3>(rows, left, left_columns, right, right_columns, out),
                        4 => add_block::<V, REGISTERS, 4>(rows, left, left_columns, right, right_columns, out),
                        5 => add_block::<V, REGISTERS, 5>(rows, left, left_columns, right, right_columns, out),
                        _ => add_block::<V, REGISTERS, BLOCK>(rows, left, left_columns, right, right_columns, out),
                    }
                }
                first = end;
            }
        }
    }
}

/// `LEFT` columns of the left-hand matrix by one panel of the right-hand one, in registers throughout.
///
/// # Safety
/// The CPU has the instruction set of `V`; there are `LEFT` floats at every `left_columns` from `left` on and a panel at
/// every `right_columns` from `right` and from `out` on, for each row they have.
#[inline(always)]
unsafe fn add_block<V: Vector, const REGISTERS: usize, const LEFT: usize>(
    rows: usize,
    left: *const f32,
    left_columns: usize,
    right: *const f32,
    right_columns: usize,
    out: *mut f32,
) {
    // SAFETY: all offsets stay below the lengths that the caller vouches for.
    unsafe {
        let mut sums: [[V; REGISTERS]; LEFT] = std::array::from_fn(|column| {
            std::array::from_fn(|register| V::load(out.add(column * right_columns + register * V::LANES)))
        });
        for row in 0..rows {
            let values: [V; REGISTERS] =
                std::array::from_fn(|register| V::load(right.add(row * right_columns + register * V::LANES)));
            for (column, sum) in sums.iter_mut().enumerate() {
                let factor = V::splat(*left.add(row * left_columns + column));
                for register in 0..REGISTERS {
                    sum[register] = factor.mul_add(values[register], sum[register]);
                }
            }
        }
        for (column, sum) in sums.iter().enumerate() {
            for (register, &sum) in sum.iter().enumerate() {
                sum.store(out.add(column * right_columns + register * V::LANES));
            }
        }
    }
}
