//! Weight matrices in the order in which the product kernel reads them.

use super::{Aligned, Bf16Kernels, PANEL};

/// One or several matrices `[depth, columns]`, each as panels of [`PANEL`] columns: `[columns / PANEL][depth][PANEL]`.
/// They are of floats, or of words of bf16 values.
#[derive(Debug)]
pub struct Packed<T = f32> {
    elements: Aligned<T>,
    pub(super) depth: usize,
    /// A multiple of [`PANEL`].
    pub(super) columns: usize,
}

impl<T: Copy + Default> Packed<T> {
    /// Zeros for `matrices` matrices; `columns` is rounded up to whole panels.
    pub fn zeros(matrices: usize, depth: usize, columns: usize) -> Packed<T> {
        let columns = columns.next_multiple_of(PANEL);
        Packed { elements: Aligned::zeros(matrices * depth * columns), depth, columns }
    }

    /// Sets one weight.
    pub fn set(&mut self, matrix: usize, row: usize, column: usize, value: T) {
        let index = (column / PANEL * self.depth + row) * PANEL + column % PANEL;
        self.elements[matrix * self.depth * self.columns + index] = value;
    }

    /// Sets the weights of one row in the panel that begins with column `first`.
    pub fn set_row(&mut self, matrix: usize, row: usize, first: usize, values: &[T; PANEL]) {
        let index = matrix * self.depth * self.columns + first * self.depth + row * PANEL;
        self.elements[index..index + PANEL].copy_from_slice(values);
    }
}

impl<T> Packed<T> {
    /// Rows of each matrix.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Columns of each matrix, a multiple of [`PANEL`].
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Whether there are weights for this many matrices. A single matrix serves any number.
    pub fn holds(&self, matrices: usize) -> bool {
        let size = self.depth * self.columns;
        self.elements.len() == size || matrices * size <= self.elements.len()
    }

    /// The weights for the product with this number.
    #[inline]
    pub fn matrix(&self, index: usize) -> &[T] {
        let size = self.depth * self.columns;
        let begin = if self.elements.len() == size { 0 } else { index * size };
        &self.elements[begin..begin + size]
    }
}

impl Packed {
    /// The same in bf16, two neighbours of a column to a word; the depth must be even.
    pub fn rounded(&self) -> Packed<u32> {
        assert!(self.depth.is_multiple_of(2), "depth {}", self.depth);
        let mut words = Aligned::zeros(self.elements.len() / 2);
        Bf16Kernels::best().pair_rows(PANEL, &self.elements, &mut words);
        Packed { elements: words, depth: self.depth / 2, columns: self.columns }
    }
}
