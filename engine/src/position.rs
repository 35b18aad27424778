//! Positions: a board, the rules, the side to move and just the history the rules need.

use std::sync::Arc;

use crate::cpu::{Cpu, versions};
use crate::enclosure;
use crate::fen;
use crate::history::{History, LONG, Recent};
use crate::legality::check;
use crate::lines::Lines;
use crate::make::{make, make_for};
use crate::movegen;
use crate::ruleset::{Kernel, Ruleset, Tabled, Terms, with_ruleset};
use crate::set::{Set, Wide};
use crate::state::State;
use crate::tables::mix;
use crate::{
    Bitboard, Board, BoardSize, FenError, IllegalMove, Move, MoveList, NoLegalMove, Outcome, Reason, Rules, Side,
    Symmetry,
};

/// What [`Position::play_unchecked`] changed; give it to [`Position::undo`] to take the move back.
#[derive(Clone, Copy, Debug)]
pub struct Undo(Before);

/// The state before a move and what the move captured.
#[derive(Clone, Copy, Debug)]
enum Before {
    Narrow(State<u128>, u128),
    Wide(State<Wide>, Wide),
}

/// Sets that a position can have.
pub(crate) trait Held: Tabled {
    fn body(inner: Inner<Self>) -> Body;
    /// # Panics
    /// When the position has sets of another kind, here and below: its kernel is chosen together with them.
    fn inner(body: &Body) -> &Inner<Self>;
    fn inner_mut(body: &mut Body) -> &mut Inner<Self>;
    fn undo(before: State<Self>, captured: Self) -> Undo;
    fn before(undo: &Undo) -> (&State<Self>, Self);
}

macro_rules! held {
    ($set:ty, $kind:ident) => {
        impl Held for $set {
            #[inline(always)]
            fn body(inner: Inner<$set>) -> Body {
                Body::$kind(inner)
            }

            #[inline(always)]
            fn inner(body: &Body) -> &Inner<$set> {
                let Body::$kind(inner) = body else { unreachable!("the sets of another board") };
                inner
            }

            #[inline(always)]
            fn inner_mut(body: &mut Body) -> &mut Inner<$set> {
                let Body::$kind(inner) = body else { unreachable!("the sets of another board") };
                inner
            }

            #[inline(always)]
            fn undo(before: State<$set>, captured: $set) -> Undo {
                Undo(Before::$kind(before, captured))
            }

            #[inline(always)]
            fn before(undo: &Undo) -> (&State<$set>, $set) {
                let Before::$kind(before, captured) = &undo.0 else { unreachable!("the sets of another board") };
                (before, *captured)
            }
        }
    };
}

held!(u128, Narrow);
held!(Wide, Wide);

impl Undo {
    /// Every square the move emptied by capture, the captured king's too.
    #[inline]
    pub fn captured(&self) -> Bitboard {
        match &self.0 {
            Before::Narrow(_, captured) => captured.widened(),
            Before::Wide(_, captured) => captured.widened(),
        }
    }
}

/// A position of a game under given rules.
///
/// `clone_from` reuses memory: resetting a scratch position to a root does not allocate once it has held as long a
/// game.
#[derive(Debug)]
pub struct Position {
    pub(crate) kernel: Kernel,
    /// What to choose between code for every x86-64 and code for newer ones by.
    pub(crate) cpu: Cpu,
    pub(crate) body: Body,
    pub(crate) history: History,
}

/// What a position has in sets of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Inner<S: Set> {
    pub terms: Arc<Terms<S>>,
    pub state: State<S>,
    pub lines: Lines<S>,
}

/// Rules, state and lines of a position in sets that hold its board.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "copying a position must not allocate")]
pub(crate) enum Body {
    Narrow(Inner<u128>),
    Wide(Inner<Wide>),
}

/// Evaluates an expression for whichever sets a position has.
macro_rules! either {
    ($body:expr, $inner:ident => $result:expr) => {
        match $body {
            Body::Narrow($inner) => $result,
            Body::Wide($inner) => $result,
        }
    };
}

impl Clone for Body {
    fn clone(&self) -> Body {
        match self {
            Body::Narrow(inner) => Body::Narrow(inner.clone()),
            Body::Wide(inner) => Body::Wide(inner.clone()),
        }
    }

