//! Retries of requests to an object store.
//!
//! A request that fails or times out is repeated after a pause that doubles from half a second to half a minute, until
//! the limit is reached or the watch stops it. Repeating is safe: objects are created whole or not at all, and never
//! twice.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::store::RetryPolicy;

const FIRST_PAUSE: Duration = Duration::from_millis(500);

const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Time between two messages about a lasting failure.
const TOLD_EVERY: Duration = Duration::from_secs(60);

pub(super) struct Attempts<'a> {
    retry: &'a RetryPolicy,
    pub(super) began: Instant,
    /// The store may have carried out an attempt that failed.
    pub(super) failures: u32,
    told: Option<Instant>,
}

impl<'a> Attempts<'a> {
    pub(super) fn new(retry: &'a RetryPolicy) -> Attempts<'a> {
        Attempts { retry, began: Instant::now(), failures: 0, told: None }
    }

    /// Counts a failure and returns the pause before the next attempt, or `None` at the limit.
    pub(super) fn failed(&mut self, text: &str) -> Option<Duration> {
        if self.began.elapsed() >= self.retry.limit {
            return None;
        }
        if self.told.is_none_or(|told| told.elapsed() >= TOLD_EVERY) {
            self.retry.watch.delayed(&format!("{text}; trying again"));
            self.told = Some(Instant::now());
        }
        let pause = pause(self.failures, jitter());
        self.failures += 1;
        Some(pause.min(self.retry.limit.saturating_sub(self.began.elapsed())))
    }
}

/// The pause after `failures` earlier failures. `jitter`, 0 to 1, removes up to half of it, so that clients that failed
/// together do not retry together.
fn pause(failures: u32, jitter: f64) -> Duration {
    FIRST_PAUSE.saturating_mul(1 << failures.min(10)).min(LONGEST_PAUSE).mul_f64(1.0 - jitter / 2.0)
}

/// A number from 0 to 1 that differs between machines and times.
fn jitter() -> f64 {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    f64::from(nanos % 1000) / 1000.0
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::store::StoreWatch;

    #[test]
    fn pauses_double_up_to_half_a_minute() {
        let seconds = |failures| pause(failures, 0.0).as_secs_f64();
        assert_eq!([0, 1, 2, 5, 6, 7, 4_000_000_000].map(seconds), [0.5, 1.0, 2.0, 16.0, 30.0, 30.0, 30.0]);
        assert_eq!(pause(1, 1.0).as_secs_f64(), 0.5);
    }

    #[derive(Default)]
    struct Told(Mutex<Vec<String>>);

    impl StoreWatch for Told {
        fn delayed(&self, text: &str) {
            self.0.lock().unwrap().push(text.to_owned());
        }
    }

    #[test]
    fn trouble_is_told_once_and_ends_at_the_limit() {
        let told = Arc::new(Told::default());
        let retry = RetryPolicy { limit: Duration::from_secs(100), watch: told.clone(), ..RetryPolicy::default() };
        let mut attempts = Attempts::new(&retry);
        assert!(attempts.failures == 0);
        assert!(attempts.failed("no answer").is_some() && attempts.failed("no answer").is_some());
        assert_eq!(attempts.failures, 2);
        assert_eq!(*told.0.lock().unwrap(), ["no answer; trying again"]);
        let hurried = RetryPolicy { limit: Duration::ZERO, ..retry };
        assert_eq!(Attempts::new(&hurried).failed("no answer"), None);
    }
}
