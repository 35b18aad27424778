//! Low precision by the instructions made for it.

use std::arch::x86_64::*;
use std::mem::transmute;

use super::super::dot::Dot;
use super::super::vector::{Avx512, Vector};
use super::{Bf16, LowPrecision};

/// Sums of products of bf16 values; needs AVX-512F and AVX-512 BF16.
#[derive(Clone, Copy)]
pub(super) struct Avx512Bf16(__m512);

// SAFETY: each method is a few instructions of AVX-512F and AVX-512 BF16, which the caller vouches for. It touches a
// word, a register of words or sixteen values (32 bytes). `transmute` is between registers of the same bits.
#[allow(clippy::undocumented_unsafe_blocks, reason = "one reason for all, above")]
unsafe impl Dot for Avx512Bf16 {
    type Element = u32;
    type Elements = __m512i;
    type Vector = Avx512;
    const VALUES: usize = 2;

    #[inline(always)]
    unsafe fn zero() -> Avx512Bf16 {
        Avx512Bf16(unsafe { _mm512_setzero_ps() })
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> __m512i {
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn splat(from: *const u32) -> __m512i {
        unsafe { _mm512_set1_epi32(from.read_unaligned() as i32) }
    }

    #[inline(always)]
    unsafe fn add_products(self, inputs: __m512i, weights: __m512i) -> Avx512Bf16 {
        unsafe {
            let (inputs, weights) = (transmute::<__m512i, __m512bh>(inputs), transmute::<__m512i, __m512bh>(weights));
            // In this order the inputs can be read from memory by the instruction itself; the product is the same.
            Avx512Bf16(_mm512_dpbf16_ps(self.0, weights, inputs))
        }
    }

    #[inline(always)]
    unsafe fn floats(self, _: Avx512) -> Avx512 {
        Avx512(self.0)
    }
}

// SAFETY: a few instructions of AVX-512F and AVX-512 BF16, which the caller vouches for, and a register written.
unsafe impl Bf16 for Avx512Bf16 {
    #[inline(always)]
    unsafe fn round(values: Avx512, to: *mut u32) {
        // SAFETY: the caller vouches for the instructions and for room for half a panel of words at `to`.
        unsafe {
            let values = transmute::<__m256bh, __m256i>(_mm512_cvtneps_pbh(values.0));
            _mm256_storeu_si256(to.cast(), values);
        }
    }

    #[inline(always)]
    unsafe fn pair(low: Avx512, high: Avx512, to: *mut u32) {
        // SAFETY: the caller vouches for the instructions and for room for a panel of words at `to`.
        unsafe {
            let [low, high] = [low, high]
                .map(|values| _mm512_cvtepu16_epi32(transmute::<__m256bh, __m256i>(_mm512_cvtneps_pbh(values.0))));
            _mm512_storeu_si512(to.cast(), _mm512_or_si512(low, _mm512_slli_epi32::<16>(high)));
        }
    }
}

/// Sums of products of int8 values; needs AVX-512F and AVX-512 VNNI.
#[derive(Clone, Copy)]
pub(super) struct Avx512Vnni(__m512i);

// SAFETY: each method is a few instructions of AVX-512F and AVX-512 VNNI, which the caller vouches for. It touches a
// word, a register of words or sixteen values (16 bytes).
#[allow(clippy::undocumented_unsafe_blocks, reason = "one reason for all, above")]
unsafe impl Dot for Avx512Vnni {
    type Element = u32;
    type Elements = __m512i;
    type Vector = Avx512;
    const VALUES: usize = 4;

    #[inline(always)]
    unsafe fn zero() -> Avx512Vnni {
        Avx512Vnni(unsafe { _mm512_setzero_si512() })
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> __m512i {
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn splat(from: *const u32) -> __m512i {
        unsafe { _mm512_set1_epi32(from.read_unaligned() as i32) }
    }

    #[inline(always)]
    unsafe fn add_products(self, inputs: __m512i, weights: __m512i) -> Avx512Vnni {
        Avx512Vnni(unsafe { _mm512_dpbusd_epi32(self.0, inputs, weights) })
    }

    #[inline(always)]
    unsafe fn floats(self, scale: Avx512) -> Avx512 {
        // Rounded twice, as in plain Rust, so that both make the same whole numbers later.
        unsafe { Avx512(_mm512_cvtepi32_ps(self.0)).mul(scale) }
    }
}

// SAFETY: as above.
#[allow(clippy::undocumented_unsafe_blocks, reason = "one reason for all, above")]
unsafe impl LowPrecision for Avx512Vnni {
    #[inline(always)]
    unsafe fn quantise(values: Avx512, inverse: Avx512, to: *mut u32) {
        unsafe {
            let whole = _mm512_cvtps_epu32(values.mul(inverse).0);
            _mm_storeu_si128(to.cast(), _mm512_cvtusepi32_epi8(whole));
        }
    }

    #[inline(always)]
    unsafe fn dequantise(from: *const u32, step: Avx512) -> Avx512 {
        unsafe {
            let values = _mm512_cvtepu8_epi32(_mm_loadu_si128(from.cast()));
            Avx512(_mm512_cvtepi32_ps(values)).mul(step)
        }
    }
}
