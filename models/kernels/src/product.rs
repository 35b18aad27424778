//! Matrix products: the heart of the tower, of every dense layer and of the weights' gradients.
//!
//! The right-hand matrix is read by panels of [`PANEL`] columns. Sums run over their terms one by one in every block
//! shape, so a row's result does not depend on the rows computed beside it.

use super::dot::Dot;
use super::vector::Vector;
use super::{PANEL, Packed};

/// Shape of a product `[rows, depth] x [depth, columns]`, repeated for several pairs of matrices. Their elements are
/// floats, or words of bf16 values.
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
            && lies_within(last, self.left_step, self.rows * right.depth, left.len())
            && lies_within(last, self.out_step, self.rows * right.columns, out.len())
    }
}

/// Whether `count` elements that begin `last` steps behind the first are among the `len` that there are.
pub(super) fn lies_within(last: usize, step: usize, count: usize, len: usize) -> bool {
    last.checked_mul(step).and_then(|begin| begin.checked_add(count)).is_some_and(|end| end <= len)
}

/// Shape of a product `[rows, left columns]ᵀ x [rows, right columns]`, repeated for several pairs of matrices. Such
/// products make the gradient of a layer's weights from the layer's inputs and the gradient of its outputs.
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
            && lies_within(last, self.left_step, self.rows * self.left_columns, left.len())
            && lies_within(last, self.right_step, self.rows * self.right_columns, right.len())
            && out.len() == self.matrices * self.left_columns * self.right_columns
    }
}

/// Rows of the register block of sixteen registers; groups of boards are made of them.
pub const BLOCK: usize = 6;

/// Most rows of a register block.
const MOST: usize = 12;

/// Computes the products, plus `bias` on every row. `PANELS` panels by `ROWS` rows make a register block.
///
/// # Safety
/// The CPU has the instruction set of `D`, [`Product::fits`] holds, and `bias` is as long as a row of the result.
#[inline(always)]
pub(super) unsafe fn multiply<D: Dot, const PANELS: usize, const ROWS: usize>(
    product: &Product,
    left: &[D::Element],
    right: &Packed<D::Element>,
    bias: Option<&[f32]>,
    out: &mut [f32],
) {
    let Product { matrices, rows, left_step, out_step, relu } = *product;
    let (depth, columns) = (right.depth, right.columns);
    for matrix in 0..matrices {
        // SAFETY: `fits` keeps every row of every matrix inside `left` and `out`, and `Packed::matrix` returns
        // `depth * columns` elements.
        unsafe {
            let left = Lines { at: left.as_ptr().add(matrix * left_step), line: depth, term: 1 };
            let right = Lines { at: right.matrix(matrix).as_ptr(), line: depth * PANEL, term: PANEL };
            let out = out.as_mut_ptr().add(matrix * out_step);
            blocks::<D, false, PANELS, ROWS>([rows, depth, columns], left, right, bias, relu, out);
        }
    }
}

/// Adds the products to `out`, whose matrices lie one after the other. `PANELS` panels by `ROWS` columns of the
/// left-hand matrix make a register block.
///
/// # Safety
/// The CPU has the instruction set of `D`, and [`Outer::fits`] holds.
#[inline(always)]
pub(super) unsafe fn add_outer<D: Dot, const PANELS: usize, const ROWS: usize>(
    product: &Outer,
    left: &[D::Element],
    right: &[D::Element],
    out: &mut [f32],
) {
    let Outer { matrices, rows, left_columns, right_columns, left_step, right_step } = *product;
    for matrix in 0..matrices {
        // SAFETY: `fits` keeps every row of every matrix inside its slice.
        unsafe {
            let left = Lines { at: left.as_ptr().add(matrix * left_step), line: 1, term: left_columns };
            let right = Lines { at: right.as_ptr().add(matrix * right_step), line: PANEL, term: right_columns };
            let out = out.as_mut_ptr().add(matrix * left_columns * right_columns);
            blocks::<D, true, PANELS, ROWS>([left_columns, rows, right_columns], left, right, None, false, out);
        }
    }
}

/// An operand: the rows of the left-hand side, or the panels of the right-hand side.
#[derive(Clone, Copy)]
struct Lines<T> {
    at: *const T,
    /// Elements from one row or panel to the next.
    line: usize,
    /// Elements from one term of its sums to the next.
    term: usize,
}

impl<T> Lines<T> {
    /// The operand from row or panel `index` on.
    ///
    /// # Safety
    /// The operand has that row or panel.
    #[inline(always)]
    unsafe fn from(self, index: usize) -> Lines<T> {
        // SAFETY: as the caller vouches.
        Lines { at: unsafe { self.at.add(index * self.line) }, ..self }
    }
}

