//! What becomes of a game whose loser had no time left, by a clock that the tests set.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hnefi_board::{Board, BoardConfig, Host, NewGame, Offer, Players, Request, SeatRequest};
use hnefi_inference::Evaluator;
use serde_json::{Value, json};

/// The time in seconds, as a test says it.
#[derive(Default)]
struct Time(AtomicU64);

impl Host for Time {
    fn now(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::Relaxed))
    }

    fn random(&self) -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        NEXT.fetch_add(1, Ordering::Relaxed)
    }

    fn work_waits(&self) {}

    fn ring(&self) {}
}

/// No network at all.
struct Nobody;

impl Players for Nobody {
    fn networks(&self) -> Vec<Offer> {
        Vec::new()
    }

    fn name(&self, key: &str) -> Result<String, String> {
        Err(key.to_owned())
    }

    fn resolve(&self, key: &str) -> Result<String, String> {
        Err(key.to_owned())
    }

    fn evaluator(&self, key: &str) -> Result<Option<Box<dyn Evaluator>>, String> {
        Err(key.to_owned())
    }

    fn identities(&self) -> HashMap<String, String> {
        HashMap::new()
    }
}

/// A game of two people with a minute each.
struct Table {
    time: Arc<Time>,
    board: Board,
    game: String,
}

impl Table {
    fn new() -> Table {
        let time = Arc::new(Time::default());
        let [attackers, defenders] = [SeatRequest::default(), SeatRequest::default()];
        let first = NewGame { rules: "brandubh".to_owned(), attackers, defenders, fen: None, clock: None };
        let slice = Duration::from_millis(1);
        let config = BoardConfig { rooms: 4, listeners: 4, searches: 1, slice, first, seed: 1 };
        let mut table = Table { board: Board::new(time.clone(), Arc::new(Nobody), config), time, game: String::new() };
        let clock = json!({ "seconds": 60, "increment": 0 });
        let asked = json!({ "rules": "brandubh", "attackers": {}, "defenders": {}, "clock": clock });
        let state = table.ask("POST", "/api/games", &asked);
        table.game = format!("/api/games/{}", state["id"].as_str().expect("an id"));
        table
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = body.to_string();
        let reply = self.board.handle(&Request { method, path, query: "", body: body.as_bytes() });
        let answer: Value = serde_json::from_slice(&reply.body).expect("JSON");
        assert_eq!(reply.status, 200, "{method} {path}: {answer}");
        answer
    }

    fn does(&self, what: &str, body: &Value) -> Value {
        self.ask("POST", &format!("{}/{what}", self.game), body)
    }

    fn plays(&self, mv: &str) -> Value {
        let state = self.ask("GET", &self.game, &Value::Null);
        self.does("move", &json!({ "move": mv, "stamp": state["stamp"] }))
    }

    /// Two moves, and the attackers think for longer than they have.
    fn lost_on_time() -> Table {
        let table = Table::new();
        table.plays("d6c6");
        table.plays("d5f5");
        table.time.0.store(100, Ordering::Relaxed);
        let state = table.does("flag", &json!({}));
        assert_eq!(state["ending"], json!({ "winner": "defenders", "reason": "time", "plies": null }));
        assert_eq!(state["clock"]["left"], json!([0, 60_000]));
        table
    }
}

#[test]
fn who_takes_a_loss_on_time_back_has_time_again() {
    let table = Table::lost_on_time();
    let state = table.does("undo", &json!({}));
    assert_eq!((&state["ending"], &state["ply"]), (&Value::Null, &json!(2)));
    assert_eq!((&state["clock"]["left"], &state["clock"]["running"]), (&json!([60_000, 60_000]), &Value::Null));
    table.plays("c6c5");
    table.time.0.store(110, Ordering::Relaxed);
    let state = table.plays("f5f6");
    assert_eq!((&state["clock"]["left"], &state["clock"]["running"]), (&json!([60_000, 50_000]), &json!("attackers")));
    // Whoever gives up by hand has not lost on time.
    let state = table.does("resign", &json!({}));
    assert_eq!(state["ending"], json!({ "winner": "defenders", "reason": "resigned", "plies": null }));
}

#[test]
fn who_removes_the_last_move_of_a_loss_on_time_has_time_again() {
    let table = Table::lost_on_time();
    let place = table.ask("GET", &table.game, &Value::Null)["tree"]["place"].clone();
    let state = table.does("remove", &json!({ "place": place }));
    assert_eq!((&state["ending"], &state["clock"]["left"]), (&Value::Null, &json!([60_000, 60_000])));
    let state = table.plays("d5e5");
    assert_eq!(state["clock"]["running"], "attackers");
}

#[test]
fn a_loss_on_time_stays_one_when_it_is_looked_at_and_kept() {
    let table = Table::lost_on_time();
    let state = table.does("go", &json!({ "ply": 0 }));
    assert_eq!((&state["ending"], &state["clock"]["left"]), (&Value::Null, &json!([0, 60_000])));
    table.plays("d6e6");
    let state = table.does("back", &json!({}));
    assert_eq!(state["clock"]["running"], Value::Null, "a variation of a game that is over takes no time");
    let state = table.does("go", &json!({ "ply": state["plies"] }));
    assert_eq!(state["ending"]["reason"], "time");
    let kept = table.ask("GET", &format!("{}/kept", table.game), &Value::Null);
    // On a board that never saw the game.
    let asked = json!({ "kept": { "id": state["id"], "game": kept["game"] } });
    let state = Table::new().ask("POST", "/api/games/open", &asked);
    assert_eq!((&state["ending"]["reason"], &state["clock"]["left"]), (&json!("time"), &json!([0, 60_000])));
}
