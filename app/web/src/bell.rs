//! What wakes the threads that search when there is work.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Counts how often work has come, so that work which comes between a look and the wait after it is not missed.
pub(crate) struct WorkBell {
    rung: Mutex<u64>,
    wake: Condvar,
}

impl WorkBell {
    pub(crate) fn new() -> WorkBell {
        WorkBell { rung: Mutex::new(0), wake: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often it has rung; to be asked before the look for work.
    pub(crate) fn rung(&self) -> u64 {
        *self.lock()
    }

    /// Says that there is work.
    pub(crate) fn ring(&self) {
        *self.lock() += 1;
        self.wake.notify_one();
    }

    /// Waits unless it has rung since it had rung `seen` times, no longer than `time`. It may return early: its
    /// caller looks again.
    pub(crate) fn wait(&self, seen: u64, time: Option<Duration>) {
        let rung = self.lock();
        if *rung != seen {
            return;
        }
        match time {
            None => drop(self.wake.wait(rung)),
            Some(time) => drop(self.wake.wait_timeout(rung, time)),
        }
    }
}
