//! One game at a board: the moves back and forth, who sits where, and how it ended. Knows nothing of screens.

pub use hnefi_engine::Ending;
use hnefi_engine::{Bitboard, FenError, IllegalMove, IllegalMoveReason, Move, MoveList, Position, Rules, Side, Square};
use hnefi_inference::Wdl;
use hnefi_run::{GameRecord, PlyRecord, RecordError};

use crate::PlayError;

/// Who moves one side's pieces, as far as the game is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occupant {
    /// A person at this board.
    Person,
    /// A player of that name.
    Player(String),
}

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

/// One ply that was played.
#[derive(Clone, Copy, Debug)]
pub struct Played {
    /// Who moved.
    pub side: Side,
    /// The move.
    pub mv: Move,
    /// Every square it emptied by capture.
    pub captured: Bitboard,
}

/// A game and the plies that were taken back and may be played again.
#[derive(Clone, Debug)]
pub struct Session {
    rules: Rules,
    start: Option<String>,
    occupants: [Occupant; 2],
    /// `positions[i]` is where `plies[i]` was played; one more than plies.
    positions: Vec<Position>,
    plies: Vec<Played>,
    /// Views of the positions, and the playouts behind them.
    views: Vec<Option<(Chances, u32)>>,
    /// Plies in force; those behind it were taken back.
    at: usize,
    resigned: Option<Side>,
    stamp: u64,
    number: u64,
}

impl Session {
    /// A game at its start.
    ///
    /// # Errors
    /// When the FEN is none or cannot stand under the rules.
    pub fn new(rules: Rules, start: Option<String>, occupants: [Occupant; 2]) -> Result<Session, FenError> {
        let position = match &start {
            None => Position::start(&rules),
            Some(fen) => Position::from_fen(&rules, fen)?,
        };
        Ok(Session {
            rules,
            start,
            occupants,
            positions: vec![position],
            plies: Vec::new(),
            views: vec![None],
            at: 0,
            resigned: None,
            stamp: 0,
            number: 1,
        })
    }

    /// The rules in force.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The FEN it began from; `None` for the standard start.
    pub fn start(&self) -> Option<&str> {
        self.start.as_deref()
    }

    /// The position on the board.
    pub fn position(&self) -> &Position {
        &self.positions[self.at]
    }

    /// Whose turn it is.
    pub fn side_to_move(&self) -> Side {
        self.position().side_to_move()
    }

    /// Who has that side.
    pub fn occupant(&self, side: Side) -> &Occupant {
        &self.occupants[side.index()]
    }

    /// Whether the game goes on and a person is to move.
    pub fn waits_for_person(&self) -> bool {
        self.ending().is_none() && *self.occupant(self.side_to_move()) == Occupant::Person
    }

    /// Whether the game goes on and a player is to move.
    pub fn waits_for_player(&self) -> bool {
        self.ending().is_none() && *self.occupant(self.side_to_move()) != Occupant::Person
    }

    /// Whether any person sits at the table.
    pub fn has_person(&self) -> bool {
        self.occupants.contains(&Occupant::Person)
    }

    /// The plies played, without those taken back.
    pub fn played(&self) -> &[Played] {
        &self.plies[..self.at]
    }

    /// The plies taken back, the next one first.
    pub fn taken_back(&self) -> &[Played] {
        &self.plies[self.at..]
    }

