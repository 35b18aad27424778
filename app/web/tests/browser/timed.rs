//! Games with clocks, moves chosen in advance, and arrows that people draw.

use hnefi_web::WebConfig;
use serde_json::json;

use super::driver::{Browser, PLIES};
use super::http::{of, post, serve};

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
    begin(8.0, 180);
    assert_eq!(browser.text(".time[data-side=attackers]"), "3:00");
    // An arrow and a ring, which the next press wipes.
    browser.drag_by("[data-square=f6]", "[data-square=f9]", 2);
    browser.until("document.querySelectorAll('.over .sketch').length === 1");
    browser.drag_by("[data-square=a1]", "[data-square=a1]", 2);
    browser.until("document.querySelectorAll('.over .sketch-ring').length === 1");
    browser.keep_picture("clock.png");
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
    browser.click("[data-square=b11]");
    browser.until("document.querySelector('.over .kept')");
    browser.click("[data-square=a1]");
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

#[test]
#[ignore = "needs chromium and chromedriver"]
fn who_takes_back_has_no_move_played_that_was_chosen_for_later() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    browser.size(1280, 900, 1.0);
    let seat = json!({ "player": "model:shipped/copenhagen", "strength": { "seconds": 30 } });
    let game = json!({ "rules": "copenhagen", "attackers": {}, "defenders": seat });
    let state = post(address, "/api/games", &game).ok();
    browser.open(&format!("http://{address}/#{}", state["id"].as_str().expect("an id")));
    browser.my_turn();
    browser.click("[data-square=d1]");
    browser.click("[data-square=d3]");
    browser.until("document.querySelector('#playouts').textContent.includes('playout')");
    browser.click("[data-square=d11]");
    browser.click("[data-square=b11]");
    browser.until("document.querySelector('.over .kept')");
    browser.click("#undo");
    browser.until("document.querySelector('.squares .movable')");
    // A move that is played then comes at once.
    std::thread::sleep(std::time::Duration::from_millis(500));
    let found = browser.run(&format!("return [{PLIES}, document.querySelectorAll('#moves .ahead').length];"));
    assert_eq!(found, json!([1, 1]), "{}", browser.text("#moves"));
    browser.check_console();
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_refusal_is_said_until_something_else_is_done_and_the_address_keeps_its_game() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    browser.size(1280, 900, 1.0);
    let clock = json!({ "seconds": 600 });
    let game = json!({ "rules": "brandubh", "attackers": {}, "defenders": {}, "clock": clock });
    let state = post(address, "/api/games", &game).ok();
    browser.open(&format!("http://{address}/#{}", state["id"].as_str().expect("an id")));
    browser.my_turn();
    for number in [3, 5] {
        browser.some_move(number);
    }
    let is_named = "location.hash.split('_').length === 2";
    browser.until(is_named);
    // Nobody looks back while the clock runs: what leads there does nothing.
    let first = "#moves [data-place=\"1\"]";
    assert_eq!(browser.run(&format!("return document.querySelector('{first}').ariaDisabled;")), "true");
    browser.click(first);
    browser.run("document.querySelector('#graph svg').dispatchEvent(new MouseEvent('click'));");
    // Who asks all the same is told why, and is told so after the next event, too.
    browser.run_later(
        "const done = arguments[arguments.length - 1]; import('/assets/state.js').then(({ act }) => \
         act('go', { ply: 0 })).then(done, (error) => done(String(error)));",
    );
    post(address, &of(&state, "comment"), &json!({ "place": 0, "text": "so far" })).ok();
    browser.until("document.querySelector('#moves').textContent.includes('so far')");
    assert!(browser.text("#problem").contains("while the clock runs"), "{}", browser.text("#problem"));
    assert_eq!(browser.run(&format!("return {is_named};")), true);
    browser.some_move(1);
    browser.until("document.querySelector('#problem').hidden && location.hash.split('_').length === 3");
    browser.check_console_but(&["/go - Failed to load resource: the server responded with a status of 409"]);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn another_level_is_played_from_the_same_start_with_the_same_clocks() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    browser.size(1280, 900, 1.0);
    let seat = json!({ "player": "model:shipped/brandubh", "strength": { "level": 3 } });
    let (fen, clock) = ("7/7/5a1/3k3/1a5/7/7 a", json!({ "seconds": 600, "increment": 5 }));
    let game = json!({ "rules": "brandubh", "attackers": {}, "defenders": seat, "fen": fen, "clock": clock });
    let mut id = String::new();
    // Who loses twice is offered less.
    for _ in 0..2 {
        id = post(address, "/api/games", &game).ok()["id"].as_str().expect("an id").to_owned();
        browser.open("about:blank");
        browser.open(&format!("http://{address}/#{id}"));
        browser.until("document.querySelector('.squares .movable')");
        browser.open_dialog("#resign", "#ask-dialog");
        browser.click("#resign-now");
        browser.until("document.querySelector('.status.ended')");
    }
    browser.click("#other-level");
    browser.until(&format!("!location.hash.startsWith('#{id}') && document.querySelector('.squares .movable')"));
    let found = browser.run_later(
        "const done = arguments[arguments.length - 1]; import('/assets/state.js').then(({ page: { state } }) => \
         done([state.fen, state.clock?.seconds, state.clock?.increment, state.seats[1].strength]), \
         (error) => done(String(error)));",
    );
    assert_eq!(found, json!([fen, 600, 5, { "level": 2 }]));
    browser.check_console_but(&["/api/games/"]);
}
