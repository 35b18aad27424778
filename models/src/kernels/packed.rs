//! Weight matrices in the order in which the product kernel reads them.

use super::{Floats, PANEL};

/// One or several matrices `[depth, columns]`, each as panels of [`PANEL`] columns: `[columns / PANEL][depth][PANEL]`.
#[derive(Debug)]
pub(crate) struct Packed {
    floats: Floats,
    /// Rows of each matrix.
    pub depth: usize,
    /// Columns of each matrix, a multiple of [`PANEL`].
    pub columns: usize,
}

impl Packed {
    /// Zeros for `matrices` matrices; `columns` is rounded up to whole panels.
    pub fn zeros(matrices: usize, depth: usize, columns: usize) -> Packed {
        let columns = columns.next_multiple_of(PANEL);
        Packed { floats: Floats::zeros(matrices * depth * columns), depth, columns }
    }

    /// Sets one weight.
    pub fn set(&mut self, matrix: usize, row: usize, column: usize, value: f32) {
        let index = (column / PANEL * self.depth + row) * PANEL + column % PANEL;
        self.floats[matrix * self.depth * self.columns + index] = value;
    }

    /// Sets the weights of one row in the panel that begins with column `first`.
    pub fn set_row(&mut self, matrix: usize, row: usize, first: usize, values: &[f32; PANEL]) {
        let index = matrix * self.depth * self.columns + first * self.depth + row * PANEL;
        self.floats[index..index + PANEL].copy_from_slice(values);
    }

    /// Whether there are weights for this many matrices. A single matrix serves any number.
    pub fn holds(&self, matrices: usize) -> bool {
        let size = self.depth * self.columns;
        self.floats.len() == size || matrices * size <= self.floats.len()
    }

    /// The weights for the product with this number.
    #[inline]
    pub fn matrix(&self, index: usize) -> &[f32] {
        let size = self.depth * self.columns;
        let begin = if self.floats.len() == size { 0 } else { index * size };
        &self.floats[begin..begin + size]
    }
}
