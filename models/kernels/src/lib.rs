//! The arithmetic of the fast evaluator and the fused training layers, written once and compiled for each instruction
//! set.
//!
//! [`Kernels`] is a table of entry points, chosen when the program runs by what the CPU has; so are
//! [`LowPrecisionKernels`] and [`Bf16Kernels`]. Their methods check every length and are safe; all `unsafe` of the
//! library stands in this folder. A further instruction set is a further `vector::Vector` and a further table, and
//! changes nothing outside.

mod aligned;
mod dispatch;
mod dot;
pub mod filters;
mod low_precision;
mod norm;
mod packed;
mod peak;
mod product;
mod rows;
#[cfg(test)]
mod tests;
mod vector;
mod winograd;

pub use aligned::{Aligned, Floats};
pub use low_precision::{Bf16Kernels, Epilogue, INT8_VALUES, LARGEST_INPUT, LowPrecisionKernels, Weights};
pub use packed::Packed;
pub use product::{BLOCK, Outer, Product};
pub use rows::Pool;
pub use winograd::{Grid, POINTS};

use dispatch::dispatch;
use dot::Single;

/// Channels are padded to multiples of this, and weights are packed by this number of columns: two registers of AVX2,
/// one of AVX-512.
pub const PANEL: usize = 16;