    /// Leaves the count of the terms' owners alone where they stay the same.
    fn clone_from(&mut self, source: &Body) {
        fn copy<S: Set>(to: &mut Inner<S>, from: &Inner<S>) {
            if !Arc::ptr_eq(&to.terms, &from.terms) {
                to.terms = from.terms.clone();
            }
            to.state = from.state;
            to.lines = from.lines;
        }
        match (self, source) {
            (Body::Narrow(to), Body::Narrow(from)) => copy(to, from),
            (Body::Wide(to), Body::Wide(from)) => copy(to, from),
            (to, from) => *to = from.clone(),
        }
    }
}

impl Clone for Position {
    fn clone(&self) -> Position {
        Position { kernel: self.kernel, cpu: self.cpu, body: self.body.clone(), history: self.history.clone() }
    }

    fn clone_from(&mut self, source: &Position) {
        self.kernel = source.kernel;
        self.cpu = source.cpu;
        self.body.clone_from(&source.body);
        self.history.clone_from(&source.history);
    }
}

impl Position {
    /// The start position of the rules. Its pieces may stand where they could not stop later.
    pub fn start(rules: &Rules) -> Position {
        Position::of(rules, rules.start.board(), rules.first)
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
        Ok(Position::of(rules, &board, side_to_move))
    }

    fn of(rules: &Rules, board: &Board, side_to_move: Side) -> Position {
        fn inner<R: Ruleset<Set: Held>>(rules: &Rules, board: &Board, side_to_move: Side) -> Inner<R::Set> {
            let terms = Terms::of(rules);
            let mut state = State::root(rules, board, side_to_move);
            state.way_out = enclosure::renewed_witness::<R>(&terms, state.men, <R::Set as Set>::EMPTY);
            let lines = Lines::of::<R>(&terms, state.men);
            Inner { terms: Arc::new(terms), state, lines }
        }
        let kernel = Kernel::of(rules);
        let body = with_ruleset!(kernel, R => <R as Ruleset>::Set::body(inner::<R>(rules, board, side_to_move)));
        let mut position = Position { kernel, cpu: Cpu::detect(), body, history: History::default() };
        let (key, defenders_hash) = either!(&position.body, i => (i.state.key(rules), i.state.defenders_hash));
        position.history.push(key, defenders_hash, Move::NONE);
        let won = !(board.king & position.king_goals()).is_empty();
        let outcome = if won {
            Some(Outcome::Win { side: Side::Defenders, reason: Reason::KingEscaped })
        } else if position.count_legal_moves() == 0 {
            Some(match rules.no_legal_move {
                NoLegalMove::Loss => Outcome::Win { side: side_to_move.opponent(), reason: Reason::NoMoves },
                NoLegalMove::Draw => Outcome::Draw { reason: Reason::NoMoves },
            })
        } else {
            None
        };
        either!(&mut position.body, i => i.state.outcome = outcome);
        position
    }

    /// The part with sets of squares, for a kernel that fits.
    #[inline(always)]
    pub(crate) fn inner<R: Ruleset<Set: Held>>(&self) -> &Inner<R::Set> {
        R::Set::inner(&self.body)
    }

    /// The board and the side to move as FEN.
    pub fn fen(&self) -> String {
        fen::write(&self.board(), self.side_to_move())
    }

    /// The board as lines of text with coordinates, and who is to move.
    pub fn diagram(&self) -> String {
        format!("{}{} to move\n", self.board().diagram(self.rules()), self.side_to_move())
    }

    /// The rules in force.
    #[inline]
    pub fn rules(&self) -> &Rules {
        either!(&self.body, i => &i.terms.rules)
    }

    /// The pieces.
    #[inline]
    pub fn board(&self) -> Board {
        either!(&self.body, i => i.state.men.board(i.terms.rules.size()))
    }

    /// The board's size.
    #[inline]
    pub fn size(&self) -> BoardSize {
        self.rules().size()
    }

    /// Who moves next (also after the game's end).
    #[inline]
    pub fn side_to_move(&self) -> Side {
        either!(&self.body, i => i.state.side_to_move)
    }

    /// Plies played since the position the game began from.
    #[inline]
    pub fn ply(&self) -> u32 {
        either!(&self.body, i => i.state.ply)
    }

    /// Plies played since the last capture (or the start).
    #[inline]
    pub fn plies_since_capture(&self) -> u32 {
        either!(&self.body, i => i.state.since_capture)
    }

