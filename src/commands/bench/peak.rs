//! The peak performance of the processor.

use std::time::Instant;

use hnefi_inference::peak_multiply_adds;

use super::measure::Effort;

/// Rounds between two looks at the clock: some tens of microseconds.
const ROUNDS: u64 = 10_000;

/// Multiply-adds of single-precision floats per second on one core.
pub(super) fn measure(effort: Effort) -> f64 {
    // An idle processor takes a while to reach its full speed.
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < 0.2 {
        peak_multiply_adds(ROUNDS);
    }
    effort.rate(|| peak_multiply_adds(ROUNDS))
}
