//! How long requests to an object store are repeated.

use std::sync::Arc;
use std::time::Duration;

use super::watch::{StoreWatch, Unwatched};

/// Timeouts of requests to an object store.
#[derive(Clone, Debug)]
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
