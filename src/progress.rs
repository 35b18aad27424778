//! Progress bars, notes and warnings, all on standard error.
//!
//! Only results go to standard output. Bars are drawn if standard error is a terminal; otherwise notes replace them, a
//! line each. `--quiet` leaves only warnings and errors.
//!
//! A thread of its own writes the lines. So the work, and its interruption, never wait for a reader that has stopped;
//! lines for which there is no room any more are lost.

use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use hnefi_inference::printable_lines;
use indicatif::{ProgressBar, ProgressStyle};

/// Whether bars and notes are left out.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Lines that may wait to be written.
const WAITING: usize = 1_000;

/// How long the end of the program waits for lines to be written.
const PATIENCE: Duration = Duration::from_secs(1);

/// Lines that were lost since the last one that was written.
static LOST: AtomicUsize = AtomicUsize::new(0);

/// What the writing thread does next.
enum Message {
    Line(String),
    /// To be answered when everything before is written.
    End(SyncSender<()>),
}

/// Leaves bars and notes out from now on.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// A bar over a number of games, puzzles or positions.
pub fn count(length: usize, of: &str) -> ProgressBar {
    shown(ProgressBar::new(length as u64), &format!("{{bar:30}} {{pos}}/{{len}} {of} {{msg}} {{eta}}"))
}

/// A bar over the share of work that is done; `message` describes the work, as much of it as the line has room for.
pub fn share() -> ProgressBar {
    shown(ProgressBar::new(1000), "{prefix:<9} {bar:10} {percent:>3}% {wide_msg}")
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
        say(text);
    } else {
        bar.println(text);
    }
}

/// Hands a line to the thread that writes to standard error, and does not wait.
pub fn say(text: String) {
    if writer().is_none_or(|writer| writer.try_send(Message::Line(text)).is_err()) {
        LOST.fetch_add(1, Ordering::Relaxed);
    }
}

/// Waits until the lines so far are written, but not long.
pub fn finish() {
    let (written, end) = sync_channel(1);
    if writer().is_some_and(|writer| writer.try_send(Message::End(written)).is_ok()) {
        let _ = end.recv_timeout(PATIENCE);
    }
}

/// The way to the thread that writes to standard error; `None` where there can be no thread.
fn writer() -> Option<&'static SyncSender<Message>> {
    static WRITER: OnceLock<Option<SyncSender<Message>>> = OnceLock::new();
    let begin = || {
        let (writer, lines) = sync_channel(WAITING);
        let write = move || {
            for told in lines {
                // A closed standard error does not end the work.
                let _ = match told {
                    Message::Line(text) => writeln!(std::io::stderr(), "{text}"),
                    Message::End(written) => written.try_send(()).map_err(std::io::Error::other),
                };
                match LOST.swap(0, Ordering::Relaxed) {
                    0 => {}
                    lost => drop(writeln!(std::io::stderr(), "{lost} lines before this were lost: nobody read them")),
                }
            }
        };
        std::thread::Builder::new().spawn(write).ok().map(|_| writer)
    };
    WRITER.get_or_init(begin).as_ref()
}

fn shown(bar: ProgressBar, template: &str) -> ProgressBar {
    if QUIET.load(Ordering::Relaxed) {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(template).expect("the templates are ours and valid");
    bar.with_style(style.progress_chars("━╸─"))
}
