//! Any tafl in the page, in a headless Chromium: a rules record that is pasted, a start that is drawn, a board whose
//! squares are smaller than a finger.

use hnefi_web::WebConfig;
use serde_json::json;

use super::driver::Browser;
use super::http::serve;
use super::own_rules;

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_pasted_record_is_played_and_found_again() {
    let browser = Browser::start();
    let url = format!("http://{}/", serve(WebConfig::default()));
    for (width, height) in [(1280, 860), (390, 844)] {
        browser.size(width, height, 1.0);
        own_rules::played_and_found_again(&browser, &url, &format!("own-rules-{width}.png"));
    }
    browser.check_console_but(&["/api/rules - Failed to load resource: the server responded with a status of 400"]);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_start_is_drawn_and_a_finger_finds_small_squares() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    browser.size(390, 844, 1.0);
    browser.open(&format!("http://{address}/"));
    browser.my_turn();
    browser.open_panel("#more-panel");
    browser.open_dialog("#edit", "#edit-dialog");
    browser.choose("[name=size]", "19");
    browser.until("document.querySelectorAll('#edit-dialog .squares button').length === 361");
    let touch = |kind: &str, square: &str| {
        browser.run(&format!(
            "const square = [...document.querySelectorAll('[data-square={square}]')].at(-1); \
             const box = square.getBoundingClientRect(); \
             square.parentElement.parentElement.setPointerCapture = () => {{}}; \
             square.dispatchEvent(new PointerEvent('{kind}', {{ pointerId: 5, pointerType: 'touch', button: 0, \
               bubbles: true, clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 }}));"
        ));
    };
    // Only where the finger is lifted something is set.
    touch("pointerdown", "c4");
    touch("pointermove", "d5");
    let shown = "[...document.querySelectorAll('.lens')].at(-1)";
    assert_eq!(browser.run(&format!("return [{shown}.hidden, {shown}.dataset.shows];")), json!([false, "d5"]));
    browser.keep_picture("lens.png");
    touch("pointerup", "d5");
    assert_eq!(browser.run(&format!("return {shown}.hidden;")), true);
    browser.click("[name=mover][value=attackers]");
    browser.click("#edit-play");
    browser.until("document.querySelector('#new-dialog').open");
    assert!(browser.text("#new-dialog .other").contains("25 attackers"), "{}", browser.text("#new-dialog .other"));
    browser.click("[name=seat][value=both]");
    browser.click("#start");
    browser.until("document.querySelectorAll('#board .squares button').length === 361");
    for (from, to) in [("d5", "d6"), ("j9", "k9")] {
        for square in [from, to] {
            touch("pointerdown", square);
            touch("pointerup", square);
        }
        browser.until(&format!("document.querySelector('#moves').textContent.includes('{from}-{to}')"));
    }
    browser.check_console();
}
