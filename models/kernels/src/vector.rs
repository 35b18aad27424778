//! The few vector operations that the kernels are written in, once per instruction set.
//!
//! Kernels are generic over [`Vector`] and inlined into an entry point that enables the instruction set, so there is
//! one text of each kernel and the instruction sets differ only here.

/// A register of floats.
///
/// # Safety
/// Every method may only be called where the CPU has the instruction set of the implementation, and inlined into a
/// function that enables it. Loads and stores touch `LANES` floats from the pointer on and need no alignment.
pub(super) unsafe trait Vector: Copy {
    /// Floats in a register; divides [`super::PANEL`].
    const LANES: usize;

    unsafe fn load(from: *const f32) -> Self;
    unsafe fn store(self, to: *mut f32);
    unsafe fn splat(value: f32) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    unsafe fn mul(self, other: Self) -> Self;
    unsafe fn max(self, other: Self) -> Self;
    /// `self * factor + sum`, rounded once or twice, depending on the instruction set.
    unsafe fn mul_add(self, factor: Self, sum: Self) -> Self;
    /// `self` where `gate` is positive, else 0.
    unsafe fn where_positive(self, gate: Self) -> Self;
    /// `self` where `a` and `b` are equal, else `other`.
    unsafe fn where_equal(self, a: Self, b: Self, other: Self) -> Self;
}

/// Floats in an array, which the compiler vectorises with what the target has.
#[derive(Clone, Copy)]
pub(super) struct Portable<const LANES: usize>(pub(super) [f32; LANES]);

impl<const LANES: usize> Portable<LANES> {
    #[inline(always)]
    fn zip(self, other: Self, operation: impl Fn(f32, f32) -> f32) -> Self {
        Self(std::array::from_fn(|lane| operation(self.0[lane], other.0[lane])))
    }
}

// SAFETY: plain Rust, which every CPU that runs this program executes.
unsafe impl<const LANES: usize> Vector for Portable<LANES> {
    const LANES: usize = LANES;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller vouches for `LANES` floats at `from`.
        Self(unsafe { from.cast::<[f32; LANES]>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller vouches for room for `LANES` floats at `to`.
        unsafe { to.cast::<[f32; LANES]>().write_unaligned(self.0) }
    }

    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        Self([value; LANES])
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }

    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    unsafe fn mul_add(self, factor: Self, sum: Self) -> Self {
        Self(std::array::from_fn(|lane| {
            // Without an instruction for it, a fused multiply-add is a slow call into the maths library.
            if cfg!(any(target_feature = "fma", target_arch = "aarch64")) {
                self.0[lane].mul_add(factor.0[lane], sum.0[lane])
            } else {
                self.0[lane] * factor.0[lane] + sum.0[lane]
            }
        }))
    }

    #[inline(always)]
    unsafe fn where_positive(self, gate: Self) -> Self {
        self.zip(gate, |value, gate| if gate > 0.0 { value } else { 0.0 })
    }

    #[inline(always)]
    unsafe fn where_equal(self, a: Self, b: Self, other: Self) -> Self {
        Self(std::array::from_fn(|lane| if a.0[lane] == b.0[lane] { self.0[lane] } else { other.0[lane] }))
    }
}

/// Some registers side by side as one, so that a panel of floats is a vector on every instruction set.
#[derive(Clone, Copy)]
pub(super) struct Wide<V, const REGISTERS: usize>([V; REGISTERS]);

/// Computes `$value` for every register of `$registers`, in place.
macro_rules! each {
    ($registers:tt, |$index:ident| $value:expr) => {{
        for $index in 0..REGISTERS {
            // SAFETY: the caller's promise is what the register's operation asks for.
            $registers.0[$index] = unsafe { $value };
        }
        $registers
    }};
}

