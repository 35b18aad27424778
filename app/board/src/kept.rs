//! A game as a page keeps it, so that it can be opened again when the board knows it no more: after a restart of the
//! server, or in another visit of a page without one.

use std::time::Duration;

use hnefi_record::{Chances, GameTree, NoteError, RecordError, Seat, Session, TextError, pgn};
use serde::{Deserialize, Serialize};

use crate::clock::{Clock, ClockError, KeptClock};
use crate::room::{RoomPlayer, RoomState, Source};
use crate::strength::SeatRequest;
use crate::texts::{self, TextProblem};
use crate::{EndingView, Origin};

/// The longest name of a player or a place, in bytes.
const LONGEST_NAME: usize = 400;

/// Why a game cannot be kept, or is none that was kept here.
#[derive(Debug, thiserror::Error)]
pub(super) enum KeptError {
    /// It cannot be written or read.
    #[error(transparent)]
    Text(#[from] TextError),
    /// It is none for a board.
    #[error(transparent)]
    Game(#[from] TextProblem),
    /// Its moves contradict each other.
    #[error(transparent)]
    Moves(#[from] RecordError),
    /// A name is too long.
    #[error("a kept name of {0} bytes; expected at most {LONGEST_NAME}")]
    Name(usize),
    /// What was noted of it contradicts the moves.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// No board offers its clocks.
    #[error(transparent)]
    Clock(#[from] ClockError),
}

/// A game with its variations, who sits there, and what is on the board.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptGame {
    /// Rules, start, moves, comments and how the game ended.
    pgn: String,
    attackers: SeatRequest,
    defenders: SeatRequest,
    /// Number of the game at its table.
    number: u64,
    #[serde(default)]
    clock: Option<KeptClock>,
    source: Option<KeptSource>,
    /// Who played a game that was opened.
    players: [Option<String>; 2],
    /// How the positions are seen, in the order of the text: thousandths of the attackers' and the defenders' chances,
    /// and playouts.
    views: Vec<Option<(u16, u16, u32)>>,
    /// The place on the board and the end of the line, by their places in the text, 0 for the start.
    place: [usize; 2],
}

/// What was opened, see [`Source`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
enum KeptSource {
    Position,
    Game(Option<Origin>),
}

impl KeptGame {
    /// What is to be kept of a room.
    ///
    /// # Errors
    /// When its game cannot be written.
    pub(super) fn of(state: &RoomState, now: Duration) -> Result<KeptGame, KeptError> {
        let game = &state.game;
        let seat = |seat: &Seat<RoomPlayer>| match seat {
            Seat::Person => SeatRequest::default(),
            Seat::Player(player) => SeatRequest { player: Some(player.id.clone()), strength: Some(player.strength) },
        };
        let [attackers, defenders] = state.seats.each_ref().map(seat);
        let order = game.tree().in_order();
        let index = |wanted: u32| order.iter().position(|&place| place == wanted).map_or(0, |index| index + 1);
        let thousandths = |chance: f32| (chance.clamp(0.0, 1.0) * 1000.0).round() as u16;
        let view = |place: u32| {
            let (chances, playouts) = game.tree().node(place).view?;
            Some((thousandths(chances.attackers), thousandths(chances.defenders), playouts))
        };
        let mut views: Vec<_> = std::iter::once(0).chain(order.iter().copied()).map(view).collect();
        views.truncate(views.iter().rposition(Option::is_some).map_or(0, |last| last + 1));
        Ok(KeptGame {
            pgn: pgn::tree_text(&state.game_tree())?,
            attackers,
            defenders,
            number: game.number(),
            clock: state.clock.as_ref().map(|clock| clock.kept(now)),
            source: state.source.as_ref().map(|source| match source {
                Source::Position => KeptSource::Position,
                Source::Game { origin, .. } => KeptSource::Game(origin.clone()),
            }),
            players: state.players.clone(),
            views,
            place: [game.place(), game.line().last().copied().unwrap_or(0)].map(index),
        })
    }

    /// The game with its variations.
    ///
    /// # Errors
    /// When the text or a name is none that was kept here.
    pub(super) fn tree(&self) -> Result<GameTree, KeptError> {
        let place = match &self.source {
            Some(KeptSource::Game(Some(origin))) => Some(&origin.place),
            _ => None,
        };
        if let Some(name) = self.players.iter().flatten().chain(place).find(|name| name.len() > LONGEST_NAME) {
            return Err(KeptError::Name(name.len()));
        }
        Ok(texts::bounded_tree(pgn::read_tree(&self.pgn, &[])?)?)
    }

    /// The game as it was left.
    ///
    /// # Errors
    /// When something in it contradicts the moves.
    pub(super) fn session(&self, tree: &GameTree) -> Result<Session, KeptError> {
        let mut game = Session::of_tree(tree)?;
        let view = |&(attackers, defenders, playouts): &(u16, u16, u32)| {
            let [attackers, defenders] = [attackers, defenders].map(|share| f32::from(share.min(1000)) / 1000.0);
            (Chances { attackers, draw: (1.0 - attackers - defenders).max(0.0), defenders }, playouts)
        };
        let views: Vec<_> = self.views.iter().map(|kept| kept.as_ref().map(view)).collect();
        game.resume(self.number, self.source.is_some(), &views, self.place)?;
        Ok(game)
    }

    /// The clocks, which go on from now.
    ///
    /// # Errors
    /// When no board offers such clocks.
    pub(super) fn clock(&self, now: Duration) -> Result<Option<Clock>, KeptError> {
        Ok(self.clock.map(|kept| Clock::resumed(kept, now)).transpose()?)
    }

    /// Who sits there.
    pub(super) fn seats(&self) -> [SeatRequest; 2] {
        [self.attackers.clone(), self.defenders.clone()]
    }

    /// What was opened.
    pub(super) fn source(&self, tree: &GameTree) -> Option<Source> {
        self.source.as_ref().map(|source| match source {
            KeptSource::Position => Source::Position,
            KeptSource::Game(origin) => {
                Source::Game { origin: origin.clone(), ending: EndingView::of_record(&tree.record) }
            }
        })
    }

    /// Who played.
    pub(super) fn players(&self) -> [Option<String>; 2] {
        self.players.clone()
    }
}
