//! int8 by AVX-VNNI, in registers of half a panel: all sums of a row of 11 squares fit into the sixteen of AVX2.

use std::arch::x86_64::*;

use super::super::dot::Dot;
use super::super::vector::{Avx2, Vector};
use super::LowPrecision;

/// Sums of products of int8 values; needs AVX2 and AVX-VNNI.
#[derive(Clone, Copy)]
pub(super) struct AvxVnni(__m256i);

// SAFETY: each method is a few instructions of AVX2 and AVX-VNNI, which the caller vouches for. It touches a word, a
// register of words or eight values (8 bytes).
#[allow(clippy::undocumented_unsafe_blocks, reason = "one reason for all, above")]
unsafe impl Dot for AvxVnni {
    type Element = u32;
    type Elements = __m256i;
    type Vector = Avx2;
    const VALUES: usize = 4;

    #[inline(always)]
    unsafe fn zero() -> AvxVnni {
        AvxVnni(unsafe { _mm256_setzero_si256() })
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> __m256i {
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn splat(from: *const u32) -> __m256i {
        unsafe { _mm256_set1_epi32(from.read_unaligned() as i32) }
    }

    #[inline(always)]
    unsafe fn add_products(self, inputs: __m256i, weights: __m256i) -> AvxVnni {
        AvxVnni(unsafe { _mm256_dpbusd_avx_epi32(self.0, inputs, weights) })
    }

    #[inline(always)]
    unsafe fn floats(self, scale: Avx2) -> Avx2 {
        // Rounded twice, as in plain Rust, so that both make the same whole numbers later.
        unsafe { Avx2(_mm256_cvtepi32_ps(self.0)).mul(scale) }
    }
}

// SAFETY: as above.
#[allow(clippy::undocumented_unsafe_blocks, reason = "one reason for all, above")]
unsafe impl LowPrecision for AvxVnni {
    #[inline(always)]
    unsafe fn quantise(values: Avx2, inverse: Avx2, to: *mut u32) {
        unsafe {
            // Cut off as floats: beyond the whole numbers of 32 bits the conversion would make them negative.
            let whole = _mm256_cvtps_epi32(_mm256_min_ps(values.mul(inverse).0, _mm256_set1_ps(255.0)));
            let halves = _mm_packus_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256::<1>(whole));
            _mm_storel_epi64(to.cast(), _mm_packus_epi16(halves, halves));
        }
    }

    #[inline(always)]
    unsafe fn dequantise(from: *const u32, step: Avx2) -> Avx2 {
        unsafe {
            let values = _mm256_cvtepu8_epi32(_mm_loadl_epi64(from.cast()));
            Avx2(_mm256_cvtepi32_ps(values)).mul(step)
        }
    }
}
