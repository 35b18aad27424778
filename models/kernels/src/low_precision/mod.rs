//! Convolutions of int8 values, for evaluation, and matrix products of bf16 values, for training: a quarter and half of
//! the bytes of a float, and four and two products in the instruction that makes one product of floats.
//!
//! | file | what it does |
//! |---|---|
//! | `portable` | both arithmetics in plain Rust |
//! | `avx512` | the same by AVX-512 BF16 and AVX-512 VNNI |
//! | `avx_vnni` | int8 by AVX-VNNI, for CPUs without AVX-512 |
//! | `convolution` | a direct 3x3 convolution |
//! | `weights` | rounding and packing of weights |
//! | `round` | rounding of the operands of products |
//!
//! The int8 tables give the same results bit by bit. The bf16 tables differ only in how a CPU rounds while it sums up.

#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod avx_vnni;
mod convolution;
mod portable;
mod round;
#[cfg(test)]
mod tests;
mod weights;

pub use weights::Weights;

use super::dispatch::dispatch;
use super::dot::Dot;
use super::{Grid, Outer, PANEL, Packed, Product, product};

/// Weights of a 3x3 kernel.
const TAPS: usize = 9;

/// Sides of boards that the convolution serves.
const SIDES: std::ops::RangeInclusive<usize> = 5..=19;

/// Int8 values in a word.
pub const INT8_VALUES: usize = 4;

/// The largest int8 input: inputs have no sign.
pub const LARGEST_INPUT: f32 = 255.0;

/// The int8 arithmetic, beyond its products: conversions from floats and back.
///
/// # Safety
/// As for [`Dot`].
unsafe trait LowPrecision: Dot<Element = u32> {
    /// Writes a vector of quantised values: whole numbers of `values`, none of them negative, times `inverse`.
    unsafe fn quantise(values: Self::Vector, inverse: Self::Vector, to: *mut u32);
    /// The vector of quantised values at `from` as floats: whole numbers times `step`.
    unsafe fn dequantise(from: *const u32, step: Self::Vector) -> Self::Vector;
}

/// Sums of products of bf16 values, and their operands.
///
/// # Safety
/// As for [`Dot`].
unsafe trait Bf16: Dot<Element = u32> {
    /// Rounds a vector of floats to half as many words, two neighbours to a word.
    unsafe fn round(values: Self::Vector, to: *mut u32);
    /// Writes a panel of words: the values of `low` in the lower halves, the values of `high` in the upper halves.
    unsafe fn pair(low: Self::Vector, high: Self::Vector, to: *mut u32);
}

/// What a convolution does with its sums.
#[derive(Clone, Copy, Debug)]
pub struct Epilogue<'a> {
    /// What a sum of 1 stands for, `[channels]`.
    pub scale: &'a [f32],
    /// A bias, `[channels]`.
    pub bias: &'a [f32],
    /// One over the step of the quantised outputs.
    pub inverse: f32,
}

dispatch! {
    /// The int8 convolution kernels of one instruction set.
    pub struct LowPrecisionKernels;

    /// The tables that this CPU can run, fastest first.
    pub fn available();
    /// The fastest table that this CPU can run.
    pub fn best();
    // Two registers by eleven squares are twenty-two of AVX-512's thirty-two, one is eleven of AVX2's sixteen.
    use int8_avx512 "AVX-512 VNNI", "avx512f", "avx512vnni" => {
        type Sums = avx512::Avx512Vnni;
        const REGISTERS: usize = 2;
    }
    use int8_avx_vnni "AVX-VNNI", "avx2", "avxvnni" => {
        type Sums = avx_vnni::AvxVnni;
        const REGISTERS: usize = 1;
    }
    else int8_portable LowPrecisionKernels::PORTABLE => {
        type Sums = portable::PortableInt8;
        const REGISTERS: usize = 1;
    }

    impl {
        /// A 3x3 convolution of a quantised board `[squares][channels]` without border, and its [`Epilogue`]:
        /// `relu(sums * scale + bias)`. Where there is a `trunk`, a board of floats with a border, its values are added
        /// before the ReLU and become the result. `out` becomes the result quantised. The side is 5 to 19.
        fn convolve(
            grid: Grid,
            weights: &Weights,
            board: &[u32],
            epilogue: &Epilogue<'_>,
            trunk: Option<&mut [f32]>,
            out: &mut [u32],
        )
        where SIDES.contains(&grid.side) && grid.is_whole(), "side or channels of {grid:?}";
        where weights.fit(grid.channels), "weights of another size than {grid:?}";
        where board.len() == grid.quantised_len() && out.len() == board.len(), "boards of {grid:?}";
        where epilogue.scale.len() == grid.channels && epilogue.bias.len() == grid.channels, "channels of {grid:?}";
        where trunk.as_ref().is_none_or(|trunk| trunk.len() == grid.bordered_len()), "trunk of {grid:?}";
        => convolution::convolve::<Sums, REGISTERS>(grid, weights, board, epilogue, trunk, out);

        /// Quantises a board of floats with a border, none of them negative, to a board without border; `inverse` as in
        /// [`Epilogue`].
        fn quantise(grid: Grid, board: &[f32], inverse: f32, out: &mut [u32])
        where grid.is_whole(), "channels of {grid:?}";
        where board.len() == grid.bordered_len() && out.len() == grid.quantised_len(), "boards of {grid:?}";
        => convolution::quantise::<Sums>(grid, board, inverse, out);

        /// Quantised values as floats; `step` is what an int8 value of 1 stands for.
        fn dequantise(quantised: &[u32], step: f32, out: &mut [f32])
        where out.len().is_multiple_of(PANEL) && out.len() == quantised.len() * INT8_VALUES, "a float per value";
        => convolution::dequantise::<Sums>(quantised, step, out);
    }
}

