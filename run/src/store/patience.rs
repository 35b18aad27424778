//! How long a store on a network is waited for.
//!
//! A request that fails or takes too long is made again after a pause that doubles from half a second to half a minute,
//! until the limit is reached or whoever waits is told to stop. Nothing is harmed meanwhile: objects are created whole
//! or not at all, and creating one twice is refused.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The first pause, without jitter.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How often a lasting trouble is told again.
const TOLD_EVERY: Duration = Duration::from_secs(60);

/// Who is told that a store delays, and says when to give up.
pub trait StoreWatch: Send + Sync {
    /// A request failed and is made again; told at the first failure and once a minute from then on.
    fn delayed(&self, text: &str) {
        let _ = text;
    }

    /// Whether to give up now; asked several times a second while a store is waited for.
    fn should_stop(&self) -> bool {
        false
    }
}

/// Tells nobody and never gives up early.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl StoreWatch for Unwatched {}

/// How long a store is waited for, and who is told.
#[derive(Clone)]
pub struct Patience {
    /// After so long a request is given up and made again.
    pub request: Duration,
    /// After so long without success there is an error.
    pub limit: Duration,
    /// Who is told.
    pub watch: Arc<dyn StoreWatch>,
}

impl Default for Patience {
    /// A minute a request, an hour in all, and nobody told.
    fn default() -> Patience {
        Patience { request: Duration::from_secs(60), limit: Duration::from_secs(3600), watch: Arc::new(Unwatched) }
    }
}

impl Patience {
    /// Half a minute a request and a minute in all: whoever wants to look or to play is not kept waiting for an hour.
    pub fn for_people() -> Patience {
        Patience { request: Duration::from_secs(30), limit: Duration::from_secs(60), ..Patience::default() }
    }
}

impl fmt::Debug for Patience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Patience {{ request: {:?}, limit: {:?} }}", self.request, self.limit)
    }
}

/// One request's attempts.
pub(super) struct Attempts<'a> {
    patience: &'a Patience,
    began: Instant,
    failures: u32,
    told: Option<Instant>,
}

impl<'a> Attempts<'a> {
    pub(super) fn new(patience: &'a Patience) -> Attempts<'a> {
        Attempts { patience, began: Instant::now(), failures: 0, told: None }
    }

    /// Takes in a failure: how long to pause before the next attempt, or `None` when the limit is reached.
    pub(super) fn failed(&mut self, text: &str) -> Option<Duration> {
        if self.began.elapsed() >= self.patience.limit {
            return None;
        }
        if self.told.is_none_or(|told| told.elapsed() >= TOLD_EVERY) {
            self.patience.watch.delayed(&format!("{text}; trying again"));
            self.told = Some(Instant::now());
        }
        let pause = pause(self.failures, jitter());
        self.failures += 1;
        Some(pause.min(self.patience.limit.saturating_sub(self.began.elapsed())))
    }

    /// Whether an attempt failed that may have been carried out all the same.
    pub(super) fn any_failed(&self) -> bool {
        self.failures > 0
    }

    /// Since the first attempt.
    pub(super) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
}

/// The pause after so many failures before this one; `jitter` in 0..1 takes up to half of it away, so that those who
/// were thrown out together do not come back together.
fn pause(failures: u32, jitter: f64) -> Duration {
    FIRST_PAUSE.saturating_mul(1 << failures.min(10)).min(LONGEST_PAUSE).mul_f64(1.0 - jitter / 2.0)
}

/// Differs between machines and moments, which is all it is for.
fn jitter() -> f64 {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    f64::from(nanos % 1000) / 1000.0
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

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
        let patience = Patience { limit: Duration::from_secs(100), watch: told.clone(), ..Patience::default() };
        let mut attempts = Attempts::new(&patience);
        assert!(!attempts.any_failed());
        assert!(attempts.failed("no answer").is_some() && attempts.failed("no answer").is_some());
        assert!(attempts.any_failed());
        assert_eq!(*told.0.lock().unwrap(), ["no answer; trying again"]);
        let hurried = Patience { limit: Duration::ZERO, ..patience };
        assert_eq!(Attempts::new(&hurried).failed("no answer"), None);
    }
}
