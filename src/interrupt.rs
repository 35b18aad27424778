//! Ctrl-C: the first one asks the work to stop at its next safe point, the second one ends the process at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

/// Installs the handler; the flag turns true at the first signal.
///
/// # Errors
/// When the signal handler cannot be installed.
pub fn stop_flag() -> anyhow::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&flag);
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::SeqCst) {
            // The store never leaves half a file behind, so leaving at once is safe.
            std::process::exit(130);
        }
        eprintln!("\nstopping at the next safe point; press Ctrl-C again to stop at once");
    })
    .context("installing the Ctrl-C handler")?;
    Ok(flag)
}
