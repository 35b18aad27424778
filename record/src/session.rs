//! One game at a board: the moves back and forth with all variations, who sits where, and how it ended. Knows nothing
//! of screens.

mod edit;
mod records;

use hnefi_engine::{Bitboard, Ending, FenError, Game, IllegalMove, Move, MoveList, Ply, Position, Rules, Side, Square};
use hnefi_inference::Wdl;

use crate::{LONGEST_COMMENT, MoveTree, Place, START, Seat};
pub use records::NoteError;

/// Bytes of all comments of a game together.
pub const MOST_WORDS: usize = 64 << 10;

/// Resigning needs a person whose turn it is or whose game it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nobody here can resign: {0}")]
pub struct NoResignation(&'static str);

/// A view of a position, absolute: no side's viewpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chances {
    /// Chance that the attackers win.
    pub attackers: f32,
    /// Chance of a draw.
    pub draw: f32,
    /// Chance that the defenders win.
    pub defenders: f32,
}

impl Chances {
    /// What `wdl` says when `mover` is to move.
    pub fn of(wdl: Wdl, mover: Side) -> Chances {
        let attackers = wdl.seen_by(mover, Side::Attackers);
        Chances { attackers: attackers.win, draw: attackers.draw, defenders: attackers.loss }
    }

    /// What the end of a game leaves of them; a draw has no winner.
    pub fn of_winner(winner: Option<Side>) -> Chances {
        Chances::of(Wdl::of_winner(winner, Side::Attackers), Side::Attackers)
    }

    /// The chances as `viewer` sees them.
    pub fn seen_by(self, viewer: Side) -> Wdl {
        Wdl { win: self.attackers, draw: self.draw, loss: self.defenders }.seen_by(Side::Attackers, viewer)
    }

    /// Expected score of a side, draws half, in 0..=1.
    pub fn score(self, side: Side) -> f32 {
        self.seen_by(side).score()
    }
}

/// A change of the moves that cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// There is no such place (any more).
    #[error("the game has no move {0} (any more)")]
    NoSuchMove(u32),
    /// The place before the first move is no move.
    #[error("the start is no move; it cannot be removed or promoted")]
    Start,
    /// The comment is too long.
    #[error("the comment has {0} characters; expected at most {LONGEST_COMMENT}")]
    LongComment(usize),
    /// All comments together are too long.
    #[error("the comments of a game have {0} bytes together; expected at most {MOST_WORDS}")]
    ManyComments(usize),
}

/// A game with everything that was tried in it: what is taken back stays, and another move begins a variation.
///
/// At any time one **line** goes through the tree: the plies played, which are [`Session::game`], and behind them those
/// that may be played again.
#[derive(Clone, Debug)]
pub struct Session {
    game: Game,
    tree: MoveTree,
    /// The places of the line, without the start; the first `game.len()` are played.
    line: Vec<Place>,
    seats: [Seat; 2],
    /// Whether a finished game is looked at: other moves are variations then, and never the game.
    is_study: bool,
    /// Where a side gave up the game that is looked at.
    given_up: Option<(Place, Side)>,
    stamp: u64,
    tree_stamp: u64,
    number: u64,
}

impl Session {
    /// A game at its start.
    ///
    /// # Errors
    /// When the FEN is none or cannot stand under the rules.
    pub fn new(rules: Rules, start: Option<String>, seats: [Seat; 2]) -> Result<Session, FenError> {
        let game = match &start {
            None => Game::new(&rules),
            Some(fen) => Game::from_fen(&rules, fen)?,
        };
        Ok(Session::begun(game, seats, false))
    }

    fn begun(game: Game, seats: [Seat; 2], is_study: bool) -> Session {
        let (tree, line) = (MoveTree::new(), Vec::new());
        Session { game, tree, line, seats, is_study, given_up: None, stamp: 0, tree_stamp: 0, number: 1 }
    }

    /// The game, without the plies taken back.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// The rules in force.
    pub fn rules(&self) -> &Rules {
        self.game.rules()
    }

    /// The position on the board.
    pub fn position(&self) -> &Position {
        self.game.position()
    }

    /// Whose turn it is.
    pub fn side_to_move(&self) -> Side {
        self.position().side_to_move()
    }

    /// Who has this side.
    pub fn seat(&self, side: Side) -> &Seat {
        &self.seats[side.index()]
    }

    /// Whether the game goes on and a person is to move.
    pub fn waits_for_person(&self) -> bool {
        self.ending().is_none() && self.seat(self.side_to_move()).is_person()
    }

