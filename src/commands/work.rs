//! Work that a bar shows and that Ctrl-C stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hnefi_arena::{MatchObserver, MatchResult};
use hnefi_run::GameRecord;
use hnefi_run::store::StoreWatch;
use indicatif::ProgressBar;

use crate::{interrupt, progress};

/// The bar of a command's work, and whether the work is to stop.
#[derive(Clone)]
pub struct Work {
    pub bar: ProgressBar,
    pub stop: Arc<AtomicBool>,
}

impl Work {
    /// Listens to Ctrl-C from now on, once in a process.
    pub fn begin(bar: ProgressBar) -> anyhow::Result<Work> {
        Ok(Work { bar, stop: interrupt::stop_flag()? })
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Shows how much is done, and returns whether to go on.
    pub fn goes_on(&self, done: usize, all: usize) -> bool {
        self.bar.set_length(all as u64);
        self.bar.set_position(done as u64);
        !self.is_stopped()
    }

    /// Waits this long, or until the work is to stop.
    pub fn wait(&self, time: Duration) {
        let until = Instant::now() + time;
        while Instant::now() < until && !self.is_stopped() {
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    pub fn note(&self, text: &str) {
        progress::note(&self.bar, text);
    }

    /// An observer of matches that shows every finished game by `show`.
    pub fn observer<'a>(&'a self, show: impl FnMut(&GameRecord, &MatchResult) + 'a) -> impl MatchObserver + 'a {
        Observer { work: self, show }
    }
}

impl StoreWatch for Work {
    fn delayed(&self, text: &str) {
        progress::warning(&self.bar, text);
    }

    fn should_stop(&self) -> bool {
        self.is_stopped()
    }
}

struct Observer<'a, F> {
    work: &'a Work,
    show: F,
}

impl<F: FnMut(&GameRecord, &MatchResult)> MatchObserver for Observer<'_, F> {
    fn game_finished(&mut self, game: &GameRecord, so_far: &MatchResult) {
        (self.show)(game, so_far);
    }

    fn should_stop(&mut self) -> bool {
        self.work.is_stopped()
    }
}
