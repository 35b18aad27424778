//! Between the thread that reads and the thread that plays: commands wait in order, `stop`,
//! `ponderhit` and `quit` go past them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use hnefi_search::Signal;

use super::command::Command;

/// Commands that may wait behind a search; a client that sends more is not a sane one.
const MOST_COMMANDS: usize = 10_000;

/// Bytes that their lines may have together. Read, a line of moves takes twenty times as much.
const MOST_BYTES: usize = 4 << 20;

/// A command that waits its turn.
pub(super) struct QueuedCommand {
    pub(super) command: Command,
    pub(super) received: Instant,
    /// The latest search asked for, this command included; `stop` names searches by it.
    pub(super) search: u64,
    /// Length of its line.
    bytes: usize,
}

/// What both threads see.
#[derive(Default)]
pub(super) struct CommandQueue {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
    /// Rung when a search may have to end.
    pub(super) signal: Signal,
    /// Searches up to this number are to end.
    stopped_through: AtomicU64,
    /// For searches up to this number the move that they pondered on has been played.
    ponder_hit_through: AtomicU64,
    /// Whether nothing more will come: what was asked for is answered, but endless searches end.
    hung_up: AtomicBool,
}

#[derive(Default)]
struct Waiting {
    commands: VecDeque<QueuedCommand>,
    /// Length of their lines.
    bytes: usize,
    /// Searches requested so far, and searches answered.
    searches: u64,
    answered: u64,
}

impl CommandQueue {
    /// Puts a command, read from a line of `bytes` bytes, at the end of the queue; false when too many or too long ones
    /// wait.
    pub(super) fn push(&self, command: Command, bytes: usize, received: Instant) -> bool {
        let mut waiting = self.waiting();
        if waiting.commands.len() >= MOST_COMMANDS || waiting.bytes + bytes > MOST_BYTES {
            return false;
        }
        waiting.bytes += bytes;
        waiting.searches += u64::from(matches!(command, Command::Go(_)));
        let search = waiting.searches;
        waiting.commands.push_back(QueuedCommand { command, received, search, bytes });
        self.arrived.notify_one();
        true
    }

    /// The next command, when there is one; `None` when there will be none.
    pub(super) fn next(&self) -> Option<QueuedCommand> {
        let mut waiting = self.waiting();
        loop {
            if let Some(queued) = waiting.commands.pop_front() {
                waiting.bytes -= queued.bytes;
                return Some(queued);
            }
            if self.hung_up.load(Ordering::SeqCst) {
                return None;
            }
            waiting = self.arrived.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether a search runs or waits.
    pub(super) fn is_searching(&self) -> bool {
        let waiting = self.waiting();
        waiting.searches > waiting.answered
    }

    /// Notes that a search has been answered.
    pub(super) fn answered(&self) {
        self.waiting().answered += 1;
    }

    /// Ends all searches asked for so far.
    pub(super) fn stop(&self) {
        let searches = self.waiting().searches;
        self.stopped_through.store(searches, Ordering::SeqCst);
        self.signal.notify();
    }

    /// The move that the latest search asked for ponders on has been played.
    pub(super) fn ponder_hit(&self) {
        let searches = self.waiting().searches;
        self.ponder_hit_through.store(searches, Ordering::SeqCst);
        self.signal.notify();
    }

    /// Whether a search that was to ponder is now to answer.
    pub(super) fn is_ponder_hit(&self, search: u64) -> bool {
        self.ponder_hit_through.load(Ordering::SeqCst) >= search
    }

    /// Ends the search that runs and drops those that wait; all else that was sent is still answered, so that a script
    /// may send `uci` and `quit` in one go.
    pub(super) fn quit(&self) {
        self.waiting().commands.retain(|queued| !matches!(queued.command, Command::Go(_)));
        self.stop();
        self.hang_up();
    }

    /// Nothing more will be sent; what was sent is still answered.
    pub(super) fn hang_up(&self) {
        // Under the lock, so that it cannot fall between the other thread's look and its wait.
        let waiting = self.waiting();
        self.hung_up.store(true, Ordering::SeqCst);
        drop(waiting);
        self.signal.notify();
        self.arrived.notify_one();
    }

    /// Whether a search is to end although its limits allow more.
    pub(super) fn is_stopped(&self, search: u64, endless: bool) -> bool {
        self.stopped_through.load(Ordering::SeqCst) >= search || (endless && self.hung_up.load(Ordering::SeqCst))
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_bounded_in_number_and_length() {
        let now = Instant::now();
        let queue = CommandQueue::default();
        let long = |queue: &CommandQueue| queue.push(Command::NewGame, 1 << 20, now);
        assert_eq!((0..300).filter(|_| long(&queue)).count(), MOST_BYTES >> 20);
        assert!(queue.next().is_some() && long(&queue) && !long(&queue), "as much as was taken away");
        queue.quit();
        let queue = CommandQueue::default();
        assert_eq!((0..2 * MOST_COMMANDS).filter(|_| queue.push(Command::NewGame, 11, now)).count(), MOST_COMMANDS);
    }
}
