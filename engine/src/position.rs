//! Positions: a board, the rules, the side to move and just the history the rules need.

use crate::{Bitboard, BoardSize, Move, MoveList, Outcome, Piece, Rules, Side, Square, Symmetry};

/// The pieces, without history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Board {
    /// Attackers' men.
    attackers: Bitboard,
    /// Defenders' men without the king.
    defenders: Bitboard,
    /// The king's square; `None` once he is captured.
    king: Option<Square>,
    size: BoardSize,
}

impl Board {
    /// Attackers' men.
    pub fn attackers(&self) -> Bitboard {
        self.attackers
    }
    /// Defenders' men, the king not among them.
    pub fn defenders(&self) -> Bitboard {
        self.defenders
    }
    /// The king's square, `None` once he is captured.
    pub fn king(&self) -> Option<Square> {
        self.king
    }
    /// The board's size.
    pub fn size(&self) -> BoardSize {
        self.size
    }
    /// What stands on a square.
    pub fn piece_at(&self, square: Square) -> Option<Piece> {
        let _ = square;
        todo!()
    }
}

/// A FEN that cannot stand on the board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("FEN {fen:?}: {problem}")]
pub struct FenError {
    /// What was read.
    pub fen: String,
    /// What is wrong with it and what was expected.
    pub problem: String,
}

/// A move the rules forbid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("illegal move {mv}: {problem}")]
pub struct IllegalMove {
    /// The move, as `a4b4`.
    pub mv: String,
    /// Which rule forbids it.
    pub problem: String,
}

/// What [`Position::play_unchecked`] changed; give it to [`Position::undo`] to take the move back.
#[derive(Clone, Copy, Debug)]
pub struct Undo {
    captured: Bitboard,
}

impl Undo {
    /// Every square the move emptied by capture, the captured king's too.
    pub fn captured(&self) -> Bitboard {
        self.captured
    }
}

/// Where one side could capture at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureThreats {
    /// Squares that a man of the side can reach in one move and where arriving captures custodially.
    pub landings: Bitboard,
    /// Enemy men (not the king) that fall to such a move.
    pub victims: Bitboard,
}

/// A position of a game under given rules.
#[derive(Clone, Debug)]
pub struct Position {
    rules: Rules,
    board: Board,
}

impl Position {
    /// The start position of the rules' standard layout.
    pub fn start(rules: &Rules) -> Position {
        let _ = rules;
        todo!()
    }
    /// Reads a FEN such as `3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 a`: rows from the top, then the side to move.
    ///
    /// # Errors
    /// When the text is no FEN or the position cannot stand on the board.
    pub fn from_fen(rules: &Rules, fen: &str) -> Result<Position, FenError> {
        let _ = (rules, fen);
        todo!()
    }
    /// The board and the side to move as FEN.
    pub fn fen(&self) -> String {
        todo!()
    }
    /// The rules in force.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }
    /// The pieces.
    pub fn board(&self) -> &Board {
        &self.board
    }
    /// The board's size.
    pub fn size(&self) -> BoardSize {
        self.board.size
    }
    /// Who moves next (also after the game's end).
    pub fn side_to_move(&self) -> Side {
        todo!()
    }
    /// Plies played since the position the game began from.
    pub fn ply(&self) -> u32 {
        todo!()
    }
    /// Plies played since the last capture (or the start).
    pub fn plies_since_capture(&self) -> u32 {
        todo!()
    }
    /// How often the present position has occurred by the rules' comparison, itself included: 1 when it is new.
    pub fn occurrences(&self) -> u32 {
        todo!()
    }
    /// The move that led here, if any was played.
    pub fn last_move(&self) -> Option<Move> {
        todo!()
    }
    /// How the game ended, `None` while it goes on.
    pub fn outcome(&self) -> Option<Outcome> {
        todo!()
    }
    /// Hash of board and side to move, kept incrementally.
    pub fn hash(&self) -> u64 {
        todo!()
    }
    /// Hash of everything that legality, outcomes and the network's input read: board, side, rules, clocks, last move and,
    /// where repetition matters, the positions since the last capture. Equal keys may share an evaluation.
    pub fn state_key(&self) -> u64 {
        todo!()
    }
    /// Fills `moves` with the legal moves in generation order; empty when the game is over.
    pub fn legal_moves(&self, moves: &mut MoveList) {
        let _ = moves;
        todo!()
    }
    /// How many legal moves there are.
    pub fn count_legal_moves(&self) -> usize {
        todo!()
    }
    /// Whether the move is legal here.
    pub fn is_legal(&self, mv: Move) -> bool {
        let _ = mv;
        todo!()
    }
    /// Plays a move after checking it and returns the squares it emptied by capture.
    ///
    /// # Errors
    /// When the move is illegal; the position is unchanged then.
    pub fn play(&mut self, mv: Move) -> Result<Bitboard, IllegalMove> {
        let _ = mv;
        todo!()
    }
    /// Plays a legal move. Anything else gives a wrong position or panics.
    pub fn play_unchecked(&mut self, mv: Move) -> Undo {
        let _ = mv;
        todo!()
    }
    /// Takes back the latest move; `undo` must be what playing it returned.
    pub fn undo(&mut self, undo: Undo) {
        let _ = undo;
        todo!()
    }
    /// How the game would end at once by this legal move, `None` if it would go on. The position is not changed.
    pub fn outcome_after(&mut self, mv: Move) -> Option<Outcome> {
        let undo = self.play_unchecked(mv);
        let outcome = self.outcome();
        self.undo(undo);
        outcome
    }
    /// The same game as seen through a symmetry, history included.
    pub fn transformed(&self, symmetry: Symmetry) -> Position {
        let _ = symmetry;
        todo!()
    }
    /// Squares the king could go to in one move from any of `origins`, the pieces standing as they do (the king lifted).
    pub fn king_destinations(&self, origins: Bitboard) -> Bitboard {
        let _ = origins;
        todo!()
    }
    /// Squares on which the king wins by arriving: corners, or edge squares where the edge is his goal.
    pub fn king_goals(&self) -> Bitboard {
        todo!()
    }
    /// Squares reached from the edge by orthogonal steps through squares without attackers.
    pub fn edge_flood(&self) -> Bitboard {
        todo!()
    }
    /// Where `side` could capture men at once, if it were to move.
    pub fn capture_threats(&self, side: Side) -> CaptureThreats {
        let _ = side;
        todo!()
    }
}
