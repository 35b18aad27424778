//! The arithmetic of the fast evaluator and the fused training layers, written once and compiled for each instruction
//! set.
//!
//! [`Kernels`] is a table of entry points, chosen when the program runs by what the CPU has. Its methods check every
//! length and are safe; all `unsafe` of the library stands in this folder. A further precision or instruction set is a
//! further [`vector::Vector`] or a further table, and changes nothing outside.

mod aligned;
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
pub use low_precision::{Bf16Kernels, Epilogue, Int8Weights, LARGEST_INPUT, LowPrecisionKernels, Weights};
pub use packed::Packed;
pub use product::{BLOCK, Outer, Product};
pub use rows::Pool;
pub use winograd::{Grid, POINTS};

/// Channels are padded to multiples of this, and weights packed by so many columns: two registers of AVX2, one of
/// AVX-512.
pub const PANEL: usize = 16;

/// The kernels of one instruction set.
#[derive(Debug)]
#[expect(clippy::type_complexity, reason = "the kernels' signatures, each used once")]
pub struct Kernels {
    /// What they are called, for people.
    pub name: &'static str,
    multiply: unsafe fn(&Product, &[f32], &Packed, Option<&[f32]>, &mut [f32]),
    input_transform: unsafe fn(Grid, &[f32], &mut [f32], usize),
    input_transform_plain: unsafe fn(Grid, &[f32], &mut [f32], usize),
    output_transform_relu: unsafe fn(Grid, &[f32], usize, &[f32], bool, &mut [f32]),
    output_transform: unsafe fn(Grid, &[f32], usize, &mut [f32]),
    output_transform_transposed: unsafe fn(Grid, &[f32], &mut [f32], usize),
    input_transform_transposed: unsafe fn(Grid, &[f32], usize, &mut [f32]),
    add_outer: unsafe fn(&Outer, &[f32], &[f32], &mut [f32]),
    sum: unsafe fn(&[f32], &[u16], &[f32], &mut [f32]),
    pool: unsafe fn(&Pool, &[f32], &mut [f32]),
    pool_back: unsafe fn(&Pool, &[f32], &[f32], &[f32], &mut [f32]),
    moments: unsafe fn(&[f32], &mut [f32]),
    activate: unsafe fn(&[f32], Option<&[f32]>, &[f32], &[f32], &mut [f32]),
    mask: unsafe fn(&[f32], &[f32], &[f32], &mut [f32], &mut [f32]),
    before_norm: unsafe fn(&[f32], &[f32], [&[f32]; 3], &mut [f32]),
    peak_multiply_adds: unsafe fn(u64) -> f32,
    /// Floats in a register.
    lanes: usize,
}

