//! Positions: a board, the rules, the side to move and just the history the rules need.

use crate::cpu::{Cpu, versions};
use crate::enclosure;
use crate::fen;
use crate::history::{History, LONG, Recent, Seen};
use crate::legality::check;
use crate::lines::Lines;
use crate::make::{make, make_for};
use crate::movegen;
use crate::ruleset::{Kernel, Ruleset, with_ruleset};
use crate::state::{State, goals, repetition_key};
use crate::tables::{DEFENDER, KING, ZOBRIST, mix};
use crate::{
    Bitboard, Board, BoardSize, FenError, IllegalMove, Move, MoveList, NoLegalMove, Outcome, Reason, Rules, Side,
    Symmetry,
};

/// What [`Position::play_unchecked`] changed; give it to [`Position::undo`] to take the move back.
#[derive(Clone, Copy, Debug)]
pub struct Undo {
    before: State,
    captured: Bitboard,
}

impl Undo {
    /// Every square the move emptied by capture, the captured king's too.
    #[inline]
    pub fn captured(&self) -> Bitboard {
        self.captured
    }
}

/// A position of a game under given rules.
///
/// `clone_from` reuses memory: resetting a scratch position to a root does not allocate once it has held as long a
/// game.
#[derive(Debug)]
pub struct Position {
    pub(crate) rules: Rules,
    pub(crate) kernel: Kernel,
    /// What to choose between code for every x86-64 and code for newer ones by.
    pub(crate) cpu: Cpu,
    /// [`Rules::fingerprint`], since hashing the options takes longer than all else in a state key.
    rules_key: u64,
    pub(crate) state: State,
    pub(crate) lines: Lines,
    pub(crate) history: History,
}

impl Clone for Position {
    fn clone(&self) -> Position {
        Position { history: self.history.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Position) {
        self.rules = source.rules;
        self.kernel = source.kernel;
        self.cpu = source.cpu;
        self.rules_key = source.rules_key;
        self.state = source.state;
        self.lines = source.lines;
        self.history.clone_from(&source.history);
    }
}

impl Position {
    /// The start position of the rules' layout.
    pub fn start(rules: &Rules) -> Position {
        let side = if rules.first == Side::Attackers { 'a' } else { 'd' };
        let fen = format!("{} {side}", rules.layout.rows());
        Position::from_fen(rules, &fen).expect("layouts stand under all rules")
    }

    /// Reads a FEN such as `3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 a`: rows from the top, then the side to move.
    ///
    /// The game begins here: clocks are at zero and the position counts as occurred once. It is over at once only if
    /// the king stands on his goal or the side to move cannot move.
    ///
    /// # Errors
    /// When the text is no FEN or the position cannot stand on the board.
    pub fn from_fen(rules: &Rules, fen: &str) -> Result<Position, FenError> {
        let (board, side_to_move) = fen::read(rules, fen)?;
        let kernel = Kernel::of(rules);
        let mut position = Position {
            rules: *rules,
            kernel,
            cpu: Cpu::detect(),
            rules_key: rules.fingerprint(),
            state: State::root(rules, board, side_to_move),
            lines: with_ruleset!(kernel, R => Lines::of::<R>(board.men())),
            history: History::default(),
        };
        position.state.way_out =
            with_ruleset!(position.kernel, R => enclosure::renewed_witness::<R>(rules, board.men(), 0));
        let state = &position.state;
        position.history.push(state.key(rules), state.defenders_hash, Move::NONE);
        let won = !(board.king & position.king_goals()).is_empty();
        position.state.outcome = if won {
            Some(Outcome::Win { side: Side::Defenders, reason: Reason::KingEscaped })
        } else if position.count_legal_moves() == 0 {
            Some(match rules.no_legal_move {
                NoLegalMove::Loss => Outcome::Win { side: side_to_move.opponent(), reason: Reason::NoMoves },
                NoLegalMove::Draw => Outcome::Draw { reason: Reason::NoMoves },
            })
        } else {
            None
        };
        Ok(position)
    }