    /// The ply that led here.
    pub fn last(&self) -> Option<&Played> {
        self.played().last()
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
        self.resigned.map(Ending::Resigned).or_else(|| self.position().outcome().map(Ending::Board))
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
    pub fn play(&mut self, mv: Move) -> Result<Played, IllegalMove> {
        if let Some(side) = self.resigned {
            let reason = IllegalMoveReason::GameOver(Ending::Resigned(side));
            return Err(IllegalMove { mv, size: self.rules.size, reason });
        }
        let mut position = self.position().clone();
        let played = Played { side: position.side_to_move(), mv, captured: position.play(mv)? };
        self.plies.truncate(self.at);
        self.positions.truncate(self.at + 1);
        self.views.truncate(self.at + 1);
        self.plies.push(played);
        self.positions.push(position);
        self.views.push(None);
        self.at += 1;
        self.stamp += 1;
        Ok(played)
    }

    /// Takes back to a person's last decision (a single ply when nobody sits here, or just the resignation) and returns
    /// whether there was anything to take back.
    pub fn undo(&mut self) -> bool {
        let to = match self.resigned {
            Some(_) => Some(self.at),
            None => (0..self.at).rev().find(|&ply| self.stops_at(ply)),
        };
        self.go_to(to)
    }

    /// Plays what was taken back, up to a person's next decision.
    pub fn redo(&mut self) -> bool {
        let end = self.plies.len();
        let to = (self.at + 1..=end).find(|&ply| ply == end || self.stops_at(ply));
        self.go_to(to)
    }

    /// Goes to the position after `ply` plies of the game, backwards or forwards; false when there is no such position
    /// or it is on the board already.
    pub fn step_to(&mut self, ply: usize) -> bool {
        let elsewhere = ply != self.at || self.resigned.is_some();
        self.go_to((ply <= self.plies.len() && elsewhere).then_some(ply))
    }

    fn stops_at(&self, ply: usize) -> bool {
        let side = self.positions[ply].side_to_move();
        !self.has_person() || *self.occupant(side) == Occupant::Person
    }

    fn go_to(&mut self, to: Option<usize>) -> bool {
        if let Some(ply) = to {
            self.at = ply;
            self.resigned = None;
            self.stamp += 1;
        }
        to.is_some()
    }

    /// The person gives up: the one to move, or the only one at the table.
    ///
    /// # Errors
    /// When the game is over or no person plays.
    pub fn resign(&mut self) -> Result<Ending, PlayError> {
        if self.ending().is_some() {
            return Err(PlayError::NoResignation("the game is over"));
        }
        let mover = self.side_to_move();
        let person = [mover, mover.opponent()].into_iter().find(|&side| *self.occupant(side) == Occupant::Person);
        let side = person.ok_or(PlayError::NoResignation("no person plays"))?;
        self.resigned = Some(side);
        self.stamp += 1;
        Ok(Ending::Resigned(side))
    }

    /// Begins again from the start; with `swap` the two change seats.
    pub fn restart(&mut self, swap: bool) {
        if swap {
            self.occupants.swap(0, 1);
        }
        self.positions.truncate(1);
        self.plies.clear();
        self.views.clear();
        self.views.push(None);
        self.at = 0;
        self.resigned = None;
        self.stamp += 1;
        self.number += 1;
    }

    /// Notes a player's view of the position on the board.
    pub fn note_view(&mut self, chances: Chances, playouts: u32) {
        self.views[self.at] = Some((chances, playouts));
    }

    /// The latest view of the game, and whether it is of this very position.
    pub fn view(&self) -> Option<(Chances, bool)> {
        let ply = (0..=self.at).rev().find(|&ply| self.views[ply].is_some())?;
        self.views[ply].map(|(chances, _)| (chances, ply == self.at))
    }

    /// The views of all positions, those of plies taken back included, with the playouts behind them: one more than
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
        let start = record.start_position()?;
        let mut session = Session {
            rules: record.rules,
            start: record.start.clone(),
            occupants: [Occupant::Person, Occupant::Person],
            positions: vec![start],
            plies: Vec::with_capacity(record.plies.len()),
            views: Vec::with_capacity(record.plies.len() + 1),
            at: 0,
            resigned: None,
            stamp: 0,
            number: 1,
        };
        let mut replay = record.replay()?;
        let mut before = replay.position().clone();
        while let Some(ply) = replay.step()? {
            let side = before.side_to_move();
            let gone = Bitboard(before.board().occupied().0 & !replay.position().board().occupied().0);
            let captured = gone.without(Bitboard::of(ply.mv.from()));
            session.views.push((ply.playouts > 0).then(|| (Chances::of(ply.searched, side), ply.playouts)));
            session.plies.push(Played { side, mv: ply.mv, captured });
            session.positions.push(replay.position().clone());
            before.clone_from(replay.position());
        }
        session.views.push(None);
        Ok(session)
    }

    /// The game as a record, without policies. A position nobody viewed is noted as anybody's.
    pub fn record(&self, seed: u64) -> GameRecord {
        let name = |side: Side| match self.occupant(side) {
            Occupant::Person => "person".to_owned(),
            Occupant::Player(name) => name.clone(),
        };
        let ply = |(index, played): (usize, &Played)| {
            let view = self.views[index];
            let third = 1.0 / 3.0;
            let unknown = Wdl { win: third, draw: third, loss: third };
            let wdl = view.map_or(unknown, |(chances, _)| chances.seen_by(played.side));
            PlyRecord {
                mv: played.mv,
                policy: Vec::new(),
                playouts: view.map_or(0, |(_, playouts)| playouts),
                raw: wdl,
                searched: wdl,
                trains: false,
            }
        };
        GameRecord {
            game: self.number,
            seed,
            rules: self.rules,
            start: self.start.clone(),
            players: Side::BOTH.map(name),
            plies: self.played().iter().enumerate().map(ply).collect(),
            outcome: if self.resigned.is_some() { None } else { self.position().outcome() },
            resigned: self.resigned,
            would_have_resigned: None,
        }
    }
}
