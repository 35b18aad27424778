//! Convolutions of bf16 and of eight-bit numbers, and matrix products of bf16 numbers: half and a quarter of the bytes
//! of a float, and two and four products where an instruction makes one of floats.
//!
//! | file | what it does |
//! |---|---|
//! | `dot` | the operations, and both arithmetics in plain Rust |
//! | `avx512` | the same by AVX-512 BF16 and AVX-512 VNNI |
//! | `convolution` | a direct 3x3 convolution out of them |
//! | `weights` | rounding and packing |
//! | `product` | matrix products of bf16 numbers, for training |
//! | `bf16` | their table of entry points |
//!
//! [`LowPrecisionKernels`] is a table of entry points as [`super::Kernels`] is. The eight-bit tables give the same numbers
//! bit by bit. Those of bf16 differ in how a CPU rounds while it sums up, and in nothing else.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod bf16;
mod convolution;
mod dot;
mod product;
#[cfg(test)]
mod tests;
mod weights;

pub use bf16::Bf16Kernels;
pub use weights::{Int8Weights, Weights};

use super::{Grid, PANEL};
#[cfg(target_arch = "x86_64")]
use avx512::{Avx512Bf16, Avx512Vnni};
use dot::{Dot, PortableBf16, PortableInt8};

/// Weights of a 3x3 kernel.
const TAPS: usize = 9;

/// The largest eight-bit input.
pub const LARGEST_INPUT: f32 = 255.0;

/// What becomes of the sums of a convolution.
#[derive(Clone, Copy, Debug)]
pub struct Epilogue<'a> {
    /// What each channel's sums count; of use to eight-bit numbers alone.
    pub scale: &'a [f32],
    /// A bias per channel.
    pub bias: &'a [f32],
    /// One over the step of the quantise outputs; of use to eight-bit numbers alone.
    pub inverse: f32,
}

