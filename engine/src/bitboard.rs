//! A set of squares. Bit `rank * N + file`, rank 0 at the bottom and file 0 at the left.

use std::ops::{BitAnd, BitOr, BitOrAssign, BitXor};

use crate::Square;

/// A set of squares of one board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bitboard(pub u128);

impl Bitboard {
    /// No squares.
    pub const EMPTY: Bitboard = Bitboard(0);

    /// The set of one square.
    #[inline]
    pub const fn of(square: Square) -> Bitboard {
        Bitboard(1 << square.index())
    }

    /// Number of squares in the set.
    #[inline]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether the set has no squares.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether `square` is in the set.
    #[inline]
    pub const fn contains(self, square: Square) -> bool {
        self.0 >> square.index() & 1 == 1
    }

    /// The squares of this set that are not in `other`.
    #[inline]
    pub const fn without(self, other: Bitboard) -> Bitboard {
        Bitboard(self.0 & !other.0)
    }

    /// The square of lowest index, `None` when the set is empty.
    #[inline]
    pub const fn first(self) -> Option<Square> {
        if self.0 == 0 { None } else { Some(Square::new(self.0.trailing_zeros() as usize)) }
    }

    /// The square of highest index, `None` when the set is empty.
    #[inline]
    pub const fn last(self) -> Option<Square> {
        if self.0 == 0 { None } else { Some(Square::new(127 - self.0.leading_zeros() as usize)) }
    }

    /// The `n`-th square in rising order, counted from 0.
    ///
    /// # Panics
    /// When the set has no more than `n` squares.
    pub fn nth_square(self, n: usize) -> Square {
        assert!(n < self.len(), "square {n} of a set of {}", self.len());
        let (low, low_len) = (self.0 as u64, (self.0 as u64).count_ones() as usize);
        let (mut half, mut n, mut base) =
            if n < low_len { (low, n, 0) } else { ((self.0 >> 64) as u64, n - low_len, 64) };
        let mut width = 32;
        while width > 0 {
            let below = (half & ((1 << width) - 1)).count_ones() as usize;
            if n >= below {
                n -= below;
                half >>= width;
                base += width;
            }
            width /= 2;
        }
        Square::new(base)
    }
}

impl BitAnd for Bitboard {
    type Output = Bitboard;

    #[inline]
    fn bitand(self, other: Bitboard) -> Bitboard {
        Bitboard(self.0 & other.0)
    }
}

impl BitOr for Bitboard {
    type Output = Bitboard;

    #[inline]
    fn bitor(self, other: Bitboard) -> Bitboard {
        Bitboard(self.0 | other.0)
    }
}

impl BitXor for Bitboard {
    type Output = Bitboard;

    #[inline]
    fn bitxor(self, other: Bitboard) -> Bitboard {
        Bitboard(self.0 ^ other.0)
    }
}

impl BitOrAssign for Bitboard {
    #[inline]
    fn bitor_assign(&mut self, other: Bitboard) {
        self.0 |= other.0;
    }
}

impl FromIterator<Square> for Bitboard {
    fn from_iter<I: IntoIterator<Item = Square>>(squares: I) -> Bitboard {
        squares.into_iter().fold(Bitboard::EMPTY, |set, square| set | Bitboard::of(square))
    }
}

impl Iterator for Bitboard {
    type Item = Square;

    /// Removes and returns the lowest square.
    #[inline]
    fn next(&mut self) -> Option<Square> {
        let square = self.first()?;
        self.0 &= self.0 - 1;
        Some(square)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = Bitboard::len(*self);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Bitboard {}
