//! `&`, `|`, `^` and `-` of sets, and what they assign.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Sub, SubAssign};

use super::Bitboard;

macro_rules! operator {
    ($(#[$doc:meta])* $trait:ident::$name:ident, $assign:ident::$assign_name:ident, |$a:ident, $b:ident| $result:expr) => {
        impl $trait for Bitboard {
            type Output = Bitboard;

            $(#[$doc])*
            #[inline]
            fn $name(self, other: Bitboard) -> Bitboard {
                let mut words = self.0;
                for (word, other) in words.iter_mut().zip(other.0) {
                    let ($a, $b) = (*word, other);
                    *word = $result;
                }
                Bitboard(words)
            }
        }

        impl $assign for Bitboard {
            #[inline]
            fn $assign_name(&mut self, other: Bitboard) {
                *self = $trait::$name(*self, other);
            }
        }
    };
}

operator! {
    /// The squares in both sets.
    ///
    /// ```
    /// use hnefi_engine::{Bitboard, BoardSize, bitboard};
    ///
    /// assert_eq!(Bitboard::rank(2, BoardSize::SEVEN) & Bitboard::file(4, BoardSize::SEVEN), bitboard! {
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . X . .
    ///     . . . . . . .
    ///     . . . . . . .
    /// });
    /// ```
    BitAnd::bitand, BitAndAssign::bitand_assign, |a, b| a & b
}

operator! {
    /// The squares in one set or both.
    ///
    /// ```
    /// use hnefi_engine::{Bitboard, BoardSize, bitboard};
    ///
    /// assert_eq!(Bitboard::rank(2, BoardSize::SEVEN) | Bitboard::file(4, BoardSize::SEVEN), bitboard! {
    ///     . . . . X . .
    ///     . . . . X . .
    ///     . . . . X . .
    ///     . . . . X . .
    ///     X X X X X X X
    ///     . . . . X . .
    ///     . . . . X . .
    /// });
    /// ```
    BitOr::bitor, BitOrAssign::bitor_assign, |a, b| a | b
}

operator! {
    /// The squares in exactly one of the sets.
    ///
    /// ```
    /// use hnefi_engine::{Bitboard, BoardSize, bitboard};
    ///
    /// assert_eq!(Bitboard::rank(2, BoardSize::SEVEN) ^ Bitboard::file(4, BoardSize::SEVEN), bitboard! {
    ///     . . . . X . .
    ///     . . . . X . .
    ///     . . . . X . .
    ///     . . . . X . .
    ///     X X X X . X X
    ///     . . . . X . .
    ///     . . . . X . .
    /// });
    /// ```
    BitXor::bitxor, BitXorAssign::bitxor_assign, |a, b| a ^ b
}

operator! {
    /// The squares of this set that are not in the other.
    ///
    /// ```
    /// use hnefi_engine::{Bitboard, BoardSize, bitboard};
    ///
    /// assert_eq!(Bitboard::rank(2, BoardSize::SEVEN) - Bitboard::file(4, BoardSize::SEVEN), bitboard! {
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    ///     X X X X . X X
    ///     . . . . . . .
    ///     . . . . . . .
    /// });
    /// ```
    Sub::sub, SubAssign::sub_assign, |a, b| a & !b
}
