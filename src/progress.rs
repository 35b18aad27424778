//! Progress bars, notes and warnings, all on standard error.
//!
//! Only results go to standard output. Bars are drawn if standard error is a terminal; otherwise notes replace them, a
//! line each. `--quiet` leaves only warnings and errors.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use hnefi_inference::printable_lines;
use indicatif::{ProgressBar, ProgressStyle};

/// Whether bars and notes are left out.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Leaves bars and notes out from now on.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// A bar over a number of games.
pub fn games(count: u64) -> ProgressBar {
    bar(count, "{bar:30} {pos}/{len} games {msg} {eta}")
}

/// A bar over a number of puzzles.
pub fn puzzles(count: u64) -> ProgressBar {
    bar(count, "{bar:30} {pos}/{len} puzzles {msg} {eta}")
}

/// A bar over the share of work that is done; `message` describes the work, as much of it as the line has room for.
pub fn share() -> ProgressBar {
    bar(1000, "{prefix:<9} {bar:10} {percent:>3}% {wide_msg}")
}

/// A line with the present activity, for work without an end.
pub fn spinner() -> ProgressBar {
    shown(ProgressBar::new_spinner(), "{spinner} {msg}")
}

/// Prints a note, above the bar if one is drawn.
pub fn note(bar: &ProgressBar, text: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        line(bar, text);
    }
}

/// Prints a warning, above the bar if one is drawn.
pub fn warning(bar: &ProgressBar, text: &str) {
    line(bar, &format!("warning: {text}"));
}

/// As [`warning`], without a bar.
pub fn warn(text: &str) {
    warning(&ProgressBar::hidden(), text);
}

fn line(bar: &ProgressBar, text: &str) {
    let text = printable_lines(text);
    if bar.is_hidden() {
        // A closed standard error does not end the work.
        let _ = writeln!(std::io::stderr(), "{text}");
    } else {
        bar.println(text);
    }
}

fn bar(length: u64, template: &str) -> ProgressBar {
    shown(ProgressBar::new(length), template)
}

fn shown(bar: ProgressBar, template: &str) -> ProgressBar {
    if QUIET.load(Ordering::Relaxed) {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(template).expect("the template is a constant and valid");
    bar.with_style(style.progress_chars("━╸─"))
}