    /// The board and the side to move as FEN.
    pub fn fen(&self) -> String {
        fen::write(&self.state.board, self.state.side_to_move)
    }

    /// The board as lines of text with coordinates, and who is to move.
    pub fn diagram(&self) -> String {
        format!("{}{} to move\n", self.state.board.diagram(), self.state.side_to_move)
    }

    /// The rules in force.
    #[inline]
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The pieces.
    #[inline]
    pub fn board(&self) -> &Board {
        &self.state.board
    }

    /// The board's size.
    #[inline]
    pub fn size(&self) -> BoardSize {
        self.state.board.size
    }

    /// Who moves next (also after the game's end).
    #[inline]
    pub fn side_to_move(&self) -> Side {
        self.state.side_to_move
    }

    /// Plies played since the position the game began from.
    #[inline]
    pub fn ply(&self) -> u32 {
        self.state.ply
    }

    /// Plies played since the last capture (or the start).
    #[inline]
    pub fn plies_since_capture(&self) -> u32 {
        self.state.since_capture
    }

    /// How often the present position has occurred by the rules' comparison, itself included: 1 when it is new.
    #[inline]
    pub fn occurrences(&self) -> u32 {
        self.state.occurrences
    }

    /// The move that led here, if any was played.
    #[inline]
    pub fn last_move(&self) -> Option<Move> {
        self.state.last_move
    }

    /// The moves that led here from where the position began, first to last; a [`Position::transformed`] one began at
    /// the last capture.
    pub fn moves(&self) -> impl Iterator<Item = Move> + '_ {
        self.history.moves()
    }

    /// How the game ended, `None` while it goes on.
    #[inline]
    pub fn outcome(&self) -> Option<Outcome> {
        self.state.outcome
    }

    /// Hash of board and side to move, kept incrementally. The same on every machine.
    #[inline]
    pub fn hash(&self) -> u64 {
        self.state.hash()
    }

    /// The least hash of board and side to move among the eight images of the position under the symmetries of the
    /// square. Positions that look alike have the same. Computed anew.
    pub fn hash_up_to_symmetry(&self) -> u64 {
        let (board, side) = (self.state.board, self.state.side_to_move);
        let hash = |symmetry| State::root(&self.rules, board.transformed(symmetry), side).hash();
        Symmetry::ALL.into_iter().map(hash).fold(u64::MAX, u64::min)
    }

    /// Hash of everything that legality, outcomes and the network's input read: board, side, rules, clocks, last move
    /// and, where repetition matters, the positions since the last capture. Equal keys may share an evaluation.
    pub fn state_key(&self) -> u64 {
        let state = &self.state;
        let last_move = state.last_move.map_or(u64::MAX, |mv| u64::from(mv.bits()));
        let clocks = u64::from(state.ply) << 32 | u64::from(state.since_capture);
        [last_move, clocks, state.keys_sum, state.configurations_sum, self.rules_key]
            .into_iter()
            .fold(state.hash(), |key, part| mix(key ^ part).wrapping_add(part))
    }

    /// Fills `moves` with the legal moves in generation order, which is by origin and then by destination, both
    /// rising; empty when the game is over.
    pub fn legal_moves(&self, moves: &mut MoveList) {
        moves.clear();
        if self.state.outcome.is_none() {
            with_ruleset!(self.kernel, R => list_moves::<R>(self.cpu, self, moves));
        }
    }

    /// How many legal moves there are; none when the game is over.
    pub fn count_legal_moves(&self) -> usize {
        if self.state.outcome.is_some() {
            return 0;
        }
        with_ruleset!(self.kernel, R => count_moves::<R>(self.cpu, self))
    }

