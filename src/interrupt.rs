//! Ctrl-C: the first one asks the work to stop at its next safe point, the second one ends the process at once. Either
//! way the program exits with [`CODE`]. A command that has not asked for the flag has nothing to save: the signal ends
//! it, which a shell shows as 130 for Ctrl-C and 143 for SIGTERM. The handler waits for nothing, so the second one
//! counts whatever the first one has met.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

use crate::progress;

/// What an interrupted program exits with, as shells have it for SIGINT.
pub const CODE: u8 = 130;

/// Whether a signal has come.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Keeps SIGHUP ignored where whoever started the program had it ignored, as `nohup` does; known on Linux alone. For
/// the beginning, when there is one thread.
pub fn keep_hangup_ignored() {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::signal::{SigSet, Signal};
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        if mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 != 0) {
            let mut hangup = SigSet::empty();
            hangup.add(Signal::SIGHUP);
            // The handler would replace the ignoring. What is blocked never reaches it, and later threads inherit this.
            let _ = hangup.thread_block();
        }
    }
}

/// Installs the handler, once in a process; the flag turns true at the first signal. Work may set the flag itself to
/// end.
///
/// # Errors
/// When the signal handler cannot be installed.
pub fn stop_flag() -> anyhow::Result<Arc<AtomicBool>> {
    let flag: Arc<AtomicBool> = Arc::default();
    let stop = Arc::clone(&flag);
    ctrlc::set_handler(move || {
        if ASKED.swap(true, Ordering::SeqCst) {
            // The store never leaves half a file behind, so leaving at once is safe.
            std::process::exit(CODE.into());
        }
        progress::say_at_once("\nstopping at the next safe point; press Ctrl-C again to stop at once".to_owned());
        // The work may end from here on, and the program with it.
        stop.store(true, Ordering::SeqCst);
    })
    .context("installing the Ctrl-C handler")?;
    Ok(flag)
}

/// Ends the program at a signal, after `first`: for what draws, where Ctrl-C is a key.
///
/// # Errors
/// When the signal handler cannot be installed.
#[cfg(feature = "terminal")]
pub fn end_after(first: impl Fn() + Send + 'static) -> anyhow::Result<()> {
    ctrlc::set_handler(move || {
        first();
        std::process::exit(CODE.into());
    })
    .context("installing the Ctrl-C handler")
}

/// Whether a signal asked the work to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