    /// Whether the game goes on and a player is to move.
    pub fn waits_for_player(&self) -> bool {
        self.ending().is_none() && !self.seat(self.side_to_move()).is_person()
    }

    /// Whether any person sits at the table.
    pub fn has_person(&self) -> bool {
        self.seats.iter().any(Seat::is_person)
    }

    /// Whether plies follow on the line that can be played again.
    pub fn has_taken_back(&self) -> bool {
        self.line.len() > self.game.len()
    }

    /// The plies of the line: what was played, then what was taken back.
    pub fn all_plies(&self) -> impl Iterator<Item = &Ply> {
        self.line.iter().filter_map(|&place| self.tree.node(place).ply.as_ref())
    }

    /// All moves.
    pub fn tree(&self) -> &MoveTree {
        &self.tree
    }

    /// The places of the line, without the start: what was played, then what was taken back.
    pub fn line(&self) -> &[Place] {
        &self.line
    }

    /// The place on the board.
    pub fn place(&self) -> Place {
        self.game.len().checked_sub(1).map_or(START, |last| self.line[last])
    }

    /// Whether the place on the board is on the main line.
    pub fn is_main(&self) -> bool {
        self.tree.is_main(self.place())
    }

    /// Whether this move was made here before.
    pub fn knows(&self, mv: Move) -> bool {
        self.tree.child(self.place(), mv).is_some()
    }

    /// Changes whenever the tree or its words do.
    pub fn tree_stamp(&self) -> u64 {
        self.tree_stamp
    }

    /// Changes whenever the position or the game does: an answer to an older stamp is stale.
    pub fn stamp(&self) -> u64 {
        self.stamp
    }

    /// Number of the game at this table, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// How the game ended, `None` while it goes on.
    pub fn ending(&self) -> Option<Ending> {
        self.game.ending()
    }

    /// The legal moves; none after the end.
    pub fn moves(&self) -> MoveList {
        let mut moves = MoveList::new();
        if self.ending().is_none() {
            self.position().legal_moves(&mut moves);
        }
        moves
    }

    /// Where the piece on `from` may go.
    pub fn targets(&self, from: Square) -> Bitboard {
        self.squares(|mv| (mv.from() == from).then_some(mv.to()))
    }

    /// The pieces that may move.
    pub fn movable(&self) -> Bitboard {
        self.squares(|mv| Some(mv.from()))
    }

    fn squares(&self, pick: impl Fn(Move) -> Option<Square>) -> Bitboard {
        self.moves().iter().filter_map(|&mv| pick(mv)).collect()
    }

    /// Plays a move. In a game it is what was played, and what was played there before becomes a variation; after the
    /// end of the game, and in a game that is looked at, it begins a variation or goes into one that is there.
    ///
    /// # Errors
    /// When it is illegal or the game is over; the message says why.
    pub fn play(&mut self, mv: Move) -> Result<Ply, IllegalMove> {
        let place = self.place();
        let ply = *self.game.play(mv)?;
        let goes_on = !self.is_study && !self.is_decided();
        self.tree_stamp += u64::from(self.tree.child(place, mv).is_none());
        let next = self.tree.child_or_add(place, ply, self.game.ending());
        self.line.truncate(self.game.len() - 1);
        self.line.push(next);
        if goes_on {
            if self.tree.make_main(next) {
                self.tree_stamp += 1;
            }
        } else {
            self.line.extend(self.tree.onward(next));
        }
        self.stamp += 1;
        Ok(ply)
    }

    /// How the main line ended, wherever the board stands; `None` while the game goes on.
    pub fn result(&self) -> Option<Ending> {
        let last = self.tree.onward(START).last().unwrap_or(START);
        let given_up = self.given_up.filter(|&(place, _)| place == last).map(|(_, side)| Ending::Resigned(side));
        self.tree.node(last).ending.or(given_up)
    }

    /// Whether the main line has come to an end.
    pub fn is_decided(&self) -> bool {
        self.result().is_some()
    }

    /// Takes back to a person's last decision (a single ply when no person sits here, or just the resignation) and returns
    /// whether there was anything to take back.
    pub fn undo(&mut self) -> bool {
        let (at, place) = (self.game.len(), self.place());
        let to = match self.ending() {
            Some(Ending::Resigned(_)) => {
                self.tree.node_mut(place).ending = None;
                Some(at)
            }
            _ => self.decided_before(),
        };
        self.go_to(to)
    }

