//! Whatever is pressed on a phone, what it changed is on the screen afterwards, and nothing moves by itself.
//!
//! `presses.json` has the screens: the way to each, and what can be pressed there, each with what it changes. What is
//! not declared there fails, as does what is declared and cannot be pressed.

use std::time::{Duration, Instant};

use hnefi_web::WebConfig;
use serde_json::{Value, json};

use super::super::driver::Browser;
use super::super::http::{made_up_run, serve};

const SCREENS: &str = include_str!("presses.json");
const SCRIPT: &str = include_str!("presses.js");

/// How long a press may take to change what it changes.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long a page is left alone until it is looked at.
const REST: Duration = Duration::from_millis(250);

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn words(value: &Value) -> Vec<&str> {
    list(value).iter().map(|one| one.as_str().expect("a text")).collect()
}

/// Goes to a screen: `?` waits for an element, `!` until it is gone, `=` types into the dialog; a selector is pressed,
/// anything else is a script.
fn enter(browser: &Browser, site: &str, screen: &Value) {
    let page = screen["page"].as_str().expect("a page");
    browser.open(&format!("{site}icon"));
    browser.run("localStorage.clear();");
    browser.open(&format!("{site}{page}"));
    browser.until("document.querySelector('.squares button') && !document.querySelector('[aria-busy]')");
    if page.is_empty() {
        browser.my_turn();
    }
    for step in words(&screen["do"]) {
        match step.split_at(1) {
            ("?", wanted) => drop(browser.until(&format!("document.querySelector({})", json!(wanted)))),
            ("!", gone) => drop(browser.until(&format!("!document.querySelector({})", json!(gone)))),
            ("=", text) => {
                drop(browser.run(&format!("document.querySelector('dialog[open] textarea').value = {};", json!(text))));
            }
            ("#" | "." | "[", _) => browser.click(step),
            _ if step == "move" => {
                browser.some_move(0);
                browser.my_turn();
            }
            _ => drop(browser.run(step)),
        }
    }
    std::thread::sleep(REST);
    browser.run(SCRIPT);
}

/// Presses what fits `selector` and is not for one before it; what is wrong afterwards.
fn pressed(browser: &Browser, selectors: &[&str], selector: &str, targets: &[&str]) -> Vec<String> {
    let targets = json!(targets);
    let asked = format!("return choose({}, {}, {targets});", json!(selectors), json!(selector));
    if browser.run(&asked) == false {
        return vec!["cannot be pressed".to_owned()];
    }
    browser.click("[data-pressed]");
    let until = Instant::now() + PATIENCE;
    let left = loop {
        let left = browser.run(&format!("return unchanged({targets});"));
        if left == json!([]) || Instant::now() > until {
            break left;
        }
        std::thread::sleep(Duration::from_millis(60));
    };
    std::thread::sleep(REST);
    let unseen = browser.run(&format!("return unseen({targets});"));
    let unchanged = words(&left).into_iter().map(|target| format!("{target} does not change"));
    unchanged.chain(words(&unseen).into_iter().map(str::to_owned)).collect()
}

