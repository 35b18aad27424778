//! Buffers that begin on a cache line.

use std::ops::{Deref, DerefMut};

/// Bytes in a cache line, on which registers of every width are loaded fastest.
const LINE: usize = 64;

/// A buffer that begins on a cache line and never grows.
#[derive(Debug)]
pub struct Aligned<T> {
    /// A little longer than asked for, so that it holds an aligned beginning.
    memory: Vec<T>,
    begin: usize,
    len: usize,
}

/// A buffer of floats.
pub type Floats = Aligned<f32>;

impl<T: Copy + Default> Aligned<T> {
    /// `len` zeros.
    pub fn zeros(len: usize) -> Aligned<T> {
        let memory = vec![T::default(); len + LINE / size_of::<T>()];
        // `align_offset` may decline to answer, and then the buffer is merely slower.
        let begin = memory.as_ptr().align_offset(LINE).min(LINE / size_of::<T>());
        Aligned { memory, begin, len }
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.memory[self.begin..self.begin + self.len]
    }
}

impl<T> DerefMut for Aligned<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.memory[self.begin..self.begin + self.len]
    }
}
