//! Games by requests, and what is refused.

mod support;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use hnefi_board::{Offer, PlayerError, Players, Request};
use hnefi_inference::Evaluator;
use serde_json::{Value, json};
use support::{Page, Shipped, game, of};

/// The shipped networks as from far away: what is asked of them waits until a visitor has been and gone.
struct Far {
    visitors: Sender<SyncSender<()>>,
    waits: AtomicBool,
}

impl Far {
    fn wait(&self) {
        // The visitor asks, too.
        if !self.waits.swap(true, Ordering::Relaxed) {
            let (gone, left) = sync_channel(1);
            self.visitors.send(gone).expect("a visitor");
            left.recv_timeout(Duration::from_secs(20)).expect("the visitor waits for whoever asked for networks");
            self.waits.store(false, Ordering::Relaxed);
        }
    }
}

impl Players for Far {
    fn networks(&self) -> Vec<Offer> {
        self.wait();
        Shipped.networks()
    }

    fn name(&self, key: &str) -> Result<String, PlayerError> {
        self.wait();
        Shipped.name(key)
    }

    fn resolve(&self, key: &str) -> Result<String, PlayerError> {
        self.wait();
        Shipped.resolve(key)
    }

    fn evaluator(&self, key: &str) -> Result<Option<Box<dyn Evaluator>>, PlayerError> {
        self.wait();
        Shipped.evaluator(key)
    }

    fn identities(&self) -> HashMap<String, String> {
        self.wait();
        Shipped.identities()
    }
}

fn ply(state: &Value) -> u64 {
    state["ply"].as_u64().expect("a ply")
}

/// Plays the move that `pick` chooses among the legal ones.
fn play(page: &Page, state: &Value, pick: usize) -> Value {
    let targets = |(from, targets): (&String, &Value)| -> Vec<String> {
        let targets = targets.as_array().expect("targets").iter();
        targets.map(|to| format!("{from}{}", to.as_str().expect("a square"))).collect()
    };
    let moves: Vec<String> = state["moves"].as_object().expect("moves by origin").iter().flat_map(targets).collect();
    page.play(state, &moves[pick % moves.len()])
}

#[test]
fn the_opponent_of_each_ruleset_is_the_one_chosen_everywhere() {
    let page = Page::new();
    let opponents = page.get("/api/setup").ok()["opponents"].clone();
    let names: Vec<&str> = hnefi_engine::Preset::ALL.iter().map(|preset| preset.name()).collect();
    let published: Vec<_> = hnefi_engine::NamedRules::published().collect();
    assert_eq!(opponents.as_object().expect("a table").len(), published.len());
    assert_eq!(opponents["tablut-15x15"], "alphabeta:2", "no network is trained for it");
    for name in names {
        let preset = hnefi_engine::Preset::from_name(name).expect("a ruleset");
        let expected = match hnefi_inference::pretrained_for(preset) {
            Ok(network) => format!("model:shipped/{network}"),
            Err(_) => "alphabeta:2".to_owned(),
        };
        assert_eq!(opponents[name], expected, "{name}");
    }
    assert_eq!(
        (&opponents["fetlar"], &opponents["tablut"]),
        (&json!("model:shipped/copenhagen"), &json!("model:shipped/copenhagen"))
    );
}

#[test]
fn a_whole_game_by_requests() {
    let page = Page::new();
    let mut state = page.two_people("brandubh");
    assert_eq!(state["rules"]["side"], 7);
    let mut number = 12_345_usize;
    while state["ending"].is_null() {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state = play(&page, &state, number >> 33);
        assert!(ply(&state) < 900, "random games of Brandubh end");
    }
    let reason = state["ending"]["reason"].as_str().expect("a reason");
    assert!(reason.starts_with("king_") || state["ending"]["winner"].is_null() || reason == "no_moves", "{reason}");
    assert!(state["moves"].as_object().expect("moves").is_empty());
    let end = ply(&state);
    page.does(&state, "move", &json!({ "move": "a1a2", "stamp": state["stamp"] })).refused(400, "over");

    let state = page.does(&state, "undo", &json!({})).ok();
    assert_eq!((ply(&state), state["plies"].as_u64()), (end - 1, Some(end)));
    let state = page.does(&state, "redo", &json!({})).ok();
    assert_eq!(ply(&state), end);
    page.does(&state, "redo", &json!({})).refused(409, "nothing to play again");
    let state = page.does(&state, "go", &json!({ "ply": 0 })).ok();
    assert_eq!((ply(&state), &state["board"]), (0, &state["rules"]["start"]));
    page.does(&state, "undo", &json!({})).refused(409, "nothing to take back");
    page.does(&state, "go", &json!({ "ply": end + 1 })).refused(400, "the game has");
    let pgn = page.get(&of(&state, "export?format=pgn"));
    assert!(pgn.text().contains("[Rules \"brandubh\"]"), "{}", pgn.text());
    assert_eq!(pgn.0.file_name, Some("game.pgn"));
    page.get(&of(&state, "export?format=exe")).refused(400, "");
}

