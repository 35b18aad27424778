//! How much memory is held.

use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Does the work and returns what it returns.
///
/// # Panics
/// When it held more than `most` bytes at a time.
pub fn within<T>(most: usize, work: impl FnOnce() -> T) -> T {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let done = work();
    let held = MEMORY.peak_usage().saturating_sub(before);
    assert!(held <= most, "{held} bytes were held; expected at most {most}");
    done
}
