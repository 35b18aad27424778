//! Permanent addresses, and games that are opened again on another board.

mod support;

use serde_json::{Value, json};
use support::{Page, game, of};

const TREE: &str = "1. d6-c6 {why?} d5-e5 (1... d5-f5 2. c6-c5) 2. c6-c5 *";

#[test]
fn addresses_lead_to_games() {
    let page = Page::new();
    let open = |at: &str| page.post("/api/games/open", &json!({ "address": at }));
    let state = open("brandubh/moves=d6c6_d5e5_c6c5").ok();
    assert_eq!((&state["ply"], &state["rules"]["name"]), (&json!(3), &json!("brandubh")));
    page.does(&state, "go", &json!({ "ply": 1 })).ok();
    let link = page.get(&of(&state, "address")).ok()["address"].as_str().expect("an address").to_owned();
    assert_eq!(link, "brandubh/moves=d6c6_d5e5_c6c5/ply=1");
    assert_eq!(open(&link).ok()["board"], page.get(&game(&state)).ok()["board"]);
    open("chess/moves=e2e4").refused(400, "unknown ruleset");
    open("brandubh/moves=e2e4").refused(400, "the address: ply 1");
    page.does(&state, "address", &json!({})).refused(405, "method");
}

#[test]
fn a_game_is_opened_again_as_it_was_left_on_another_board() {
    let (first, second) = (Page::new(), Page::new());
    let mut count = 0;
    let mut again = |state: &Value, kept: &Value| {
        count += 1;
        let id = format!("{count:032x}");
        let found = second.post("/api/games/open", &json!({ "kept": { "id": id, "game": kept["game"] } })).ok();
        assert_eq!(found["id"], id, "its links lead to it again");
        for part in ["rules", "board", "ply", "plies", "seats", "source", "departed", "history", "number", "ending"] {
            assert_eq!(found[part], state[part], "{part}");
        }
        for part in ["moves", "comments", "first"] {
            assert_eq!(found["tree"][part], state["tree"][part], "{part}");
        }
        found
    };
    // A game that is looked at, off its main line.
    let state = first.paste(&format!("[Rules \"brandubh\"]\n[Attackers \"Anna\"]\n\n{}", TREE.replace('*', "1-0")));
    let state = first.does(&state, "go", &json!({ "place": 4 })).ok();
    assert_eq!((&state["departed"], &state["seats"][0]["name"]), (&json!(true), &json!("Anna")));
    let kept = first.get(&of(&state, "kept")).ok();
    let found = again(&state, &kept);
    assert!(second.get(&of(&found, "export?format=pgn")).text().contains("[Result \"1-0\"]"), "how it ended is known");
    // One against a player, that goes on, and its end.
    let seat = json!({ "player": "model:shipped/brandubh", "strength": { "level": 1 } });
    let state = first.post("/api/games", &json!({ "rules": "brandubh", "attackers": {}, "defenders": seat })).ok();
    first.play(&state, "d6c6");
    let state = first.wait(&state, |state| state["ply"] == 2);
    let found = again(&state, &first.get(&of(&state, "kept")).ok());
    assert_eq!((&found["views"][1], &found["your_turn"]), (&state["views"][1], &json!(true)));
    let target = |state: &Value| {
        let (from, to) = state["moves"].as_object().expect("moves").iter().next().expect("a move");
        format!("{from}{}", to[0].as_str().expect("a square"))
    };
    second.play(&found, &target(&found));
    second.wait(&found, |state| state["ply"] == 4);
    let state = first.does(&state, "resign", &json!({})).ok();
    again(&state, &first.get(&of(&state, "kept")).ok());
    // Clocks go on, and nobody takes back by deleting while they run.
    let timed = json!({ "rules": "brandubh", "attackers": {}, "defenders": {}, "clock": { "seconds": 60 } });
    let timed = first.play(&first.post("/api/games", &timed).ok(), "d6c6");
    first.does(&timed, "remove", &json!({ "place": 1 })).refused(409, "while the clock runs");
    first.pass(5_000);
    let found = again(&timed, &first.get(&of(&timed, "kept")).ok());
    assert_eq!((&found["clock"]["running"], &found["clock"]["left"]), (&json!("defenders"), &json!([60_000, 55_000])));
    // A player that is here no more leaves its side to a person.
    let mut kept = first.get(&of(&state, "kept")).ok()["game"].take();
    kept["defenders"]["player"] = json!("model:run/7");
    let open = |id: &str, kept: &Value| second.post("/api/games/open", &json!({ "kept": { "id": id, "game": kept } }));
    let found = open(&"a".repeat(32), &kept).ok();
    assert_eq!(found["seats"][1]["person"], true);
    let problem = &found["problem"];
    assert!(problem["error"].as_str().is_some_and(|words| words.contains("run/7")), "{problem}");
    open(&"a".repeat(32), &json!({})).refused(400, "the request");
    assert_eq!(open(&"a".repeat(32), &kept).ok()["opened"], found["opened"], "a later visitor finds the same game");
    open("../../setup", &kept).refused(400, "32 letters of 0-9a-f");
    // What was tampered with is refused in words.
    for (part, value, words) in [
        ("pgn", json!("[Rules \"brandubh\"]\n\n(d6c6"), "the kept game cannot be opened: line 3"),
        ("place", json!([9, 99]), "the kept game cannot be opened: place 99"),
        ("players", json!(["x".repeat(500), null]), "a kept name of 500 bytes"),
        ("views", json!(vec![[0, 0, 0]; 90]), "90 views"),
        ("seat", json!(1), "seat"),
    ] {
        let mut kept = kept.clone();
        kept[part] = value;
        open(&"b".repeat(32), &kept).refused(400, words);
    }
}

#[test]
fn a_position_that_is_decided_as_it_stands_is_kept_and_saved() {
    let (first, second) = (Page::new(), Page::new());
    let state = first.paste("k6/3a3/3d3/aad1daa/3d3/3a3/3a3 a");
    assert_eq!(state["ending"]["winner"], "defenders");
    let kept = first.get(&of(&state, "kept")).ok();
    let found = second.post("/api/games/open", &json!({ "kept": { "id": "e".repeat(32), "game": kept["game"] } })).ok();
    let pgn = first.get(&of(&state, "export?format=pgn")).text().to_owned();
    for other in [found, second.paste(&pgn)] {
        for part in ["board", "ending", "plies", "source"] {
            assert_eq!(other[part], state[part], "{part}");
        }
    }
}
