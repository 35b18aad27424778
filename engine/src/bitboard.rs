//! A set of squares. Bit `rank * N + file`, rank 0 at the bottom and file 0 at the left.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Sub, SubAssign};

use crate::{BoardSize, Square};

/// A set of squares of one board.
///
/// It is an iterator over its squares, lowest first, and a copy of the set is another iterator. Sets combine by `&`,
/// `|`, `^` and `-` (the difference). A set does not know its board: the complement, the neighbours and the regions
/// take the board's size, and there is neither `!` nor `<<`, which would leave the board and go around its edges.
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
pub struct Bitboard(pub [u64; WORDS]);

/// Words of a set: 384 bits for the 361 squares of the largest board.
pub(crate) const WORDS: usize = 6;

impl Bitboard {
    /// No squares.
    pub const EMPTY: Bitboard = Bitboard([0; WORDS]);

    /// The set of one square.
    #[inline]
    pub const fn of(square: Square) -> Bitboard {
        let mut words = [0; WORDS];
        words[square.index() / 64] = 1 << (square.index() % 64);
        Bitboard(words)
    }

    /// Number of squares in the set.
    #[inline]
    pub const fn len(self) -> usize {
        let (mut count, mut word) = (0, 0);
        while word < WORDS {
            count += self.0[word].count_ones() as usize;
            word += 1;
        }
        count
    }

    /// Whether the set has no squares.
    #[inline]
    pub const fn is_empty(self) -> bool {
        let [a, b, c, d, e, f] = self.0;
        a | b | c | d | e | f == 0
    }

    /// Whether `square` is in the set.
    #[inline]
    pub const fn contains(self, square: Square) -> bool {
        square.index() < 64 * WORDS && self.0[square.index() / 64] >> (square.index() % 64) & 1 == 1
    }

    /// Whether every square of this set is in `other`.
    #[inline]
    pub const fn is_subset(self, other: Bitboard) -> bool {
        self.without(other).is_empty()
    }

    /// Whether no square of this set is in `other`.
    #[inline]
    pub const fn is_disjoint(self, other: Bitboard) -> bool {
        self.and(other).is_empty()
    }

    /// The squares of this set that are not in `other`: `self - other` in constants.
    #[inline]
    pub const fn without(self, other: Bitboard) -> Bitboard {
        let mut words = self.0;
        let mut word = 0;
        while word < WORDS {
            words[word] &= !other.0[word];
            word += 1;
        }
        Bitboard(words)
    }

    /// `self & other` in constants.
    #[inline]
    pub const fn and(self, other: Bitboard) -> Bitboard {
        self.without(self.without(other))
    }

    /// `self | other` in constants.
    #[inline]
    pub const fn or(self, other: Bitboard) -> Bitboard {
        let mut words = self.0;
        let mut word = 0;
        while word < WORDS {
            words[word] |= other.0[word];
            word += 1;
        }
        Bitboard(words)
    }

    /// The square of lowest index, `None` when the set is empty.
    #[inline]
    pub const fn first(self) -> Option<Square> {
        let mut word = 0;
        while word < WORDS {
            if self.0[word] != 0 {
                return Some(Square::new(64 * word + self.0[word].trailing_zeros() as usize));
            }
            word += 1;
        }
        None
    }

    /// Every square of the board.
    #[inline]
    pub const fn board(size: BoardSize) -> Bitboard {
        REGIONS[size.index()].board
    }

    /// The squares along the four edges.
    #[inline]
    pub const fn edge(size: BoardSize) -> Bitboard {
        REGIONS[size.index()].edge
    }

    /// The four corners, whether the rules give them a meaning or not.
    #[inline]
    pub const fn corners(size: BoardSize) -> Bitboard {
        REGIONS[size.index()].corners
    }

    /// The square in the middle; none where the side is even.
    #[inline]
    pub const fn throne(size: BoardSize) -> Bitboard {
        REGIONS[size.index()].throne
    }

    /// The squares of the board that are not in the set.
    #[inline]
    pub const fn complement(self, size: BoardSize) -> Bitboard {
        Bitboard::board(size).without(self)
    }

    /// The squares orthogonally beside one of the set; they may be in the set themselves.
    #[inline]
    pub const fn neighbours(self, size: BoardSize) -> Bitboard {
        let (regions, n) = (&REGIONS[size.index()], size.side());
        let right = Bitboard(shifted_up(self.without(regions.last_file).0, 1));
        let left = Bitboard(shifted_down(self.without(regions.first_file).0, 1));
        let up = Bitboard(shifted_up(self.0, n)).and(regions.board);
        right.or(left).or(up).or(Bitboard(shifted_down(self.0, n)))
    }
}

struct Regions {
    board: Bitboard,
    edge: Bitboard,
    corners: Bitboard,
    throne: Bitboard,
    first_file: Bitboard,
    last_file: Bitboard,
}

static REGIONS: [Regions; BoardSize::ALL.len()] = {
    let mut all = [const { Regions::of(BoardSize::ALL[0]) }; BoardSize::ALL.len()];
    let mut index = 1;
    while index < all.len() {
        all[index] = Regions::of(BoardSize::ALL[index]);
        index += 1;
    }
    all
};

