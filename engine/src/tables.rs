//! Constant tables of one board size: masks, neighbours, rays and the Zobrist keys.
//!
//! The tables of 7x7, 9x9 and 11x11 are computed at compile time, so that code monomorphised for a size folds the masks
//! into its instructions; the others when a game first needs them. Arrays have 128 or 512 places
//! although a board has at most 121 or 361 squares: a masked index needs no bounds check.

pub(crate) mod lines;

use std::sync::OnceLock;

use crate::set::{Set, Wide};
use lines::LineTables;

/// Directions in the order of [`Tables::rays`].
pub(crate) const RIGHT: usize = 0;
pub(crate) const UP: usize = 1;
pub(crate) const LEFT: usize = 2;
pub(crate) const DOWN: usize = 3;

/// Masks and per-square sets of one board size.
pub(crate) struct Tables<S: Set> {
    pub bit: S::PerSquare<S>,
    /// Its two to four orthogonal neighbours.
    pub adjacent: S::PerSquare<S>,
    /// The neighbours along the edge of a square on the edge; none for others.
    pub adjacent_on_edge: S::PerSquare<S>,
    /// All squares from a square to the edge, by direction; right and up are the directions of rising index.
    pub rays: S::PerSquare<[S; 4]>,
    /// The squares on a line with the square, the square itself excepted.
    pub in_line: S::PerSquare<S>,
    pub board: S,
    pub not_first_file: S,
    pub not_last_file: S,
    pub inner_files: S,
    /// The edge, corners included.
    pub edge: S,
    /// The four corner squares, whether the rules give them a meaning or not.
    pub corners: S,
}

/// The same construction for both kinds of sets, at compile time for the narrow ones.
macro_rules! tables {
    ($set:ty, $places:literal, $empty:expr, |$square:ident| $bit:expr, $($const:ident)?) => {
        impl Tables<$set> {
            $($const)? fn new(n: usize) -> Tables<$set> {
                let mut t: Tables<$set> = Tables {
                    bit: [$empty; $places],
                    adjacent: [$empty; $places],
                    adjacent_on_edge: [$empty; $places],
                    rays: [[$empty; 4]; $places],
                    in_line: [$empty; $places],
                    board: $empty,
                    not_first_file: $empty,
                    not_last_file: $empty,
                    inner_files: $empty,
                    edge: $empty,
                    corners: $empty,
                };
                let mut s = 0;
                while s < n * n {
                    let (x, y) = (s % n, s / n);
                    let $square = s;
                    let bit = $bit;
                    t.bit[s] = bit;
                    t.board |= bit;
                    let (edge_file, edge_rank) = (x == 0 || x == n - 1, y == 0 || y == n - 1);
                    if x != 0 {
                        t.not_first_file |= bit;
                        t.adjacent[s] |= bit >> 1;
                    }
                    if x != n - 1 {
                        t.not_last_file |= bit;
                        t.adjacent[s] |= bit << 1;
                    }
                    if y != 0 {
                        t.adjacent[s] |= bit >> n;
                    }
                    if y != n - 1 {
                        t.adjacent[s] |= bit << n;
                    }
                    if !edge_file {
                        t.inner_files |= bit;
                    }
                    if edge_file || edge_rank {
                        t.edge |= bit;
                    }
                    if edge_file && edge_rank {
                        t.corners |= bit;
                    }
                    let mut i = 1;
                    while i < n {
                        if x + i < n {
                            t.rays[s][RIGHT] |= bit << i;
                        }
                        if y + i < n {
                            t.rays[s][UP] |= bit << (i * n);
                        }
                        if i <= x {
                            t.rays[s][LEFT] |= bit >> i;
                        }
                        if i <= y {
                            t.rays[s][DOWN] |= bit >> (i * n);
                        }
                        i += 1;
                    }
                    s += 1;
                }
                let mut s = 0;
                while s < n * n {
                    let (x, y) = (s % n, s / n);
                    if x == 0 || x == n - 1 || y == 0 || y == n - 1 {
                        t.adjacent_on_edge[s] = t.adjacent[s] & t.edge;
                    }
                    let r = t.rays[s];
                    t.in_line[s] = r[0] | r[1] | r[2] | r[3];
                    s += 1;
                }
                t
            }
        }
    };
}

tables!(u128, 128, 0, |square| 1u128 << square, const);
tables!(Wide, 512, Wide::EMPTY, |square| Wide::of(square),);

pub(crate) static SEVEN: Tables<u128> = Tables::<u128>::new(7);
pub(crate) static NINE: Tables<u128> = Tables::<u128>::new(9);
pub(crate) static ELEVEN: Tables<u128> = Tables::<u128>::new(11);

/// What kernels look up on one board.
pub(crate) type Lookup<S> = (&'static Tables<S>, &'static LineTables<S>);

/// The same where it is made when a game first needs it.
type Made<S> = OnceLock<Box<(Tables<S>, LineTables<S>)>>;

pub(crate) const fn constant(side: usize) -> Option<Lookup<u128>> {
    match side {
        7 => Some((&SEVEN, &lines::SEVEN)),
        9 => Some((&NINE, &lines::NINE)),
        11 => Some((&ELEVEN, &lines::ELEVEN)),
        _ => None,
    }
}

pub(crate) fn narrow(side: usize) -> Lookup<u128> {
    static OTHERS: [Made<u128>; 12] = [const { OnceLock::new() }; 12];
    constant(side).unwrap_or_else(|| {
        let made = || Box::new((Tables::<u128>::new(side), LineTables::<u128>::new(side)));
        let (tables, lines) = &**OTHERS[side].get_or_init(made);
        (tables, lines)
    })
}

/// The tables of a board above 11x11.
pub(crate) fn wide(side: usize) -> Lookup<Wide> {
    static ALL: [Made<Wide>; 20] = [const { OnceLock::new() }; 20];
    let made = || Box::new((Tables::<Wide>::new(side), LineTables::<Wide>::new(side)));
    let (tables, lines) = &**ALL[side].get_or_init(made);
    (tables, lines)
}

/// Zobrist keys of attackers, defenders and the king by square, the same for all sizes.
pub(crate) static ZOBRIST: [[u64; 512]; 3] = zobrist();
/// Zobrist row of the attackers' men.
pub(crate) const ATTACKER: usize = 0;
pub(crate) const DEFENDER: usize = 1;
pub(crate) const KING: usize = 2;
/// Part of a hash while the defenders are to move.
pub(crate) const DEFENDERS_TO_MOVE: u64 = 0x9D39_247E_3377_6D41;

const fn zobrist() -> [[u64; 512]; 3] {
    let mut keys = [[0; 512]; 3];
    let mut seed = 0x0068_6E65_6669_u64;
    // The first 128 squares first, which were all before boards grew: their keys are in recorded hashes.
    let mut block = 0;
    while block < 4 {
        let mut piece = 0;
        while piece < 3 {
            let mut square = 128 * block;
            while square < 128 * (block + 1) {
                seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
                keys[piece][square] = mix(seed);
                square += 1;
            }
            piece += 1;
        }
        block += 1;
    }
    keys
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): a bijection that spreads every bit over all others.
pub(crate) const fn mix(value: u64) -> u64 {
    let z = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
