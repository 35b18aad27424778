//! The eight symmetries of the square.

use crate::{Bitboard, BoardSize, Move, Square};

/// One of the eight symmetries of the square; 0 is the identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Symmetry(u8);

impl Symmetry {
    /// Changes nothing.
    pub const IDENTITY: Symmetry = Symmetry(0);
    /// All eight.
    pub const ALL: [Symmetry; 8] =
        [Symmetry(0), Symmetry(1), Symmetry(2), Symmetry(3), Symmetry(4), Symmetry(5), Symmetry(6), Symmetry(7)];

    /// 0 to 7.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Undoes this symmetry.
    pub fn inverse(self) -> Symmetry {
        todo!()
    }

    /// Where a square goes.
    pub fn square(self, square: Square, size: BoardSize) -> Square {
        let _ = (square, size);
        todo!()
    }

    /// Where a move goes.
    pub fn mv(self, mv: Move, size: BoardSize) -> Move {
        Move::new(self.square(mv.from(), size), self.square(mv.to(), size))
    }

    /// Where a set of squares goes.
    pub fn bitboard(self, set: Bitboard, size: BoardSize) -> Bitboard {
        let _ = (set, size);
        todo!()
    }
}
