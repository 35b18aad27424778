//! Where the squares of each board are in the directed lines of [`crate::lines`].

use super::Tables;
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

impl<S: Set> LineMasks<S> {
    pub(crate) fn of(tables: &Tables<S>, lines: &LineTables<S>, masks: &Masks<S>) -> LineMasks<S> {
        let open = |squares: &S| {
            let mut open = lines.board;
            for square in (tables.board & !*squares).squares() {
                let closed = S::at(&lines.of_square, square).as_ref();
                open.as_mut().iter_mut().zip(closed).for_each(|(word, closed)| *word &= !closed);
            }
            open
        };
        let [cross, stop] =
            [&masks.cross, &masks.stop].map(|[attackers, defenders, _]| [open(attackers), open(defenders)]);
        LineMasks { cross, stop }
    }
}

/// The same construction for both kinds of sets, at compile time for the narrow ones.
macro_rules! line_tables {
    ($set:ty, $places:literal, $words:literal, $lane:literal, $($const:ident)?) => {
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
    };
}

line_tables!(u128, 128, 12, 16, const);
line_tables!(Wide, 512, 40, 32,);

pub(crate) static SEVEN: LineTables<u128> = LineTables::<u128>::new(7);
pub(crate) static NINE: LineTables<u128> = LineTables::<u128>::new(9);
pub(crate) static ELEVEN: LineTables<u128> = LineTables::<u128>::new(11);
