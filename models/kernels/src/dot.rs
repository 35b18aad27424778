//! Sums of products: the operations that matrix products and direct convolutions are written in, once for each
//! arithmetic and instruction set.

use super::vector::Vector;

/// A vector of sums of products: a panel, or in direct convolutions a part of one.
///
/// An element is a float, or a word of 32 bits with several values of low precision: neighbours along the sum, the
/// first one in the lowest bits.
///
/// # Safety
/// Every method may only be called where the CPU has the instruction set of the implementation, and inlined into a
/// function that enables it. Loads and stores need no alignment.
pub(super) unsafe trait Dot: Copy {
    /// What the operands consist of.
    type Element: Copy;
    /// An element for each sum.
    type Elements: Copy;
    /// A float for each sum, of the same instruction set.
    type Vector: Vector;
    /// Values in an element.
    const VALUES: usize;

    /// Sums of nothing.
    unsafe fn zero() -> Self;
    /// An element for each sum, from `from` on.
    unsafe fn load(from: *const Self::Element) -> Self::Elements;
    /// The element at `from` in every lane.
    unsafe fn splat(from: *const Self::Element) -> Self::Elements;
    /// Adds the products of each element of inputs and its element of weights.
    unsafe fn add_products(self, inputs: Self::Elements, weights: Self::Elements) -> Self;
    /// The sums as floats; int8 sums times `scale`.
    unsafe fn floats(self, scale: Self::Vector) -> Self::Vector;

    /// Sums to be added to the floats at `to` by [`Dot::add_to`]. They may begin with the floats themselves.
    ///
    /// Sums of bf16 products begin with zero: the CPU's instruction reads subnormal sums as zero, which `to` should
    /// not suffer.
    #[inline(always)]
    unsafe fn begin(_to: *const f32) -> Self {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { Self::zero() }
    }

    /// Adds the sums that [`Dot::begin`] began to the floats at `to`.
    #[inline(always)]
    unsafe fn add_to(self, to: *mut f32) {
        // SAFETY: the caller vouches for the instruction set and for a panel of floats at `to`.
        unsafe { Self::Vector::load(to).add(self.floats(Self::Vector::splat(1.0))).store(to) }
    }
}

/// Sums of products of floats, in a panel `V`.
#[derive(Clone, Copy)]
pub(super) struct Single<V>(V);

// SAFETY: all methods are `V`'s, and a panel of floats is what `V` loads and stores.
unsafe impl<V: Vector> Dot for Single<V> {
    type Element = f32;
    type Elements = V;
    type Vector = V;
    const VALUES: usize = 1;

    #[inline(always)]
    unsafe fn zero() -> Single<V> {
        // SAFETY: as the caller vouches.
        Single(unsafe { V::splat(0.0) })
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> V {
        // SAFETY: as the caller vouches.
        unsafe { V::load(from) }
    }

    #[inline(always)]
    unsafe fn splat(from: *const f32) -> V {
        // SAFETY: as the caller vouches.
        unsafe { V::splat(*from) }
    }

    #[inline(always)]
    unsafe fn add_products(self, inputs: V, weights: V) -> Single<V> {
        // SAFETY: as the caller vouches.
        Single(unsafe { inputs.mul_add(weights, self.0) })
    }

    #[inline(always)]
    unsafe fn floats(self, _: V) -> V {
        self.0
    }

    #[inline(always)]
    unsafe fn begin(to: *const f32) -> Single<V> {
        // SAFETY: as the caller vouches.
        Single(unsafe { V::load(to) })
    }

    #[inline(always)]
    unsafe fn add_to(self, to: *mut f32) {
        // SAFETY: as the caller vouches.
        unsafe { self.0.store(to) }
    }
}
