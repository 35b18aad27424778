//! The few operations that the quantise convolutions are written in, once per arithmetic and instruction set.

use super::super::PANEL;
use super::super::vector::{Portable, Vector};

/// A panel of sums of products of quantise numbers. The numbers lie in words of 32 bits, neighbours along the sum in one
/// word, the first in the lowest bits.
///
/// # Safety
/// Every method may only be called where the CPU has the instruction set of the implementation, and inlined into a
/// function that enables it. Loads and stores need no alignment.
pub(in super::super) unsafe trait Dot: Copy {
    /// The floats of the same instruction set, a panel in a register.
    type Vector: Vector;
    /// A panel of words.
    type Words: Copy;
    /// Numbers in a word.
    const NUMBERS: usize;

    /// Sums of nothing.
    unsafe fn zero() -> Self;
    /// A panel of words from `from` on.
    unsafe fn load(from: *const u32) -> Self::Words;
    /// The word at `from` in every lane.
    unsafe fn splat(from: *const u32) -> Self::Words;
    /// Adds the products of the numbers of each word of inputs and its word of weights.
    unsafe fn add_products(self, inputs: Self::Words, weights: Self::Words) -> Self;
    /// The sums as floats: times `scale` if they are whole numbers.
    unsafe fn floats(self, scale: Self::Vector) -> Self::Vector;
    /// Writes values as a panel of quantise numbers; whole numbers of times `inverse`, of values that are not negative.
    unsafe fn quantise(values: Self::Vector, inverse: Self::Vector, to: *mut u32);
    /// The panel of quantise numbers at `from` as floats: whole numbers times `step`.
    unsafe fn dequantise(from: *const u32, step: Self::Vector) -> Self::Vector;
}

/// Sums of products of bf16 numbers, and operands of them.
///
/// # Safety
/// As for [`Dot`].
pub(in super::super) unsafe trait Bf16: Dot {
    /// Writes a panel of words with the numbers of `low` in their lower and those of `high` in their upper halves.
    unsafe fn pair(low: Self::Vector, high: Self::Vector, to: *mut u32);
}

/// `value`, which is a number, as a bf16: the nearest one, of two the even one.
#[inline(always)]
pub fn bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

/// Sums of products of bf16 numbers in plain Rust. A product of two is exact as a float, and each is added in turn, the
/// second of a word first, as the instruction of AVX-512 is defined.
#[derive(Clone, Copy)]
pub(in super::super) struct PortableBf16([f32; PANEL]);

// SAFETY: plain Rust, which every CPU that runs this program executes.
unsafe impl Dot for PortableBf16 {
    type Vector = Portable<PANEL>;
    type Words = [u32; PANEL];
    const NUMBERS: usize = 2;

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

    #[inline(always)]
    unsafe fn quantise(values: Portable<PANEL>, _: Portable<PANEL>, to: *mut u32) {
        let mut words = [0; PANEL / 2];
        for (word, pair) in words.iter_mut().zip(values.0.as_chunks::<2>().0) {
            *word = u32::from(bf16(pair[0])) | u32::from(bf16(pair[1])) << 16;
        }
        // SAFETY: the caller vouches for room for a panel of numbers at `to`.
        unsafe { to.cast::<[u32; PANEL / 2]>().write_unaligned(words) }
    }

    #[inline(always)]
    unsafe fn dequantise(from: *const u32, _: Portable<PANEL>) -> Portable<PANEL> {
        // SAFETY: the caller vouches for a panel of numbers at `from`.
        let words = unsafe { from.cast::<[u32; PANEL / 2]>().read_unaligned() };
        let mut values = [0.0; PANEL];
        for (pair, word) in values.as_chunks_mut::<2>().0.iter_mut().zip(words) {
            *pair = [f32::from_bits(word << 16), f32::from_bits(word & 0xffff_0000)];
        }
        Portable(values)
    }
}

// SAFETY: plain Rust, which every CPU that runs this program executes.
unsafe impl Bf16 for PortableBf16 {
    #[inline(always)]
    unsafe fn pair(low: Portable<PANEL>, high: Portable<PANEL>, to: *mut u32) {
        let words: [u32; PANEL] =
            std::array::from_fn(|lane| u32::from(bf16(low.0[lane])) | u32::from(bf16(high.0[lane])) << 16);
        // SAFETY: the caller vouches for room for a panel of words at `to`.
        unsafe { to.cast::<[u32; PANEL]>().write_unaligned(words) }
    }
}

/// Sums of products of eight-bit inputs, 0 to 255, and weights, -127 to 127, in plain Rust.
#[derive(Clone, Copy)]
pub(in super::super) struct PortableInt8([i32; PANEL]);

// SAFETY: plain Rust, which every CPU that runs this program executes.
unsafe impl Dot for PortableInt8 {
    type Vector = Portable<PANEL>;
    type Words = [u32; PANEL];
    const NUMBERS: usize = 4;

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
            for number in 0..4 {
                let input = i32::from((inputs[lane] >> (8 * number)) as u8);
                let weight = i32::from((weights[lane] >> (8 * number)) as i8);
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

    #[inline(always)]
    unsafe fn quantise(values: Portable<PANEL>, inverse: Portable<PANEL>, to: *mut u32) {
        /// A float with its last bit at the unit: adding it rounds to the nearest whole number, of two to the even one.
        const UNITS: f32 = (1 << 23) as f32;
        let mut words = [0; PANEL / 4];
        for (lane, &value) in values.0.iter().enumerate() {
            let whole = (value * inverse.0[lane]).min(255.0) + UNITS;
            words[lane / 4] |= (whole.to_bits() & 0xff) << (8 * (lane % 4));
        }
        // SAFETY: the caller vouches for room for a panel of numbers at `to`.
        unsafe { to.cast::<[u32; PANEL / 4]>().write_unaligned(words) }
    }

    #[inline(always)]
    unsafe fn dequantise(from: *const u32, step: Portable<PANEL>) -> Portable<PANEL> {
        // SAFETY: the caller vouches for a panel of numbers at `from`.
        let words = unsafe { from.cast::<[u32; PANEL / 4]>().read_unaligned() };
        let mut values = [0.0; PANEL];
        for (lane, value) in values.iter_mut().enumerate() {
            *value = f32::from((words[lane / 4] >> (8 * (lane % 4))) as u8) * step.0[lane];
        }
        Portable(values)
    }
}
