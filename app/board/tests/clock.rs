//! What becomes of a game whose loser had no time left, by a clock that the tests set.

mod support;

use serde_json::{Value, json};
use support::{Page, of};

/// A game of two people with clocks.
fn timed(page: &Page, seconds: u32, increment: u32) -> Value {
    let clock = json!({ "seconds": seconds, "increment": increment });
    page.post("/api/games", &json!({ "rules": "brandubh", "attackers": {}, "defenders": {}, "clock": clock })).ok()
}

/// A game of two people with a minute each.
struct Table {
    page: Page,
    game: Value,
}

impl Table {
    fn does(&self, what: &str, body: &Value) -> Value {
        self.page.does(&self.game, what, body).ok()
    }

    fn plays(&self, mv: &str) -> Value {
        self.page.play(&self.page.now(&self.game), mv)
    }

    /// Two moves, and the attackers think for longer than they have.
    fn lost_on_time() -> Table {
        let page = Page::new();
        let table = Table { game: timed(&page, 60, 0), page };
        table.plays("d6c6");
        table.plays("d5f5");
        table.page.pass(100_000);
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
    table.page.pass(10_000);
    let state = table.plays("f5f6");
    assert_eq!((&state["clock"]["left"], &state["clock"]["running"]), (&json!([60_000, 50_000]), &json!("attackers")));
    // A side that gives up by hand has not lost on time.
    let state = table.does("resign", &json!({}));
    assert_eq!(state["ending"], json!({ "winner": "defenders", "reason": "resigned", "plies": null }));
}

#[test]
fn who_removes_the_last_move_of_a_loss_on_time_has_time_again() {
    let table = Table::lost_on_time();
    let place = table.page.now(&table.game)["tree"]["place"].clone();
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
    let kept = table.page.get(&of(&table.game, "kept")).ok();
    // On a board that never saw the game.
    let asked = json!({ "kept": { "id": state["id"], "game": kept["game"] } });
    let state = Page::new().post("/api/games/open", &asked).ok();
    assert_eq!((&state["ending"]["reason"], &state["clock"]["left"]), (&json!("time"), &json!([0, 60_000])));
}

#[test]
fn a_clock_runs_and_ends_the_game() {
    let page = Page::new();
    let state = timed(&page, 1, 1);
    assert_eq!(state["clock"], json!({ "seconds": 1, "increment": 1, "left": [1000, 1000], "running": null }));
    page.does(&state, "flag", &json!({})).refused(409, "there is time left");
    let state = page.play(&state, "d6c6");
    assert_eq!((&state["clock"]["running"], &state["clock"]["left"][0]), (&json!("defenders"), &json!(1000)));
    page.does(&state, "undo", &json!({})).refused(409, "while the clock runs");
    page.does(&state, "go", &json!({ "ply": 0 })).refused(409, "while the clock runs");
    page.pass(500);
    let state = page.play(&state, "d5f5");
    assert_eq!(state["clock"]["left"][1], 1500, "what was left and the increment");
    page.pass(2000);
    page.does(&state, "move", &json!({ "move": "c6c5", "stamp": state["stamp"] })).refused(400, "time is over");
    let state = page.does(&state, "flag", &json!({})).ok();
    assert_eq!(state["ending"], json!({ "winner": "defenders", "reason": "time", "plies": null }));
    assert_eq!((&state["clock"]["left"][0], &state["clock"]["running"]), (&json!(0), &Value::Null));
    let pgn = page.get(&of(&state, "export?format=pgn")).text().to_owned();
    assert!(pgn.contains("0-1") || pgn.contains("defenders"), "{pgn}");
    // Once it is over one looks back, and another game has its time again.
    let state = page.does(&state, "go", &json!({ "ply": 0 })).ok();
    let state = page.does(&state, "again", &json!({ "swap": false })).ok();
    assert_eq!((&state["clock"]["left"], &state["ending"]), (&json!([1000, 1000]), &Value::Null));
    let clock = json!({ "seconds": 0 });
    let game = json!({ "rules": "brandubh", "attackers": {}, "defenders": {}, "clock": clock });
    page.post("/api/games", &game).refused(400, "a clock of 0 s");
}
