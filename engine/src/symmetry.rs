//! The eight symmetries of the square.

use crate::{Bitboard, BoardSize, Move, Square};

/// One of the eight symmetries of the square; 0 is the identity.
///
/// The index is three bits: first, if bit 2 is set, files and ranks are swapped; then bit 0 mirrors the files and
/// bit 1 the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Symmetry(u8);

const MIRROR_FILES: u8 = 1;
const MIRROR_RANKS: u8 = 2;
const SWAP: u8 = 4;

impl Symmetry {
    /// Changes nothing.
    pub const IDENTITY: Symmetry = Symmetry(0);
    /// All eight.
    pub const ALL: [Symmetry; 8] =
        [Symmetry(0), Symmetry(1), Symmetry(2), Symmetry(3), Symmetry(4), Symmetry(5), Symmetry(6), Symmetry(7)];

    /// 0 to 7.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Undoes this symmetry.
    pub const fn inverse(self) -> Symmetry {
        if self.0 & SWAP != 0 { Symmetry(SWAP | exchanged(self.0 & (MIRROR_FILES | MIRROR_RANKS))) } else { self }
    }

    /// Where a square goes.
    #[inline]
    pub const fn square(self, square: Square, size: BoardSize) -> Square {
        let n = size.side();
        let (mut file, mut rank) = (square.index() % n, square.index() / n);
        if self.0 & SWAP != 0 {
            (file, rank) = (rank, file);
        }
        if self.0 & MIRROR_FILES != 0 {
            file = n - 1 - file;
        }
        if self.0 & MIRROR_RANKS != 0 {
            rank = n - 1 - rank;
        }
        Square::new(rank * n + file)
    }

    /// Where a move goes.
    #[inline]
    pub const fn mv(self, mv: Move, size: BoardSize) -> Move {
        Move::new(self.square(mv.from(), size), self.square(mv.to(), size))
    }

    /// Where a set of squares goes.
    pub fn bitboard(self, set: Bitboard, size: BoardSize) -> Bitboard {
        if self == Symmetry::IDENTITY { set } else { set.map(|square| self.square(square, size)).collect() }
    }
}

/// The two mirror bits with their places exchanged.
const fn exchanged(mirrors: u8) -> u8 {
    (mirrors << 1 | mirrors >> 1) & (MIRROR_FILES | MIRROR_RANKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_brings_squares_back() {
        for size in BoardSize::ALL {
            for a in Symmetry::ALL {
                for square in (0..size.squares()).map(Square::new) {
                    assert_eq!(a.inverse().square(a.square(square, size), size), square);
                }
            }
        }
    }

    #[test]
    fn the_eight_differ() {
        let b1 = Square::new(1);
        let images: std::collections::HashSet<_> =
            Symmetry::ALL.iter().map(|symmetry| symmetry.square(b1, BoardSize::SEVEN)).collect();
        assert_eq!(images.len(), 8);
    }
}
