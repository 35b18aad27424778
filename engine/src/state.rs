//! What a move changes, as plain data: making a move is a function from state to state.

use crate::history::Seen;
use crate::set::Set;
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
    pub(crate) const fn empty(size: BoardSize) -> Board {
        Board { attackers: Bitboard::EMPTY, defenders: Bitboard::EMPTY, king: Bitboard::EMPTY, size }
    }

    pub(crate) const fn put(&mut self, piece: Piece, square: Square) {
        let pieces = match piece {
            Piece::Attacker => &mut self.attackers,
            Piece::Defender => &mut self.defenders,
            Piece::King => &mut self.king,
        };
        *pieces = pieces.or(Bitboard::of(square));
    }

    /// Takes back a move without captures.
    pub(crate) fn take_back(&mut self, mv: Move) {
        for pieces in [&mut self.attackers, &mut self.defenders, &mut self.king] {
            if pieces.contains(mv.to()) {
                *pieces ^= Bitboard::of(mv.to()) | Bitboard::of(mv.from());
            }
        }
    }

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
        self.attackers.or(self.defenders).or(self.king)
    }

    /// The pieces of one side, the king with the defenders.
    #[inline]
    pub const fn pieces(&self, side: Side) -> Bitboard {
        match side {
            Side::Attackers => self.attackers,
            Side::Defenders => self.defenders.or(self.king),
        }
    }

    /// The board's size.
    #[inline]
    pub const fn size(&self) -> BoardSize {
        self.size
    }

    pub(crate) fn transformed(&self, symmetry: Symmetry) -> Board {
        let seen = |set| symmetry.bitboard(set, self.size);
        Board {
            attackers: seen(self.attackers),
            defenders: seen(self.defenders),
            king: seen(self.king),
            size: self.size,
        }
    }

    pub(crate) const fn pieces_of(&self, piece: Piece) -> Bitboard {
        match piece {
            Piece::Attacker => self.attackers,
            Piece::Defender => self.defenders,
            Piece::King => self.king,
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Men<S> {
    pub attackers: S,
    /// Without the king.
    pub defenders: S,
    pub king: S,
}

impl<S: Set> Men<S> {
    pub fn of(board: &Board) -> Men<S> {
        Men {
            attackers: S::narrowed(board.attackers),
            defenders: S::narrowed(board.defenders),
            king: S::narrowed(board.king),
        }
    }

    #[inline(always)]
    pub fn board(self, size: BoardSize) -> Board {
        Board {
            attackers: self.attackers.widened(),
            defenders: self.defenders.widened(),
            king: self.king.widened(),
            size,
        }
    }

    #[inline(always)]
    pub fn occupied(self) -> S {
        self.attackers | self.defenders | self.king
    }
}

/// Everything about a position that is not history or rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State<S> {
    pub men: Men<S>,
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
    pub way_out: S,
    pub ply: u32,
    pub since_capture: u32,
    pub occurrences: u32,
    pub last_move: Option<Move>,
    pub side_to_move: Side,
    pub outcome: Option<Outcome>,
}

impl<S: Set> State<S> {
    /// The state of a game that begins with this board.
    pub fn root(rules: &Rules, board: &Board, side_to_move: Side) -> State<S> {
        let mut state = State {
            men: Men::of(board),
            attackers_hash: hash_set(board.attackers, ATTACKER),
            defenders_hash: hash_set(board.defenders, DEFENDER) ^ hash_set(board.king, KING),
            keys_sum: 0,
            configurations_sum: 0,
            seen: Seen::default(),
            way_out: S::EMPTY,
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
    pub fn movers(&self) -> (S, S) {
        match self.side_to_move {
            Side::Attackers => (self.men.attackers, S::EMPTY),
            Side::Defenders => (self.men.defenders, self.men.king),
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