/// What can be pressed on a screen: its selector, and the selectors of what it changes.
fn rows(screen: &Value) -> Vec<Vec<&str>> {
    list(&screen["presses"]).iter().map(words).collect()
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn what_a_press_changes_is_seen() {
    let browser = Browser::start();
    let site = format!("http://{}/", serve(WebConfig::default()));
    let screens: Vec<Value> = serde_json::from_str(SCREENS).expect("screens");
    browser.size(390, 844, 1.0);
    let all: Vec<&str> = screens.iter().flat_map(rows).map(|row| row[0]).collect();
    let mut found = Vec::new();
    for screen in &screens {
        let (name, rows) = (&screen["screen"], rows(screen));
        let selectors: Vec<&str> = rows.iter().map(|row| row[0]).collect();
        for (number, (&selector, row)) in selectors.iter().zip(&rows).enumerate() {
            enter(&browser, &site, screen);
            if number == 0 {
                let undeclared = browser.run(&format!("return undeclared({});", json!(all)));
                found.extend(words(&undeclared).into_iter().map(|element| format!("{name}: undeclared: {element}")));
            }
            let wrong = pressed(&browser, &selectors, selector, &row[1..]);
            found.extend(wrong.into_iter().map(|wrong| format!("{name}: {selector}: {wrong}")));
        }
    }
    assert!(found.is_empty(), "{} presses:\n{}", found.len(), found.join("\n"));
}

/// The browser's own measure of what moved without a person's doing since the page began, and the worst of it.
const SHIFTS: &str = "const done = arguments[arguments.length - 1]; let sum = 0; const seen = []; \
    const note = (entry) => { sum += entry.value; \
      const moved = entry.sources.map(({ node }) => node?.id || node?.className || node?.nodeName); \
      if (entry.value > 0.005) seen.push(`${entry.value.toFixed(3)}: ${moved}`); }; \
    new PerformanceObserver((list) => list.getEntries().filter((entry) => !entry.hadRecentInput).forEach(note)) \
      .observe({ type: 'layout-shift', buffered: true }); setTimeout(() => done([sum, seen]), 300);";

#[test]
#[ignore = "needs chromium and chromedriver"]
fn nothing_moves_by_itself_on_a_phone() {
    let browser = Browser::start();
    let folder = tempfile::tempdir().expect("a folder");
    let address = serve(WebConfig { runs: vec![made_up_run(folder.path(), 30)], ..WebConfig::default() });
    browser.slow();
    for (width, height) in [(390, 844), (320, 568)] {
        browser.size(width, height, 1.0);
        for (page, wanted) in [
            ("", ".squares .movable"),
            ("learn.html", "#lessons button"),
            ("learn.html#copenhagen/shieldwall", ".squares .movable"),
            ("puzzles.html", ".squares .movable"),
            ("watch", "#samples a"),
        ] {
            browser.open("about:blank");
            browser.open(&format!("http://{address}/{page}"));
            browser.until(&format!("document.querySelector('{wanted}')"));
            if page.is_empty() {
                browser.some_move(0);
                browser.my_turn();
            }
            std::thread::sleep(Duration::from_secs(1));
            let found = browser.run_later(SHIFTS);
            assert!(found[0].as_f64() < Some(0.1), "{page} at {width}x{height}: {found}");
        }
    }
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn the_board_keeps_its_place() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    for (width, height) in [(1024, 768), (1280, 800), (390, 844), (768, 1024)] {
        browser.size(width, height, 1.0);
        browser.open("about:blank");
        browser.open(&format!("http://{address}/#/brandubh/moves=d2c2_d3g3_a4a5_d4d3_c2c1_d3f3_a5a4_f3f1_b4b5_f1g1"));
        browser.until("document.querySelector('#review:not([hidden])')");
        browser.click("#review");
        browser
            .until("document.querySelector('#review-body .retry') && !document.querySelector('#review-body progress')");
        browser.open_panel("#more-panel");
        browser.run("scrollTo(0, document.documentElement.scrollHeight);");
        let place = "const box = document.querySelector('#board').getBoundingClientRect(); \
                     return [box.top >= -1, box.bottom <= innerHeight + 1, scrollY > 0, \
                       document.documentElement.scrollWidth <= innerWidth];";
        assert_eq!(browser.run(place), json!([true, true, true, true]), "{width}x{height}");
        // Nor does another try move the page once its words are seen.
        browser.run("document.querySelector('#review-body .mistakes').scrollIntoView({ block: 'end' });");
        let again = "const retry = document.querySelector('#review-body .retry'); \
                     retry.focus({ preventScroll: true }); retry.click();";
        browser.run(again);
        browser.until("!document.querySelector('#retry').hidden");
        std::thread::sleep(REST);
        browser.run("window.jumps = 0; addEventListener('scroll', () => { jumps += 1; });");
        for _ in 0..15 {
            browser.run(again);
            std::thread::sleep(Duration::from_millis(60));
        }
        assert_eq!(browser.run("return jumps;"), 0, "{width}x{height}");
    }
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn whoever_wants_plays_without_the_chances_and_nothing_is_drawn_without_a_width() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    browser.size(390, 844, 1.0);
    browser.open(&format!("http://{address}/"));
    browser.my_turn();
    let seen = "return ['.bar', '#graph', '#meaning'].map((one) => \
                document.querySelector(one).checkVisibility({ visibilityProperty: true }));";
    assert_eq!(browser.run(seen), json!([true, true, true]));
    let said = browser.text("#meaning");
    assert!(said.contains("9%") && said.contains("13%"), "{said}");
    browser.click("#aid");
    browser.run("location.reload();");
    browser.my_turn();
    browser.until("document.querySelector('#graph-words').textContent === 'Show the chances'");
    assert_eq!(browser.run(seen), json!([false, false, false]));
    // After the game there is nothing to be told too early.
    browser.click("#resign");
    browser.click("#resign-now");
    browser.until("document.querySelector('.status.ended')");
    assert_eq!(browser.run(seen), json!([true, true, true]));

    browser.click("#undo");
    browser.open_panel("#analysis-panel");
    browser.until("document.querySelector('.over .arrow')");
    browser.run("document.querySelector('main').style.display = 'none';");
    browser.until("!document.querySelector('.over .arrow')");
    browser.run("document.querySelector('main').style.display = '';");
    browser.until("document.querySelector('.over .arrow')");
    browser.check_console();
}
