//! The budget: generations, and time of self-play and training, summed over all processes that worked on the run.
//!
//! Only time whose results are saved counts. Time of work lost in an interruption is not charged.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};

use crate::config::{BudgetClock, BudgetSection};

/// The time of day, in seconds since 1970.
pub(super) fn unix_seconds() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// Seconds of self-play and training, by both clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Spent {
    pub(super) wall: f64,
    pub(super) processor: f64,
}

impl Spent {
    pub(super) fn by(self, clock: BudgetClock) -> f64 {
        match clock {
            BudgetClock::Wall => self.wall,
            BudgetClock::Processor => self.processor,
        }
    }

    /// The later one of two moments of a run.
    pub(super) fn max(self, other: Spent) -> Spent {
        Spent { wall: self.wall.max(other.wall), processor: self.processor.max(other.processor) }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    before: Spent,
    since: (Instant, ProcessTime),
    clock: BudgetClock,
    minutes: f64,
    generations: u32,
}

impl Clock {
    /// A clock that starts now, after `before`.
    pub(super) fn starting_from(before: Spent, budget: &BudgetSection) -> Clock {
        let BudgetSection { minutes, clock, generations, .. } = *budget;
        Clock { before, since: (Instant::now(), ProcessTime::now()), clock, minutes, generations }
    }

    pub(super) fn spent(&self) -> Spent {
        let Spent { wall, processor } = self.before;
        let (moment, process) = self.since;
        Spent { wall: wall + moment.elapsed().as_secs_f64(), processor: processor + process.elapsed().as_secs_f64() }
    }

    pub(super) fn elapsed(&self) -> f64 {
        self.spent().by(self.clock)
    }

    /// Seconds left; infinite without a time limit.
    pub(super) fn remaining(&self) -> f64 {
        if self.minutes > 0.0 { self.minutes * 60.0 - self.elapsed() } else { f64::INFINITY }
    }

    /// Whether the budget has room for another generation after `complete` generations, of which the last one took
    /// `seconds` (0 where none is known). The last 2 % of the time, or half a generation if that is less, are too short
    /// for a useful one.
    pub(super) fn has_room(&self, complete: u32, seconds: f64) -> bool {
        let share = 0.02 * self.minutes * 60.0;
        let short = if seconds > 0.0 { share.min(0.5 * seconds) } else { share };
        let time = self.minutes <= 0.0 || self.remaining() > short;
        let count = self.generations == 0 || complete < self.generations;
        time && count
    }

    /// Progress of the budget, 0 to 1, after `complete` generations and `fraction` of the next. With a limit on
    /// generations only, it does not depend on time, so that a run can be repeated exactly.
    pub(super) fn progress(&self, complete: u32, fraction: f64) -> f64 {
        let time = if self.minutes > 0.0 { self.elapsed() / (self.minutes * 60.0) } else { 0.0 };
        let count = match self.generations {
            0 => 0.0,
            generations => (f64::from(complete) + fraction) / f64::from(generations),
        };
        time.max(count).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(seconds: f64) -> Spent {
        Spent { wall: seconds, processor: seconds }
    }

    fn clock(before: f64, minutes: f64, generations: u32) -> Clock {
        Clock::starting_from(spent(before), &budget(BudgetClock::Wall, minutes, generations))
    }

    fn budget(clock: BudgetClock, minutes: f64, generations: u32) -> BudgetSection {
        BudgetSection { minutes, clock, generations, playouts: vec![16] }
    }

    #[test]
    fn processor_time_passes_while_the_process_works() {
        let worker = Clock::starting_from(spent(5.0), &budget(BudgetClock::Processor, 1.0, 0));
        let began = Instant::now();
        while worker.elapsed() < 5.05 {
            assert!(began.elapsed().as_secs() < 60, "a busy process takes processor time");
        }
    }

    #[test]
    fn generations_alone_do_not_look_at_time() {
        let clock = clock(1e6, 0.0, 4);
        assert_eq!(clock.progress(1, 0.5), 0.375);
        assert_eq!(clock.remaining(), f64::INFINITY);
        assert!(clock.has_room(3, 0.0) && !clock.has_room(4, 0.0));
    }

    #[test]
    fn the_tighter_limit_counts() {
        let clock = clock(450.0, 10.0, 100);
        assert!((clock.progress(1, 0.0) - 0.75).abs() < 1e-3);
        assert!((clock.progress(90, 0.0) - 0.9).abs() < 1e-3);
        assert!(clock.has_room(1, 0.0) && !clock.has_room(100, 0.0));
    }

    #[test]
    fn time_runs_out_a_little_early() {
        assert!(clock(580.0, 10.0, 0).has_room(5, 0.0));
        assert!(!clock(589.0, 10.0, 0).has_room(5, 0.0));
        assert!(!clock(589.0, 10.0, 0).has_room(5, 100.0));
        assert!(clock(589.0, 10.0, 0).has_room(5, 20.0), "half of a short generation");
        assert_eq!(clock(700.0, 10.0, 0).progress(5, 0.0), 1.0);
    }
}