    /// Whether there is anything to take back.
    pub fn can_undo(&self) -> bool {
        matches!(self.ending(), Some(Ending::Resigned(_))) || self.decided_before().is_some()
    }

    /// The ply of the last decision before the position on the board.
    fn decided_before(&self) -> Option<usize> {
        (0..self.game.len()).rev().find(|&ply| self.stops_at(ply))
    }

    /// Plays what was taken back, up to a person's next decision.
    pub fn redo(&mut self) -> bool {
        let (at, end) = (self.game.len(), self.line.len());
        let to = (at + 1..=end).find(|&ply| ply == end || self.stops_at(ply));
        self.go_to(to)
    }

    /// Goes to the position after `ply` plies of the line, backwards or forwards; false when there is no such position
    /// or it is on the board already.
    pub fn step_to(&mut self, ply: usize) -> bool {
        self.go_to((ply <= self.line.len() && ply != self.game.len()).then_some(ply))
    }

    fn stops_at(&self, ply: usize) -> bool {
        let first = self.game.start().side_to_move();
        let side = if ply.is_multiple_of(2) { first } else { first.opponent() };
        !self.has_person() || self.seat(side).is_person()
    }

    fn go_to(&mut self, to: Option<usize>) -> bool {
        let Some(to) = to else { return false };
        self.game.withdraw_resignation();
        while self.game.len() > to {
            self.game.undo();
        }
        while self.game.len() < to
            && let Some(ply) = self.tree.node(self.line[self.game.len()]).ply
        {
            self.game.play(ply.mv).expect("it was legal when it was played first");
        }
        if let Some(Ending::Resigned(side)) = self.tree.node(self.place()).ending {
            self.game.resign(side).expect("the game was given up here");
        }
        self.stamp += 1;
        true
    }

    /// The person gives up, at the end of the game: the one to move, or the only one at the table.
    ///
    /// # Errors
    /// When the game is over or no person plays.
    pub fn resign(&mut self) -> Result<Ending, NoResignation> {
        let over = || NoResignation("the game is over");
        if self.ending().is_some() || self.is_decided() {
            return Err(over());
        }
        let last = self.tree.onward(START).last().unwrap_or(START);
        self.go_to_place(last).map_err(|_| over())?;
        let mover = self.side_to_move();
        let person = [mover, mover.opponent()].into_iter().find(|&side| self.seat(side).is_person());
        let side = person.ok_or(NoResignation("no person plays"))?;
        self.forfeit(side);
        Ok(Ending::Resigned(side))
    }

    /// A side loses the position on the board, unless the game is over.
    pub fn forfeit(&mut self, side: Side) {
        if self.game.resign(side).is_ok() {
            let place = self.place();
            self.tree.node_mut(place).ending = self.game.ending();
            self.stamp += 1;
        }
    }

    /// Begins again from the start; with `swap` the two change seats.
    pub fn restart(&mut self, swap: bool) {
        if swap {
            self.seats.swap(0, 1);
        }
        let game = Game::from_position(self.game.start().clone());
        *self = Session {
            stamp: self.stamp + 1,
            tree_stamp: self.tree_stamp + 1,
            number: self.number + 1,
            ..Session::begun(game, self.seats.clone(), false)
        };
    }

    /// Notes a player's view of the position on the board.
    pub fn note_view(&mut self, chances: Chances, playouts: u32) {
        let place = self.place();
        self.tree.node_mut(place).view = Some((chances, playouts));
    }

    /// The latest view of the game, and whether it is of this very position.
    pub fn view(&self) -> Option<(Chances, bool)> {
        let at = self.game.len();
        let view = |ply: usize| self.tree.node(self.place_at(ply)).view;
        (0..=at).rev().find_map(|ply| view(ply).map(|(chances, _)| (chances, ply == at)))
    }

    /// The view of the position on the board, and the playouts behind it.
    pub fn view_here(&self) -> Option<(Chances, u32)> {
        self.tree.node(self.place()).view
    }

    /// The views of all positions of the line with the playouts behind them: one more than plies.
    pub fn views(&self) -> impl Iterator<Item = Option<(Chances, u32)>> + '_ {
        (0..=self.line.len()).map(|ply| self.tree.node(self.place_at(ply)).view)
    }

    /// The place after `ply` plies of the line.
    fn place_at(&self, ply: usize) -> Place {
        ply.checked_sub(1).map_or(START, |last| self.line[last])
    }
}

#[cfg(test)]
mod tests;
