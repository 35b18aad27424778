//! A set of squares. Bit `rank * N + file`, rank 0 at the bottom and file 0 at the left.

mod operators;
mod regions;

use crate::Square;
pub use regions::Direction;
pub(crate) use regions::draw;

/// A set of squares of one board.
///
/// It is an iterator over its squares, lowest first, and a copy of the set is another iterator. Sets combine by `&`,
/// `|`, `^` and `-` (the difference). A set does not know its board: the complement, regions, steps and drawings take
/// the board's size, and there is neither `!` nor `<<`, which would leave the board and go around its edges.
///
/// ```
/// use hnefi_engine::{Bitboard, Position, Preset, Square};
///
/// let position = Position::start(&Preset::Brandubh.rules());
/// let (board, size) = (position.board(), position.size());
/// let names: Vec<String> = board.defenders().map(|square| square.name(size)).collect();
/// assert_eq!(names, ["d3", "c4", "e4", "d5"]);
///
/// let king: Bitboard = board.king().into_iter().collect();
/// assert_eq!(king, Bitboard::throne(size));
/// assert_eq!(king.neighbours(size), board.defenders());
/// assert!((board.attackers() & board.defenders()).is_empty());
/// ```
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

    /// Whether every square of this set is in `other`.
    #[inline]
    pub const fn is_subset(self, other: Bitboard) -> bool {
        self.0 & !other.0 == 0
    }

    /// Whether no square of this set is in `other`.
    #[inline]
    pub const fn is_disjoint(self, other: Bitboard) -> bool {
        self.0 & other.0 == 0
    }

    /// The squares of this set that are not in `other`: `self - other` in constants.
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
        let low = self.0 as u64;
        let low_len = low.count_ones() as usize;
        Square::new(if n < low_len { nth_bit(low, n) } else { 64 + nth_bit((self.0 >> 64) as u64, n - low_len) })
    }
}

/// The place of the `n`-th set bit, which must exist. Finds the byte by comparing the running counts of all eight
/// bytes at once, then the bit in a table (Vigna 2008, "Broadword implementation of rank/select queries").
#[inline(always)]
pub(crate) fn nth_bit(word: u64, n: usize) -> usize {
    const LOW_BITS: u64 = 0x0101_0101_0101_0101;
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    let pairs = word - (word >> 1 & 0x5555_5555_5555_5555);
    let nibbles = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
    let bytes = (nibbles + (nibbles >> 4)) & 0x0F0F_0F0F_0F0F_0F0F;
    let running = bytes.wrapping_mul(LOW_BITS);
    // A byte keeps its high bit when the count up to it does not exceed n.
    let passed = (((n as u64 * LOW_BITS) | HIGH_BITS) - running) & HIGH_BITS;
    let start = 8 * passed.count_ones() as usize;
    let before = (((running << 8) >> start) & 255) as usize;
    start + usize::from(NTH_BIT_OF_BYTE[(word >> start & 255) as usize][(n - before) & 7])
}

/// The place of each set bit in each byte.
static NTH_BIT_OF_BYTE: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut found) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][found] = bit as u8;
                found += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

impl From<Square> for Bitboard {
    #[inline]
    fn from(square: Square) -> Bitboard {
        Bitboard::of(square)
    }
}

impl FromIterator<Square> for Bitboard {
    fn from_iter<I: IntoIterator<Item = Square>>(squares: I) -> Bitboard {
        squares.into_iter().fold(Bitboard::EMPTY, |set, square| set | Bitboard::of(square))
    }
}

impl Extend<Square> for Bitboard {
    fn extend<I: IntoIterator<Item = Square>>(&mut self, squares: I) {
        *self |= squares.into_iter().collect::<Bitboard>();
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

impl DoubleEndedIterator for Bitboard {
    /// Removes and returns the highest square.
    #[inline]
    fn next_back(&mut self) -> Option<Square> {
        let square = Bitboard::last(*self)?;
        self.0 ^= 1 << square.index();
        Some(square)
    }
}

impl ExactSizeIterator for Bitboard {}
impl std::iter::FusedIterator for Bitboard {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_come_from_both_ends() {
        let set = Bitboard(1 << 120 | 1 << 64 | 1 << 63 | 1);
        let mut indices: Vec<usize> = set.rev().map(Square::index).collect();
        assert_eq!(indices, [120, 64, 63, 0]);
        indices.reverse();
        assert_eq!(set.map(Square::index).collect::<Vec<_>>(), indices);
        let mut more = Bitboard::EMPTY;
        more.extend(indices.into_iter().map(Square::new));
        assert_eq!(more, set);
    }

    #[test]
    fn the_nth_square_is_the_one_iteration_meets_nth() {
        let mut word = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C834_u128;
        for round in 0..500 {
            let set = Bitboard(word >> 7 & word.rotate_left(round % 128) >> 7);
            for (n, square) in set.enumerate() {
                assert_eq!(set.nth_square(n), square);
            }
            word = word.wrapping_mul(0xDA94_2042_E4DD_58B5).rotate_left(29).wrapping_add(1);
        }
        assert_eq!(Bitboard(u128::MAX >> 7).nth_square(120), Square::new(120));
    }
}
