//! Low precision in plain Rust.

use super::super::PANEL;
use super::super::dot::Dot;
use super::super::vector::Portable;
use super::{Bf16, LowPrecision};

/// `value`, which is a number, as the nearest bf16; halfway between two, the even one.
#[inline(always)]
pub(super) fn bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

/// Sums of products of bf16 values in plain Rust. A product of two is exact as a float, and each is added in turn, the
/// second of a word first, as the instruction of AVX-512 is defined.
#[derive(Clone, Copy)]
pub(super) struct PortableBf16([f32; PANEL]);

// SAFETY: plain Rust, which every CPU that runs this program executes.
unsafe impl Dot for PortableBf16 {
    type Element = u32;
    type Elements = [u32; PANEL];
    type Vector = Portable<PANEL>;
    const VALUES: usize = 2;

    #[inline(always)]
    unsafe fn zero() -> PortableBf16 {
        PortableBf16([0.0; PANEL])
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> [u32; PANEL] {
        // SAFETY: the caller vouches for a panel of words at `from`.
        unsafe { from.cast::<[u32; PANEL]>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn splat(from: *const u32) -> [u32; PANEL] {
        // SAFETY: the caller vouches for a word at `from`.
        [unsafe { from.read_unaligned() }; PANEL]
    }

    #[inline(always)]
    unsafe fn add_products(mut self, inputs: [u32; PANEL], weights: [u32; PANEL]) -> PortableBf16 {
        for (lane, sum) in self.0.iter_mut().enumerate() {
            let (input, weight) = (inputs[lane], weights[lane]);
            *sum += f32::from_bits(input & 0xffff_0000) * f32::from_bits(weight & 0xffff_0000);
            *sum += f32::from_bits(input << 16) * f32::from_bits(weight << 16);
        }
        self
    }

    #[inline(always)]
    unsafe fn floats(self, _: Portable<PANEL>) -> Portable<PANEL> {
        Portable(self.0)
    }
}

// SAFETY: plain Rust, which every CPU that runs this program executes.
unsafe impl Bf16 for PortableBf16 {
    #[inline(always)]
    unsafe fn round(values: Portable<PANEL>, to: *mut u32) {
        let mut words = [0; PANEL / 2];
        for (word, pair) in words.iter_mut().zip(values.0.as_chunks::<2>().0) {
            *word = u32::from(bf16(pair[0])) | u32::from(bf16(pair[1])) << 16;
        }
        // SAFETY: the caller vouches for room for a panel of values at `to`.
        unsafe { to.cast::<[u32; PANEL / 2]>().write_unaligned(words) }
    }

    #[inline(always)]
    unsafe fn pair(low: Portable<PANEL>, high: Portable<PANEL>, to: *mut u32) {
        let words: [u32; PANEL] =
            std::array::from_fn(|lane| u32::from(bf16(low.0[lane])) | u32::from(bf16(high.0[lane])) << 16);
        // SAFETY: the caller vouches for room for a panel of words at `to`.
        unsafe { to.cast::<[u32; PANEL]>().write_unaligned(words) }
    }
}

/// Sums of products of int8 inputs, 0 to 255, and weights, -127 to 127, in plain Rust.
#[derive(Clone, Copy)]
pub(super) struct PortableInt8([i32; PANEL]);

// SAFETY: plain Rust, which every CPU that runs this program executes.
unsafe impl Dot for PortableInt8 {
    type Element = u32;
    type Elements = [u32; PANEL];
    type Vector = Portable<PANEL>;
    const VALUES: usize = 4;

    #[inline(always)]
    unsafe fn zero() -> PortableInt8 {
        PortableInt8([0; PANEL])
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> [u32; PANEL] {
        // SAFETY: the caller vouches for a panel of words at `from`.
        unsafe { from.cast::<[u32; PANEL]>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn splat(from: *const u32) -> [u32; PANEL] {
        // SAFETY: the caller vouches for a word at `from`.
        [unsafe { from.read_unaligned() }; PANEL]
    }

    #[inline(always)]
    unsafe fn add_products(mut self, inputs: [u32; PANEL], weights: [u32; PANEL]) -> PortableInt8 {
        for (lane, sum) in self.0.iter_mut().enumerate() {
            for value in 0..4 {
                let input = i32::from((inputs[lane] >> (8 * value)) as u8);
                let weight = i32::from((weights[lane] >> (8 * value)) as i8);
                *sum += input * weight;
            }
        }
        self
    }

    #[inline(always)]
    unsafe fn floats(self, scale: Portable<PANEL>) -> Portable<PANEL> {
        let mut values = [0.0; PANEL];
        for (lane, value) in values.iter_mut().enumerate() {
            *value = self.0[lane] as f32 * scale.0[lane];
        }
        Portable(values)
    }
}

// SAFETY: plain Rust, which every CPU that runs this program executes.
unsafe impl LowPrecision for PortableInt8 {
    #[inline(always)]
    unsafe fn quantise(values: Portable<PANEL>, inverse: Portable<PANEL>, to: *mut u32) {
        /// A float with its last bit at the unit: adding it rounds to the nearest whole number, ties to even.
        const UNITS: f32 = (1 << 23) as f32;
        let mut words = [0; PANEL / 4];
        for (lane, &value) in values.0.iter().enumerate() {
            let whole = (value * inverse.0[lane]).min(255.0) + UNITS;
            words[lane / 4] |= (whole.to_bits() & 0xff) << (8 * (lane % 4));
        }
        // SAFETY: the caller vouches for room for a panel of values at `to`.
        unsafe { to.cast::<[u32; PANEL / 4]>().write_unaligned(words) }
    }

    #[inline(always)]
    unsafe fn dequantise(from: *const u32, step: Portable<PANEL>) -> Portable<PANEL> {
        // SAFETY: the caller vouches for a panel of values at `from`.
        let words = unsafe { from.cast::<[u32; PANEL / 4]>().read_unaligned() };
        let mut values = [0.0; PANEL];
        for (lane, value) in values.iter_mut().enumerate() {
            *value = f32::from((words[lane / 4] >> (8 * (lane % 4))) as u8) * step.0[lane];
        }
        Portable(values)
    }
}