    /// A legal move, each equally likely if `pick` is uniform: it is given their number and returns an index below
    /// it. The indices do not follow generation order. `None` when the game is over.
    pub fn random_move(&self, pick: impl FnOnce(usize) -> usize) -> Option<Move> {
        if self.state.outcome.is_some() {
            return None;
        }
        with_ruleset!(self.kernel, R => choose_move::<R, _>(self.cpu, self, pick))
    }

    /// Whether the move is legal here.
    pub fn is_legal(&self, mv: Move) -> bool {
        self.check(mv).is_ok()
    }

    /// Checks a move without playing it.
    ///
    /// # Errors
    /// When the move is illegal; the error names the rule.
    pub fn check(&self, mv: Move) -> Result<(), IllegalMove> {
        let checked = with_ruleset!(self.kernel, R => check::<R>(&self.rules, self.recent(), &self.state, mv));
        checked.map_err(|reason| IllegalMove { mv, size: self.size(), reason })
    }

    /// Plays a move after checking it and returns the squares it emptied by capture.
    ///
    /// # Errors
    /// When the move is illegal; the position is unchanged then.
    pub fn play(&mut self, mv: Move) -> Result<Bitboard, IllegalMove> {
        self.check(mv)?;
        Ok(self.advance(mv))
    }

    /// Plays a legal move. Anything else gives a wrong position or panics.
    #[inline]
    pub fn play_unchecked(&mut self, mv: Move) -> Undo {
        let before = self.state;
        let captured = self.advance(mv);
        Undo { before, captured }
    }

    /// Plays a legal move for good and returns the squares it emptied by capture. Anything else gives a wrong
    /// position or panics.
    pub fn advance(&mut self, mv: Move) -> Bitboard {
        with_ruleset!(self.kernel, R => make_move::<R>(self.cpu, self, mv))
    }

    #[inline(always)]
    fn advance_for<R: Ruleset, const ATTACKERS: bool>(&mut self, mv: Move) -> Bitboard {
        let (after, captured) = make_for::<R, ATTACKERS>(&self.rules, self.recent(), &self.state, mv);
        self.lines.play::<R, ATTACKERS>(mv, captured);
        self.history.push(after.key(&self.rules), after.defenders_hash, mv);
        if after.since_capture as usize >= LONG {
            self.history.index_newest();
        }
        self.state = after;
        captured
    }

    /// Takes back the latest move; `undo` must be what playing it returned.
    #[inline]
    pub fn undo(&mut self, undo: Undo) {
        self.history.pop();
        if let Some(mv) = self.state.last_move {
            with_ruleset!(self.kernel, R => match undo.before.side_to_move {
                Side::Attackers => self.lines.play::<R, true>(mv, undo.captured),
                Side::Defenders => self.lines.play::<R, false>(mv, undo.captured),
            });
        }
        self.state = undo.before;
    }

    /// How the game would end at once by this legal move, `None` if it would go on.
    #[inline]
    pub fn outcome_after(&self, mv: Move) -> Option<Outcome> {
        with_ruleset!(self.kernel, R => judge_move::<R>(self.cpu, self, mv))
    }

    /// The same game as seen through a symmetry, history included. Moves played before it cannot be taken back.
    pub fn transformed(&self, symmetry: Symmetry) -> Position {
        let size = self.size();
        let board = self.state.board.transformed(symmetry);
        let mut state = State {
            way_out: symmetry.bitboard(Bitboard(self.state.way_out), size).0,
            ply: self.state.ply,
            since_capture: self.state.since_capture,
            occurrences: self.state.occurrences,
            last_move: self.state.last_move.map(|mv| symmetry.mv(mv, size)),
            outcome: self.state.outcome,
            ..State::root(&self.rules, board, self.state.side_to_move)
        };
        let history = self.transformed_history(symmetry, &mut state);
        let lines = with_ruleset!(self.kernel, R => Lines::of::<R>(board.men()));
        Position { state, lines, history, ..*self }
    }