/// The kernels of one quantise arithmetic and one instruction set.
#[derive(Debug)]
#[expect(clippy::type_complexity, reason = "the kernels' signatures, each used once")]
pub struct LowPrecisionKernels {
    /// What they are called, for people.
    pub name: &'static str,
    /// Numbers in a word.
    pub numbers: usize,
    convolve: unsafe fn(Grid, &Weights, &[u32], &Epilogue<'_>, Option<&mut [f32]>, &mut [u32]),
    quantise: unsafe fn(Grid, &[f32], f32, &mut [u32]),
    dequantise: unsafe fn(&[u32], f32, &mut [f32]),
}

/// Makes the table of one arithmetic and instruction set: every kernel in a function of its own that enables the
/// features. After the register type stands how many panels a register block has.
macro_rules! low_precision_kernels {
    ($module:ident, $name:expr, $dot:ty, $panels:literal $(, $features:literal)?) => {
        mod $module {
            use super::*;

            pub(super) static KERNELS: LowPrecisionKernels =
                LowPrecisionKernels { name: $name, numbers: <$dot as Dot>::NUMBERS, convolve, quantise, dequantise };

            $(#[target_feature(enable = $features)])?
            unsafe fn convolve(
                grid: Grid,
                weights: &Weights,
                board: &[u32],
                finish: &Epilogue<'_>,
                trunk: Option<&mut [f32]>,
                out: &mut [u32],
            ) {
                // SAFETY: the caller's promise is the kernel's, and the features are enabled here.
                unsafe {
                    match grid.side {
                        7 => convolution::convolve::<$dot, 7, $panels>(grid, weights, board, finish, trunk, out),
                        9 => convolution::convolve::<$dot, 9, $panels>(grid, weights, board, finish, trunk, out),
                        _ => convolution::convolve::<$dot, 11, $panels>(grid, weights, board, finish, trunk, out),
                    }
                }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn quantise(grid: Grid, board: &[f32], inverse: f32, out: &mut [u32]) {
                // SAFETY: the caller's promise is the kernel's, and the features are enabled here.
                unsafe { convolution::quantise::<$dot>(grid, board, inverse, out) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn dequantise(numbers: &[u32], step: f32, out: &mut [f32]) {
                // SAFETY: the caller's promise is the kernel's, and the features are enabled here.
                unsafe { convolution::dequantise::<$dot>(numbers, step, out) }
            }
        }
    };
}

low_precision_kernels!(bf16_portable, "portable", PortableBf16, 1);
low_precision_kernels!(int8_portable, "portable", PortableInt8, 1);
// Two panels by eleven squares are twenty-two of the thirty-two registers.
#[cfg(target_arch = "x86_64")]
low_precision_kernels!(bf16_avx512, LowPrecisionKernels::BF16, Avx512Bf16, 2, "avx512f,avx512bf16");
#[cfg(target_arch = "x86_64")]
low_precision_kernels!(int8_avx512, LowPrecisionKernels::INT8, Avx512Vnni, 2, "avx512f,avx512vnni");

impl LowPrecisionKernels {
    /// What the kernels are called that have instructions made for bf16.
    pub const BF16: &'static str = "AVX-512 BF16";

    /// What the kernels are called that have instructions made for eight-bit numbers.
    pub const INT8: &'static str = "AVX-512 VNNI";

    /// The tables for bf16 that this CPU can run, fastest first.
    pub fn bf16() -> impl Iterator<Item = &'static LowPrecisionKernels> {
        #[cfg(target_arch = "x86_64")]
        let vectors = (is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bf16"))
            .then_some(&bf16_avx512::KERNELS);
        #[cfg(not(target_arch = "x86_64"))]
        let vectors = None;
        vectors.into_iter().chain([&bf16_portable::KERNELS])
    }

    /// The tables for eight-bit numbers that this CPU can run, fastest first.
    pub fn int8() -> impl Iterator<Item = &'static LowPrecisionKernels> {
        #[cfg(target_arch = "x86_64")]
        let vectors = (is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni"))
            .then_some(&int8_avx512::KERNELS);
        #[cfg(not(target_arch = "x86_64"))]
        let vectors = None;
        vectors.into_iter().chain([&int8_portable::KERNELS])
    }

    /// The fastest table for bf16 that this CPU can run.
    pub fn best_bf16() -> &'static LowPrecisionKernels {
        LowPrecisionKernels::bf16().next().unwrap_or(&bf16_portable::KERNELS)
    }

    /// The fastest table for eight-bit numbers that this CPU can run.
    pub fn best_int8() -> &'static LowPrecisionKernels {
        LowPrecisionKernels::int8().next().unwrap_or(&int8_portable::KERNELS)
    }

    /// Words of a board without border.
    pub fn board_len(&self, grid: Grid) -> usize {
        grid.inner_len() / self.numbers
    }

    /// A 3x3 convolution of a board without border, and what [`Epilogue`] says of its sums: `relu(sums * scale + bias)`,
    /// with `trunk`, a bordered board of floats, added before and overwritten if there is one. `out` gets it in quantise
    /// numbers.
    ///
    /// # Panics
    /// When a length does not fit, or the side is not 7, 9 or 11.
    pub fn convolve(
        &self,
        grid: Grid,
        weights: &Weights,
        board: &[u32],
        finish: &Epilogue<'_>,
        trunk: Option<&mut [f32]>,
        out: &mut [u32],
    ) {
        assert!([7, 9, 11].contains(&grid.side) && grid.channels.is_multiple_of(PANEL), "{grid:?}");
        assert!(weights.fit(grid.channels, self.numbers), "weights of {} words on {grid:?}", weights.words);
        assert!(board.len() == self.board_len(grid) && out.len() == board.len(), "boards of {grid:?}");
        assert!(finish.scale.len() == grid.channels && finish.bias.len() == grid.channels, "channels of {grid:?}");
        assert!(trunk.as_ref().is_none_or(|trunk| trunk.len() == grid.len()), "trunk of {grid:?}");
        // SAFETY: lengths were checked, and a table is only handed out where the CPU has its features.
        unsafe { (self.convolve)(grid, weights, board, finish, trunk, out) }
    }

    /// A bordered board of floats, none of them negative, in quantise numbers without border; `inverse` as in [`Epilogue`].
    ///
    /// # Panics
    /// When a length does not fit.
    pub fn quantise(&self, grid: Grid, board: &[f32], inverse: f32, out: &mut [u32]) {
        assert!(grid.channels.is_multiple_of(PANEL), "{grid:?}");
        assert!(board.len() == grid.len() && out.len() == self.board_len(grid), "boards of {grid:?}");
        // SAFETY: lengths were checked, and a table is only handed out where the CPU has its features.
        unsafe { (self.quantise)(grid, board, inverse, out) }
    }

    /// quantised numbers as floats; `step` is what one of eight bits counts.
    ///
    /// # Panics
    /// When a length does not fit.
    pub fn dequantise(&self, numbers: &[u32], step: f32, out: &mut [f32]) {
        assert!(out.len().is_multiple_of(PANEL) && out.len() == numbers.len() * self.numbers, "lengths");
        // SAFETY: lengths were checked, and a table is only handed out where the CPU has its features.
        unsafe { (self.dequantise)(numbers, step, out) }
    }
}
