//! The review of a game as a person meets it: bad moves are named, and one is tried anew.
//!
//! Needs `chromium` and `chromedriver`; without them the tests say so and pass.

mod driver;
mod http;

use hnefi_play::web::WebConfig;
use serde_json::{Value, json};

use driver::Browser;
use http::{of, post, serve, wait};

/// A game in which the attackers let the king out: after `d6-c6` he goes to the corner by way of the open side.
const GAME: &str = "d2-c2 d3-g3 a4-a5 d4-d3 c2-c1 d3-f3 a5-a4 f3-f1 b4-b5 f1-g1";

fn reviewed(address: std::net::SocketAddr) -> Value {
    let text = json!({ "text": { "text": GAME, "rules": "brandubh" } });
    post(address, "/api/games/open", &text).ok()
}

#[test]
fn a_game_is_reviewed_by_requests() {
    let address = serve(WebConfig::default());
    let state = reviewed(address);
    assert_eq!((&state["can"]["review"], &state["review"]), (&json!(true), &Value::Null), "{state}");
    post(address, &of(&state, "try"), &json!({ "ply": 0, "move": "d6e6" })).refused(409, "not reviewed");
    post(address, &of(&state, "review"), &json!({ "on": true, "who": "me" })).refused(400, "unknown field");
    let state = post(address, &of(&state, "review"), &json!({ "on": true })).ok();
    assert_eq!(state["review"]["total"], 11);
    // Nobody looks on, so nothing is searched; a page that listens changes that.
    let here = of(&state, "");
    let events = of(&state, "events");
    std::thread::spawn(move || http::stream(address, &events, &["\"done\":11"]));
    let state = wait(address, here.trim_end_matches('/'), |state| state["review"]["done"] == 11);
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
    // Whoever plays a game under way is not told.
    let seat = json!({ "player": "random" });
    let game = json!({ "rules": "brandubh", "attackers": {}, "defenders": seat });
    let state = post(address, "/api/games", &game).ok();
    post(address, &of(&state, "review"), &json!({ "on": true })).refused(409, "when it is over");
    // How it ended is told wherever the board stands, and nobody gives up twice.
    let mv = json!({ "move": "d6c6", "stamp": state["stamp"] });
    post(address, &of(&state, "move"), &mv).ok();
    post(address, &of(&state, "resign"), &json!({})).ok();
    let state = post(address, &of(&state, "go"), &json!({ "ply": 0 })).ok();
    assert_eq!((&state["ending"], &state["result"]["winner"]), (&Value::Null, &json!("defenders")), "{state}");
    assert_eq!((&state["can"]["resign"], &state["can"]["review"]), (&json!(false), &json!(true)), "{state}");
    post(address, &of(&state, "resign"), &json!({})).refused(409, "nobody can resign here");
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_mistake_is_tried_anew() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    let id = reviewed(address)["id"].as_str().expect("an id").to_owned();
    for (width, height) in [(1280, 900), (390, 844)] {
        browser.size(width, height, 2.0);
        browser.open("about:blank");
        browser.open(&format!("http://{address}/#{id}"));
        browser.until("document.querySelectorAll('#moves button.ply').length === 10");
        if browser.run("return !document.querySelector('#review').hidden;") == true {
            browser.click("#review");
        } else {
            browser.run("document.querySelector('#review-panel').open = true;");
        }
        browser.until("document.querySelectorAll('#review-body .mistakes li').length > 0");
        browser.until("!document.querySelector('#review-body progress')");
        assert!(browser.run("return document.querySelectorAll('#moves .sign').length;").as_u64() > Some(0));
        picture(&browser, &format!("review-{width}.png"));
        // The review says who won, and counts the moves as their list does.
        assert_eq!(browser.text("#review-body .result"), "The king reaches a corner and is free. The defenders win.");
        let counted = browser.run(
            "const said = document.querySelector('.mistakes .quiet').textContent; \
             const mv = said.split(' ')[2].replace(/[?!]+$/, ''); \
             const row = [...document.querySelectorAll('#moves > li')].find((li) => li.textContent.includes(mv)); \
             return [parseInt(said, 10), row.value];",
        );
        assert_eq!(counted[0], counted[1]);

        // Another try: the worst move first, which is refused again, then the best.
        browser.click("#review-body .retry");
        browser.until("document.querySelector('#status').textContent.includes('Find a better move')");
        assert_eq!(browser.run("return document.querySelectorAll('.over .arrow.better').length;"), 0, "no answer yet");
        picture(&browser, &format!("retry-{width}.png"));
        browser.click("#retry-answer");
        browser.until("document.querySelector('.over .arrow.better')");
        let best = browser.text("#status").rsplit("was ").next().expect("a move").trim_end_matches('.').to_owned();
        let (from, to) = best.split_once('-').expect("a move");
        browser.click(&format!("[data-square={from}]"));
        browser.click(&format!("[data-square={to}]"));
        browser.click("#review-body .retry");
        browser.click(&format!("[data-square={from}]"));
        browser.click(&format!("[data-square={to}]"));
        browser.until("document.querySelector('#status').textContent.includes('the best move')");
        // On with the next one; nobody can give up the game that is over.
        browser.until("document.querySelector('#retry .main').id === 'retry-next'");
        assert_eq!(browser.run("return document.querySelector('#resign').checkVisibility();"), false);
        browser.click("#retry-next");
        browser.until("document.querySelector('#status').textContent.includes('Find a better move')");
        while browser.run("return Boolean(document.querySelector('#retry-next'));") == true {
            browser.click("#retry-next");
            browser.click("#retry-answer");
        }
        browser.until("document.querySelector('#retry .main').id === 'retry-stop'");
        browser.click("#retry-stop");
        browser.until("document.querySelector('#retry').hidden");
        assert_eq!(browser.run(&format!("return document.documentElement.scrollWidth > {width};")), false);
    }
    // Whoever begins another game meanwhile has given up trying.
    browser.click("#review-body .retry");
    browser.until("document.querySelector('#status').textContent.includes('Find a better move')");
    browser.open_dialog("#new", "#new-dialog");
    browser.click("#start");
    browser.until("!document.querySelector('#new-dialog').open && document.querySelector('#retry').hidden");
    browser.until("document.querySelectorAll('#moves button.ply').length === 1");
    browser.check_console();
}

fn picture(browser: &Browser, name: &str) {
    if let Some(folder) = std::env::var_os("HNEFI_PICTURES") {
        std::thread::sleep(std::time::Duration::from_millis(700));
        browser.picture(&std::path::Path::new(&folder).join(name));
    }
}