/// One product `[rows, terms] x [terms, columns]`, by register blocks of near equal height; written to `out`, or added
/// to it if `ADD`.
///
/// # Safety
/// The CPU has the instruction set of `D`; `left` has `rows` rows and `right` `columns / PANEL` panels of `terms` terms
/// each, `bias` is `columns` long and `out` `rows * columns`.
#[inline(always)]
unsafe fn blocks<D: Dot, const ADD: bool, const PANELS: usize, const ROWS: usize>(
    [rows, terms, columns]: [usize; 3],
    left: Lines<D::Element>,
    right: Lines<D::Element>,
    bias: Option<&[f32]>,
    relu: bool,
    out: *mut f32,
) {
    const { assert!(D::Vector::LANES == PANEL && ROWS <= MOST) };
    let count = rows.div_ceil(ROWS);
    let mut column = 0;
    while column < columns {
        let wide = PANELS > 1 && column + PANELS * PANEL <= columns;
        let bias = bias.map(|bias| &bias[column..]);
        let mut first = 0;
        for index in 1..=count {
            let end = index * rows / count;
            // SAFETY: the rows from `first` to `end` and the panels from `column` on are inside the operands.
            unsafe {
                let (left, right) = (left.from(first), right.from(column / PANEL));
                let out = out.add(first * columns + column);
                macro_rules! block {
                    ($($height:literal)+) => {
                        match (wide, end - first) {
                            $(
                                (true, $height) if $height <= ROWS => {
                                    block::<D, ADD, PANELS, $height>(terms, left, right, bias, relu, out, columns)
                                }
                                (false, $height) if $height <= ROWS => {
                                    block::<D, ADD, 1, $height>(terms, left, right, bias, relu, out, columns)
                                }
                            )+
                            _ => {}
                        }
                    };
                }
                block!(1 2 3 4 5 6 7 8 9 10 11 12);
            }
            first = end;
        }
        column += if wide { PANELS * PANEL } else { PANEL };
    }
}

/// The register block: `ROWS` rows by `PANELS` panels, in registers from the first term to the last.
///
/// # Safety
/// As for [`blocks`], with `ROWS` rows and `PANELS` panels; rows of `out` are `columns` floats apart.
#[inline(always)]
unsafe fn block<D: Dot, const ADD: bool, const PANELS: usize, const ROWS: usize>(
    terms: usize,
    left: Lines<D::Element>,
    right: Lines<D::Element>,
    bias: Option<&[f32]>,
    relu: bool,
    out: *mut f32,
    columns: usize,
) {
    // SAFETY: all offsets stay below the lengths that the caller vouches for.
    unsafe {
        let mut sums = [[D::zero(); PANELS]; ROWS];
        if ADD {
            for (row, sums) in sums.iter_mut().enumerate() {
                for (panel, sum) in sums.iter_mut().enumerate() {
                    *sum = D::begin(out.add(row * columns + panel * PANEL));
                }
            }
        }
        for term in 0..terms {
            let mut weights = [D::load(right.at.add(term * right.term)); PANELS];
            for (panel, weights) in weights.iter_mut().enumerate().skip(1) {
                *weights = D::load(right.at.add(panel * right.line + term * right.term));
            }
            for (row, sums) in sums.iter_mut().enumerate() {
                let input = D::splat(left.at.add(row * left.line + term * left.term));
                for (sum, weights) in sums.iter_mut().zip(weights) {
                    *sum = sum.add_products(input, weights);
                }
            }
        }
        let mut values = [[D::Vector::splat(0.0); PANELS]; ROWS];
        for (row, (values, sums)) in values.iter_mut().zip(&sums).enumerate() {
            for (panel, (value, sum)) in values.iter_mut().zip(sums).enumerate() {
                if ADD {
                    sum.add_to(out.add(row * columns + panel * PANEL));
                } else {
                    *value = sum.floats(D::Vector::splat(1.0));
                }
            }
        }
        if ADD {
            return;
        }
        // Bias and ReLU in a pass each, so that no row tests for them again.
        if let Some(bias) = bias {
            for panel in 0..PANELS {
                let bias = D::Vector::load(bias.as_ptr().add(panel * PANEL));
                values.iter_mut().for_each(|values| values[panel] = values[panel].add(bias));
            }
        }
        if relu {
            let zero = D::Vector::splat(0.0);
            values.as_flattened_mut().iter_mut().for_each(|value| *value = value.max(zero));
        }
        for (row, values) in values.iter().enumerate() {
            for (panel, value) in values.iter().enumerate() {
                value.store(out.add(row * columns + panel * PANEL));
            }
        }
    }
}