    /// How often the present position has occurred by the rules' comparison, itself included: 1 when it is new.
    #[inline]
    pub fn occurrences(&self) -> u32 {
        either!(&self.body, i => i.state.occurrences)
    }

    /// The move that led here, if any was played.
    #[inline]
    pub fn last_move(&self) -> Option<Move> {
        either!(&self.body, i => i.state.last_move)
    }

    /// The moves that led here from where the position began, first to last; a [`Position::transformed`] one began at
    /// the last capture.
    pub fn moves(&self) -> impl Iterator<Item = Move> + '_ {
        self.history.moves()
    }

    /// How the game ended, `None` while it goes on.
    #[inline]
    pub fn outcome(&self) -> Option<Outcome> {
        either!(&self.body, i => i.state.outcome)
    }

    /// Hash of board and side to move, kept incrementally. The same on every machine.
    #[inline]
    pub fn hash(&self) -> u64 {
        either!(&self.body, i => i.state.hash())
    }

    /// The least hash of board and side to move among the eight images of the position under the symmetries of the
    /// square. Positions that look alike have the same. Computed anew.
    pub fn hash_up_to_symmetry(&self) -> u64 {
        let (board, side) = (self.board(), self.side_to_move());
        let hash = |symmetry| State::<Wide>::root(self.rules(), &board.transformed(symmetry), side).hash();
        Symmetry::ALL.into_iter().map(hash).fold(u64::MAX, u64::min)
    }

    /// Hash of everything that legality, outcomes and the network's input read: board, side, rules, clocks, last move
    /// and, where repetition matters, the positions since the last capture. Equal keys may share an evaluation.
    pub fn state_key(&self) -> u64 {
        fn key<S: Set>(inner: &Inner<S>) -> u64 {
            let state = &inner.state;
            let last_move = state.last_move.map_or(u64::MAX, |mv| u64::from(mv.bits()));
            let clocks = u64::from(state.ply) << 32 | u64::from(state.since_capture);
            [last_move, clocks, state.keys_sum, state.configurations_sum, inner.terms.rules_key]
                .into_iter()
                .fold(state.hash(), |key, part| mix(key ^ part).wrapping_add(part))
        }
        either!(&self.body, inner => key(inner))
    }

    /// Fills `moves` with the legal moves in generation order, which is by origin and then by destination, both
    /// rising; empty when the game is over.
    pub fn legal_moves(&self, moves: &mut MoveList) {
        moves.clear();
        if self.outcome().is_none() {
            with_ruleset!(self.kernel, R => list_moves::<R>(self.cpu, self, moves));
        }
    }

    /// How many legal moves there are; none when the game is over.
    pub fn count_legal_moves(&self) -> usize {
        if self.outcome().is_some() {
            return 0;
        }
        with_ruleset!(self.kernel, R => count_moves::<R>(self.cpu, self))
    }

    /// A legal move, each equally likely if `pick` is uniform: it is given their number and returns an index below
    /// it. The indices do not follow generation order. `None` when the game is over.
    pub fn random_move(&self, pick: impl FnOnce(usize) -> usize) -> Option<Move> {
        if self.outcome().is_some() {
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
        let checked = with_ruleset!(self.kernel, R => {
            let inner = self.inner::<R>();
            check::<R>(&inner.terms, self.recent(), &inner.state, mv)
        });
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
        with_ruleset!(self.kernel, R => {
            let before = self.inner::<R>().state;
            let captured = make_move::<R>(self.cpu, self, mv);
            Held::undo(before, captured)
        })
    }

    /// Plays a legal move for good and returns the squares it emptied by capture. Anything else gives a wrong
    /// position or panics.
    pub fn advance(&mut self, mv: Move) -> Bitboard {
        with_ruleset!(self.kernel, R => make_move::<R>(self.cpu, self, mv).widened())
    }

    #[inline(always)]
    fn advance_for<R: Ruleset<Set: Held>, const ATTACKERS: bool>(&mut self, mv: Move) -> R::Set {
        let Inner { terms, state, lines } = R::Set::inner_mut(&mut self.body);
        let recent = self.history.recent(state.since_capture as usize + 1);
        let (after, captured) = make_for::<R, ATTACKERS>(terms, recent, state, mv);
        lines.play::<R, ATTACKERS>(terms, mv, captured);
        self.history.push(after.key(&terms.rules), after.defenders_hash, mv);
        if after.since_capture as usize >= LONG {
            self.history.index_newest();
        }
        *state = after;
        captured
    }

    /// Takes back the latest move; `undo` must be what playing it returned.
    #[inline]
    pub fn undo(&mut self, undo: Undo) {
        self.history.pop();
        with_ruleset!(self.kernel, R => {
            let (before, captured) = <R as Ruleset>::Set::before(&undo);
            let Inner { terms, state, lines } = <R as Ruleset>::Set::inner_mut(&mut self.body);
            if let Some(mv) = state.last_move {
                match before.side_to_move {
                    Side::Attackers => lines.play::<R, true>(terms, mv, captured),
                    Side::Defenders => lines.play::<R, false>(terms, mv, captured),
                }
            }
            *state = *before;
        });
    }

    /// How the game would end at once by this legal move, `None` if it would go on.
    #[inline]
    pub fn outcome_after(&self, mv: Move) -> Option<Outcome> {
        with_ruleset!(self.kernel, R => judge_move::<R>(self.cpu, self, mv))
    }

    /// The same game as seen through a symmetry, history included. Moves played before it cannot be taken back.
    pub fn transformed(&self, symmetry: Symmetry) -> Position {
        let size = self.size();
        // Back to the last capture, and on from there once more: the history before it says nothing to the rules.
        let moves: Vec<Move> = self.history.moves_back(self.plies_since_capture() as usize).collect();
        let (mut board, mut side) = (self.board(), self.side_to_move());
        for &mv in &moves {
            board.take_back(mv);
            side = side.opponent();
        }
        let mut seen = Position::of(self.rules(), &board.transformed(symmetry), side);
        either!(&mut seen.body, i => {
            let state = &mut i.state;
            state.ply = self.ply() - moves.len() as u32;
            (state.last_move, state.outcome) = match moves.is_empty() {
                true => (self.last_move().map(|mv| symmetry.mv(mv, size)), self.outcome()),
                false => (None, None),
            };
            if state.ply > 0 && side == Side::Attackers && i.terms.rules.draw_fort_occurrence != 0 {
                state.configurations_sum = state.defenders_hash;
                state.seen.add_configuration(state.defenders_hash);
            }
        });
        for &mv in moves.iter().rev() {
            seen.advance(symmetry.mv(mv, size));
        }
        seen
    }

    /// Squares on which the king wins by arriving, see [`Rules::goals`].
    #[inline]
    pub fn king_goals(&self) -> Bitboard {
        self.rules().goals()
    }

    /// The positions since the last capture, the present one last.
    #[inline(always)]
    pub(crate) fn recent(&self) -> Recent<'_> {
        self.history.recent(self.plies_since_capture() as usize + 1)
    }
}

