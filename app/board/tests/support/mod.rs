//! A board with the shipped networks and without threads: its clock stands still until a test or waiting work moves it,
//! and searches go on only while a test waits for them.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hnefi_board::{
    Board, BoardConfig, Event, Host, NewGame, Next, Offer, PlayerError, PlayerId, Players, Reply, Request, SeatRequest,
    WorkerCache,
};
use hnefi_inference::{CpuEvaluator, CpuNetwork, Evaluator, Precision, pretrained, pretrained_card, pretrained_names};
use serde_json::{Value, json};

/// The time in milliseconds.
#[derive(Default)]
pub struct Time(AtomicU64);

impl Host for Time {
    fn now(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::Relaxed))
    }

    fn random(&self) -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        NEXT.fetch_add(1, Ordering::Relaxed)
    }

    fn work_waits(&self) {}

    fn ring(&self) {}
}

/// The shipped networks.
pub struct Shipped;

impl Players for Shipped {
    fn networks(&self) -> Vec<Offer> {
        let offer = |name: &str| Offer {
            id: PlayerId::Model(format!("shipped/{name}")),
            name: name.to_owned(),
            rulesets: pretrained_card(name).expect("shipped").expect("sound").rulesets,
            is_model: true,
        };
        pretrained_names().into_iter().map(offer).collect()
    }

    fn name(&self, key: &str) -> Result<String, PlayerError> {
        let name = key.strip_prefix("shipped/").filter(|name| pretrained_names().contains(name));
        name.map(str::to_owned).ok_or_else(|| PlayerError::NoModel(key.to_owned()))
    }

    fn resolve(&self, key: &str) -> Result<String, PlayerError> {
        self.name(key)
    }

    fn evaluator(&self, key: &str) -> Result<Option<Box<dyn Evaluator>>, PlayerError> {
        let checkpoint = pretrained(&self.name(key)?).expect("shipped").expect("sound");
        let network = CpuNetwork::with_precision(&checkpoint.weights, Precision::F32).expect("a network");
        Ok(Some(Box::new(CpuEvaluator::new(Arc::new(network)))))
    }

    fn identities(&self) -> HashMap<String, String> {
        HashMap::new()
    }
}

/// A board as a page sees it.
pub struct Page {
    time: Arc<Time>,
    pub board: Arc<Board>,
    cache: RefCell<WorkerCache>,
}

/// What a board answered.
pub struct Answer(pub Reply);

impl Answer {
    /// The body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.0.body).expect("text")
    }

    /// The answer of a request that should succeed.
    pub fn ok(self) -> Value {
        assert_eq!(self.0.status, 200, "{}", self.text());
        serde_json::from_str(self.text()).expect("JSON")
    }

    /// Checks that the request was refused so, with words in the error.
    pub fn refused(self, status: u16, words: &str) {
        assert_eq!(self.0.status, status, "{}", self.text());
        let body: Value = serde_json::from_str(self.text()).expect("JSON");
        let error = body["error"].as_str().expect("an error in words");
        assert!(error.contains(words), "{error:?} should contain {words:?}");
    }
}

impl Page {
    /// A board on which nothing stands yet.
    pub fn new() -> Page {
        Page::with(Arc::new(Shipped))
    }

    /// The same with other networks.
    pub fn with(players: Arc<dyn Players>) -> Page {
        let [attackers, defenders] = [SeatRequest::default(), SeatRequest::default()];
        let first = NewGame { rules: "brandubh".to_owned(), attackers, defenders, fen: None, clock: None };
        // A slice is one leaf.
        let config = BoardConfig { rooms: 8, listeners: 4, searches: 1, slice: Duration::ZERO, first, seed: 1 };
        let time = Arc::new(Time::default());
        let board = Arc::new(Board::new(time.clone(), players, config));
        Page { board, time, cache: RefCell::default() }
    }

    pub fn ask(&self, method: &str, path: &str, body: &str) -> Answer {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        Answer(self.board.handle(&Request { method, path, query, body: body.as_bytes() }))
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "")
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask("POST", path, &body.to_string())
    }

    /// A game between two people.
    pub fn two_people(&self, rules: &str) -> Value {
        self.post("/api/games", &json!({ "rules": rules, "attackers": {}, "defenders": {} })).ok()
    }

    /// Opens a pasted text.
    pub fn paste(&self, text: &str) -> Value {
        self.post("/api/games/open", &json!({ "text": { "text": text, "rules": "brandubh" } })).ok()
    }

    /// Does something with a game.
    pub fn does(&self, state: &Value, what: &str, body: &Value) -> Answer {
        self.post(&of(state, what), body)
    }

    /// Plays a move.
    pub fn play(&self, state: &Value, mv: &str) -> Value {
        self.does(state, "move", &json!({ "move": mv, "stamp": state["stamp"] })).ok()
    }

    /// The game as it stands now.
    pub fn now(&self, state: &Value) -> Value {
        self.get(&game(state)).ok()
    }

    /// Lets time pass.
    pub fn pass(&self, milliseconds: u64) {
        self.time.0.fetch_add(milliseconds, Ordering::Relaxed);
    }

    /// Does a slice of work, or lets the time pass until there is some; false when there is none.
    pub fn work(&self) -> bool {
        match self.board.next() {
            Next::Work(task) => self.board.work(task, &mut self.cache.borrow_mut()),
            Next::Wait(until) => self.time.0.store(until.as_millis() as u64, Ordering::Relaxed),
            Next::Nothing => return false,
        }
        true
    }

    /// Works until the game is as wished.
    pub fn wait(&self, state: &Value, wished: impl Fn(&Value) -> bool) -> Value {
        loop {
            let found = self.now(state);
            if wished(&found) {
                return found;
            }
            assert!(self.work(), "waited in vain: {found}");
        }
    }

    /// Works with somebody looking on until an event is as wished.
    pub fn listen(&self, state: &Value, wished: impl Fn(&Event, &Value) -> bool) -> Value {
        let mut listener = self.board.listen(state["id"].as_str().expect("an id")).expect("a place");
        loop {
            while let Some(event) = listener.news() {
                let data = serde_json::from_str(&event.data).expect("JSON");
                if wished(&event, &data) {
                    return data;
                }
            }
            assert!(self.work(), "listened in vain");
        }
    }
}

/// The path of a game.
pub fn game(state: &Value) -> String {
    format!("/api/games/{}", state["id"].as_str().expect("an id"))
}

/// The path of something that is done with a game.
pub fn of(state: &Value, what: &str) -> String {
    format!("{}/{what}", game(state))
}
