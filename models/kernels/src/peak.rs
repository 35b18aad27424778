//! What the arithmetic units can do at most: multiply-adds on registers, without a load or a store.

use super::vector::Vector;

/// Registers added up side by side, enough to hide the latency of a multiply-add.
const CHAINS: usize = 12;

/// `rounds` times a multiply-add in every register; returns how many multiply-adds of single floats that took.
///
/// # Safety
/// The CPU has the instruction set of `V`.
#[inline(always)]
pub(super) unsafe fn multiply_adds<V: Vector>(rounds: u64) -> u64 {
    // SAFETY: the instruction set is the caller's promise, and `lanes` is as long as a register can be.
    unsafe {
        // Opaque to the compiler, and such that the values stay near 1.
        let factor = V::splat(std::hint::black_box(0.5));
        let addend = V::splat(std::hint::black_box(0.5));
        let mut sums = [V::splat(std::hint::black_box(1.0)); CHAINS];
        for _ in 0..rounds {
            for sum in &mut sums {
                *sum = sum.mul_add(factor, addend);
            }
        }
        let total = sums.into_iter().fold(V::splat(0.0), |total, sum| total.add(sum));
        let mut lanes = [0.0; super::PANEL];
        total.store(lanes.as_mut_ptr());
        // So that the compiler leaves none out.
        std::hint::black_box(lanes);
    }
    rounds * (CHAINS * V::LANES) as u64
}
