//! The sets of squares that kernels compute with: a `u128` on boards of up to 11x11, six words above.

use std::fmt::Debug;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not, Shl, Shr};

use crate::Bitboard;
use crate::bitboard::{WORDS, nth_bit, shifted_down, shifted_up, wordwise};

/// A set of squares, bit `rank * N + file`. Bits beyond the board may be set by `!` and shifts.
pub(crate) trait Set:
    Copy
    + Debug
    + PartialEq
    + Eq
    + Not<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + BitAndAssign
    + BitOrAssign
    + BitXorAssign
    + Shl<usize, Output = Self>
    + Shr<usize, Output = Self>
    + Send
    + Sync
    + 'static
{
    /// A value for each square of the largest board that these sets hold.
    type PerSquare<T: Copy + Send + Sync + 'static>: Send + Sync + 'static;
    /// The words of directed lines, see [`crate::lines`].
    type Lines: Copy + Debug + PartialEq + AsRef<[u64]> + AsMut<[u64]> + Send + Sync + 'static;

    /// A square for each bit of the words of lines.
    type PerBit: AsRef<[u16]> + Send + Sync + 'static;

    const EMPTY: Self;
    const NO_LINES: Self::Lines;
    /// Bits of one directed line: one more than squares.
    const LANE: usize;

    fn of(square: usize) -> Self;
    fn is_empty(self) -> bool;
    fn count(self) -> usize;
    /// The lowest square; beyond all squares when the set is empty.
    fn first(self) -> usize;
    fn lowest(self) -> Self;
    fn without_lowest(self) -> Self;
    /// Everything below the lowest square, everything when the set is empty.
    fn below_lowest(self) -> Self;
    /// Everything above the highest square, everything when the set is empty.
    fn above_highest(self) -> Self;
    /// The `n`-th square in rising order, which must exist.
    fn nth(self, n: usize) -> usize;

    fn narrowed(set: Bitboard) -> Self;
    fn widened(self) -> Bitboard;

    /// What a table says of a square, without a test of its bounds.
    fn at<T: Copy + Send + Sync + 'static>(table: &Self::PerSquare<T>, square: usize) -> &T;

    #[inline(always)]
    fn any(self) -> bool {
        !self.is_empty()
    }

    /// The squares, lowest first.
    #[inline(always)]
    fn squares(self) -> Squares<Self> {
        Squares(self)
    }
}

pub(crate) struct Squares<S>(S);

impl<S: Set> Iterator for Squares<S> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.0.is_empty() {
            return None;
        }
        let square = self.0.first();
        self.0 = self.0.without_lowest();
        Some(square)
    }
}

impl Set for u128 {
    type PerSquare<T: Copy + Send + Sync + 'static> = [T; 128];
    type Lines = [u64; 12];
    type PerBit = [u16; 64 * 12];

    const EMPTY: u128 = 0;
    const NO_LINES: [u64; 12] = [0; 12];
    const LANE: usize = 16;

    #[inline(always)]
    fn of(square: usize) -> u128 {
        1 << square
    }

    #[inline(always)]
    fn is_empty(self) -> bool {
        self == 0
    }

    #[inline(always)]
    fn count(self) -> usize {
        self.count_ones() as usize
    }

    #[inline(always)]
    fn first(self) -> usize {
        self.trailing_zeros() as usize
    }

    #[inline(always)]
    fn lowest(self) -> u128 {
        self & self.wrapping_neg()
    }

    #[inline(always)]
    fn without_lowest(self) -> u128 {
        self & self.wrapping_sub(1)
    }

    #[inline(always)]
    fn below_lowest(self) -> u128 {
        self.lowest().wrapping_sub(1)
    }

    #[inline(always)]
    fn above_highest(self) -> u128 {
        // Squares end at bit 120, so the shift stays below 128.
        !0 << (128 - self.leading_zeros())
    }

    #[inline(always)]
    fn nth(self, n: usize) -> usize {
        let low = self as u64;
        let low_count = low.count_ones() as usize;
        if n < low_count { nth_bit(low, n) } else { 64 + nth_bit((self >> 64) as u64, n - low_count) }
    }

