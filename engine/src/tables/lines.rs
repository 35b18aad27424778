//! Where the squares of each board are in the directed lines of [`crate::lines`].

use crate::masks::Masks;
use crate::set::{Set, Wide};

/// Where the squares of one board size are in the lines.
pub(crate) struct LineTables<S: Set> {
    /// The lines of each square alone.
    pub of_square: S::PerSquare<S::Lines>,
    /// The square of each bit of each word.
    pub square: S::PerBit,
    pub board: S::Lines,
}

/// Where men of the attackers and of the defenders may pass and stop, as lines.
pub(crate) struct LineMasks<S: Set> {
    pub cross: [S::Lines; 2],
    pub stop: [S::Lines; 2],
}

/// The same construction for both kinds of sets, at compile time for the narrow ones.
macro_rules! line_tables {
    ($set:ty, $places:literal, $words:literal, $lane:literal, |$has:ident, $at:ident| $bits:expr, $($const:ident)?) => {
        impl LineTables<$set> {
            pub(crate) $($const)? fn new(n: usize) -> LineTables<$set> {
                let nothing = [0; $words];
                let mut t: LineTables<$set> = LineTables {
                    of_square: [nothing; $places],
                    square: [0; 64 * $words],
                    board: nothing,
                };
                let mut s = 0;
                while s < n * n {
                    let (x, y) = (s % n, s / n);
                    // Right, up, left, down.
                    let places = [(y, x), (n + x, y), (2 * n + y, n - 1 - x), (3 * n + x, n - 1 - y)];
                    let mut direction = 0;
                    while direction < 4 {
                        let (line, place) = places[direction];
                        let bit = $lane * line + place;
                        let (word, bit) = (bit / 64, bit % 64);
                        t.of_square[s][word] |= 1 << bit;
                        t.square[64 * word + bit] = s as u16;
                        t.board[word] |= 1 << bit;
                        direction += 1;
                    }
                    s += 1;
                }
                t
            }
        }

        impl LineMasks<$set> {
            pub(crate) $($const)? fn of(t: &LineTables<$set>, masks: &Masks<$set>, n: usize) -> LineMasks<$set> {
                let mut lines: LineMasks<$set> = LineMasks { cross: [t.board; 2], stop: [t.board; 2] };
                let mut s = 0;
                while s < n * n {
                    let mut side = 0;
                    while side < 2 {
                        let (cross, stop) = (has_square(masks.cross[side], s), has_square(masks.stop[side], s));
                        let mut word = 0;
                        while word < $words && !(cross && stop) {
                            if !cross {
                                lines.cross[side][word] &= !t.of_square[s][word];
                            }
                            if !stop {
                                lines.stop[side][word] &= !t.of_square[s][word];
                            }
                            word += 1;
                        }
                        side += 1;
                    }
                    s += 1;
                }
                return lines;

                $($const)? fn has_square($has: $set, $at: usize) -> bool {
                    $bits & 1 == 1
                }
            }
        }
    };
}

line_tables!(u128, 128, 12, 16, |set, square| set >> square, const);
line_tables!(Wide, 512, 40, 32, |set, square| set.0[square / 64] >> (square % 64),);

/// The lines of 7x7.
pub(crate) static SEVEN: LineTables<u128> = LineTables::<u128>::new(7);
/// The lines of 9x9.
pub(crate) static NINE: LineTables<u128> = LineTables::<u128>::new(9);
/// The lines of 11x11.
pub(crate) static ELEVEN: LineTables<u128> = LineTables::<u128>::new(11);
