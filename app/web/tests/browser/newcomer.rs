//! Somebody who never saw the game, on a phone: the course, a first game, its review with two mistakes tried anew, and
//! five puzzles.

use hnefi_puzzles::shipped;
use hnefi_web::WebConfig;
use serde_json::json;

use super::driver::Browser;
use super::http::serve;

/// Moves a piece by pressing it and where it goes.
fn play(browser: &Browser, from: &str, to: &str) {
    browser.until(&format!("document.querySelector('[data-square={from}].movable')"));
    browser.click(&format!("[data-square={from}]"));
    browser.click(&format!("[data-square={to}]"));
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_newcomer_learns_plays_reviews_and_solves() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    browser.size(390, 844, 2.0);
    browser.open(&format!("http://{address}/"));
    browser.until("document.querySelector('#how')?.href.endsWith('#brandubh')");
    // The first screen says what it is about, and the opponent is the easiest.
    assert!(browser.text(".goal").contains("Bring your king to a corner."), "{}", browser.text(".goal"));
    assert!(browser.text("#who-top").contains("level 1"), "{}", browser.text("#who-top"));
    browser.click("#how");
    browser.until("document.querySelector('#lesson-title')?.textContent");
    // A person who does not find it is shown it.
    for _ in 0..60 {
        if browser.run("return location.hash;") == "#brandubh/finish" {
            break;
        }
        let task = browser.run("return document.querySelector('#show').offsetParent !== null;") == true;
        if task {
            browser.click("#show");
            browser.until("document.querySelector('#status').dataset.kind === 'right'");
        }
        browser.click("#next");
        browser.until(&format!("!{task} || document.querySelector('#status').dataset.kind !== 'right'"));
    }
    browser.until("document.querySelector('#finish a')");
    browser.click("#finish a");

    // The first game is against the easiest level, and lasts as long as it lasts.
    browser.until("document.querySelector('.squares .movable')");
    assert!(browser.text("body").contains("level 1"), "{}", browser.text("body"));
    for number in 0..12 {
        browser.some_move(7 * number + 3);
        browser.until("document.querySelector('.squares .movable') || document.querySelector('.status.ended')");
        if browser.run("return Boolean(document.querySelector('.status.ended'));") == true {
            break;
        }
    }
    browser.end_and_review();

    // Two mistakes: looked at, and then played better.
    for mistake in 0..2 {
        let retry = format!("document.querySelectorAll('#review-body .retry')[{mistake}]");
        browser.until(&retry);
        browser.run(&format!("{retry}.click();"));
        browser.until("document.querySelector('#status').textContent.includes('Find a better move')");
        browser.click("#retry-answer");
        browser.until("document.querySelector('.over .arrow.better')");
        let best = browser.text("#status").rsplit("was ").next().expect("a move").trim_end_matches('.').to_owned();
        let (from, to) = best.split_once('-').expect("a move");
        play(&browser, from, to);
        browser.until("document.querySelector('#status').textContent.includes('the best move')");
        browser.click("#retry-stop");
    }
    assert_eq!(browser.run("return document.documentElement.scrollWidth > 390;"), false);

    // Who wins twice is offered more, and who loses twice less.
    let advised = browser.run_later(
        "const done = arguments[arguments.length - 1]; import('/assets/level.js').then(({ advice, count }) => { \
         const game = (number, level, winner) => { \
           const seats = [{ person: false, strength: { level } }, { person: true }]; \
           const state = { id: 'a', number, seats, source: null, result: { winner } }; \
           const before = { ...state, result: null }; \
           count(state, before); count(state, before); count({ ...state, number: 99 }, null); \
           return advice(state, 8); }; \
         done([game(1, 3, 'defenders'), game(2, 3, 'defenders'), game(3, 4, 'attackers'), game(4, 4, 'attackers'), \
           game(5, 4, 'defenders'), game(6, 4, 'attackers'), game(7, 1, 'attackers'), game(8, 1, 'attackers'), \
           game(9, 1, null)]); }, (error) => done(String(error)));",
    );
    let (more, less) = (json!({ "level": 4, "won": true }), json!({ "level": 3, "won": false }));
    assert_eq!(advised, json!([null, more, null, less, null, null, null, null, null]));

    browser.click("#to-puzzles");
    browser.until("document.querySelector('#board').dataset.puzzle");
    assert!(browser.text("#puzzle-about").contains("level 1 of 5"), "{}", browser.text("#puzzle-about"));
    for _ in 0..5 {
        let id = browser.until("document.querySelector('#board').dataset.puzzle");
        let puzzle = shipped().into_iter().find(|puzzle| id == puzzle.id.as_str()).expect("a shipped puzzle");
        let size = puzzle.rules.rules().size();
        for mv in puzzle.line.iter().step_by(2) {
            // What was said of the move before is not taken for an answer: until that comes no other move is heard.
            browser.run("document.querySelector('#status').dataset.kind = '';");
            play(&browser, &mv.from().name(size), &mv.to().name(size));
            browser.until("document.querySelector('#status').dataset.kind === 'right'");
        }
        browser.until("document.querySelector('#next').classList.contains('main')");
        browser.click("#next");
        browser.until("!document.querySelector('#next').classList.contains('main')");
    }
    assert_eq!(browser.text("#puzzles-solved dd"), "5");
    browser.check_console();
}
