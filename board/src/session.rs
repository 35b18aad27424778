//! One game at a board: the moves back and forth, who sits where, and how it ended. Knows nothing of screens.

use hnefi_engine::{Bitboard, Ending, FenError, Game, IllegalMove, Move, MoveList, Ply, Position, Rules, Side, Square};
use hnefi_inference::Wdl;
use hnefi_record::{GameRecord, PlyRecord, RecordError};

use crate::Seat;

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

    /// The chances as `viewer` sees them.
    pub fn seen_by(self, viewer: Side) -> Wdl {
        Wdl { win: self.attackers, draw: self.draw, loss: self.defenders }.seen_by(Side::Attackers, viewer)
    }

    /// Expected score of a side, draws half, in 0..=1.
    pub fn score(self, side: Side) -> f32 {
        self.seen_by(side).score()
    }
}

/// A game and the plies that were taken back and may be played again.
#[derive(Clone, Debug)]
pub struct Session {
    game: Game,
    /// The plies taken back, the next one last.
    taken_back: Vec<Ply>,
    seats: [Seat; 2],
    /// Views of the positions, including positions taken back, and the playouts behind them; one more than plies.
    views: Vec<Option<(Chances, u32)>>,
    stamp: u64,
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
        Ok(Session { game, taken_back: Vec::new(), seats, views: vec![None], stamp: 0, number: 1 })
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

    /// Who has that side.
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

    /// Whether plies were taken back that can be played again.
    pub fn has_taken_back(&self) -> bool {
        !self.taken_back.is_empty()
    }

    /// The plies played, and behind them the plies taken back.
    pub fn all_plies(&self) -> impl Iterator<Item = &Ply> {
        self.game.plies().iter().chain(self.taken_back.iter().rev())
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
        let picked = self.moves().iter().filter_map(|&mv| pick(mv)).fold(0, |set, square| set | 1 << square.index());
        Bitboard(picked)
    }

    /// Plays a move; plies that were taken back are forgotten.
    ///
    /// # Errors
    /// When it is illegal or the game is over; the message says why.
    pub fn play(&mut self, mv: Move) -> Result<Ply, IllegalMove> {
        let ply = *self.game.play(mv)?;
        self.taken_back.clear();
        self.views.truncate(self.game.len());
        self.views.push(None);
        self.stamp += 1;
        Ok(ply)
    }

    /// Takes back to a person's last decision (a single ply when nobody sits here, or just the resignation) and returns
    /// whether there was anything to take back.
    pub fn undo(&mut self) -> bool {
        let at = self.game.len();
        let to = match self.ending() {
            Some(Ending::Resigned(_)) => Some(at),
            _ => (0..at).rev().find(|&ply| self.stops_at(ply)),
        };
        self.go_to(to)
    }

    /// Plays what was taken back, up to a person's next decision.
    pub fn redo(&mut self) -> bool {
        let (at, end) = (self.game.len(), self.all_plies().count());
        let to = (at + 1..=end).find(|&ply| ply == end || self.stops_at(ply));
        self.go_to(to)
    }

