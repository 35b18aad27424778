//! What a move changes, as plain data: making a move is a function from state to state.

use crate::history::Seen;
use crate::ruleset::Ruleset;
use crate::tables::{ATTACKER, DEFENDER, DEFENDERS_TO_MOVE, KING, ZOBRIST};
use crate::{Bitboard, BoardSize, Move, Outcome, Piece, RepetitionCompares, Rules, Side, Square, Symmetry};

/// The pieces, without history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Board {
    pub(crate) attackers: Bitboard,
    pub(crate) defenders: Bitboard,
    pub(crate) king: Bitboard,
    pub(crate) size: BoardSize,
}

impl Board {
    /// Attackers' men.
    #[inline]
    pub const fn attackers(&self) -> Bitboard {
        self.attackers
    }

    /// Defenders' men, the king not among them.
    #[inline]
    pub const fn defenders(&self) -> Bitboard {
        self.defenders
    }

    /// The king's square, `None` once he is captured.
    #[inline]
    pub const fn king(&self) -> Option<Square> {
        self.king.first()
    }

    /// Every square a piece stands on.
    #[inline]
    pub const fn occupied(&self) -> Bitboard {
        Bitboard(self.attackers.0 | self.defenders.0 | self.king.0)
    }

    /// The pieces of one side, the king with the defenders.
    #[inline]
    pub const fn pieces(&self, side: Side) -> Bitboard {
        match side {
            Side::Attackers => self.attackers,
            Side::Defenders => Bitboard(self.defenders.0 | self.king.0),
        }
    }

    /// The board's size.
    #[inline]
    pub const fn size(&self) -> BoardSize {
        self.size
    }

    /// The board as seen through a symmetry.
    pub(crate) fn transformed(&self, symmetry: Symmetry) -> Board {
        let seen = |set| symmetry.bitboard(set, self.size);
        Board {
            attackers: seen(self.attackers),
            defenders: seen(self.defenders),
            king: seen(self.king),
            size: self.size,
        }
    }

    /// What stands on a square.
    pub const fn piece_at(&self, square: Square) -> Option<Piece> {
        if self.attackers.contains(square) {
            Some(Piece::Attacker)
        } else if self.defenders.contains(square) {
            Some(Piece::Defender)
        } else if self.king.contains(square) {
            Some(Piece::King)
        } else {
            None
        }
    }

    #[inline(always)]
    pub(crate) const fn men(&self) -> Men {
        Men { attackers: self.attackers.0, defenders: self.defenders.0, king: self.king.0 }
    }
}

/// The pieces of a board as bare sets.
#[derive(Clone, Copy)]
pub(crate) struct Men {
    pub attackers: u128,
    /// Without the king.
    pub defenders: u128,
    pub king: u128,
}

/// Everything about a position that is not history or rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    pub board: Board,
    /// Zobrist hash of the attackers.
    pub attackers_hash: u64,
    /// Zobrist hash of the defenders and the king.
    pub defenders_hash: u64,
    /// Sum of the history keys since the last capture, this position's among them: a hash of the multiset.
    pub keys_sum: u64,
    /// The same of the defenders' configurations that count for the draw fort.
    pub configurations_sum: u64,
    /// What the two sums are of, for telling at a glance what they are not.
    pub seen: Seen,
    /// A path from a defender to the edge as last found, see [`crate::enclosure::encircled`]; empty when unknown.
    pub way_out: u128,
    pub ply: u32,
    pub since_capture: u32,
    pub occurrences: u32,
    pub last_move: Option<Move>,
    pub side_to_move: Side,
    pub outcome: Option<Outcome>,
}

impl State {
    /// The state of a game that begins with this board.
    pub fn root(rules: &Rules, board: Board, side_to_move: Side) -> State {
        let mut state = State {
            board,
            attackers_hash: hash_set(board.attackers, ATTACKER),
            defenders_hash: hash_set(board.defenders, DEFENDER) ^ hash_set(board.king, KING),
            keys_sum: 0,
            configurations_sum: 0,
            seen: Seen::default(),
            way_out: 0,
            ply: 0,
            since_capture: 0,
            occurrences: 1,
            last_move: None,
            side_to_move,
            outcome: None,
        };
        state.keys_sum = state.key(rules);
        state.seen.add_key(side_to_move, state.keys_sum);
        state
    }

    /// Hash of the board and the side to move.
    #[inline(always)]
    pub fn hash(&self) -> u64 {
        self.attackers_hash ^ self.defenders_hash ^ side_hash(self.side_to_move)
    }

    /// Hash of what the rules compare for repetition.
    #[inline(always)]
    pub fn key(&self, rules: &Rules) -> u64 {
        repetition_key(rules, self.attackers_hash ^ self.defenders_hash, self.side_to_move)
    }

    /// The squares held by the side to move: its men, and the king if he is its.
    #[inline(always)]
    pub fn movers(&self) -> (u128, u128) {
        match self.side_to_move {
            Side::Attackers => (self.board.attackers.0, 0),
            Side::Defenders => (self.board.defenders.0, self.board.king.0),
        }
    }
}

/// What repetition compares, for a board's hash and the side to move.
#[inline(always)]
pub(crate) fn repetition_key(rules: &Rules, board_hash: u64, side_to_move: Side) -> u64 {
    match rules.repetition_compares {
        RepetitionCompares::BoardAndSide => board_hash ^ side_hash(side_to_move),
        RepetitionCompares::BoardAlone => board_hash,
    }
}

#[inline(always)]
fn side_hash(side_to_move: Side) -> u64 {
    match side_to_move {
        Side::Attackers => 0,
        Side::Defenders => DEFENDERS_TO_MOVE,
    }
}

fn hash_set(set: Bitboard, piece: usize) -> u64 {
    set.fold(0, |hash, square| hash ^ ZOBRIST[piece][square.index()])
}

/// The royal goal: corners, or the whole edge.
#[inline(always)]
pub(crate) fn goals<R: Ruleset>(rules: &Rules) -> u128 {
    match R::options(rules).escape {
        crate::Escape::Corner => R::TABLES.corners,
        crate::Escape::Edge => R::TABLES.edge,
    }
}
