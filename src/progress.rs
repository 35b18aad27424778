//! Progress bars, notes and warnings, all on standard error.
//!
//! Only results go to standard output. Bars are drawn if standard error is a terminal; otherwise notes replace them, a
//! line each. `--quiet` leaves only warnings and errors.
//!
//! A thread of its own writes the lines. The work waits for a reader that is slow, so that nothing is lost, but not for
//! one that has stopped: then lines for which there is no room any more are lost. An interruption never waits.

use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use hnefi_inference::printable_lines;
use indicatif::{ProgressBar, ProgressStyle};

/// Whether bars and notes are left out.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Lines that may wait to be written.
const WAITING: usize = 1_000;

/// After this long without a line written the reader has stopped.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often whoever waits for the writing thread looks again.
const LOOK: Duration = Duration::from_millis(1);

/// Lines that were lost since the last one that was written.
static LOST: AtomicUsize = AtomicUsize::new(0);

/// Messages that the writing thread is done with.
static WRITTEN: AtomicUsize = AtomicUsize::new(0);

/// How many those were when somebody last waited in vain. Until there are more nobody waits again.
static STOPPED_AT: AtomicUsize = AtomicUsize::new(usize::MAX);

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

/// Hands a line to the thread that writes to standard error, and waits for room unless the reader has stopped.
pub fn say(text: String) {
    if !send(Message::Line(text)) {
        LOST.fetch_add(1, Ordering::Relaxed);
    }
}

/// As [`say`], but without waiting and so perhaps in vain: for a signal, which nothing may hold up.
pub fn say_at_once(text: String) {
    let _ = writer().map(|writer| writer.try_send(Message::Line(text)));
}

/// Waits until the lines so far are written, unless the reader has stopped.
pub fn finish() {
    let (written, end) = sync_channel(1);
    if send(Message::End(written)) {
        patiently(|| end.try_recv().ok());
    }
}

/// Hands a message to the writing thread; false if the reader has stopped.
fn send(message: Message) -> bool {
    let Some(writer) = writer() else { return false };
    let mut message = Some(message);
    let sent = patiently(|| match writer.try_send(message.take()?) {
        Ok(()) => Some(()),
        Err(TrySendError::Full(back) | TrySendError::Disconnected(back)) => {
            message = Some(back);
            None
        }
    });
    sent.is_some()
}

/// Tries until something comes of it; `None` once the writing thread has written nothing for [`PATIENCE`].
fn patiently<T>(mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
    let (mut written, mut since) = (WRITTEN.load(Ordering::Relaxed), Instant::now());
    loop {
        if let Some(found) = attempt() {
            return Some(found);
        }
        let now = WRITTEN.load(Ordering::Relaxed);
        if now != written {
            (written, since) = (now, Instant::now());
        } else if STOPPED_AT.load(Ordering::Relaxed) == written {
            return None;
        } else if since.elapsed() >= PATIENCE {
            STOPPED_AT.store(written, Ordering::Relaxed);
            return None;
        }
        std::thread::sleep(LOOK);
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
                if let Message::Line(text) = &told {
                    let _ = writeln!(std::io::stderr(), "{text}");
                }
                match LOST.swap(0, Ordering::Relaxed) {
                    0 => {}
                    lost => drop(writeln!(std::io::stderr(), "{lost} lines before this were lost: nobody read them")),
                }
                WRITTEN.fetch_add(1, Ordering::Relaxed);
                if let Message::End(written) = told {
                    // Whoever asked may have lost patience.
                    let _ = written.try_send(());
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
