//! Reviews by requests.

mod support;

use serde_json::{Value, json};
use support::Page;

/// A game in which the attackers let the king out: after `d6-c6` he goes to the corner by way of the open side.
const GAME: &str = "d2-c2 d3-g3 a4-a5 d4-d3 c2-c1 d3-f3 a5-a4 f3-f1 b4-b5 f1-g1";

#[test]
fn a_game_is_reviewed_by_requests() {
    let page = Page::new();
    let state = page.paste(GAME);
    assert_eq!((&state["can"]["review"], &state["review"]), (&json!(true), &Value::Null), "{state}");
    page.does(&state, "try", &json!({ "ply": 0, "move": "d6e6" })).refused(409, "not reviewed");
    page.does(&state, "review", &json!({ "on": true, "who": "me" })).refused(400, "unknown field");
    let state = page.does(&state, "review", &json!({ "on": true })).ok();
    assert_eq!(state["review"]["total"], 11);
    assert!(!page.work(), "nobody looks on, so nothing is searched");
    let state = page.listen(&state, |event, data| event.name == "state" && data["review"]["done"] == 11);
    let review = &state["review"];
    assert_eq!(review["moves"].as_array().map(Vec::len), Some(10));
    let verdicts: Vec<&str> =
        review["plies"].as_array().expect("plies").iter().filter_map(|ply| ply["verdict"].as_str()).collect();
    assert_eq!(verdicts.len(), 10, "{review}");
    assert_eq!(verdicts[9], "best", "the king goes to the corner");
    assert!(verdicts.contains(&"blunder"), "{verdicts:?}");
    assert_eq!(review["chances"][10], json!({ "attackers": 0.0, "draw": 0.0, "defenders": 1.0 }));
    let accuracy = |side: usize| review["sides"][side]["accuracy"].as_f64().expect("percent");
    assert!(accuracy(0) < accuracy(1), "the losers played worse: {review}");
    // After the last move nothing was played that another one could take the place of.
    let state = page.paste("d6-c6");
    let state = page.does(&state, "review", &json!({ "on": true })).ok();
    let state = page.listen(&state, |event, data| event.name == "state" && data["review"]["done"] == 2);
    page.does(&state, "try", &json!({ "ply": 1, "move": "d5e5" })).refused(400, "ply 1 is not reviewed");
    // A person whose game is under way learns nothing of it.
    let seat = json!({ "player": "random" });
    let game = json!({ "rules": "brandubh", "attackers": {}, "defenders": seat });
    let state = page.post("/api/games", &game).ok();
    page.does(&state, "review", &json!({ "on": true })).refused(409, "when it is over");
    // How it ended is told wherever the board stands, and nobody gives up twice.
    let mv = json!({ "move": "d6c6", "stamp": state["stamp"] });
    page.does(&state, "move", &mv).ok();
    page.does(&state, "resign", &json!({})).ok();
    let state = page.does(&state, "go", &json!({ "ply": 0 })).ok();
    assert_eq!((&state["ending"], &state["result"]["winner"]), (&Value::Null, &json!("defenders")), "{state}");
    assert_eq!((&state["can"]["resign"], &state["can"]["review"]), (&json!(false), &json!(true)), "{state}");
    page.does(&state, "resign", &json!({})).refused(409, "nobody can resign here");
}

#[test]
fn a_review_keeps_the_judge_that_it_began_with() {
    let review = |other: Option<&str>| {
        let page = Page::new();
        let state = page.paste("d2-c2 d5-e5 d6-c6 e5-e6");
        let state = page.does(&state, "review", &json!({ "on": true })).ok();
        if let Some(other) = other {
            page.listen(&state, |event, data| event.name == "state" && data["review"]["done"].as_u64() >= Some(1));
            page.does(&state, "analysis", &json!({ "on": false, "player": other })).ok();
        }
        page.listen(&state, |event, data| event.name == "state" && data["review"]["done"] == 5)["review"].take()
    };
    let expected = review(None);
    for other in ["model:shipped/copenhagen", "random"] {
        assert_eq!(review(Some(other)), expected, "{other}");
    }
}