    /// Goes to the position after `ply` plies of the game, backwards or forwards; false when there is no such position
    /// or it is on the board already.
    pub fn step_to(&mut self, ply: usize) -> bool {
        let elsewhere = ply != self.game.len() || matches!(self.ending(), Some(Ending::Resigned(_)));
        self.go_to((ply <= self.all_plies().count() && elsewhere).then_some(ply))
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
            self.taken_back.extend(self.game.undo());
        }
        while self.game.len() < to
            && let Some(ply) = self.taken_back.pop()
        {
            self.game.play(ply.mv).expect("it was legal when it was played first");
        }
        self.stamp += 1;
        true
    }

    /// The person gives up: the one to move, or the only one at the table.
    ///
    /// # Errors
    /// When the game is over or no person plays.
    pub fn resign(&mut self) -> Result<Ending, NoResignation> {
        let over = || NoResignation("the game is over");
        if self.ending().is_some() {
            return Err(over());
        }
        let mover = self.side_to_move();
        let person = [mover, mover.opponent()].into_iter().find(|&side| self.seat(side).is_person());
        let side = person.ok_or(NoResignation("no person plays"))?;
        self.game.resign(side).map_err(|_| over())?;
        self.stamp += 1;
        Ok(Ending::Resigned(side))
    }

    /// Begins again from the start; with `swap` the two change seats.
    pub fn restart(&mut self, swap: bool) {
        if swap {
            self.seats.swap(0, 1);
        }
        self.game = Game::from_position(self.game.start().clone());
        self.taken_back.clear();
        self.views = vec![None];
        self.stamp += 1;
        self.number += 1;
    }

    /// Notes a player's view of the position on the board.
    pub fn note_view(&mut self, chances: Chances, playouts: u32) {
        self.views[self.game.len()] = Some((chances, playouts));
    }

    /// The latest view of the game, and whether it is of this very position.
    pub fn view(&self) -> Option<(Chances, bool)> {
        let at = self.game.len();
        let ply = (0..=at).rev().find(|&ply| self.views[ply].is_some())?;
        self.views[ply].map(|(chances, _)| (chances, ply == at))
    }

    /// The views of all positions, also after plies taken back, with the playouts behind them: one more than
    /// plies.
    pub fn views(&self) -> &[Option<(Chances, u32)>] {
        &self.views
    }

    /// A recorded game at its start, with people on both sides; the values of searched plies become views. A
    /// resignation is left out, so that the game can be played on.
    ///
    /// # Errors
    /// When the record does not replay.
    pub fn of_record(record: &GameRecord) -> Result<Session, RecordError> {
        let game = record.game()?;
        let view = |(ply, played): (&PlyRecord, &Ply)| {
            (ply.playouts > 0).then(|| (Chances::of(ply.searched, played.side), ply.playouts))
        };
        let views = record.plies.iter().zip(game.plies()).map(view).chain([None]).collect();
        let seats = [Seat::Person, Seat::Person];
        let mut session = Session { game, taken_back: Vec::new(), seats, views, stamp: 0, number: 1 };
        session.go_to(Some(0));
        session.stamp = 0;
        Ok(session)
    }

    /// The game as a record, without policies. A position nobody viewed is noted as anybody's.
    pub fn record(&self, seed: u64) -> GameRecord {
        let name = |side: Side| self.seat(side).player().map_or("person", String::as_str).to_owned();
        let ply = |(index, played): (usize, &Ply)| {
            let view = self.views[index];
            let wdl = view.map_or(Wdl::UNKNOWN, |(chances, _)| chances.seen_by(played.side));
            let playouts = view.map_or(0, |(_, playouts)| playouts);
            PlyRecord { playouts, raw: wdl, searched: wdl, ..PlyRecord::unsearched(played.mv) }
        };
        let (outcome, resigned) = match self.ending() {
            None => (None, None),
            Some(Ending::Board(outcome)) => (Some(outcome), None),
            Some(Ending::Resigned(side)) => (None, Some(side)),
        };
        GameRecord {
            game: self.number,
            seed,
            rules: *self.rules(),
            start: self.game.start_fen(),
            players: Side::BOTH.map(name),
            plies: self.game.plies().iter().enumerate().map(ply).collect(),
            outcome,
            resigned,
            would_have_resigned: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Preset;

    use super::*;

    fn session(seats: [Seat; 2], moves: &[&str]) -> Session {
        let mut session = Session::new(Preset::Brandubh.rules(), None, seats).expect("the start");
        for text in moves {
            let mv = Move::parse(text, session.rules().size()).expect("a move");
            session.play(mv).expect("a legal move");
        }
        session
    }

    fn moves(session: &Session) -> Vec<String> {
        session.game().moves().map(|mv| mv.text(session.rules().size())).collect()
    }

    #[test]
    fn plies_taken_back_are_played_again_in_order_with_their_views() {
        let mut session = session([Seat::Person, Seat::Player("random".to_owned())], &[]);
        let chances = Chances { attackers: 0.25, draw: 0.5, defenders: 0.25 };
        session.note_view(chances, 8);
        for text in ["d6c6", "d5f5", "c6c5"] {
            session.play(Move::parse(text, session.rules().size()).expect("a move")).expect("a legal move");
        }
        assert!(session.undo() && moves(&session) == ["d6c6", "d5f5"], "back to the person's last decision");
        assert!(session.undo() && moves(&session).is_empty() && !session.undo());
        assert_eq!(session.view(), Some((chances, true)));
        assert!(session.redo() && moves(&session) == ["d6c6", "d5f5"]);
        assert!(session.step_to(3) && moves(&session) == ["d6c6", "d5f5", "c6c5"]);
        assert!(!session.step_to(3) && !session.step_to(4) && !session.has_taken_back());
        assert_eq!(session.view(), Some((chances, false)));
        assert_eq!(session.views().len(), 4);
    }

    #[test]
    fn a_resignation_is_taken_back_alone_and_recorded() {
        let mut session = session([Seat::Person, Seat::Person], &["d6c6"]);
        assert_eq!(session.resign().expect("a person resigns"), Ending::Resigned(Side::Defenders));
        let record = session.record(1);
        assert_eq!(
            (record.resigned, record.outcome, record.winner()),
            (Some(Side::Defenders), None, Some(Side::Attackers))
        );
        assert!(session.play(Move::parse("d5f5", session.rules().size()).expect("a move")).is_err());
        assert!(session.undo() && session.ending().is_none() && moves(&session) == ["d6c6"]);
        let opened = Session::of_record(&record).expect("a sound record");
        assert_eq!((opened.ending(), opened.game().len(), opened.all_plies().count()), (None, 0, 1));
    }
}
