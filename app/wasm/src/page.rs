//! A board and its only page.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hnefi_board::{Board, BoardConfig, Event, Host, Listener, Next, Refusal, Reply, Request, WorkerCache};
use hnefi_engine::Preset;
use serde::Deserialize;

use crate::networks::Networks;

/// Games open at once: the one on the board, and the one before while the page changes over.
const ROOMS: usize = 8;

/// Searches that hold memory at once.
const SEARCHES: usize = 2;

/// How long a slice of a search takes; requests wait for its end.
const SLICE: Duration = Duration::from_millis(40);

/// The host of the board: a clock and chance, both the page's. There are no threads to wake, for [`Page::step`] and
/// [`Page::news`] look themselves.
struct Worker {
    now: fn() -> Duration,
    random: fn() -> u64,
}

impl Host for Worker {
    fn now(&self) -> Duration {
        (self.now)()
    }

    fn random(&self) -> u64 {
        (self.random)()
    }

    fn work_waits(&self) {}

    fn ring(&self) {}
}

/// A request, as the page's script writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageRequest {
    method: String,
    path: String,
    #[serde(default)]
    query: String,
    #[serde(default)]
    body: String,
}

/// How long [`Page::step`] has nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// It has more to do at once.
    None,
    /// Nothing to do for this long, unless a request comes.
    For(Duration),
    /// Nothing to do until a request comes.
    UntilAsked,
}

/// An event, and the listener that it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageEvent {
    /// Number of the listener.
    pub listener: u32,
    /// The event.
    pub event: Event,
}

/// A board and what it needs between two calls.
pub struct Page {
    board: Board,
    host: Arc<Worker>,
    networks: Arc<Networks>,
    kept: WorkerCache,
    listeners: BTreeMap<u32, Listener>,
    listened: u32,
}

impl Page {
    /// A board that offers the shipped networks. `now` is the time since any moment and never goes back; all that is
    /// left to chance comes from `random`, numbers that nobody guesses: WebAssembly has none of its own.
    pub fn new(now: fn() -> Duration, random: fn() -> u64) -> Page {
        let (host, networks) = (Arc::new(Worker { now, random }), Arc::new(Networks::new()));
        let seed = random();
        let first = Board::first_game(&*networks, Preset::Brandubh.into(), None, [false, true], None);
        let config = BoardConfig { rooms: ROOMS, listeners: ROOMS, searches: SEARCHES, slice: SLICE, first, seed };
        let board = Board::new(host.clone(), networks.clone(), config);
        Page { board, host, networks, kept: WorkerCache::default(), listeners: BTreeMap::new(), listened: 0 }
    }

    /// Answers a request: JSON with `method`, `path`, `query` and `body`, the last one a text.
    pub fn ask(&self, text: &[u8]) -> Reply {
        let asked: PageRequest = match serde_json::from_slice(text) {
            Ok(asked) => asked,
            Err(error) => return Refusal::fault(format!("the request: {error}")).into(),
        };
        let PageRequest { method, path, query, body } = &asked;
        self.board.handle(&Request { method, path, query, body: body.as_bytes() })
    }

    /// Listens to a game and returns the listener's number.
    ///
    /// # Errors
    /// When there is no such game.
    pub fn listen(&mut self, id: &str) -> Result<u32, Refusal> {
        let listener = self.board.listen(id)?;
        self.listened += 1;
        self.listeners.insert(self.listened, listener);
        Ok(self.listened)
    }

    /// Listens no more.
    pub fn leave(&mut self, listener: u32) {
        self.listeners.remove(&listener);
    }

    /// The next event, if there is anything to tell.
    pub fn news(&mut self) -> Option<PageEvent> {
        self.listeners.iter_mut().find_map(|(&listener, told)| told.news().map(|event| PageEvent { listener, event }))
    }

    /// Does a slice of the searches.
    pub fn step(&mut self) -> Pause {
        match self.board.next() {
            Next::Work(task) => {
                self.board.work(task, &mut self.kept);
                Pause::None
            }
            Next::Wait(due) => Pause::For(due.saturating_sub(self.host.now())),
            Next::Nothing => Pause::UntilAsked,
        }
    }

    /// The name of a network that is to be fetched; each is named once.
    pub fn wanted(&self) -> Option<&'static str> {
        self.networks.wanted()
    }

    /// Takes in the bytes of a network's file, or why it could not be fetched.
    pub fn network(&self, name: &str, weights: Result<&[u8], String>) {
        self.networks.take(name, weights);
    }
}