impl LowPrecisionKernels {
    /// The name of the kernels in plain Rust, which are slower than the kernels of single precision.
    pub const PORTABLE: &'static str = "portable";
}

impl Grid {
    /// Words of a quantised board, which has no border.
    pub fn quantised_len(self) -> usize {
        self.inner_len() / INT8_VALUES
    }
}

dispatch! {
    /// The products of bf16 values of one instruction set, for training: operands are rounded to bf16, and sums are of
    /// floats.
    ///
    /// Two values that are neighbours along a sum share a word. A product over channels has neighbouring channels in a
    /// word ([`Bf16Kernels::round`]); an outer product, which sums over rows, has a channel's values in two rows
    /// ([`Bf16Kernels::pair_rows`]).
    pub struct Bf16Kernels;

    /// The tables that this CPU can run, fastest first.
    pub fn available();
    /// The fastest table that this CPU can run.
    pub fn best();
    // As for floats, twenty-four of the thirty-two registers hold sums.
    use products_avx512 "AVX-512 BF16", "avx512f", "avx512bf16" => {
        type Sums = avx512::Avx512Bf16;
        const PANELS: usize = 2;
        const ROWS: usize = 12;
    }
    else products_portable LowPrecisionKernels::PORTABLE => {
        type Sums = portable::PortableBf16;
        const PANELS: usize = 1;
        const ROWS: usize = 6;
    }

    impl {
        /// Rounds floats; neighbours share a word.
        fn round(values: &[f32], out: &mut [u32])
        where values.len().is_multiple_of(PANEL) && out.len() * 2 == values.len(), "a word per two floats";
        => round::round::<Sums>(values, out);

        /// Rounds rows `[rows, channels]` of floats to `[rows / 2, channels]` words, the second of two rows in the
        /// upper halves; a last odd row has zeros there.
        fn pair_rows(channels: usize, values: &[f32], out: &mut [u32])
        where channels > 0 && channels.is_multiple_of(PANEL) && values.len().is_multiple_of(channels), "whole rows";
        where out.len() == (values.len() / channels).div_ceil(2) * channels, "a word per pair of floats";
        => round::pair_rows::<Sums>(channels, values, out);

        /// Matrix products `left x right` of words, without a ReLU; the depth is counted in words.
        fn multiply(product: &Product, left: &[u32], right: &Packed<u32>, out: &mut [f32])
        where product.fits(left, right, out) && !product.relu, "product {product:?} does not fit its operands";
        => product::multiply::<Sums, PANELS, ROWS>(&Product { relu: false, ..*product }, left, right, None, out);

        /// Adds the products `leftᵀ x right` to `out`; rows of both are pairs of rows.
        fn add_outer(product: &Outer, left: &[u32], right: &[u32], out: &mut [f32])
        where product.fits(left, right, out), "{product:?} does not fit its operands";
        => product::add_outer::<Sums, PANELS, ROWS>(product, left, right, out);
    }
}