impl Regions {
    const fn of(size: BoardSize) -> Regions {
        let n = size.side();
        let mut sets = [Bitboard::EMPTY; 6];
        let mut index = 0;
        while index < n * n {
            let (file, rank) = (index % n, index / n);
            let (outer_file, outer_rank) = (file == 0 || file == n - 1, rank == 0 || rank == n - 1);
            let is_middle = 2 * file == n - 1 && 2 * rank == n - 1;
            let holds = [true, outer_file || outer_rank, outer_file && outer_rank, is_middle, file == 0, file == n - 1];
            let mut set = 0;
            while set < sets.len() {
                if holds[set] {
                    sets[set] = sets[set].or(Bitboard::of(Square::new(index)));
                }
                set += 1;
            }
            index += 1;
        }
        let [board, edge, corners, throne, first_file, last_file] = sets;
        Regions { board, edge, corners, throne, first_file, last_file }
    }
}

/// Operators of sets that are arrays of words, and what they assign.
macro_rules! wordwise {
    ($set:ident: $(
        $trait:ident::$name:ident, $assign:ident::$assign_name:ident, |$a:ident, $b:ident| $result:expr;
    )*) => {$(
        impl $trait for $set {
            type Output = $set;

            #[inline(always)]
            fn $name(mut self, other: $set) -> $set {
                for (word, other) in self.0.iter_mut().zip(other.0) {
                    let ($a, $b) = (*word, other);
                    *word = $result;
                }
                self
            }
        }

        impl $assign for $set {
            #[inline(always)]
            fn $assign_name(&mut self, other: $set) {
                *self = $trait::$name(*self, other);
            }
        }
    )*};
}
pub(crate) use wordwise;

wordwise! {
    Bitboard:
    BitAnd::bitand, BitAndAssign::bitand_assign, |a, b| a & b;
    BitOr::bitor, BitOrAssign::bitor_assign, |a, b| a | b;
    BitXor::bitxor, BitXorAssign::bitxor_assign, |a, b| a ^ b;
    Sub::sub, SubAssign::sub_assign, |a, b| a & !b;
}

/// The bits moved to higher places, those beyond the last word lost.
#[inline(always)]
pub(crate) const fn shifted_up(words: [u64; WORDS], by: usize) -> [u64; WORDS] {
    let (skipped, bits) = (by / 64, by % 64);
    let mut shifted = [0; WORDS];
    let mut word = skipped;
    while word < WORDS {
        let from = word - skipped;
        shifted[word] = words[from] << bits;
        if from > 0 {
            // In two steps, since a shift by 64 is none.
            shifted[word] |= words[from - 1] >> 1 >> (63 - bits);
        }
        word += 1;
    }
    shifted
}

/// The bits moved to lower places, those below the first word lost.
#[inline(always)]
pub(crate) const fn shifted_down(words: [u64; WORDS], by: usize) -> [u64; WORDS] {
    let (skipped, bits) = (by / 64, by % 64);
    let mut shifted = [0; WORDS];
    let mut word = 0;
    while word + skipped < WORDS {
        let from = word + skipped;
        shifted[word] = words[from] >> bits;
        if from + 1 < WORDS {
            shifted[word] |= words[from + 1] << 1 << (63 - bits);
        }
        word += 1;
    }
    shifted
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

impl FromIterator<Square> for Bitboard {
    fn from_iter<I: IntoIterator<Item = Square>>(squares: I) -> Bitboard {
        squares.into_iter().fold(Bitboard::EMPTY, |set, square| set | Bitboard::of(square))
    }
}

impl Iterator for Bitboard {
    type Item = Square;

    #[inline]
    fn next(&mut self) -> Option<Square> {
        let word = self.0.iter().position(|&word| word != 0)?;
        let square = Square::new(64 * word + self.0[word].trailing_zeros() as usize);
        self.0[word] &= self.0[word] - 1;
        Some(square)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = Bitboard::len(*self);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Bitboard {}
impl std::iter::FusedIterator for Bitboard {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::set::{Set, Wide};

    #[test]
    fn squares_come_lowest_first() {
        let set: Bitboard = [360, 120, 64, 63, 0].map(Square::new).into_iter().collect();
        assert_eq!(set.map(Square::index).collect::<Vec<_>>(), [0, 63, 64, 120, 360]);
    }

    #[test]
    fn the_nth_square_is_the_one_iteration_meets_nth() {
        let mut word = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C834_u128;
        for round in 0..500 {
            let narrow = word >> 7 & word.rotate_left(round % 128) >> 7;
            let wide = Bitboard([word as u64, 0, 5, (word >> 64) as u64, !0, word as u64 >> 40]);
            for set in [narrow.widened(), wide] {
                for (n, square) in set.enumerate() {
                    assert_eq!(Wide::narrowed(set).nth(n), square.index());
                    assert!(set != narrow.widened() || narrow.nth(n) == square.index());
                }
            }
            word = word.wrapping_mul(0xDA94_2042_E4DD_58B5).rotate_left(29).wrapping_add(1);
        }
    }

    #[test]
    fn shifts_move_every_bit() {
        let set: Bitboard = [0, 1, 62, 63, 64, 127, 200, 383].map(Square::new).into_iter().collect();
        for by in 0..384 {
            let up: Bitboard = set.map(|square| square.index() + by).filter(|&to| to < 384).map(Square::new).collect();
            assert_eq!(Bitboard(shifted_up(set.0, by)), up, "{by}");
            let down: Bitboard = set.filter_map(|square| square.index().checked_sub(by)).map(Square::new).collect();
            assert_eq!(Bitboard(shifted_down(set.0, by)), down, "{by}");
        }
    }
}
