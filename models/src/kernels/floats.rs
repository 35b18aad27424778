//! Float buffers that begin on a cache line.

use std::ops::{Deref, DerefMut};

/// Bytes in a cache line, on which registers of every width are loaded fastest.
const LINE: usize = 64;

/// A buffer of floats that begins on a cache line and never grows.
#[derive(Debug)]
pub(crate) struct Floats {
    /// A little longer than asked for, so that it holds an aligned beginning.
    memory: Vec<f32>,
    begin: usize,
    len: usize,
}

impl Floats {
    /// `len` zeros.
    pub fn zeros(len: usize) -> Floats {
        let memory = vec![0.0; len + LINE / size_of::<f32>()];
        // `align_offset` may decline to answer, and then the buffer is merely slower.
        let begin = memory.as_ptr().align_offset(LINE).min(LINE / size_of::<f32>());
        Floats { memory, begin, len }
    }
}

impl Deref for Floats {
    type Target = [f32];

    #[inline]
    fn deref(&self) -> &[f32] {
        &self.memory[self.begin..self.begin + self.len]
    }
}

impl DerefMut for Floats {
    #[inline]
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.memory[self.begin..self.begin + self.len]
    }
}