/// Makes the table of one instruction set: every kernel in a function of its own that enables the features. After the
/// register type stand the registers of a panel, and the panels and rows of the products' register blocks.
macro_rules! kernels {
    ($module:ident, $name:literal, $vector:ty, $registers:literal, $panels:literal, $rows:literal $(, $features:literal)?) => {
        mod $module {
            use super::*;

            pub(super) static KERNELS: Kernels = Kernels {
                name: $name,
                multiply,
                input_transform,
                input_transform_plain,
                output_transform_relu,
                output_transform,
                output_transform_transposed,
                input_transform_transposed,
                add_outer,
                sum,
                pool,
                pool_back,
                moments,
                activate,
                mask,
                before_norm,
                peak_multiply_adds,
                lanes: <$vector as vector::Vector>::LANES,
            };

            $(#[target_feature(enable = $features)])?
            unsafe fn multiply(
                product: &Product,
                left: &[f32],
                right: &Packed,
                bias: Option<&[f32]>,
                out: &mut [f32],
            ) {
                // SAFETY: the caller's promise is the kernel's, and the features are enabled here.
                unsafe { product::multiply::<$vector, $registers, $panels, $rows>(product, left, right, bias, out) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn input_transform(grid: Grid, board: &[f32], out: &mut [f32], step: usize) {
                // SAFETY: the caller's promise is the kernel's, and the features are enabled here.
                unsafe { winograd::input_transform::<$vector, true>(grid, board, out, step) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn input_transform_plain(grid: Grid, board: &[f32], out: &mut [f32], step: usize) {
                // SAFETY: the caller's promise is the kernel's, and the features are enabled here.
                unsafe { winograd::input_transform::<$vector, false>(grid, board, out, step) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn output_transform_relu(grid: Grid, sums: &[f32], step: usize, bias: &[f32], add: bool, board: &mut [f32]) {
                // SAFETY: the caller's promise is the kernel's, and the features are enabled here.
                unsafe { winograd::output_transform_relu::<$vector>(grid, sums, step, bias, add, board) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn output_transform(grid: Grid, sums: &[f32], step: usize, board: &mut [f32]) {
                // SAFETY: the caller's promise is the kernel's, and the features are enabled here.
                unsafe { winograd::output_transform::<$vector>(grid, sums, step, board) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn output_transform_transposed(grid: Grid, board: &[f32], sums: &mut [f32], step: usize) {
                // SAFETY: the caller's promise is the kernel's, and the features are enabled here.
                unsafe { winograd::output_transform_transposed::<$vector>(grid, board, sums, step) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn input_transform_transposed(grid: Grid, transformed: &[f32], step: usize, board: &mut [f32]) {
                // SAFETY: the caller's promise is the kernel's, and the features are enabled here.
                unsafe { winograd::input_transform_transposed::<$vector>(grid, transformed, step, board) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn add_outer(product: &Outer, left: &[f32], right: &[f32], out: &mut [f32]) {
                // SAFETY: the caller's promise is the kernel's, and the features are enabled here.
                unsafe { product::add_outer::<$vector, $registers, $panels, $rows>(product, left, right, out) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn sum(table: &[f32], picked: &[u16], bias: &[f32], out: &mut [f32]) {
                // SAFETY: the caller's promise is the kernel's, and the features are enabled here.
                unsafe { rows::sum::<$vector>(table, picked, bias, out) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn pool(pool: &Pool, squares: &[f32], out: &mut [f32]) {
                // SAFETY: the caller's promise is the kernel's, and the features are enabled here.
                unsafe { rows::pool::<$vector>(pool, squares, out) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn pool_back(pool: &Pool, squares: &[f32], pooled: &[f32], gradient: &[f32], out: &mut [f32]) {
                // SAFETY: the caller's promise is the kernel's, and the features are enabled here.
                unsafe { rows::pool_back::<$vector>(pool, squares, pooled, gradient, out) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn moments(board: &[f32], out: &mut [f32]) {
                // SAFETY: the caller's promise is the kernel's, and the features are enabled here.
                unsafe { norm::moments::<$vector, $registers>(board, out) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn activate(board: &[f32], skip: Option<&[f32]>, scale: &[f32], shift: &[f32], out: &mut [f32]) {
                // SAFETY: the caller's promise is the kernel's, and the features are enabled here.
                unsafe { norm::activate::<$vector>(board, skip, scale, shift, out) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn mask(board: &[f32], out: &[f32], mean: &[f32], gradient: &mut [f32], sums: &mut [f32]) {
                // SAFETY: the caller's promise is the kernel's, and the features are enabled here.
                unsafe { norm::mask::<$vector, $registers>(board, out, mean, gradient, sums) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn before_norm(gradient: &[f32], board: &[f32], lines: [&[f32]; 3], out: &mut [f32]) {
                // SAFETY: the caller's promise is the kernel's, and the features are enabled here.
                unsafe { norm::before_norm::<$vector>(gradient, board, lines, out) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn peak_multiply_adds(rounds: u64) -> f32 {
                // SAFETY: the features are enabled here.
                unsafe { peak::peak_multiply_adds::<$vector>(rounds) }
            }
        }
    };
}

// Sixteen registers hold twelve sums and the operands; the thirty-two of AVX-512, twice as wide, hold twenty-four.
kernels!(portable, "portable", vector::Portable<8>, 2, 1, 6);
#[cfg(target_arch = "x86_64")]
kernels!(avx2, "AVX2", vector::Avx2, 2, 1, 6, "avx2,fma");
#[cfg(target_arch = "x86_64")]
kernels!(avx512, "AVX-512", vector::Avx512, 1, 2, 12, "avx512f");

impl Kernels {
    /// Every table that this CPU can run, fastest first.
    pub fn available() -> impl Iterator<Item = &'static Kernels> {
        #[cfg(target_arch = "x86_64")]
        let vectors = [
            is_x86_feature_detected!("avx512f").then_some(&avx512::KERNELS),
            (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(&avx2::KERNELS),
        ];
        #[cfg(not(target_arch = "x86_64"))]
        let vectors = [None];
        vectors.into_iter().flatten().chain([&portable::KERNELS])
    }

    /// The fastest table that this CPU can run.
    pub fn best() -> &'static Kernels {
        Kernels::available().next().unwrap_or(&portable::KERNELS)
    }

    /// Matrix products `left x right`, plus `bias` on every row.
    ///
    /// # Panics
    /// When a slice is too short for the shape.
    pub fn multiply(&self, product: &Product, left: &[f32], right: &Packed, bias: Option<&[f32]>, out: &mut [f32]) {
        assert!(product.fits(left, right, out), "product {product:?} does not fit its operands");
        assert!(bias.is_none_or(|bias| bias.len() == right.columns), "bias must have a value per column");
        // SAFETY: the operands fit, and a table is only handed out where the CPU has its features.
        unsafe { (self.multiply)(product, left, right, bias, out) }
    }

    /// A dense layer: one row of inputs by a matrix, plus a bias.
    pub fn dense(&self, input: &[f32], right: &Packed, bias: &[f32], relu: bool, out: &mut [f32]) {
        let product = Product { matrices: 1, rows: 1, left_step: 0, out_step: 0, relu };
        self.multiply(&product, input, right, Some(bias), out);
    }

    /// Winograd's input transform: the tiles of a board, with its border of zeros or without one, to
    /// `[POINTS][tiles][channels]`, points `step` floats apart.
    ///
    /// # Panics
    /// When a slice has the wrong length or the channels are no multiple of [`PANEL`].
    pub fn input_transform(&self, grid: Grid, board: &[f32], out: &mut [f32], step: usize) {
        assert!(grid.channels.is_multiple_of(PANEL) && grid.fits(out, step));
        assert!(board.len() == grid.len() || board.len() == grid.inner_len(), "{} floats for {grid:?}", board.len());
        let transform = if board.len() == grid.len() { self.input_transform } else { self.input_transform_plain };
        // SAFETY: lengths were checked, and a table is only handed out where the CPU has its features.
        unsafe { transform(grid, board, out, step) }
    }

    /// Winograd's output transform of `[POINTS][tiles][channels]` sums to a board with a border: `relu(outputs + bias)`,
    /// with the board's old values added before the ReLU if `add`. The border is left alone.
    ///
    /// # Panics
    /// When a slice is too short or the channels are no multiple of [`PANEL`].
    pub fn output_transform_relu(
        &self,
        grid: Grid,
        sums: &[f32],
        step: usize,
        bias: &[f32],
        add: bool,
        board: &mut [f32],
    ) {
        assert!(grid.channels.is_multiple_of(PANEL) && board.len() == grid.len() && grid.fits(sums, step));
        assert!(bias.len() == grid.channels, "bias must have a value per channel");
        // SAFETY: lengths were checked, and a table is only handed out where the CPU has its features.
        unsafe { (self.output_transform_relu)(grid, sums, step, bias, add, board) }
    }

    /// Winograd's output transform of `[POINTS][tiles][channels]` sums to a board without border.
    ///
    /// # Panics
    /// When a slice has the wrong length or the channels are no multiple of [`PANEL`].
    pub fn output_transform(&self, grid: Grid, sums: &[f32], step: usize, board: &mut [f32]) {
        assert!(grid.channels.is_multiple_of(PANEL) && board.len() == grid.inner_len() && grid.fits(sums, step));
        // SAFETY: lengths were checked, and a table is only handed out where the CPU has its features.
        unsafe { (self.output_transform)(grid, sums, step, board) }
    }

    /// The output transform transposed, which is its gradient: takes the gradient of a board without border to the
    /// gradient of the sums.
    ///
    /// # Panics
    /// When a slice has the wrong length or the channels are no multiple of [`PANEL`].
    pub fn output_transform_transposed(&self, grid: Grid, board: &[f32], sums: &mut [f32], step: usize) {
        assert!(grid.channels.is_multiple_of(PANEL) && board.len() == grid.inner_len() && grid.fits(sums, step));
        // SAFETY: lengths were checked, and a table is only handed out where the CPU has its features.
        unsafe { (self.output_transform_transposed)(grid, board, sums, step) }
    }

    /// The input transform transposed, which is its gradient: adds the gradient of the transformed tiles to the gradient
    /// of a board without border.
    ///
    /// # Panics
    /// When a slice has the wrong length or the channels are no multiple of [`PANEL`].
    pub fn input_transform_transposed(&self, grid: Grid, transformed: &[f32], step: usize, board: &mut [f32]) {
        assert!(grid.channels.is_multiple_of(PANEL) && board.len() == grid.inner_len() && grid.fits(transformed, step));
        // SAFETY: lengths were checked, and a table is only handed out where the CPU has its features.
        unsafe { (self.input_transform_transposed)(grid, transformed, step, board) }
    }

    /// Adds the products `leftᵀ x right` to `out`.
    ///
    /// # Panics
    /// When a slice is too short for the shape.
    pub fn add_outer(&self, product: &Outer, left: &[f32], right: &[f32], out: &mut [f32]) {
        assert!(product.fits(left, right, out), "{product:?} does not fit its operands");
        // SAFETY: the operands fit, and a table is only handed out where the CPU has its features.
        unsafe { (self.add_outer)(product, left, right, out) }
    }

    /// `relu(bias + sum of the picked rows of table)`.
    ///
    /// # Panics
    /// When a picked row is not in the table, or the lengths do not match.
    pub fn sum(&self, table: &[f32], picked: &[u16], bias: &[f32], out: &mut [f32]) {
        let rows = table.len() / bias.len();
        assert!(bias.len().is_multiple_of(PANEL) && out.len() == bias.len());
        assert!(picked.iter().all(|&row| usize::from(row) < rows), "picked a row beyond {rows}");
        // SAFETY: lengths were checked, and a table is only handed out where the CPU has its features.
        unsafe { (self.sum)(table, picked, bias, out) }
    }

    /// Mean, mean scaled by the board's size, and maximum over squares: `[3][channels]`.
    ///
    /// # Panics
    /// When a slice is too short or the channels are no multiple of [`PANEL`].
    pub fn pool(&self, pool: &Pool, squares: &[f32], out: &mut [f32]) {
        assert!(pool.channels.is_multiple_of(PANEL) && pool.fits(squares, out), "{pool:?} does not fit");
        // SAFETY: lengths were checked, and a table is only handed out where the CPU has its features.
        unsafe { (self.pool)(pool, squares, out) }
    }

    /// [`Kernels::pool`]'s gradient: from that of `pooled`, `[3][channels]`, to that of the squares.
    ///
    /// # Panics
    /// When a slice has the wrong length or the channels are no multiple of [`PANEL`].
    pub fn pool_back(&self, pool: &Pool, squares: &[f32], pooled: &[f32], gradient: &[f32], out: &mut [f32]) {
        assert!(pool.channels.is_multiple_of(PANEL) && pool.fits(squares, pooled), "{pool:?} does not fit");
        assert!(gradient.len() == pooled.len() && out.len() == squares.len(), "gradients of {pool:?}");
        // SAFETY: lengths were checked, and a table is only handed out where the CPU has its features.
        unsafe { (self.pool_back)(pool, squares, pooled, gradient, out) }
    }

    /// Sums per channel over the squares of a board `[squares][channels]`, and sums of squared values: `[2][channels]`.
    ///
    /// # Panics
    /// When the lengths do not match or the channels are no multiple of [`PANEL`].
    pub fn moments(&self, board: &[f32], out: &mut [f32]) {
        assert!(holds_squares(board, out.len() / 2) && out.len().is_multiple_of(2));
        // SAFETY: lengths were checked, and a table is only handed out where the CPU has its features.
        unsafe { (self.moments)(board, out) }
    }

    /// `relu(board * scale + shift + skip)` of a board `[squares][channels]`, where not a number stays so.
    ///
    /// # Panics
    /// When the lengths do not match or the channels are no multiple of [`PANEL`].
    pub fn activate(&self, board: &[f32], skip: Option<&[f32]>, scale: &[f32], shift: &[f32], out: &mut [f32]) {
        assert!(holds_squares(board, scale.len()) && scale.len() == shift.len());
        assert!(out.len() == board.len() && skip.is_none_or(|skip| skip.len() == board.len()));
        // SAFETY: lengths were checked, and a table is only handed out where the CPU has its features.
        unsafe { (self.activate)(board, skip, scale, shift, out) }
    }

    /// Takes the gradient of [`Kernels::activate`]'s result `out` back through the ReLU, in place, and sums it per
    /// channel, and times `board - mean`: `[2][channels]`.
    ///
    /// # Panics
    /// When the lengths do not match or the channels are no multiple of [`PANEL`].
    pub fn mask(&self, board: &[f32], out: &[f32], mean: &[f32], gradient: &mut [f32], sums: &mut [f32]) {
        assert!(holds_squares(board, mean.len()) && sums.len() == 2 * mean.len());
        assert!(out.len() == board.len() && gradient.len() == board.len());
        // SAFETY: lengths were checked, and a table is only handed out where the CPU has its features.
        unsafe { (self.mask)(board, out, mean, gradient, sums) }
    }

    /// `scale * gradient + slope * board + offset` of a board `[squares][channels]`; the lines are scale, slope and
    /// offset.
    ///
    /// # Panics
    /// When the lengths do not match or the channels are no multiple of [`PANEL`].
    pub fn before_norm(&self, gradient: &[f32], board: &[f32], lines: [&[f32]; 3], out: &mut [f32]) {
        assert!(lines.iter().all(|line| holds_squares(board, line.len()) && line.len() == lines[0].len()));
        assert!(out.len() == board.len() && gradient.len() == board.len());
        // SAFETY: lengths were checked, and a table is only handed out where the CPU has its features.
        unsafe { (self.before_norm)(gradient, board, lines, out) }
    }

    /// Keeps the multiply-add units as busy as they can be for `rounds` rounds; returns how many multiply-adds of
    /// single floats that took.
    pub fn peak_multiply_adds(&self, rounds: u64) -> u64 {
        // SAFETY: a table is only handed out where the CPU has its features.
        std::hint::black_box(unsafe { (self.peak_multiply_adds)(rounds) });
        rounds * peak::multiply_adds(self.lanes) as u64
    }
}

/// Whether `board` is made of whole squares with so many channels, and those of whole panels.
fn holds_squares(board: &[f32], channels: usize) -> bool {
    channels > 0 && channels.is_multiple_of(PANEL) && board.len().is_multiple_of(channels)
}