#[test]
fn a_game_against_a_player_that_answers() {
    let page = Page::new();
    for opponent in ["random", "alphabeta:1", "model:shipped/brandubh"] {
        let seat = json!({ "player": opponent, "strength": { "playouts": 8 } });
        let state = page.post("/api/games", &json!({ "rules": "brandubh", "attackers": seat, "defenders": {} })).ok();
        let state = page.wait(&state, |state| state["your_turn"] == true);
        assert_eq!(ply(&state), 1, "{opponent} moved first");
        let state = play(&page, &state, 3);
        page.does(&state, "move", &json!({ "move": "a1a2", "stamp": state["stamp"] })).refused(409, "turn of");
        let state = page.wait(&state, |state| ply(state) == 3);
        let state = page.does(&state, "undo", &json!({})).ok();
        assert_eq!(ply(&state), 1, "back to the person's decision");
        let state = page.does(&state, "redo", &json!({})).ok();
        assert_eq!(ply(&state), 3);
        let state = page.does(&state, "hint", &json!({})).ok();
        let state = if state["hint"].is_null() { page.wait(&state, |state| !state["hint"].is_null()) } else { state };
        let hint = &state["hint"];
        let targets = state["moves"][hint["from"].as_str().expect("a square")].as_array().expect("targets");
        assert!(targets.contains(&hint["to"]), "{hint} is legal");
        let state = page.does(&state, "resign", &json!({})).ok();
        assert_eq!(state["ending"], json!({ "winner": "attackers", "reason": "resigned", "plies": null }));
        let again = page.does(&state, "again", &json!({ "swap": true })).ok();
        assert_eq!((ply(&again), again["your_turn"].as_bool()), (0, Some(true)));
        assert_ne!(again["id"], state["id"]);
        assert_eq!(page.now(&state)["ending"], state["ending"], "the game before stays what it was");
    }
}

#[test]
fn analysis_goes_on_while_somebody_looks_on() {
    let page = Page::new();
    let text = json!({ "text": { "text": "d6-c6 d5-e5", "rules": "brandubh" } });
    let state = page.post("/api/games/open", &text).ok();
    assert_eq!((ply(&state), state["plies"].as_u64()), (0, Some(2)));
    let state = page.does(&state, "analysis", &json!({ "on": true })).ok();
    let report = page.listen(&state, |event, data| event.name == "search" && data["kind"] == "analysis");
    assert_eq!(report["occupancy"].as_array().map(Vec::len), Some(49));
    assert!(!report["moves"].as_array().expect("moves").is_empty());
    let state = page.does(&state, "go", &json!({ "ply": 1 })).ok();
    let state = play(&page, &state, 0);
    assert_eq!(state["departed"], state["history"][1]["text"] != "d5-e5");
    assert_eq!(state["tree"]["moves"].as_array().map(Vec::len), Some(2 + usize::from(state["departed"] == true)));
    let state = page.does(&state, "back", &json!({})).ok();
    assert_eq!((state["plies"].as_u64(), &state["departed"]), (Some(2), &json!(false)));
    page.does(&state, "analysis", &json!({ "on": true, "player": "random" })).refused(409, "only a model");
    assert_eq!(page.now(&state)["adviser"], state["adviser"], "what is refused changes nothing");
    page.does(&state, "analysis", &json!({ "on": true, "player": "model:/etc" })).refused(400, "no model");
}

