//! The time that a run still takes, by the clock.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Generations over which the pace is measured, few enough that a slower stage soon shows.
const GENERATIONS: usize = 5;

/// How fast the latest generations used up the budget.
#[derive(Debug, Default)]
pub struct Pace {
    generation: u32,
    /// When each of the latest generations began, and the progress of the budget then.
    begins: VecDeque<(Instant, f64)>,
}

impl Pace {
    /// Time from `now` to the end of the run at the pace of the latest generations, with the ladder's matches between
    /// them; `None` before a generation is complete. `run` is the progress of the budget at `now`, 0 to 1. Later stages
    /// may be slower, so this is often too little.
    pub fn left(&mut self, generation: u32, run: f64, now: Instant) -> Option<Duration> {
        if generation > self.generation {
            self.generation = generation;
            self.begins.push_back((now, run));
            if self.begins.len() > GENERATIONS + 1 {
                self.begins.pop_front();
            }
        }
        let (&(first, before), &(last, after)) = (self.begins.front()?, self.begins.back()?);
        let seconds = (1.0 - after) * (last - first).as_secs_f64() / (after - before);
        // NaN or infinite while nothing of the budget was used between the two.
        let left = Duration::try_from_secs_f64(seconds).ok()?;
        Some(left.saturating_sub(now.saturating_duration_since(last)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_generations_give_the_pace() {
        let (mut pace, start) = (Pace::default(), Instant::now());
        let mut left = |generation: u32, run: f64, seconds: u64| {
            pace.left(generation, run, start + Duration::from_secs(seconds)).map(|left| left.as_secs_f64().round())
        };
        assert_eq!((left(1, 0.0, 0), left(1, 0.005, 9)), (None, None));
        // A hundredth took 10 s, so 99 of them take 990, of which 4 are over.
        assert_eq!((left(2, 0.01, 10), left(2, 0.014, 14)), (Some(990.0), Some(986.0)));
        // Games of the next generation may be played while this one still trains.
        assert_eq!(left(1, 0.01, 15), Some(985.0));
        // A slower stage: after five of its generations, the fast ones no longer count.
        for generation in 3..=8 {
            left(generation, f64::from(generation - 1) / 100.0, 100 * u64::from(generation));
        }
        assert_eq!(left(8, 0.07, 800), Some(9300.0));
        assert_eq!(left(9, 1.0, 900), Some(0.0));
    }
}
