//! Messages about delays of a bucket.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hnefi_run::store::StoreWatch;
use indicatif::ProgressBar;

use crate::progress;

/// Prints a line above a progress bar and stops when Ctrl-C was pressed.
pub struct Delays {
    /// The bar that is being drawn.
    pub bar: ProgressBar,
    /// Whether to stop.
    pub stop: Arc<AtomicBool>,
}

impl StoreWatch for Delays {
    fn delayed(&self, text: &str) {
        progress::warning(&self.bar, text);
    }

    fn should_stop(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}
