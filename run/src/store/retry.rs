//! How long requests to an object store are repeated, and who is told.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::operation::{Operation, Verdict};

/// Receives messages about delays, decides when to give up, and may come in the way of operations.
pub trait StoreWatch: Send + Sync {
    /// A request failed and will be repeated; called at the first failure and then once a minute.
    fn delayed(&self, text: &str) {
        let _ = text;
    }

    /// Whether to give up now; called several times a second while a request waits.
    fn should_stop(&self) -> bool {
        false
    }

    /// Asked before every operation on files and every request to a bucket, each attempt of it; says what becomes of
    /// it. For tests: everybody else lets it proceed.
    fn attempt(&self, operation: &Operation<'_>) -> Verdict {
        let _ = operation;
        Verdict::Proceed
    }
}

/// A watch that ignores messages and never gives up early.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl StoreWatch for Unwatched {}

/// Timeouts of requests to an object store.
#[derive(Clone)]
pub struct RetryPolicy {
    /// Timeout of a single request, which is then repeated.
    pub request: Duration,
    /// Total time without success after which there is an error.
    pub limit: Duration,
    /// Receives messages about delays.
    pub watch: Arc<dyn StoreWatch>,
}

impl Default for RetryPolicy {
    /// A minute per request, an hour in total, no messages.
    fn default() -> RetryPolicy {
        RetryPolicy { request: Duration::from_secs(60), limit: Duration::from_secs(3600), watch: Arc::new(Unwatched) }
    }
}

impl RetryPolicy {
    /// Half a minute per request and a minute in total, for interactive commands.
    pub fn interactive() -> RetryPolicy {
        RetryPolicy { request: Duration::from_secs(30), limit: Duration::from_secs(60), ..RetryPolicy::default() }
    }
}

impl fmt::Debug for RetryPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RetryPolicy {{ request: {:?}, limit: {:?} }}", self.request, self.limit)
    }
}
