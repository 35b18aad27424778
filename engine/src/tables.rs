//! Constant tables of one board size: masks, neighbours, rays and the Zobrist keys.
//!
//! Everything is computed at compile time, so that code monomorphised for a size folds the masks into its
//! instructions. Arrays have 128 places although a board has at most 121 squares: an index masked with 127 needs no
//! bounds check.

pub(crate) mod lines;

use crate::BoardSize;

/// Directions in the order of [`Tables::rays`].
pub(crate) const RIGHT: usize = 0;
/// Towards higher ranks.
pub(crate) const UP: usize = 1;
/// Towards lower files.
pub(crate) const LEFT: usize = 2;
/// Towards lower ranks.
pub(crate) const DOWN: usize = 3;

/// Masks and per-square sets of one board size.
pub(crate) struct Tables {
    /// The square itself.
    pub bit: [u128; 128],
    /// Its two to four orthogonal neighbours.
    pub adjacent: [u128; 128],
    /// The neighbours along the edge of a square on the edge; none for others.
    pub adjacent_on_edge: [u128; 128],
    /// All squares from a square to the edge, by direction; right and up are the directions of rising index.
    pub rays: [[u128; 4]; 128],
    /// The throne and the corners that lie on a line with the square, the square itself excepted.
    pub special_in_line: [u128; 128],
    /// Every square.
    pub board: u128,
    /// All files but the first.
    pub not_first_file: u128,
    /// All files but the last.
    pub not_last_file: u128,
    /// All files but the first and the last.
    pub inner_files: u128,
    /// The edge, corners included.
    pub edge: u128,
    /// The four corner squares, whether the rules give them a meaning or not.
    pub corners: u128,
    /// The central square.
    pub throne: u128,
}

impl Tables {
    const fn new(n: usize) -> Tables {
        let mut t = Tables {
            bit: [0; 128],
            adjacent: [0; 128],
            adjacent_on_edge: [0; 128],
            rays: [[0; 4]; 128],
            special_in_line: [0; 128],
            board: 0,
            not_first_file: 0,
            not_last_file: 0,
            inner_files: 0,
            edge: 0,
            corners: 0,
            throne: 1 << (n / 2 * n + n / 2),
        };
        let mut s = 0;
        while s < n * n {
            let (x, y) = (s % n, s / n);
            let bit = 1u128 << s;
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
            if t.bit[s] & t.edge != 0 {
                t.adjacent_on_edge[s] = t.adjacent[s] & t.edge;
            }
            let r = t.rays[s];
            t.special_in_line[s] = (r[0] | r[1] | r[2] | r[3]) & (t.corners | t.throne);
            s += 1;
        }
        t
    }
}

/// The tables of 7x7.
pub(crate) static SEVEN: Tables = Tables::new(7);
/// The tables of 9x9.
pub(crate) static NINE: Tables = Tables::new(9);
/// The tables of 11x11.
pub(crate) static ELEVEN: Tables = Tables::new(11);

/// The tables of a board.
#[inline(always)]
pub(crate) const fn of(size: BoardSize) -> &'static Tables {
    match size {
        BoardSize::Seven => &SEVEN,
        BoardSize::Nine => &NINE,
        BoardSize::Eleven => &ELEVEN,
    }
}

/// Zobrist keys of attackers, defenders and the king by square, the same for all sizes.
pub(crate) static ZOBRIST: [[u64; 128]; 3] = zobrist();
/// Zobrist row of the attackers' men.
pub(crate) const ATTACKER: usize = 0;
/// Zobrist row of the defenders' men.
pub(crate) const DEFENDER: usize = 1;
/// Zobrist row of the king.
pub(crate) const KING: usize = 2;
/// Part of a hash while the defenders are to move.
pub(crate) const DEFENDERS_TO_MOVE: u64 = 0x9D39_247E_3377_6D41;

const fn zobrist() -> [[u64; 128]; 3] {
    let mut keys = [[0; 128]; 3];
    let mut seed = 0x0068_6E65_6669_u64;
    let mut piece = 0;
    while piece < 3 {
        let mut square = 0;
        while square < 128 {
            seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
            keys[piece][square] = mix(seed);
            square += 1;
        }
        piece += 1;
    }
    keys
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): a bijection that spreads every bit over all others.
pub(crate) const fn mix(value: u64) -> u64 {
    let z = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
