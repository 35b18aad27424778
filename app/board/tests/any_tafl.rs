//! Games by any rules: a rules record wherever a ruleset is named, and the same rules wherever the game goes.

mod support;

use serde_json::{Value, json};
use support::{Page, of};

/// Forts, marked goals, a slow king: nothing that a preset has.
const OWN: &str = "dim:15 name:Two_Gates ks:w cor:h1,h15 corp:K cors:K afor:a8,o8 aforh:TK afors:t \
                   spd:-1,-1,-1,-1,-1,-1,-1,3 start:/3t7t3/15/15/15/7T7/t6T6t/7T7/3tTTTKTTTt3/7T7/t6T6t/7T7/15/15/15/\
                   3t7t3/";

/// The first move of the side to move.
fn first_move(state: &Value) -> String {
    let (from, to) = state["moves"].as_object().expect("moves by origin").iter().next().expect("a move");
    format!("{from}{}", to[0].as_str().expect("a square"))
}

#[test]
fn a_record_is_looked_at_played_kept_saved_and_linked() {
    let page = Page::new();
    let found = page.post("/api/rules", &json!({ "rules": OWN })).ok();
    let (rules, record) = (&found["rules"], found["record"].as_str().expect("a record"));
    assert_eq!((&rules["side"], &rules["name"]), (&json!(15), &json!(record)));
    assert_eq!((&rules["corners"], &rules["attacker_forts"]), (&json!(["h1", "h15"]), &json!(["a8", "o8"])));
    assert_eq!((&rules["thrones"], &rules["edge_escape"]), (&json!(["h8"]), &json!(false)));
    assert_eq!((&found["opponent"], &found["known_by"]), (&json!("alphabeta:2"), &json!([])));

    let attackers = json!({ "player": "alphabeta:2", "strength": { "level": 6 } });
    let game = json!({ "rules": record, "attackers": attackers, "defenders": {} });
    let state = page.post("/api/games", &game).ok();
    assert_eq!(state["seats"][0]["strength"], json!({ "level": 6 }));
    let state = page.wait(&state, |state| state["your_turn"] == true);
    let state = page.play(&state, &first_move(&state));
    let state = page.wait(&state, |state| state["ply"] == 3);
    // Hints come from alpha-beta, and what only a network can do is not offered.
    let state = page.does(&state, "hint", &json!({})).ok();
    assert_eq!(state["looking"], true);
    let state = page.wait(&state, |state| !state["hint"].is_null());
    assert_eq!((&state["looking"], &state["can"]["review"]), (&json!(false), &json!(false)));
    page.does(&state, "analysis", &json!({ "on": true })).refused(409, "model");

    let history = |state: &Value| -> Vec<String> {
        let plies = state["history"].as_array().expect("plies").iter();
        plies.map(|ply| ply["text"].as_str().expect("a move").to_owned()).collect()
    };
    let (name, moves) = (state["rules"]["name"].clone(), history(&state));
    let kept = page.get(&of(&state, "kept")).ok();
    let pgn = page.get(&of(&state, "export?format=pgn")).text().to_owned();
    let json_line = page.get(&of(&state, "export?format=jsonl")).text().to_owned();
    let opened = |body: Value| page.post("/api/games/open", &body).ok();
    // As another ruleset stands on the board: a text says its own.
    let text = |text: &str| json!({ "text": { "text": text, "rules": "brandubh" } });
    page.ask("DELETE", &format!("/api/games/{}", state["id"].as_str().expect("an id")), "").ok();
    for other in [
        opened(json!({ "kept": { "id": state["id"], "game": kept["game"] } })),
        opened(json!({ "address": kept["address"] })),
        opened(text(&pgn)),
        opened(text(&json_line)),
    ] {
        assert_eq!((&other["rules"]["name"], history(&other)), (&name, moves.clone()));
    }
    let address = kept["address"].as_str().expect("an address");
    assert!(address.starts_with("dim:15_") && !address.contains(' '), "{address}");
}

#[test]
fn what_is_wrong_with_rules_is_said_once_with_the_option() {
    let page = Page::new();
    let refused = |body: Value, words: &str| page.post("/api/rules", &body).refused(400, words);
    refused(
        json!({ "rules": OWN.replace("ks:w", "kj:r") }),
        "the rules record, kj: found r; expected n, because jumps",
    );
    refused(json!({ "rules": OWN.replace("dim:15", "dim:23") }), "dim: found 23; expected the squares along one edge");
    refused(json!({ "rules": OWN.replace("h1,h15", "h1,h16") }), "cor: found h16; expected squares from a1 to o15");
    refused(json!({ "rules": "brandub" }), "did you mean brandubh?");
    refused(json!({ "rules": "brandubh", "side": 21 }), "board size 21");
    refused(json!({ "rules": "brandubh", "start": "7/7/7/7/7/7/7 a" }), "no king");
    refused(json!({ "rules": "brandubh", "start": "k6/7/7/3a3/7/7/7 a" }), "the king stands on a goal");
    let game = |rules: &str| json!({ "rules": rules, "attackers": {}, "defenders": {} });
    page.post("/api/games", &game("dim:9 start:/9/")).refused(400, "the rules record, start: found ");
}

#[test]
fn a_drawn_start_and_another_board_make_rules() {
    let page = Page::new();
    for side in 5..=19 {
        let found = page.post("/api/rules", &json!({ "rules": "brandubh", "side": side })).ok();
        assert_eq!(found["rules"]["side"], side);
        let start = found["rules"]["start"].as_str().expect("letters");
        assert_eq!((start.len(), start.matches('k').count()), (side * side, 1));
        // What is made can be played.
        let game = json!({ "rules": found["record"], "attackers": {}, "defenders": {} });
        let state = page.post("/api/games", &game).ok();
        assert_eq!(state["board"], found["rules"]["start"], "{side}");
        page.play(&state, &first_move(&state));
        page.ask("DELETE", &format!("/api/games/{}", state["id"].as_str().expect("an id")), "").ok();
    }
    let drawn =
        page.post("/api/rules", &json!({ "rules": "tablut", "start": "4a4/9/9/4d4/a2dkd2a/4d4/9/9/4a4 d" })).ok();
    assert_eq!((&drawn["rules"]["first"], &drawn["rules"]["edge_escape"]), (&json!("defenders"), &json!(true)));
    assert!(drawn["record"].as_str().expect("a record").contains("atkf:n"), "{drawn}");
    // A network of the board plays by rules like those it knows, as it gives hints.
    assert_eq!(drawn["opponent"], "model:shipped/copenhagen");
}
