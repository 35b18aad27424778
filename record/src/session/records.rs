//! Games from records and as records.

use hnefi_engine::{Ending, Game, Side};
use hnefi_inference::{Handicap, Wdl};

use super::{Chances, Session};
use crate::{GameRecord, GameTree, MoveTree, Place, PlyRecord, RecordError, START, Seat};

/// What was noted of a game that was kept contradicts its moves.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoteError(String);

impl Session {
    /// A recorded game at its start, with people on both sides; the values of searched plies become views. A
    /// resignation is left out, so that the game can be played on.
    ///
    /// # Errors
    /// When the record does not replay.
    pub fn of_record(record: &GameRecord) -> Result<Session, RecordError> {
        Session::of_tree(&GameTree::from(record.clone()))
    }

    /// The same with its variations.
    ///
    /// # Errors
    /// When the game or a variation does not replay.
    pub fn of_tree(tree: &GameTree) -> Result<Session, RecordError> {
        let record = &tree.record;
        // The record may come from damaged bytes; the moves of variations were read from a text.
        record.game()?;
        let moves = MoveTree::of(record, &tree.comment, &tree.moves)?;
        let game = Game::from_position(record.start_position()?);
        let mut session = Session::begun(game, [Seat::Person, Seat::Person], true);
        session.line = moves.onward(START).collect();
        (session.tree, session.tree_stamp) = (moves, 1);
        session.given_up = record.resigned.map(|side| (session.place_at(session.line.len()), side));
        for (ply, played) in record.plies.iter().enumerate().filter(|(_, played)| played.has_searched_value()) {
            let place = session.place_at(ply);
            let mover = session.line.get(ply).and_then(|&next| session.tree.node(next).ply).map(|ply| ply.side);
            let view = mover.map(|mover| (Chances::of(played.searched, mover), played.playouts));
            session.tree.node_mut(place).view = view;
        }
        Ok(session)
    }

    /// Goes on with a game that was kept: who sits there, its number, whether it is only looked at, the views of its
    /// places in order, the place on the board and the end of the line.
    ///
    /// # Errors
    /// When there are more views than places, or no such place.
    pub fn resume(
        &mut self,
        number: u64,
        is_study: bool,
        views: &[Option<(Chances, u32)>],
        [at, end]: [usize; 2],
    ) -> Result<(), NoteError> {
        (self.number, self.is_study) = (number, is_study);
        let places: Vec<Place> = std::iter::once(START).chain(self.tree.in_order()).collect();
        if views.len() > places.len() {
            return Err(NoteError(format!("{} views of {} positions", views.len(), places.len())));
        }
        for (&place, &view) in places.iter().zip(views) {
            self.tree.node_mut(place).view = view;
        }
        if let Some((place, side)) = self.given_up.take_if(|_| !is_study) {
            let ending = &mut self.tree.node_mut(place).ending;
            *ending = ending.or(Some(Ending::Resigned(side)));
        }
        for place in [end, at] {
            let missing = || NoteError(format!("place {place} of {}", places.len()));
            let known = places.get(place).ok_or_else(missing)?;
            self.go_to_place(*known).map_err(|error| NoteError(error.to_string()))?;
        }
        Ok(())
    }

    /// Seats other players.
    pub fn set_seats(&mut self, seats: [Seat; 2]) {
        self.seats = seats;
    }

    /// The plies played as a record, without policies. A position without a view has equal chances.
    pub fn record(&self, seed: u64) -> GameRecord {
        self.record_of(&self.line[..self.game.len()], self.ending(), seed)
    }

    fn record_of(&self, line: &[Place], ending: Option<Ending>, seed: u64) -> GameRecord {
        let name = |side: Side| self.seat(side).player().map_or("person", String::as_str).to_owned();
        let ply = |&place: &Place| {
            let node = self.tree.node(place);
            let played = node.ply?;
            let view = self.tree.node(node.parent).view;
            let wdl = view.map_or(Wdl::UNKNOWN, |(chances, _)| chances.seen_by(played.side));
            let playouts = view.map_or(0, |(_, playouts)| playouts);
            Some(PlyRecord { playouts, raw: wdl, searched: wdl, ..PlyRecord::unsearched(played.mv) })
        };
        let (outcome, resigned) = match ending {
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
            handicap: Handicap::NONE,
            plies: line.iter().filter_map(ply).collect(),
            outcome,
            resigned,
            would_have_resigned: None,
        }
    }

    /// The whole tree: the main line as a record, and everything else.
    pub fn game_tree(&self, seed: u64) -> GameTree {
        let main: Vec<Place> = self.tree.onward(START).collect();
        GameTree {
            record: self.record_of(&main, self.result(), seed),
            comment: self.tree.node(START).comment.clone(),
            moves: self.tree.moves(),
        }
    }
}