// What a position is asked for most, in two versions for x86-64.

versions! {
    fn list_moves<R: Ruleset<Set: Held>>(cpu: Cpu, position: &Position, moves: &mut MoveList) {
        let inner = position.inner::<R>();
        movegen::list::<R>(&inner.terms, position.recent(), &inner.state, moves);
    }
}

versions! {
    fn count_moves<R: Ruleset<Set: Held>>(cpu: Cpu, position: &Position) -> usize {
        let inner = position.inner::<R>();
        movegen::count::<R>(&inner.terms, position.recent(), &inner.state, &inner.lines)
    }
}

versions! {
    fn choose_move<R: Ruleset<Set: Held>, Pick: FnOnce(usize) -> usize>(
        cpu: Cpu, position: &Position, pick: Pick
    ) -> Option<Move> {
        let inner = position.inner::<R>();
        movegen::choose::<R>(&inner.terms, position.recent(), &inner.state, &inner.lines, pick)
    }
}

versions! {
    fn make_move<R: Ruleset<Set: Held>>(cpu: Cpu, position: &mut Position, mv: Move) -> R::Set {
        match position.inner::<R>().state.side_to_move {
            Side::Attackers => position.advance_for::<R, true>(mv),
            Side::Defenders => position.advance_for::<R, false>(mv),
        }
    }
}

versions! {
    fn judge_move<R: Ruleset<Set: Held>>(cpu: Cpu, position: &Position, mv: Move) -> Option<Outcome> {
        let inner = position.inner::<R>();
        make::<R>(&inner.terms, position.recent(), &inner.state, mv).0.outcome
    }
}