// SAFETY: every operation is the register's own, on each register in turn.
unsafe impl<V: Vector, const REGISTERS: usize> Vector for Wide<V, REGISTERS> {
    const LANES: usize = REGISTERS * V::LANES;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller vouches for the floats of all registers.
        let mut out = Self([unsafe { V::splat(0.0) }; REGISTERS]);
        each!(out, |index| V::load(from.add(index * V::LANES)))
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        for index in 0..REGISTERS {
            // SAFETY: the caller vouches for room for the floats of all registers.
            unsafe { self.0[index].store(to.add(index * V::LANES)) }
        }
    }

    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        // SAFETY: as the caller vouches.
        Self([unsafe { V::splat(value) }; REGISTERS])
    }

    #[inline(always)]
    unsafe fn add(mut self, other: Self) -> Self {
        each!(self, |index| self.0[index].add(other.0[index]))
    }

    #[inline(always)]
    unsafe fn sub(mut self, other: Self) -> Self {
        each!(self, |index| self.0[index].sub(other.0[index]))
    }

    #[inline(always)]
    unsafe fn mul(mut self, other: Self) -> Self {
        each!(self, |index| self.0[index].mul(other.0[index]))
    }

    #[inline(always)]
    unsafe fn max(mut self, other: Self) -> Self {
        each!(self, |index| self.0[index].max(other.0[index]))
    }

    #[inline(always)]
    unsafe fn mul_add(mut self, factor: Self, sum: Self) -> Self {
        each!(self, |index| self.0[index].mul_add(factor.0[index], sum.0[index]))
    }

    #[inline(always)]
    unsafe fn where_positive(mut self, gate: Self) -> Self {
        each!(self, |index| self.0[index].where_positive(gate.0[index]))
    }

    #[inline(always)]
    unsafe fn where_equal(mut self, a: Self, b: Self, other: Self) -> Self {
        each!(self, |index| self.0[index].where_equal(a.0[index], b.0[index], other.0[index]))
    }
}

/// What every machine of the target has: the last table's register.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
pub(super) type Baseline = Portable<8>;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(super) type Baseline = simd128::Simd128;

/// The name of its table.
pub(super) const BASELINE: &str =
    if cfg!(all(target_arch = "wasm32", target_feature = "simd128")) { "SIMD128" } else { "portable" };

