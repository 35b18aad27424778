//! The way out: whole lines, each flushed, from both threads.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use hnefi_inference::printable;

/// Letters of a message, beyond which it is cut.
const LONGEST: usize = 600;

/// Where lines are said.
pub(super) struct Output {
    state: Mutex<State>,
}

struct State {
    out: Box<dyn Write + Send>,
    /// The first failure; nothing is said after it.
    failure: Option<io::Error>,
}

impl Output {
    pub(super) fn new(out: Box<dyn Write + Send>) -> Output {
        Output { state: Mutex::new(State { out, failure: None }) }
    }

    /// Says lines without any other between them.
    pub(super) fn lines<L: AsRef<str>>(&self, lines: impl IntoIterator<Item = L>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.failure.is_some() {
            return;
        }
        let mut text = String::new();
        for line in lines {
            text.push_str(line.as_ref());
            text.push('\n');
        }
        let said = state.out.write_all(text.as_bytes()).and_then(|()| state.out.flush());
        state.failure = said.err();
    }

    /// Tells the client's user something.
    pub(super) fn info(&self, text: &str) {
        // One line of a sensible length, however long a quoted message is.
        let words: String = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LONGEST).collect();
        self.lines([format!("info string {}", printable(&words))]);
    }

    /// Whether the client has closed its end.
    pub(super) fn is_broken(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).failure.is_some()
    }

    /// The failure, if any, once.
    pub(super) fn failure(&self) -> Option<io::Error> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).failure.take()
    }
}