#[test]
fn nobody_waits_for_networks_that_another_has_asked_for() {
    let (visitors, arrivals) = channel::<SyncSender<()>>();
    let page = Page::with(Arc::new(Far { visitors, waits: AtomicBool::new(false) }));
    let board = Arc::downgrade(&page.board);
    std::thread::spawn(move || {
        for gone in arrivals {
            let Some(board) = board.upgrade() else { return };
            let ask = |method, path: &str, body: &str| {
                board.handle(&Request { method, path, query: "", body: body.as_bytes() })
            };
            // Whoever opens a game looks into all the others.
            let opened = ask("POST", "/api/games/open", r#"{ "address": "brandubh/moves=d6c6" }"#);
            let state: Value = serde_json::from_slice(&opened.body).expect("JSON");
            ask("DELETE", &game(&state), "");
            let _ = gone.send(());
        }
    });
    let seat = json!({ "player": "model:shipped/brandubh", "strength": { "playouts": 8 } });
    let state = page.post("/api/games", &json!({ "rules": "brandubh", "attackers": seat, "defenders": {} })).ok();
    page.wait(&state, |state| ply(state) == 1);
    let kept = page.get(&of(&state, "kept")).ok();
    page.post("/api/games/open", &json!({ "kept": { "id": "f".repeat(32), "game": kept["game"] } })).ok();
    let state = page.paste("d6-c6 d5-e5");
    page.does(&state, "analysis", &json!({ "on": true, "player": "model:shipped/brandubh" })).ok();
}

#[test]
fn a_game_is_kept_for_a_while_after_somebody_has_looked_on() {
    let page = Page::new();
    let state = page.two_people("brandubh");
    let others_come = || page.two_people("tablut");
    let listener = page.board.listen(state["id"].as_str().expect("an id")).expect("a place");
    page.pass(3 * 60 * 60 * 1_000);
    others_come();
    drop(listener);
    others_come();
    page.now(&state);
    page.pass(3 * 60 * 60 * 1_000);
    others_come();
    page.get(&game(&state)).refused(404, "not open here");
}

#[test]
fn what_makes_no_sense_is_refused_in_words() {
    let page = Page::new();
    let state = page.two_people("tablut");
    let moves = of(&state, "move");
    page.post(&moves, &json!({ "move": "z9a1", "stamp": state["stamp"] })).refused(400, "z9");
    page.post(&moves, &json!({ "move": "e5e6", "stamp": state["stamp"] })).refused(400, "illegal move e5e6");
    page.post(&moves, &json!({ "move": "e2f2", "stamp": 99 })).refused(409, "changed");
    page.post(&moves, &json!({ "move": "e2f2", "stamp": 0, "force": true })).refused(400, "force");
    page.ask("POST", &moves, "{").refused(400, "the request");
    page.ask("POST", &moves, &"[".repeat(10_000)).refused(400, "the request");
    page.ask("POST", &moves, "\u{0}\u{1}").refused(400, "the request");
    page.get(&moves).refused(405, "method");
    page.get("/api/games/nobody").refused(404, "not open here");
    page.get("/nowhere").refused(404, "no such page");
    let new = |fen: &str, rules: &str| json!({ "rules": rules, "attackers": {}, "defenders": {}, "fen": fen });
    for (fen, words) in [
        ("", "empty"),
        ("7/7/7/7/7/7/7 a", "no king"),
        ("kk5/7/7/7/7/7/7 a", "kings"),
        ("3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 x", "side to move"),
        ("99999999999999999999999/7/7/7/7/7/7 a", "wide"),
        ("a6/7/7/3k3/7/7/7 a", "corner"),
        ("💥/7/7/7/7/7/7 a", "unknown letter"),
    ] {
        page.post("/api/games", &new(fen, "brandubh")).refused(400, words);
    }
    page.post("/api/games", &new("x", "chess")).refused(400, "unknown ruleset");
    let strong = json!({ "player": "model:shipped/brandubh", "strength": { "playouts": 4_000_000 } });
    page.post("/api/games", &json!({ "rules": "brandubh", "attackers": strong, "defenders": {} }))
        .refused(400, "20000");
    let text = |text: &str| json!({ "text": { "text": text, "rules": "brandubh" } });
    page.post("/api/games/open", &text("e4 e5")).refused(400, "ply 1");
    page.post("/api/games/open", &text("[Rules \"brandubh\"]\n[PlyCap \"99999999\"]\n")).refused(400, "PlyCap");
}

#[test]
fn a_hint_is_for_the_position_that_it_was_asked_in() {
    let page = Page::new();
    let state = page.two_people("brandubh");
    assert_eq!(page.does(&state, "hint", &json!({})).ok()["looking"], true);
    let state = page.play(&state, "d6c6");
    assert_eq!(state["looking"], false, "the other side has asked for nothing");
    while page.work() {}
    assert_eq!(page.now(&state)["hint"], Value::Null);
}

#[test]
fn people_without_names_have_none_when_their_game_is_opened_again() {
    let page = Page::new();
    let state = page.play(&page.two_people("brandubh"), "d6c6");
    let answer = page.get(&of(&state, "export?format=pgn"));
    let text = answer.text();
    let state = page.post("/api/games/open", &json!({ "text": { "text": text, "rules": "brandubh" } })).ok();
    assert_eq!([&state["seats"][0]["name"], &state["seats"][1]["name"]], [&Value::Null; 2], "{text}");
}
