//! A piece of work for a search, and what it holds while it is under way.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Weak};
use std::time::Duration;

use hnefi_engine::{BoardSize, Game, Move};
use hnefi_inference::{Evaluation, Wdl};
use hnefi_search::Search;
use hnefi_search::{Rng, rng_for};

use super::room::{Job, Room, Ticket};
use super::{PlayerError, RoomGame};

/// A piece of work and how far it has come.
pub struct Task {
    pub(super) room: Weak<Room>,
    pub(super) ticket: Ticket,
    /// Numbers of the room and of the game in it: what players leave to chance depends on them, and not on what else
    /// happens on this host.
    pub(super) game: RoomGame,
    pub(super) played: Game,
    /// Since the host began, as all moments here.
    pub(super) begun: Duration,
    /// A move is shown no earlier.
    pub(super) earliest: Duration,
    pub(super) run: Option<ActiveSearch>,
    pub(super) asked: Option<Receiver<Result<Answer, PlayerError>>>,
    pub(super) answer: Option<Answer>,
}

impl Task {
    /// Whether somebody waits for it and can do nothing else.
    pub(super) fn is_urgent(&self) -> bool {
        matches!(self.ticket.job, Job::Move { .. } | Job::Hint { .. })
    }

    /// The generator of what is left to chance.
    pub(super) fn rng(&self, seed: u64, purpose: u64) -> Rng {
        rng_for(&[seed, self.game.room, self.game.game, u64::from(self.played.position().ply()), purpose])
    }
}

/// A search under way.
pub(super) struct ActiveSearch {
    pub(super) search: Search,
    /// Identity of its network.
    pub(super) network: String,
    pub(super) root: Option<Evaluation>,
    pub(super) _place: Place,
}

/// One of the places for searches that hold memory.
pub(super) struct Place(pub(super) Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A player's move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The move.
    pub mv: Move,
    /// Chances from the mover's view, where the player has an opinion on them.
    pub wdl: Option<Wdl>,
    /// Playouts behind it.
    pub playouts: u32,
}

/// What becomes of a task after a slice.
pub(super) enum Step {
    Again,
    /// Nothing to do before.
    Wait(Duration),
    Over,
}

/// The most nodes of one search, some 100 to 150 MB at most.
pub(super) fn most_nodes(size: BoardSize) -> u32 {
    match size {
        BoardSize::SEVEN => 200_000,
        BoardSize::NINE => 120_000,
        size if size <= BoardSize::ELEVEN => 70_000,
        size if size.side() <= 15 => 35_000,
        _ => 15_000,
    }
}
