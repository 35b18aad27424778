//! A piece of work for the threads, and what it holds while it is under way.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

use hnefi_engine::{BoardSize, Game, Move};
use hnefi_inference::{Evaluation, Wdl};
use hnefi_search::Search;
use hnefi_search::{Rng, rng_for};

use super::named;
use super::room::{Job, Room, Ticket};

/// A piece of work and how far it has come.
pub(super) struct Task {
    pub(super) room: Weak<Room>,
    pub(super) ticket: Ticket,
    /// Numbers of the room and of the game in it: what players leave to chance depends on them, and not on what else
    /// happens on this server.
    pub(super) game: (u64, u64),
    pub(super) played: Game,
    pub(super) begun: Instant,
    /// A move is shown no earlier.
    pub(super) earliest: Instant,
    pub(super) run: Option<Run>,
    pub(super) asked: Option<named::Answer>,
    pub(super) answer: Option<Answer>,
}

impl Task {
    /// Whether somebody waits for it and can do nothing else.
    pub(super) fn is_urgent(&self) -> bool {
        matches!(self.ticket.job, Job::Move { .. } | Job::Hint { .. })
    }

    /// The generator of what is left to chance.
    pub(super) fn rng(&self, seed: u64, purpose: u64) -> Rng {
        rng_for(&[seed, self.game.0, self.game.1, u64::from(self.played.position().ply()), purpose])
    }
}

/// A search under way.
pub(super) struct Run {
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
#[derive(Clone, Copy)]
pub(super) struct Answer {
    pub(super) mv: Move,
    pub(super) wdl: Option<Wdl>,
    pub(super) playouts: u32,
}

/// What becomes of a task after a slice.
pub(super) enum Step {
    Again,
    /// Nothing to do before.
    Wait(Instant),
    Over,
}

/// The most nodes of one search, some 100 to 150 MB at most.
pub(super) fn most_nodes(size: BoardSize) -> u32 {
    match size {
        BoardSize::Seven => 200_000,
        BoardSize::Nine => 120_000,
        BoardSize::Eleven => 70_000,
    }
}
