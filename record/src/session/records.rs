//! Games from records and as records.

use std::collections::BTreeMap;

use hnefi_engine::{Ending, Game, Move, Side};
use hnefi_inference::{Handicap, Wdl};

use super::{Chances, Place, START, Session};
use crate::{GameRecord, GameTree, PlyRecord, RecordError, Seat, TreeMove, comment_text};

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
        let game = Game::from_position(record.start_position()?);
        let mut session = Session::begun(game, [Seat::Person, Seat::Person], true);
        session.tree.node_mut(START).comment = comment_text(&tree.comment);
        let mut places: Vec<Place> = Vec::with_capacity(tree.moves.len());
        for (index, mv) in tree.moves.iter().enumerate() {
            let after = mv.after.map_or(Some(START), |after| places.get(after).copied());
            let place = session.grow(after, mv.mv).map_err(|problem| RecordError::Inconsistent {
                game: record.game,
                place: format!("move {} of the tree", index + 1),
                problem,
            })?;
            let node = session.tree.node_mut(place);
            (node.comment, node.nags) = (comment_text(&mv.comment), mv.nags.clone());
            places.push(place);
        }
        session.go_to(Some(0));
        session.line = session.tree.onward(START).collect();
        session.given_up = record.resigned.map(|side| (session.place_at(session.line.len()), side));
        for (ply, played) in record.plies.iter().enumerate().filter(|(_, played)| played.playouts > 0) {
            let place = session.place_at(ply);
            let mover = session.line.get(ply).and_then(|&next| session.tree.node(next).ply).map(|ply| ply.side);
            let view = mover.map(|mover| (Chances::of(played.searched, mover), played.playouts));
            session.tree.node_mut(place).view = view;
        }
        (session.stamp, session.tree_stamp) = (0, 1);
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

    /// Adds a move after a place on the way to the move that was added last, and goes there.
    fn grow(&mut self, after: Option<Place>, mv: Move) -> Result<Place, String> {
        let out_of_order = || "it follows a move that is not on the way to the move before".to_owned();
        let after = after.ok_or_else(out_of_order)?;
        let ply = match after {
            START => 0,
            after => self.line.iter().rposition(|&place| place == after).ok_or_else(out_of_order)? + 1,
        };
        while self.game.len() > ply {
            self.game.undo();
        }
        self.line.truncate(ply);
        let played = *self.game.play(mv).map_err(|illegal| illegal.to_string())?;
        let next = self.tree.child(after, mv).unwrap_or_else(|| self.add(after, played));
        self.line.push(next);
        Ok(next)
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
        let order = self.tree.in_order();
        let index: BTreeMap<Place, usize> = order.iter().enumerate().map(|(index, &place)| (place, index)).collect();
        let mv = |&place: &Place| {
            let node = self.tree.node(place);
            let (after, mv) = (index.get(&node.parent).copied(), node.ply?.mv);
            Some(TreeMove { after, mv, comment: node.comment.clone(), nags: node.nags.clone() })
        };
        GameTree {
            record: self.record_of(&main, self.result(), seed),
            comment: self.tree.node(START).comment.clone(),
            moves: order.iter().filter_map(mv).collect(),
        }
    }
}
