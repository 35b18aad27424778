//! Games with clocks, moves chosen in advance, and arrows that people draw.

use hnefi_web::WebConfig;
use serde_json::json;

use super::driver::Browser;
use super::http::{post, serve};

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
