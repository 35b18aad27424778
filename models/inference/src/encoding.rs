//! A position as the network sees it: thirty-two binary planes and a global vector. This is the third encoding.
//!
//! Planes are absolute (attackers and defenders, not own and enemy): the two sides play different games, and the side
//! to move is in the global vector and picks the heads. Beside the pieces they hold what a 3x3 convolution sees only
//! after many layers: where the king can slide to, where each side can capture, how far the edge reaches inwards. The
//! last sixteen say what the rules make of single squares, so that a network that knows some rulesets sees what another
//! one has in common with them.
//!
//! | plane | squares |
//! |---|---|
//! | 0 | attackers |
//! | 1 | defending men |
//! | 2 | the king |
//! | 3 | the middle square of a board of odd side, be it a throne or not |
//! | 4 | the king's goals on which he may stop |
//! | 5 | every square of the board, which tells it from the padding around it |
//! | 6 | where the king can go in one move |
//! | 7 | where he can go in two moves and not in one |
//! | 8 | open lines: where he would stand one move from a goal |
//! | 9 | where an attacker could go and capture a man at once |
//! | 10 | where a defending man could go and capture at once |
//! | 11 | the edge flood: reached from the edge without crossing an attacker |
//! | 12 | where the last move began |
//! | 13 | where the last move ended |
//! | 14 | attackers that a defending man could capture at once between two pieces |
//! | 15 | defending men that an attacker could capture at once between two pieces |
//! | 16, 17, 18 | hostile, when empty, to attackers, defending men, the king |
//! | 19, 20, 21 | hostile to them when occupied, be it by a piece of their own |
//! | 22, 23, 24 | where attackers, defending men, the king may not stop |
//! | 25, 26, 27 | which attackers, defending men, the king may not pass |
//! | 28, 29, 30 | onto which attackers, defending men, the king may not come from squares of another kind |
//! | 31 | where more than two enemies are needed to capture the king |
//!
//! Planes 9, 10, 14 and 15 are drawn for either side to move, without captures by and of the king. The global vector
//! is described in [`global`].

pub mod global;

use hnefi_engine::{Bitboard, BoardSize, KingCapture, Pieces, Position, Rules, Side, Square, Symmetry};

pub use global::GLOBALS;

use crate::Handicap;

/// Version of the encoding; a checkpoint of another one is refused.
pub const ENCODING_VERSION: u32 = 3;

/// Binary input planes.
pub const PLANES: usize = 32;

/// Indices of some planes.
pub mod plane {
    /// The king's goals.
    pub const GOALS: usize = 4;
    /// Every square of the board.
    pub const BOARD: usize = 5;
    /// Where the king can go in one move.
    pub const KING_ONE_MOVE: usize = 6;
    /// Where the king would stand one move from a goal.
    pub const OPEN_LINES: usize = 8;

    /// Planes that change with the pieces.
    pub(crate) const MOVING: [usize; 13] = [0, 1, 2, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    /// Planes that the rules give.
    pub(crate) const FIXED: [usize; 19] = [3, 4, 5, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31];
}

/// What the network reads of one position. Every evaluator, dataset and training sample takes it from
/// [`Features::of`].
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    /// The binary planes, one bit a square.
    pub planes: [Bitboard; PLANES],
    /// Side to move, board side, rule options, clocks and handicaps, each in 0..=1.
    pub globals: [f32; GLOBALS],
}

impl Features {
    /// Encodes a position and the handicap of the sides. Positions with equal [`Position::state_key`] have equal
    /// features under equal handicaps.
    pub fn of(position: &Position, handicap: Handicap) -> Features {
        let board = position.board();
        let king = single(board.king());
        // Without those that he may not stop on: he comes to none of them.
        let goals = position.king_goals().without(position.rules().closed_to_king());
        let king_reach = KingReach::of(position, king, goals);
        let by_attackers = position.capture_threats(Side::Attackers);
        let by_defenders = position.capture_threats(Side::Defenders);
        let last = position.last_move();

        let mut planes = [Bitboard::EMPTY; PLANES];
        planes[..SPECIAL].copy_from_slice(&[
            board.attackers(),
            board.defenders(),
            king,
            Bitboard::throne(position.size()),
            goals,
            Bitboard::board(position.size()),
            king_reach.one_move,
            king_reach.two_moves,
            king_reach.open_lines,
            by_attackers.landings,
            by_defenders.landings,
            position.edge_flood(),
            single(last.map(|mv| mv.from())),
            single(last.map(|mv| mv.to())),
            by_defenders.victims,
            by_attackers.victims,
        ]);
        write_special_squares(position.rules(), &mut planes);

        Features { planes, globals: global::encode(position, handicap) }
    }

    /// The features of the same position seen through a symmetry.
    #[must_use]
    pub fn transformed(&self, symmetry: Symmetry, size: BoardSize) -> Features {
        Features { planes: self.planes.map(|plane| symmetry.bitboard(plane, size)), globals: self.globals }
    }

    /// Writes the planes as `[PLANES, N, N]` in row-major order, rank 0 first.
    ///
    /// # Panics
    /// When `out` is not `PLANES * squares` long.
    pub fn write_planes(&self, squares: usize, out: &mut [f32]) {
        assert_eq!(out.len(), PLANES * squares, "room for {PLANES} planes of {squares} squares");
        out.fill(0.0);
        for (plane, values) in self.planes.iter().zip(out.chunks_exact_mut(squares)) {
            for square in *plane {
                values[square.index()] = 1.0;
            }
        }
    }
}

/// The first plane of what the rules make of single squares.
const SPECIAL: usize = 16;

/// Writes the planes from [`SPECIAL`] on, most of them for attackers, defending men and the king.
fn write_special_squares(rules: &Rules, planes: &mut [Bitboard; PLANES]) {
    for (special, squares) in rules.special_squares() {
        let [stop, pass, enter] = [special.stop, special.pass, special.enter].map(Pieces::complement);
        let kinds = [special.hostile_empty, special.hostile_occupied, stop, pass, enter];
        for (kind, pieces) in kinds.into_iter().enumerate() {
            pieces.iter().for_each(|piece| planes[SPECIAL + 3 * kind + piece as usize] |= squares);
        }
    }
    let (size, throne) = (rules.size(), rules.marks.throne());
    planes[PLANES - 1] = match rules.king_capture {
        KingCapture::Strong => Bitboard::board(size),
        KingCapture::StrongNearThrone => throne | throne.neighbours(size),
        KingCapture::Weak => Bitboard::EMPTY,
    };
}

/// Where the king can get to; empty sets once he is captured.
struct KingReach {
    one_move: Bitboard,
    two_moves: Bitboard,
    open_lines: Bitboard,
}

impl KingReach {
    fn of(position: &Position, king: Bitboard, goals: Bitboard) -> KingReach {
        let board = position.board();
        let one_move = position.king_destinations(king);
        // A king on a goal has won: he goes no further from there.
        let two_moves = position.king_destinations(one_move.without(goals)).without(one_move | king);
        // Sliding is reversible, so a king would reach the squares with an open line to a goal from the goal. The
        // throne is the exception (he may stand where nobody may stop), hence the separate look at where he stands.
        let free_goals = goals.without(board.attackers() | board.defenders());
        let towards_goals = position.king_destinations(free_goals).without(goals);
        let standing = if (one_move & goals).is_empty() { Bitboard::EMPTY } else { king };
        KingReach { one_move, two_moves, open_lines: towards_goals | standing }
    }
}

fn single(square: Option<Square>) -> Bitboard {
    square.map_or(Bitboard::EMPTY, Bitboard::of)
}