    /// The positions since the last capture through a symmetry, by taking the moves back one by one from `present`,
    /// whose sums are brought up to date on the way.
    fn transformed_history(&self, symmetry: Symmetry, present: &mut State) -> History {
        let rules = &self.rules;
        let mut history = History::default();
        let mut side_to_move = present.side_to_move;
        let mut king = present.board.king;
        let (mut attackers_hash, mut defenders_hash) = (present.attackers_hash, present.defenders_hash);
        let mut ply = present.ply;
        (present.keys_sum, present.configurations_sum, present.seen) = (0, 0, Seen::default());
        let mut moves = self.history.moves_back(present.since_capture as usize + 1);
        loop {
            let mv = moves.next().map_or(Move::NONE, |mv| if ply == 0 { mv } else { symmetry.mv(mv, self.size()) });
            let key = repetition_key(rules, attackers_hash ^ defenders_hash, side_to_move);
            history.push(key, defenders_hash, mv);
            present.keys_sum = present.keys_sum.wrapping_add(key);
            present.seen.add_key(side_to_move, key);
            if ply > 0 && side_to_move == Side::Attackers && rules.draw_fort_occurrence != 0 {
                present.configurations_sum = present.configurations_sum.wrapping_add(defenders_hash);
                present.seen.add_configuration(defenders_hash);
            }
            if present.ply - ply == present.since_capture {
                break;
            }
            let (from, to) = (mv.from().index(), mv.to().index());
            side_to_move = side_to_move.opponent();
            match side_to_move {
                Side::Attackers => attackers_hash ^= ZOBRIST[0][from] ^ ZOBRIST[0][to],
                Side::Defenders if king == Bitboard::of(mv.to()) => {
                    king = Bitboard::of(mv.from());
                    defenders_hash ^= ZOBRIST[KING][from] ^ ZOBRIST[KING][to];
                }
                Side::Defenders => defenders_hash ^= ZOBRIST[DEFENDER][from] ^ ZOBRIST[DEFENDER][to],
            }
            ply -= 1;
        }
        history.reverse();
        history
    }

    /// Squares on which the king wins by arriving: corners, or edge squares where the edge is his goal.
    #[inline]
    pub fn king_goals(&self) -> Bitboard {
        Bitboard(with_ruleset!(self.kernel, R => goals::<R>(&self.rules)))
    }

    /// The positions since the last capture, the present one last.
    #[inline(always)]
    pub(crate) fn recent(&self) -> Recent<'_> {
        self.history.recent(self.state.since_capture as usize + 1)
    }
}

// What a position is asked for most, in two versions for x86-64.

versions! {
    fn list_moves<R: Ruleset>(cpu: Cpu, position: &Position, moves: &mut MoveList) {
        movegen::list::<R>(&position.rules, position.recent(), &position.state, moves);
    }
}

versions! {
    fn count_moves<R: Ruleset>(cpu: Cpu, position: &Position) -> usize {
        movegen::count::<R>(&position.rules, position.recent(), &position.state, &position.lines)
    }
}

versions! {
    fn choose_move<R: Ruleset, Pick: FnOnce(usize) -> usize>(cpu: Cpu, position: &Position, pick: Pick) -> Option<Move> {
        movegen::choose::<R>(&position.rules, position.recent(), &position.state, &position.lines, pick)
    }
}

versions! {
    fn make_move<R: Ruleset>(cpu: Cpu, position: &mut Position, mv: Move) -> Bitboard {
        match position.state.side_to_move {
            Side::Attackers => position.advance_for::<R, true>(mv),
            Side::Defenders => position.advance_for::<R, false>(mv),
        }
    }
}

versions! {
    fn judge_move<R: Ruleset>(cpu: Cpu, position: &Position, mv: Move) -> Option<Outcome> {
        make::<R>(&position.rules, position.recent(), &position.state, mv).0.outcome
    }
}
