//! A position as the network sees it: sixteen binary planes and a global vector.
//!
//! Planes are absolute (attackers and defenders, not own and enemy): the two sides play different games, and the side to
//! move is in the global vector and picks the heads.

use hnefi_engine::{Bitboard, Position};

/// Version of the encoding; a checkpoint made with another one is refused.
pub const ENCODING_VERSION: u32 = 1;

/// Binary input planes.
pub const PLANES: usize = 16;

/// Length of the global vector.
pub const GLOBALS: usize = 48;

/// What the network reads of one position.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    /// The binary planes, one bit a square.
    pub planes: [Bitboard; PLANES],
    /// Side to move, board size, rule options and clocks, each in 0..=1.
    pub globals: [f32; GLOBALS],
}

impl Features {
    /// Encodes a position.
    pub fn of(position: &Position) -> Features {
        let _ = position;
        todo!()
    }

    /// Writes the planes as `[PLANES, N, N]` in row-major order.
    ///
    /// # Panics
    /// When `out` is not `PLANES * N * N` long.
    pub fn write_planes(&self, squares: usize, out: &mut [f32]) {
        let _ = (squares, out);
        todo!()
    }
}
