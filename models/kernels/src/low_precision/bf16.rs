//! The table of matrix products of bf16 numbers.

use super::super::product::{Outer, Product};
use super::super::{PANEL, Packed};
#[cfg(target_arch = "x86_64")]
use super::avx512::Avx512Bf16;
use super::dot::PortableBf16;
use super::product;

/// The products of bf16 numbers of one instruction set.
#[derive(Debug)]
pub struct Bf16Kernels {
    round: unsafe fn(&[f32], &mut [u32]),
    pair_rows: unsafe fn(usize, &[f32], &mut [u32]),
    multiply: unsafe fn(&Product, &[u32], &Packed<u32>, &mut [f32]),
    add_outer: unsafe fn(&Outer, &[u32], &[u32], &mut [f32]),
}

/// Makes the table of one instruction set: every kernel in a function of its own that enables the features. After the
/// register type stand the panels and rows of a register block.
macro_rules! bf16_kernels {
    ($module:ident, $dot:ty, $panels:literal, $rows:literal $(, $features:literal)?) => {
        mod $module {
            use super::*;

            pub(super) static KERNELS: Bf16Kernels =
                Bf16Kernels { round, pair_rows, multiply, add_outer };

            $(#[target_feature(enable = $features)])?
            unsafe fn round(values: &[f32], out: &mut [u32]) {
                // SAFETY: the caller's promise is the kernel's, and the features are enabled here.
                unsafe { product::round::<$dot>(values, out) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn pair_rows(channels: usize, values: &[f32], out: &mut [u32]) {
                // SAFETY: the caller's promise is the kernel's, and the features are enabled here.
                unsafe { product::pair_rows::<$dot>(channels, values, out) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn multiply(shape: &Product, left: &[u32], right: &Packed<u32>, out: &mut [f32]) {
                // SAFETY: the caller's promise is the kernel's, and the features are enabled here.
                unsafe { product::multiply::<$dot, $panels, $rows>(shape, left, right, out) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn add_outer(shape: &Outer, left: &[u32], right: &[u32], out: &mut [f32]) {
                // SAFETY: the caller's promise is the kernel's, and the features are enabled here.
                unsafe { product::add_outer::<$dot, $panels, $rows>(shape, left, right, out) }
            }
        }
    };
}

bf16_kernels!(portable, PortableBf16, 1, 6);
// As for floats, twenty-four of the thirty-two registers hold sums.
#[cfg(target_arch = "x86_64")]
bf16_kernels!(avx512, Avx512Bf16, 2, 12, "avx512f,avx512bf16");

impl Bf16Kernels {
    /// The tables that this CPU can run, fastest first.
    pub fn available() -> impl Iterator<Item = &'static Bf16Kernels> {
        #[cfg(target_arch = "x86_64")]
        let vectors =
            (is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bf16")).then_some(&avx512::KERNELS);
        #[cfg(not(target_arch = "x86_64"))]
        let vectors = None;
        vectors.into_iter().chain([&portable::KERNELS])
    }

    /// The fastest table that this CPU can run.
    pub fn best() -> &'static Bf16Kernels {
        Bf16Kernels::available().next().unwrap_or(&portable::KERNELS)
    }

    /// Rounds floats, neighbours sharing a word.
    ///
    /// # Panics
    /// When the floats are no whole panels or the words are not half as many.
    pub fn round(&self, values: &[f32], out: &mut [u32]) {
        assert!(values.len().is_multiple_of(PANEL) && out.len() * 2 == values.len(), "{} floats", values.len());
        // SAFETY: lengths were checked, and a table is only handed out where the CPU has its features.
        unsafe { (self.round)(values, out) }
    }

    /// Rounds rows `[rows, channels]` of floats to `[rows / 2, channels]` words, the second of two rows in the upper
    /// halves; a last odd row has zeros there.
    ///
    /// # Panics
    /// When the lengths do not match or the channels are no multiple of [`PANEL`].
    pub fn pair_rows(&self, channels: usize, values: &[f32], out: &mut [u32]) {
        assert!(channels > 0 && channels.is_multiple_of(PANEL) && values.len().is_multiple_of(channels));
        assert!(out.len() == (values.len() / channels).div_ceil(2) * channels, "{} words", out.len());
        // SAFETY: lengths were checked, and a table is only handed out where the CPU has its features.
        unsafe { (self.pair_rows)(channels, values, out) }
    }

    /// Matrix products `left x right` of words, the depth being counted in words.
    ///
    /// # Panics
    /// When a slice is too short for the shape, or a ReLU is asked for.
    pub fn multiply(&self, product: &Product, left: &[u32], right: &Packed<u32>, out: &mut [f32]) {
        assert!(product.fits(left, right, out) && !product.relu, "product {product:?} does not fit its operands");
        // SAFETY: the operands fit, and a table is only handed out where the CPU has its features.
        unsafe { (self.multiply)(product, left, right, out) }
    }

    /// Adds the products `leftᵀ x right` to `out`; rows of both are pairs of rows.
    ///
    /// # Panics
    /// When a slice is too short for the shape.
    pub fn add_outer(&self, product: &Outer, left: &[u32], right: &[u32], out: &mut [f32]) {
        assert!(product.fits(left, right, out), "{product:?} does not fit its operands");
        // SAFETY: the operands fit, and a table is only handed out where the CPU has its features.
        unsafe { (self.add_outer)(product, left, right, out) }
    }
}