    #[inline(always)]
    fn narrowed(set: Bitboard) -> u128 {
        u128::from(set.0[0]) | u128::from(set.0[1]) << 64
    }

    #[inline(always)]
    fn widened(self) -> Bitboard {
        let mut words = [0; WORDS];
        words[0] = self as u64;
        words[1] = (self >> 64) as u64;
        Bitboard(words)
    }

    #[inline(always)]
    fn at<T: Copy + Send + Sync + 'static>(table: &[T; 128], square: usize) -> &T {
        &table[square & 127]
    }
}

/// A set of squares of a board above 11x11.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wide(pub [u64; WORDS]);

impl Set for Wide {
    type PerSquare<T: Copy + Send + Sync + 'static> = [T; 512];
    type Lines = [u64; 40];
    type PerBit = [u16; 64 * 40];

    const EMPTY: Wide = Wide([0; WORDS]);
    const NO_LINES: [u64; 40] = [0; 40];
    const LANE: usize = 32;

    #[inline(always)]
    fn of(square: usize) -> Wide {
        let mut words = [0; WORDS];
        words[square / 64] = 1 << (square % 64);
        Wide(words)
    }

    #[inline(always)]
    fn is_empty(self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    #[inline(always)]
    fn count(self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    #[inline(always)]
    fn first(self) -> usize {
        match self.0.iter().position(|&word| word != 0) {
            Some(index) => 64 * index + self.0[index].trailing_zeros() as usize,
            None => 64 * WORDS,
        }
    }

    #[inline(always)]
    fn lowest(self) -> Wide {
        if self.is_empty() { self } else { Wide::of(self.first()) }
    }

    #[inline(always)]
    fn without_lowest(mut self) -> Wide {
        if let Some(word) = self.0.iter_mut().find(|word| **word != 0) {
            *word &= *word - 1;
        }
        self
    }

    #[inline(always)]
    fn below_lowest(self) -> Wide {
        let mut words = [0; WORDS];
        for (below, word) in words.iter_mut().zip(self.0) {
            if word != 0 {
                *below = (word & word.wrapping_neg()) - 1;
                break;
            }
            *below = !0;
        }
        Wide(words)
    }

    #[inline(always)]
    fn above_highest(self) -> Wide {
        let mut words = [0; WORDS];
        for (above, word) in words.iter_mut().zip(self.0).rev() {
            if word != 0 {
                *above = (!0 << 1) << (63 - word.leading_zeros());
                break;
            }
            *above = !0;
        }
        Wide(words)
    }

    #[inline(always)]
    fn nth(self, n: usize) -> usize {
        let mut left = n;
        for (index, word) in self.0.iter().enumerate() {
            let count = word.count_ones() as usize;
            if left < count {
                return 64 * index + nth_bit(*word, left);
            }
            left -= count;
        }
        unreachable!("square {n} of a smaller set")
    }

    #[inline(always)]
    fn narrowed(set: Bitboard) -> Wide {
        Wide(set.0)
    }

    #[inline(always)]
    fn widened(self) -> Bitboard {
        Bitboard(self.0)
    }

    #[inline(always)]
    fn at<T: Copy + Send + Sync + 'static>(table: &[T; 512], square: usize) -> &T {
        &table[square & 511]
    }
}

wordwise! {
    Wide:
    BitAnd::bitand, BitAndAssign::bitand_assign, |a, b| a & b;
    BitOr::bitor, BitOrAssign::bitor_assign, |a, b| a | b;
    BitXor::bitxor, BitXorAssign::bitxor_assign, |a, b| a ^ b;
}

impl Not for Wide {
    type Output = Wide;

    #[inline(always)]
    fn not(self) -> Wide {
        Wide(self.0.map(|word| !word))
    }
}

impl Shl<usize> for Wide {
    type Output = Wide;

    #[inline(always)]
    fn shl(self, by: usize) -> Wide {
        Wide(shifted_up(self.0, by))
    }
}

impl Shr<usize> for Wide {
    type Output = Wide;

    #[inline(always)]
    fn shr(self, by: usize) -> Wide {
        Wide(shifted_down(self.0, by))
    }
}
