//! Games as trees by requests.

mod support;

use serde_json::{Value, json};
use support::{Page, game, of};

/// The texts of the moves, each with the place it follows.
fn moves(state: &Value) -> Vec<String> {
    let text = |mv: &Value| format!("{}>{} {}", mv[1], mv[0], mv[2].as_str().expect("a text"));
    state["tree"]["moves"].as_array().expect("moves").iter().map(text).collect()
}

fn export(page: &Page, state: &Value) -> String {
    page.get(&of(state, "export?format=pgn")).text().to_owned()
}

const TREE: &str = "1. d6-c6 {why?} d5-e5 (1... d5-f5 2. c6-c5) 2. c6-c5 *";

#[test]
fn variations_are_made_gone_to_promoted_and_removed() {
    let page = Page::new();
    let state = page.paste(TREE);
    assert_eq!(moves(&state), ["0>1 d6-c6", "1>2 d5-e5", "2>3 c6-c5", "1>4 d5-f5", "4>5 c6-c5"]);
    assert_eq!(state["tree"]["comments"], json!({ "1": "why?" }));
    let go = |place: u32| page.does(&state, "go", &json!({ "place": place }));
    let there = go(5).ok();
    assert_eq!(
        (&there["ply"], &there["tree"]["line"], &there["departed"]),
        (&json!(3), &json!([1, 4, 5]), &json!(true))
    );
    let back = page.does(&state, "go", &json!({ "ply": 1 })).ok();
    assert_eq!((&back["plies"], &back["tree"]["place"], &back["departed"]), (&json!(3), &json!(1), &json!(false)));
    let another = page.play(&back, "d3e3");
    assert_eq!(moves(&another)[5..], ["1>6 d3-e3"]);
    let promoted = page.does(&state, "promote", &json!({ "place": 6 })).ok();
    assert_eq!(moves(&promoted)[1..3], ["1>6 d3-e3", "1>2 d5-e5"]);
    let commented = page.does(&state, "comment", &json!({ "place": 0, "text": "The {start}" })).ok();
    assert_eq!(commented["tree"]["comments"]["0"], "The (start)");
    assert_eq!(commented["stamp"], promoted["stamp"], "no search begins anew");
    page.does(&state, "promote", &json!({ "place": 5, "main": true })).ok();
    let removed = page.does(&state, "remove", &json!({ "place": 2 })).ok();
    assert_eq!(moves(&removed), ["0>1 d6-c6", "1>4 d5-f5", "4>5 c6-c5", "1>6 d3-e3"]);
    assert!(removed["tree"]["stamp"].as_u64() > promoted["tree"]["stamp"].as_u64());
    let text = export(&page, &state);
    assert!(text.contains("{The (start)} 1. d6-c6 {why?} 1... d5-f5 (1... d3-e3) 2. c6-c5 *"), "{text}");
    assert_eq!(moves(&page.paste(&text)).len(), 4, "read again");
    go(2).refused(400, "no move 2");
    page.does(&state, "remove", &json!({ "place": 0 })).refused(400, "the start is no move");
    page.does(&state, "promote", &json!({ "place": 4, "up": 1 })).refused(400, "up");
    page.does(&state, "go", &json!({ "ply": 1, "place": 4 })).refused(400, "the request");
    page.does(&state, "comment", &json!({ "place": 4, "text": "x".repeat(5000) })).refused(400, "at most 4000");
    let broken = json!({ "text": { "text": "d6-c6\n(d6-b6", "rules": "brandubh" } });
    page.post("/api/games/open", &broken).refused(400, "line 2: the variation that begins here has no end");
}

#[test]
fn a_game_that_goes_on_keeps_what_was_taken_back() {
    let page = Page::new();
    let seat = json!({ "player": "random" });
    let state = page.post("/api/games", &json!({ "rules": "brandubh", "attackers": {}, "defenders": seat })).ok();
    page.play(&state, "d6c6");
    page.wait(&state, |state| state["ply"] == 2);
    let state = page.does(&state, "undo", &json!({})).ok();
    page.play(&state, "d6b6");
    let state = page.wait(&state, |state| state["ply"] == 2);
    let found = moves(&state);
    assert!(found[0].ends_with("d6-b6") && found[2].ends_with("d6-c6"), "what is played is the main line: {found:?}");
    assert_eq!((found.len(), &state["departed"]), (4, &json!(false)));
    // The player answers where the game goes on, and not where somebody only looks.
    let looked = page.does(&state, "go", &json!({ "place": 1 })).ok();
    assert_eq!((&looked["thinking"], &looked["departed"]), (&json!(false), &json!(true)));
}

#[test]
fn trees_are_bounded_and_a_long_game_takes_few_letters() {
    let page = Page::new();
    // Two men walk to and fro, where nothing ends the game.
    let round = ["d7c7", "d5c5", "c7d7", "c5d5"];
    let long: Vec<&str> = (0..1000).map(|ply| round[ply % 4]).collect();
    let rules = "brandubh/repetition=ignore/no_capture_draw_plies=0";
    let long_game = json!({ "address": format!("{rules}/moves={}", long.join("_")) });
    let state = page.post("/api/games/open", &long_game).ok();
    assert_eq!(state["plies"], 1000);
    let told = page.get(&game(&state)).text().len();
    assert!(told < 160 << 10, "{told} bytes");
    let tree = state["tree"].to_string().len();
    assert!(tree < 32 << 10, "{tree} bytes of the tree");
    let more = |state: &Value, mv: &str| page.does(state, "move", &json!({ "move": mv, "stamp": state["stamp"] }));
    more(&state, "d7c7").refused(400, "1000 plies");
    let reopened = |state: &Value, most: usize| {
        let kept = page.get(&of(state, "kept")).ok()["game"].take();
        assert!(kept.to_string().len() < most, "{} bytes kept", kept.to_string().len());
        page.post("/api/games/open", &json!({ "kept": { "id": "c".repeat(32), "game": kept } })).ok();
        page.get(&format!("/api/games/{}", "c".repeat(32))).ok();
        page.ask("DELETE", &format!("/api/games/{}", "c".repeat(32)), "").ok();
    };
    reopened(&state, 32 << 10);

    // As many variations as there may be, and one more.
    let others = "(d7b7) (d7e7) (d7f7) (d6c6) (d6b6) (d6a6) (d6e6) (d6f6) (d6g6) (b4b3) (b4b2) (b4b5)";
    let tags = export(&page, &state).split("\n\n").next().expect("tags").to_owned();
    let rounds = vec![format!("d7c7 {others} d5c5 c7d7 c5d5"); 250].join("\n");
    let open = |moves: &str| {
        let text = json!({ "text": { "text": format!("{tags}\n\n{moves}"), "rules": "brandubh" } });
        page.post("/api/games/open", &text)
    };
    let state = open(&rounds).ok();
    assert_eq!(state["tree"]["moves"].as_array().map(Vec::len), Some(4000));
    more(&state, "b4b6").refused(400, "4000 moves with their variations");
    assert_eq!(more(&state, "d6g6").ok()["plies"], 1, "what is there can be gone into");
    open(&rounds.replacen("(b4b5)", "(b4b5) (b4b6)", 1)).refused(400, "4001 moves with its variations");
    reopened(&state, 128 << 10);
}