/// Rows of its register block: where a panel takes four registers, two rows of sums and the operands fill the sixteen
/// that engines have on x86-64.
pub(super) const BASELINE_ROWS: usize = if <Baseline as Vector>::LANES < 8 { 2 } else { super::BLOCK };

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(super) use avx512::Avx512;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::Vector;

    /// Eight floats in a `ymm` register; needs AVX2 and FMA.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Avx2(pub(in super::super) __m256);

    // SAFETY: each method is one or two instructions of AVX and FMA, which the caller vouches for, and touches eight
    // floats.
    #[allow(clippy::undocumented_unsafe_blocks, reason = "one reason for all, above")]
    unsafe impl Vector for Avx2 {
        const LANES: usize = 8;

        #[inline(always)]
        unsafe fn load(from: *const f32) -> Avx2 {
            Avx2(unsafe { _mm256_loadu_ps(from) })
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            unsafe { _mm256_storeu_ps(to, self.0) }
        }

        #[inline(always)]
        unsafe fn splat(value: f32) -> Avx2 {
            Avx2(unsafe { _mm256_set1_ps(value) })
        }

        #[inline(always)]
        unsafe fn add(self, other: Avx2) -> Avx2 {
            Avx2(unsafe { _mm256_add_ps(self.0, other.0) })
        }

        #[inline(always)]
        unsafe fn sub(self, other: Avx2) -> Avx2 {
            Avx2(unsafe { _mm256_sub_ps(self.0, other.0) })
        }

        #[inline(always)]
        unsafe fn mul(self, other: Avx2) -> Avx2 {
            Avx2(unsafe { _mm256_mul_ps(self.0, other.0) })
        }

        #[inline(always)]
        unsafe fn max(self, other: Avx2) -> Avx2 {
            Avx2(unsafe { _mm256_max_ps(self.0, other.0) })
        }

        #[inline(always)]
        unsafe fn mul_add(self, factor: Avx2, sum: Avx2) -> Avx2 {
            Avx2(unsafe { _mm256_fmadd_ps(self.0, factor.0, sum.0) })
        }

        #[inline(always)]
        unsafe fn where_positive(self, gate: Avx2) -> Avx2 {
            Avx2(unsafe { _mm256_and_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(gate.0, _mm256_setzero_ps()), self.0) })
        }

        #[inline(always)]
        unsafe fn where_equal(self, a: Avx2, b: Avx2, other: Avx2) -> Avx2 {
            Avx2(unsafe { _mm256_blendv_ps(other.0, self.0, _mm256_cmp_ps::<_CMP_EQ_OQ>(a.0, b.0)) })
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    use super::Vector;

    /// Sixteen floats in a `zmm` register; needs AVX-512F.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Avx512(pub(in super::super) __m512);

    // SAFETY: each method is one or two instructions of AVX-512F, which the caller vouches for, and touches sixteen
    // floats.
    #[allow(clippy::undocumented_unsafe_blocks, reason = "one reason for all, above")]
    unsafe impl Vector for Avx512 {
        const LANES: usize = 16;

        #[inline(always)]
        unsafe fn load(from: *const f32) -> Avx512 {
            Avx512(unsafe { _mm512_loadu_ps(from) })
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            unsafe { _mm512_storeu_ps(to, self.0) }
        }

        #[inline(always)]
        unsafe fn splat(value: f32) -> Avx512 {
            Avx512(unsafe { _mm512_set1_ps(value) })
        }

        #[inline(always)]
        unsafe fn add(self, other: Avx512) -> Avx512 {
            Avx512(unsafe { _mm512_add_ps(self.0, other.0) })
        }

        #[inline(always)]
        unsafe fn sub(self, other: Avx512) -> Avx512 {
            Avx512(unsafe { _mm512_sub_ps(self.0, other.0) })
        }

        #[inline(always)]
        unsafe fn mul(self, other: Avx512) -> Avx512 {
            Avx512(unsafe { _mm512_mul_ps(self.0, other.0) })
        }

        #[inline(always)]
        unsafe fn max(self, other: Avx512) -> Avx512 {
            Avx512(unsafe { _mm512_max_ps(self.0, other.0) })
        }

        #[inline(always)]
        unsafe fn mul_add(self, factor: Avx512, sum: Avx512) -> Avx512 {
            Avx512(unsafe { _mm512_fmadd_ps(self.0, factor.0, sum.0) })
        }

        #[inline(always)]
        unsafe fn where_positive(self, gate: Avx512) -> Avx512 {
            Avx512(unsafe {
                _mm512_maskz_mov_ps(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(gate.0, _mm512_setzero_ps()), self.0)
            })
        }

        #[inline(always)]
        unsafe fn where_equal(self, a: Avx512, b: Avx512, other: Avx512) -> Avx512 {
            Avx512(unsafe { _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a.0, b.0), other.0, self.0) })
        }
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128 {
    use std::arch::wasm32::*;

    use super::Vector;

    /// Four floats in a `v128`; WebAssembly knows when it loads a module whether it has them, so nothing is chosen.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Simd128(v128);

    // SAFETY: each method is one or two instructions of SIMD128, without which the module does not load; loads and
    // stores touch four floats, which the caller vouches for.
    #[allow(clippy::undocumented_unsafe_blocks, reason = "one reason for all, above")]
    unsafe impl Vector for Simd128 {
        const LANES: usize = 4;

        #[inline(always)]
        unsafe fn load(from: *const f32) -> Simd128 {
            Simd128(unsafe { v128_load(from.cast()) })
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            unsafe { v128_store(to.cast(), self.0) }
        }

        #[inline(always)]
        unsafe fn splat(value: f32) -> Simd128 {
            Simd128(f32x4_splat(value))
        }

        #[inline(always)]
        unsafe fn add(self, other: Simd128) -> Simd128 {
            Simd128(f32x4_add(self.0, other.0))
        }

        #[inline(always)]
        unsafe fn sub(self, other: Simd128) -> Simd128 {
            Simd128(f32x4_sub(self.0, other.0))
        }

        #[inline(always)]
        unsafe fn mul(self, other: Simd128) -> Simd128 {
            Simd128(f32x4_mul(self.0, other.0))
        }

        #[inline(always)]
        unsafe fn max(self, other: Simd128) -> Simd128 {
            // `other < self ? self : other`: one instruction on x86-64, where `f32x4_max` takes several.
            Simd128(f32x4_pmax(other.0, self.0))
        }

        #[inline(always)]
        unsafe fn mul_add(self, factor: Simd128, sum: Simd128) -> Simd128 {
            Simd128(f32x4_add(f32x4_mul(self.0, factor.0), sum.0))
        }

        #[inline(always)]
        unsafe fn where_positive(self, gate: Simd128) -> Simd128 {
            Simd128(v128_and(f32x4_gt(gate.0, f32x4_splat(0.0)), self.0))
        }

        #[inline(always)]
        unsafe fn where_equal(self, a: Simd128, b: Simd128, other: Simd128) -> Simd128 {
            Simd128(v128_bitselect(self.0, other.0, f32x4_eq(a.0, b.0)))
        }
    }
}
