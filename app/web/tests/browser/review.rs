//! The review of a game as a person meets it: bad moves are named, and one is tried anew.

use hnefi_web::WebConfig;
use serde_json::{Value, json};

use super::driver::Browser;
use super::http::{post, serve};

/// A game in which the attackers let the king out: after `d6-c6` he goes to the corner by way of the open side.
const GAME: &str = "d2-c2 d3-g3 a4-a5 d4-d3 c2-c1 d3-f3 a5-a4 f3-f1 b4-b5 f1-g1";

fn reviewed(address: std::net::SocketAddr) -> Value {
    let text = json!({ "text": { "text": GAME, "rules": "brandubh" } });
    post(address, "/api/games/open", &text).ok()
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
        browser.keep_picture(&format!("review-{width}.png"));
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
        let told = "return document.querySelectorAll('.over .arrow.better, #review-body .mistakes small').length;";
        assert_eq!(browser.run(told), 0, "no answer yet");
        browser.keep_picture(&format!("retry-{width}.png"));
        // Nor for whoever loads the page anew.
        browser.run("window.isOld = true; location.reload();");
        browser.until(
            "!window.isOld && document.querySelector('#status')?.textContent.includes('Find a better move') && \
             document.querySelector('#review-body .mistakes')",
        );
        assert_eq!(browser.run(told), 0, "no answer yet");
        browser.run("document.querySelector('#review-panel').open = true;");
        browser.click("#retry-answer");
        browser.until("document.querySelector('.over .arrow.better')");
        assert_eq!(browser.run(told), 2, "the arrow, and the line of this mistake");
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
    // A person who begins another game meanwhile has given up trying.
    browser.click("#review-body .retry");
    browser.until("document.querySelector('#status').textContent.includes('Find a better move')");
    browser.open_dialog("#new", "#new-dialog");
    browser.click("#start");
    browser.until("!document.querySelector('#new-dialog').open && document.querySelector('#retry').hidden");
    browser.until("document.querySelectorAll('#moves button.ply').length === 1");
    browser.check_console();
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_text_of_several_games_says_so_while_the_first_is_reviewed() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    browser.size(1280, 900, 1.0);
    browser.open(&format!("http://{address}/"));
    browser.my_turn();
    browser.open_panel("#more-panel");
    browser.open_dialog("#paste", "#paste-dialog");
    let text = format!("[Rules \"brandubh\"]\n\n{GAME} *\n\n[Rules \"brandubh\"]\n\n1. d6-b6 d5-e5 *\n");
    browser.choose("#paste-dialog textarea", &text);
    browser.click("#paste-read");
    browser.until("document.querySelector('#review-body .sides') && !document.querySelector('#review-body progress')");
    assert!(browser.text("#problem").contains("Of the 2 games"), "{}", browser.text("#problem"));
    // Until the person does something.
    browser.click("#next");
    browser.until("document.querySelector('#problem').hidden");
    browser.check_console();
}