dispatch! {
    /// The kernels of one instruction set, in single precision.
    pub struct Kernels;

    /// Every table that this CPU can run, fastest first.
    pub fn available();
    /// The fastest table that this CPU can run.
    pub fn best();
    // Thirty-two registers hold twenty-four sums and the operands, sixteen hold twelve.
    use avx512 "AVX-512", "avx512f" => {
        type Register = vector::Avx512;
        type Panel = Register;
        const PANELS: usize = 2;
        const ROWS: usize = 12;
    }
    use avx2 "AVX2", "avx2", "fma" => {
        type Register = vector::Avx2;
        type Panel = vector::Wide<Register, 2>;
        const PANELS: usize = 1;
        const ROWS: usize = BLOCK;
    }
    else portable vector::BASELINE => {
        type Register = vector::Baseline;
        type Panel = vector::Wide<Register, { PANEL / <Register as vector::Vector>::LANES }>;
        const PANELS: usize = 1;
        const ROWS: usize = vector::BASELINE_ROWS;
    }

    impl {
        /// Matrix products `left x right`, plus `bias` on every row.
        fn multiply(product: &Product, left: &[f32], right: &Packed, bias: Option<&[f32]>, out: &mut [f32])
        where product.fits(left, right, out), "product {product:?} does not fit its operands";
        where bias.is_none_or(|bias| bias.len() == right.columns), "bias must have a value per column";
        => product::multiply::<Single<Panel>, PANELS, ROWS>(product, left, right, bias, out);

        /// Adds the products `leftᵀ x right` to `out`, `[matrices][left columns][right columns]`.
        fn add_outer(product: &Outer, left: &[f32], right: &[f32], out: &mut [f32])
        where product.fits(left, right, out), "{product:?} does not fit its operands";
        => product::add_outer::<Single<Panel>, PANELS, ROWS>(product, left, right, out);

        /// Winograd's input transform: the tiles of a board with its border of zeros to `[POINTS][tiles][channels]`,
        /// points `step` floats apart.
        fn input_transform(grid: Grid, board: &[f32], out: &mut [f32], step: usize)
        where grid.is_whole() && grid.fits(out, step), "tiles of {grid:?}";
        where board.len() == grid.bordered_len(), "board of {grid:?}";
        => winograd::input_transform::<Register>(grid, board, out, step);

        /// The input transform transposed, which is its gradient: adds the gradient of the transformed tiles to the
        /// gradient of a board with a border, which gets the gradient of its zeros.
        fn input_transform_transposed(grid: Grid, transformed: &[f32], step: usize, board: &mut [f32])
        where grid.is_whole() && grid.fits(transformed, step), "tiles of {grid:?}";
        where board.len() == grid.bordered_len(), "board of {grid:?}";
        => winograd::input_transform_transposed::<Register>(grid, transformed, step, board);

        /// Winograd's output transform of `[POINTS][tiles][channels]` sums to a board without border.
        fn output_transform(grid: Grid, sums: &[f32], step: usize, board: &mut [f32])
        where grid.is_whole() && grid.fits(sums, step), "tiles of {grid:?}";
        where board.len() == grid.inner_len(), "board of {grid:?}";
        => winograd::output_transform::<Register, false>(grid, sums, step, None, board);

        /// Winograd's output transform of `[POINTS][tiles][channels]` sums to a board with a border:
        /// `relu(outputs + bias)`, with the board's old values added before the ReLU if `add`. The border is left
        /// alone.
        fn output_transform_relu(grid: Grid, sums: &[f32], step: usize, bias: &[f32], add: bool, board: &mut [f32])
        where grid.is_whole() && grid.fits(sums, step), "tiles of {grid:?}";
        where board.len() == grid.bordered_len(), "board of {grid:?}";
        where bias.len() == grid.channels, "bias must have a value per channel";
        => winograd::output_transform::<Register, true>(grid, sums, step, Some((bias, add)), board);

        /// The output transform transposed, which is its gradient: takes the gradient of a board without border to the
        /// gradient of the sums, `[POINTS][tiles][channels]`.
        fn output_transform_transposed(grid: Grid, board: &[f32], sums: &mut [f32], step: usize)
        where grid.is_whole() && grid.fits(sums, step), "tiles of {grid:?}";
        where board.len() == grid.inner_len(), "board of {grid:?}";
        => winograd::output_transform_transposed::<Register>(grid, board, sums, step);

        /// `relu(both biases + sum of the picked rows of table)`: `table` is `[rows][channels]`, the biases and `out`
        /// are `[channels]`.
        fn sum(table: &[f32], picked: &[u16], biases: [&[f32]; 2], out: &mut [f32])
        where out.len().is_multiple_of(PANEL) && biases.iter().all(|bias| bias.len() == out.len()),
            "two biases and an output per channel";
        where picked.iter().all(|&row| (usize::from(row) + 1) * out.len() <= table.len()),
            "picked a row beyond the table";
        => rows::sum::<Register>(table, picked, biases, out);

        /// Mean, mean scaled by the board's size, and maximum over squares: `[3][channels]`.
        fn pool(pool: &Pool, squares: &[f32], out: &mut [f32])
        where pool.fits(squares, out), "{pool:?} does not fit";
        => rows::pool::<Register>(pool, squares, out);

        /// The gradient of [`Kernels::pool`]: takes the gradient of `pooled`, `[3][channels]`, to the gradient of the
        /// squares.
        fn pool_back(pool: &Pool, squares: &[f32], pooled: &[f32], gradient: &[f32], out: &mut [f32])
        where pool.fits(squares, pooled), "{pool:?} does not fit";
        where gradient.len() == pooled.len() && out.len() == squares.len(), "gradients of {pool:?}";
        => rows::pool_back::<Register>(pool, squares, pooled, gradient, out);

        /// Sums per channel over the squares of a board `[squares][channels]`, and sums of squared values:
        /// `[2][channels]`.
        fn moments(board: &[f32], out: &mut [f32])
        where holds_squares(board, out.len() / 2) && out.len().is_multiple_of(2), "moments of whole squares";
        => norm::moments::<Panel>(board, out);

        /// `relu(board * scale + shift + skip)` of a board `[squares][channels]`; a value that is not a number stays
        /// so.
        fn activate(board: &[f32], skip: Option<&[f32]>, scale: &[f32], shift: &[f32], out: &mut [f32])
        where holds_squares(board, scale.len()) && scale.len() == shift.len(), "scale and shift per channel";
        where out.len() == board.len() && skip.is_none_or(|skip| skip.len() == board.len()), "boards of one length";
        => norm::activate::<Register>(board, skip, scale, shift, out);

        /// Takes the gradient of [`Kernels::activate`]'s result `out` back through the ReLU, in place. `sums` becomes
        /// `[2][channels]`: sums over the squares of the gradient, and of the gradient times `board - mean`.
        fn mask(board: &[f32], out: &[f32], mean: &[f32], gradient: &mut [f32], sums: &mut [f32])
        where holds_squares(board, mean.len()) && sums.len() == 2 * mean.len(), "a mean and two sums per channel";
        where out.len() == board.len() && gradient.len() == board.len(), "boards of one length";
        => norm::mask::<Panel>(board, out, mean, gradient, sums);

        /// `scale * gradient + slope * board + offset` of a board `[squares][channels]`; the lines are scale, slope and
        /// offset, `[channels]`.
        fn before_norm(gradient: &[f32], board: &[f32], lines: [&[f32]; 3], out: &mut [f32])
        where lines.iter().all(|line| holds_squares(board, line.len()) && line.len() == lines[0].len()),
            "a scale, slope and offset per channel";
        where out.len() == board.len() && gradient.len() == board.len(), "boards of one length";
        => norm::before_norm::<Register>(gradient, board, lines, out);

        /// Keeps the multiply-add units as busy as they can be for `rounds` rounds; returns how many multiply-adds of
        /// single floats that took.
        fn peak_multiply_adds(rounds: u64) -> u64 => peak::multiply_adds::<Register>(rounds);
    }
}

impl Kernels {
    /// A dense layer: one row of inputs by a matrix, plus a bias.
    ///
    /// # Panics
    /// As [`Kernels::multiply`].
    pub fn dense(&self, input: &[f32], right: &Packed, bias: &[f32], relu: bool, out: &mut [f32]) {
        let product = Product { matrices: 1, rows: 1, left_step: 0, out_step: 0, relu };
        self.multiply(&product, input, right, Some(bias), out);
    }
}

/// Whether `board` consists of whole squares of this number of channels, and the channels of whole panels.
fn holds_squares(board: &[f32], channels: usize) -> bool {
    channels > 0 && channels.is_multiple_of(PANEL) && board.len().is_multiple_of(channels)
}
