//! A child process behind pipes that can neither block its player nor outlive it.
//!
//! Threads of their own write to the program and read from it, so a program that reads nothing, says nothing, or talks
//! without end costs no more than the time it is given, and memory for [`LINES`] lines of [`LINE_BYTES`]. Whatever
//! happens, it is asked to quit, killed if it does not, and waited for. Where there are process groups, what it started
//! and left running is killed after it, also if it quit by itself, and also if this process is killed (`kill -9`):
//! a guard, a shell, waits for that. On other systems a program whose player is killed finds its input closed.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hnefi_inference::printable;

use crate::players::{ProgramError, ProgramErrorKind};

/// How long a program may take to quit before it is killed.
const GRACE: Duration = Duration::from_millis(1000);

/// How long the last words of a program that has ended are waited for.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// How often a wait for an answer looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(100);

/// Lines that may wait unread before the program is made to wait.
const LINES: usize = 256;

/// A longer line, its end included, is no line of the protocols and ends the game. The longest are those that tell a
/// variation, of some hundred bytes.
const LINE_BYTES: usize = 1 << 16;

/// A line of a program, or that there was one beyond all measure, after which nothing more is read.
type LineRead = Result<String, TooLong>;

struct TooLong;

/// A running program.
pub struct Process {
    child: Child,
    /// The process group, until what is left of it was killed.
    #[cfg(unix)]
    group: Option<nix::unistd::Pid>,
    /// Kills the process group when this process has ended.
    #[cfg(unix)]
    guard: Option<Child>,
    /// `None` once it was asked to quit.
    input_lines: Option<Sender<String>>,
    lines: Receiver<LineRead>,
    /// Ends the wait for an answer.
    pub(super) stop: Arc<AtomicBool>,
    /// The last line it wrote to its standard error, and the thread that reads it.
    complaint: Arc<Mutex<String>>,
    listener: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts a program: its name or path, and its arguments.
    ///
    /// # Errors
    /// When there is no such program, or the system refuses.
    pub fn start(words: &[String]) -> io::Result<Process> {
        let [program, arguments @ ..] = words else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no program is named"));
        };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own: what it starts can be killed with it, and Ctrl-C in a terminal is ours to handle.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        #[cfg(unix)]
        let group = i32::try_from(child.id()).ok().map(nix::unistd::Pid::from_raw);
        let (input_lines, sent) = mpsc::channel();
        let (read, lines) = mpsc::sync_channel(LINES);
        let complaint = Arc::new(Mutex::new(String::new()));
        if let Some(input) = child.stdin.take() {
            std::thread::spawn(move || write_lines(input, &sent));
        }
        if let Some(output) = child.stdout.take() {
            std::thread::spawn(move || {
                read_lines(output, |line, whole| {
                    read.send(if whole { Ok(line) } else { Err(TooLong) }).is_ok() && whole
                });
            });
        }
        let listener = child.stderr.take().map(|errors| {
            let latest = Arc::clone(&complaint);
            std::thread::spawn(move || read_lines(errors, |line, _| keep(&latest, &line)))
        });
        Ok(Process {
            #[cfg(unix)]
            group,
            #[cfg(unix)]
            guard: group.and_then(guard),
            child,
            input_lines: Some(input_lines),
            lines,
            stop: Arc::default(),
            complaint,
            listener,
        })
    }

    /// Sends a line. Nothing is said of whether the program reads it.
    pub fn send(&self, line: String) {
        if let Some(input_lines) = &self.input_lines {
            // A program that is gone shows when its answer is awaited.
            let _ = input_lines.send(line);
        }
    }

    /// Reads lines until `find` finds what is `awaited` in one, at most until that time.
    pub(super) fn until<T>(
        &mut self,
        deadline: Instant,
        awaited: &str,
        mut find: impl FnMut(&str) -> Option<T>,
    ) -> Result<T, ProgramError> {
        let began = Instant::now();
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(ProgramError::new(ProgramErrorKind::Timeout, format!("stopped before {awaited}")));
            }
            let line = self.line(LOOK.min(deadline.saturating_duration_since(Instant::now())), awaited)?;
            // A program that talks without end must not talk on beyond the deadline.
            if Instant::now() >= deadline {
                let seconds = began.elapsed().as_secs_f64();
                let problem = format!("no {awaited} within {seconds:.1} s");
                return Err(ProgramError::new(ProgramErrorKind::Timeout, problem));
            }
            if let Some(found) = line.and_then(|line| find(line.trim())) {
                return Ok(found);
            }
        }
    }

    /// The next line, which brings what is `awaited`; `None` if there is none within `patience`.
    ///
    /// # Errors
    /// When the program has ended, or wrote what is no line.
    pub fn line(&mut self, patience: Duration, awaited: &str) -> Result<Option<String>, ProgramError> {
        let problem = match self.lines.recv_timeout(patience) {
            Ok(Ok(line)) => return Ok(Some(line)),
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            Ok(Err(TooLong)) => format!("the program wrote a line of more than {LINE_BYTES} bytes before {awaited}"),
            Err(RecvTimeoutError::Disconnected) => self.how_it_ended(awaited),
        };
        Err(ProgramError::new(ProgramErrorKind::Crash, problem))
    }

    /// How the program ended, and its last words.
    fn how_it_ended(&mut self, awaited: &str) -> String {
        let mut text = match self.wait(GRACE) {
            Some(status) => format!("the program ended ({status}) before {awaited}"),
            None => format!("the program closed its output before {awaited}"),
        };
        // What it wrote just before may still be on its way here.
        let patience = Instant::now() + LAST_WORDS;
        while self.listener.as_ref().is_some_and(|thread| !thread.is_finished()) && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(2));
        }
        if let Ok(complaint) = self.complaint.lock()
            && !complaint.is_empty()
        {
            text.push_str(": ");
            text.push_str(&complaint);
        }
        text
    }

    /// Waits for the end of the program, at most so long.
    fn wait(&mut self, patience: Duration) -> Option<std::process::ExitStatus> {
        let deadline = Instant::now() + patience;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    self.kill_group();
                    return Some(status);
                }
                Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// Kills what is left of the process group, once: as soon as nothing is, its number may be another's.
    fn kill_group(&mut self) {
        #[cfg(unix)]
        if let Some(group) = self.group.take() {
            let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
        }
        // It would kill a later group of that number.
        #[cfg(unix)]
        if let Some(mut guard) = self.guard.take() {
            let _ = guard.kill();
            let _ = guard.wait();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.send("quit".to_owned());
        self.input_lines = None;
        if self.wait(GRACE).is_none() {
            self.kill_group();
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Starts a guard of a process group. It reads a pipe whose other end this process alone holds, so that the system
/// closes it however this process ends. No guard where there is no shell.
#[cfg(unix)]
fn guard(group: nix::unistd::Pid) -> Option<Child> {
    let script = "trap '' HUP INT TERM; read -r line; kill -s KILL -- \"-$1\"";
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script, "guard", &group.to_string()]);
    // Outside our group, which may be killed as a whole.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()
}

/// Writes what is sent until there is nothing more to come or the program is gone.
fn write_lines(mut input: ChildStdin, lines: &Receiver<String>) {
    for mut line in lines {
        line.push('\n');
        if input.write_all(line.as_bytes()).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

/// Keeps the latest line that says something, cut to a length that fits a report.
fn keep(latest: &Mutex<String>, line: &str) -> bool {
    if let (false, Ok(mut latest)) = (line.is_empty(), latest.lock()) {
        *latest = printable(&line.chars().take(200).collect::<String>()).into_owned();
    }
    true
}

/// Reads lines until the end or until `take` wants no more. Its second argument says whether a line is whole: one that
/// is too long comes in pieces.
fn read_lines(source: impl Read, mut take: impl FnMut(String, bool) -> bool) {
    let mut source = BufReader::new(source);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        match source.by_ref().take(LINE_BYTES as u64).read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(count) => {
                let whole = count < LINE_BYTES || bytes.ends_with(b"\n");
                if !take(String::from_utf8_lossy(&bytes).trim_end().to_owned(), whole) {
                    return;
                }
            }
        }
    }
}
