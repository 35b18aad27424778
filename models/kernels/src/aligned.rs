//! Buffers that begin on a cache line.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Bytes in a cache line, on which registers of every width are loaded fastest.
const LINE: usize = 64;

/// A buffer that begins on a cache line and never grows. Its memory ends where it ends, so that AddressSanitizer and
/// Miri see every access beyond it.
pub struct Aligned<T> {
    start: NonNull<T>,
    len: usize,
}

/// A buffer of floats.
pub type Floats = Aligned<f32>;

impl<T: Copy + Default> Aligned<T> {
    /// `len` zeros.
    pub fn zeros(len: usize) -> Aligned<T> {
        let layout = Aligned::<T>::layout(len);
        // SAFETY: the layout has a size above 0.
        let start = unsafe { alloc(layout) };
        let Some(start) = NonNull::new(start.cast::<T>()) else { handle_alloc_error(layout) };
        for index in 0..len {
            // SAFETY: the memory has room for `len` values, and the line is aligned for them.
            unsafe { start.add(index).write(T::default()) };
        }
        Aligned { start, len }
    }
}

impl<T> Aligned<T> {
    /// The memory of `len` values; of nothing it is one byte.
    fn layout(len: usize) -> Layout {
        let bytes = size_of::<T>().checked_mul(len).expect("a buffer fits in memory").max(1);
        Layout::from_size_align(bytes, LINE.max(align_of::<T>())).expect("a buffer fits in memory")
    }
}

// SAFETY: a buffer owns its values, as a vector does.
unsafe impl<T: Send> Send for Aligned<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Aligned<T> {}

impl<T> Drop for Aligned<T> {
    fn drop(&mut self) {
        // SAFETY: the memory came from `zeros` by this layout; values that are `Copy` need no drop.
        unsafe { dealloc(self.start.as_ptr().cast(), Aligned::<T>::layout(self.len)) };
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `len` values were written there, and the buffer is borrowed.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for Aligned<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: `len` values were written there, and the buffer is borrowed by nobody else.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T: fmt::Debug> fmt::Debug for Aligned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
