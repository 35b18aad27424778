//! Presses, keys and answers that come at the wrong moment, in a headless Chromium.

use hnefi_web::WebConfig;
use serde_json::json;

use super::driver::{Browser, MY_TURN, PLIES};
use super::http::{serve, two_people};

/// A function that hands keys to the page as if nothing held the focus: whether it made use of each.
const TAKEN: &str = "const taken = (keys) => keys.map((key) => !document.body.dispatchEvent(\
     new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })));";

#[test]
#[ignore = "needs chromium and chromedriver"]
fn fingers_that_scroll_and_keys_beside_a_dialog_play_nothing() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    let id = two_people(address, "brandubh")["id"].as_str().expect("an id").to_owned();
    browser.size(390, 844, 2.0);
    browser.open(&format!("http://{address}/#{id}"));
    browser.my_turn();
    let touch = |kind: &str, square: &str| {
        browser.run(&format!(
            "const square = document.querySelector('[data-square={square}]'); \
             const box = square.getBoundingClientRect(); \
             square.parentElement.parentElement.setPointerCapture = () => {{}}; \
             square.dispatchEvent(new PointerEvent('{kind}', {{ pointerId: 5, pointerType: 'touch', button: 0, \
               bubbles: true, clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 }}));"
        ));
    };
    let targets = "return document.querySelectorAll('.targets .target').length > 0;";
    touch("pointerdown", "d6");
    touch("pointerup", "d6");
    for end in ["pointercancel", "pointerup"] {
        touch("pointerdown", "c6");
        assert_eq!(browser.run(targets), true, "nothing is played before the finger is lifted");
        touch(end, "c6");
        assert_eq!(browser.run(targets), end == "pointercancel");
    }
    browser.until(&format!("{PLIES} === 1"));

    let keys = format!("{TAKEN} return taken(['f', 'ArrowLeft']);");
    browser.open_dialog("#new", "#new-dialog");
    assert_eq!(browser.run(&keys), json!([false, false]));
    browser.click("#new-dialog .close");
    assert_eq!(browser.run(&keys), json!([true, true]));
    browser.check_console();
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn answers_that_come_late_change_nothing() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    let id = two_people(address, "brandubh")["id"].as_str().expect("an id").to_owned();
    browser.size(1280, 860, 1.0);
    browser.open(&format!("http://{address}/#{id}"));
    browser.my_turn();
    browser.run(
        "window.asked = []; const real = fetch; window.fetch = async (path, ...rest) => { \
         const answer = await real(path, ...rest); const what = /(move|analysis)$/.exec(path)?.[0]; \
         if (what) { window.asked.push(what + rest[0].body); await new Promise((go) => setTimeout(go, 500)); } \
         return answer; };",
    );
    // A panel that is closed before its analysis has begun.
    browser.run("document.querySelector('#analysis-panel').open = true;");
    browser.until("window.asked.length === 1");
    browser.run("document.querySelector('#analysis-panel').open = false;");
    browser.until("window.asked[1] === 'analysis{\"on\":false}'");
    // A move of a game that another one has taken the place of.
    let found = browser.run_later(
        "const done = arguments[arguments.length - 1]; \
         import('/assets/state.js').then(async ({ act, enter, page }) => { \
         const late = act('move', { move: 'd6c6', stamp: page.state.stamp }); \
         await enter('/api/games', { rules: 'tablut', attackers: {}, defenders: {} }); \
         await late; done(page.state.rules.name); }).catch((error) => done(String(error)));",
    );
    assert_eq!((found, browser.run("return window.asked.length;")), (json!("tablut"), json!(3)));
    browser.check_console();
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn links_lead_on_and_the_focus_stays_where_it_was() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    browser.size(1280, 860, 1.0);
    // Puzzles of rules that are there no more are those of all rules.
    browser.open(&format!("http://{address}/assets/icon.svg"));
    let kept = json!({ "solved": [], "streak": 0, "best": 0, "rules": "gone", "theme": "" });
    browser.run(&format!("localStorage.setItem('hnefi.puzzles', JSON.stringify({kept}));"));
    browser.open(&format!("http://{address}/puzzles.html"));
    browser.until(MY_TURN);
    let daily = |pressed: bool| format!("document.querySelector('#to-daily[aria-pressed={pressed}]')");
    browser.run("location.hash = 'daily';");
    browser.until(&daily(true));
    assert_eq!(browser.run("return location.hash;"), "");
    browser.click("#next");
    browser.until(&daily(false));
    browser.run("const button = document.querySelector('#to-daily'); button.focus(); button.click();");
    browser.until(&daily(true));
    assert_eq!(browser.run("return document.activeElement.id;"), "to-daily");

    browser.open(&format!("http://{address}/learn.html"));
    browser.until("document.querySelector('[data-lesson=moves]')");
    browser.run("const button = document.querySelector('[data-lesson=moves]'); button.focus(); button.click();");
    assert_eq!(browser.run("return document.activeElement.dataset.lesson;"), "moves");
    // The picture that was opened first has no icon.
    browser.check_console_but(&["/favicon.ico"]);
}
