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
const BLOCK: usize = 6;

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
