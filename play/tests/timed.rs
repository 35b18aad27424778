//! Games with clocks, moves chosen in advance, and arrows that people draw.
//!
//! Needs `chromium` and `chromedriver` for the page; without them its test says so and passes.

mod driver;
mod http;

use std::time::Duration;

use hnefi_play::web::WebConfig;
use serde_json::{Value, json};

use driver::Browser;
use http::{get, of, post, serve};

fn timed(address: std::net::SocketAddr, seconds: u32, increment: u32) -> Value {
    let clock = json!({ "seconds": seconds, "increment": increment });
    let game = json!({ "rules": "brandubh", "attackers": {}, "defenders": {}, "clock": clock });
    post(address, "/api/games", &game).ok()
}

fn play(address: std::net::SocketAddr, state: &Value, mv: &str) -> Value {
    post(address, &of(state, "move"), &json!({ "move": mv, "stamp": state["stamp"] })).ok()
}

#[test]
fn a_clock_runs_and_ends_the_game() {
    let address = serve(WebConfig::default());
    let state = timed(address, 1, 1);
    assert_eq!(state["clock"], json!({ "seconds": 1, "increment": 1, "left": [1000, 1000], "running": null }));
    post(address, &of(&state, "flag"), &json!({})).refused(409, "there is time left");
    let state = play(address, &state, "d6c6");
    assert_eq!((&state["clock"]["running"], &state["clock"]["left"][0]), (&json!("defenders"), &json!(1000)));
    post(address, &of(&state, "undo"), &json!({})).refused(409, "while the clock runs");
    post(address, &of(&state, "go"), &json!({ "ply": 0 })).refused(409, "while the clock runs");
    let state = play(address, &state, "d5f5");
    let left = state["clock"]["left"][1].as_u64().expect("milliseconds");
    assert!((1000..=2000).contains(&left), "{left}: what was left and the increment");
    std::thread::sleep(Duration::from_millis(1100));
    post(address, &of(&state, "move"), &json!({ "move": "c6c5", "stamp": state["stamp"] }))
        .refused(400, "time is over");
    let state = post(address, &of(&state, "flag"), &json!({})).ok();
    assert_eq!(state["ending"], json!({ "winner": "defenders", "reason": "time", "plies": null }));
    assert_eq!((&state["clock"]["left"][0], &state["clock"]["running"]), (&json!(0), &Value::Null));
    let pgn = get(address, &of(&state, "export?format=pgn")).body;
    assert!(pgn.contains("0-1") || pgn.contains("defenders"), "{pgn}");
    // Once it is over one looks back, and another game has its time again.
    let state = post(address, &of(&state, "go"), &json!({ "ply": 0 })).ok();
    let state = post(address, &of(&state, "again"), &json!({ "swap": false })).ok();
    assert_eq!((&state["clock"]["left"], &state["ending"]), (&json!([1000, 1000]), &Value::Null));
    let clock = json!({ "seconds": 0 });
    let game = json!({ "rules": "brandubh", "attackers": {}, "defenders": {}, "clock": clock });
    post(address, "/api/games", &game).refused(400, "a clock of 0 s");
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_page_has_clocks_premoves_and_arrows() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    browser.size(1280, 900, 1.0);
    let begin = |seconds: f32, clock: u32| {
        let seat = json!({ "player": "model:shipped/copenhagen", "strength": { "seconds": seconds } });
        let clock = json!({ "seconds": clock, "increment": 2 });
        let game = json!({ "rules": "copenhagen", "attackers": {}, "defenders": seat, "clock": clock });
        let id = post(address, "/api/games", &game).ok()["id"].as_str().expect("an id").to_owned();
        browser.open("about:blank");
        browser.open(&format!("http://{address}/#{id}"));
        browser.until("document.querySelector('.squares .movable')");
    };
    begin(5.0, 180);
    assert_eq!(browser.text(".time[data-side=attackers]"), "3:00");
    // An arrow and a ring, which the next press wipes.
    browser.drag_by("[data-square=f6]", "[data-square=f9]", 2);
    browser.until("document.querySelectorAll('.over .sketch').length === 1");
    browser.drag_by("[data-square=a1]", "[data-square=a1]", 2);
    browser.until("document.querySelectorAll('.over .sketch-ring').length === 1");
    if let Some(folder) = std::env::var_os("HNEFI_PICTURES") {
        browser.picture(&std::path::Path::new(&folder).join("clock.png"));
    }
    browser.click("[data-square=d1]");
    browser.until("document.querySelectorAll('.over .sketch, .over .sketch-ring').length === 0");
    browser.click("[data-square=d3]");
    // While the other side thinks the next move is chosen, forgotten, and chosen again.
    browser.until("document.querySelector('.time.runs')?.dataset.side === 'defenders'");
    // What is read out does not count the playouts.
    browser.until("document.querySelector('#playouts').textContent.includes('playout')");
    assert!(!browser.text("#status").contains("playout"), "{}", browser.text("#status"));
    browser.click("[data-square=d11]");
    browser.click("[data-square=b11]");
    browser.until("document.querySelector('.over .kept')");
    browser.type_into("[data-square=b11]", "\u{e00c}");
    browser.until("!document.querySelector('.over .kept')");
    browser.click("[data-square=d11]");
    browser.click("[data-square=c11]");
    browser.until("document.querySelector('.over .kept')");
    browser.until(
        "[...document.querySelectorAll('#moves button.ply')].some((ply) => ply.textContent.includes('d11-c11'))",
    );
    assert_eq!(browser.run("return document.querySelectorAll('.over .kept').length;"), 0);

    // Who thinks too long loses.
    begin(30.0, 2);
    browser.click("[data-square=d1]");
    browser.click("[data-square=d3]");
    browser.until("document.querySelector('.status.ended')");
    assert!(
        browser.text("#status").contains("The defenders have no time left. The attackers win."),
        "{}",
        browser.text("#status")
    );
    browser.check_console();
}
