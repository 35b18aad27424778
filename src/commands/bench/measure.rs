//! Rates and durations: medians over repeats, on one thread or on several at once.

use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Duration of the measurements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// Seconds of each repeat.
    pub(super) seconds: f64,
    /// Repeats; the median counts.
    pub(super) repeats: usize,
    /// The most threads.
    pub(super) threads: usize,
}

impl Effort {
    /// 1, 2, 4 and so on, and the most threads.
    pub(super) fn thread_counts(self) -> impl Iterator<Item = usize> {
        let powers = (0..usize::BITS).map(|power| 1 << power).take_while(move |&count| count < self.threads);
        powers.chain([self.threads])
    }

    /// Units per second of work on this thread; `work` does some work and returns its number of units.
    pub(super) fn rate(self, mut work: impl FnMut() -> u64) -> f64 {
        work();
        median((0..self.repeats).map(|_| rate_for(self.seconds, &mut work)).collect())
    }

    /// As [`Effort::rate`] of work that may fail, with its first error.
    #[cfg(feature = "train")]
    pub(super) fn try_rate<E: Into<anyhow::Error>>(
        self,
        mut work: impl FnMut() -> Result<u64, E>,
    ) -> anyhow::Result<f64> {
        let mut failed = None;
        let rate = self.rate(|| {
            work().unwrap_or_else(|error| {
                failed.get_or_insert(error);
                0
            })
        });
        failed.map_or(Ok(rate), |error| Err(error.into()))
    }

    /// Units per second of `threads` threads together, each with its own work.
    pub(super) fn rate_on<W: FnMut() -> u64>(self, threads: usize, make: impl Fn(usize) -> W + Sync) -> f64 {
        let barrier = Barrier::new(threads);
        // Alternate the repeats, so that a disturbance affects one of them and not the median.
        let on_thread = |thread: usize| {
            let mut work = make(thread);
            work();
            (0..self.repeats)
                .map(|_| {
                    barrier.wait();
                    rate_for(self.seconds, &mut work)
                })
                .collect::<Vec<f64>>()
        };
        let rates: Vec<Vec<f64>> = std::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads).map(|thread| scope.spawn(move || on_thread(thread))).collect();
            handles.into_iter().map(|handle| handle.join().expect("a bench thread does not panic")).collect()
        });
        median((0..self.repeats).map(|repeat| rates.iter().map(|rates| rates[repeat]).sum()).collect())
    }

    /// Seconds that `work` takes.
    pub(super) fn seconds_of(self, mut work: impl FnMut()) -> f64 {
        work();
        let mut once = || {
            let began = Instant::now();
            work();
            began.elapsed().as_secs_f64()
        };
        let mut times = vec![once()];
        // As many repeats as fit into the time of a rate, but at least the requested number.
        let budget = self.seconds * self.repeats as f64;
        while times.len() < self.repeats || times.iter().sum::<f64>() < budget {
            times.push(once());
        }
        median(times)
    }
}

fn rate_for(seconds: f64, work: &mut impl FnMut() -> u64) -> f64 {
    let (began, limit) = (Instant::now(), Duration::from_secs_f64(seconds));
    let mut units = 0;
    loop {
        units += work();
        let elapsed = began.elapsed();
        if elapsed >= limit {
            return units as f64 / elapsed.as_secs_f64();
        }
    }
}

/// The middle value; of an even number the mean of the two in the middle.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { 0.5 * (values[middle - 1] + values[middle]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn thread_counts_double_up_to_the_most() {
        let counts = |threads| Effort { seconds: 1.0, repeats: 1, threads }.thread_counts().collect::<Vec<_>>();
        assert_eq!(
            [counts(1), counts(2), counts(6), counts(8)],
            [vec![1], vec![1, 2], vec![1, 2, 4, 6], vec![1, 2, 4, 8]]
        );
    }

    #[test]
    fn threads_add_up() {
        let effort = Effort { seconds: 0.02, repeats: 3, threads: 3 };
        let work = |_| {
            || {
                std::thread::sleep(Duration::from_millis(2));
                10
            }
        };
        // A sleep takes at least its time: at most 10 units every 2 ms on each of the threads.
        let rate = effort.rate_on(3, work);
        assert!(rate > 0.0 && rate <= 15_000.0, "{rate}");
    }
}
