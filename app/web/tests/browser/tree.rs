//! Games as trees in a headless Chromium: variations, permanent addresses, and games that are opened again after the
//! server was killed.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use hnefi_web::{WebConfig, WebServer};
use serde_json::{Value, json};

use super::driver::Browser;
use super::http::serve;

const NOW: &str = "document.querySelector('#moves .now')?.dataset.place";

/// Goes to a place by its button in the list.
fn press(browser: &Browser, place: u32) {
    browser.click(&format!("#moves [data-place=\"{place}\"]"));
    browser.until(&format!("{NOW} === '{place}'"));
}

/// Presses keys where the focus is.
fn keys(browser: &Browser, keys: &str) {
    let key = |key: char| json!([{ "type": "keyDown", "value": key }, { "type": "keyUp", "value": key }]);
    let actions: Vec<Value> = keys.chars().flat_map(|one| key(one).as_array().expect("a list").clone()).collect();
    browser.act(&json!([{ "type": "key", "id": "keys", "actions": actions }]));
}

/// Opens a game that is pasted as text.
fn paste_into(browser: &Browser, text: &str, places: usize) {
    browser.open_panel("#more-panel");
    browser.open_dialog("#paste", "#paste-dialog");
    browser.type_into("#paste-dialog textarea", text);
    browser.click("#paste-read");
    browser.until(&format!("document.querySelectorAll('#moves [data-place]').length === {places}"));
    // What a review finds pushes the list about.
    browser.until("document.querySelector('#review-body .sides') && !document.querySelector('#review-body progress')");
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn variations_are_seen_and_gone_through_by_mouse_keys_and_wheel() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    browser.size(1280, 860, 1.0);
    browser.open(&format!("http://{address}/"));
    browser.until("document.querySelector('.squares .movable')");
    let text = "{A short game} 1. d6-c6 {why?} d5-e5 (1... d5-f5 2. c6-c5 (2. c6-b6! f5-f6)) (1... d3-e3) 2. c6-c5 *";
    paste_into(&browser, text, 8);
    let shown = browser.text("#moves");
    assert!(shown.contains("(1…\u{a0}d5-f5 2.\u{a0}c6-c5 (2.\u{a0}c6-b6! f5-f6))"), "{shown}");
    assert!(shown.contains("A short game") && shown.contains("why?"), "{shown}");

    // By pressing moves, and by the arrow keys.
    press(&browser, 7);
    browser.until("!document.querySelector('#back').hidden");
    press(&browser, 4);
    keys(&browser, "\u{e015}");
    browser.until(&format!("{NOW} === '8'"));
    keys(&browser, "\u{e013}\u{e014}");
    browser.until(&format!("{NOW} === '5'"));
    keys(&browser, "\u{e012}\u{e012}\u{e012}");
    browser.until("!document.querySelector('#moves .now')");
    keys(&browser, "\u{e010}");
    browser.until(&format!("{NOW} === '5'"));
    // Not by the mouse: what is found of the position meanwhile moves the button about.
    browser.run("document.querySelector('#back').click();");
    browser.until(&format!("{NOW} === '1' && document.querySelector('#back').hidden"));
    keys(&browser, "\u{e010}");
    browser.until(&format!("{NOW} === '3'"));
    // Faster than the board answers.
    keys(&browser, "\u{e011}\u{e014}\u{e014}\u{e012}\u{e014}\u{e012}");
    browser.until(&format!("{NOW} === '1' && document.querySelectorAll('#moves .ahead').length === 2"));

    // The wheel over the board steps, and at the end of the game it scrolls.
    browser.wheel("#board", 120);
    browser.until(&format!("{NOW} === '2'"));
    browser.wheel("#board", 120);
    browser.until(&format!("{NOW} === '3'"));
    browser.wheel("#board", -120);
    browser.until(&format!("{NOW} === '2'"));

    // After a press on a square the arrows step; from a square that keys led to they walk over the board.
    browser.click("[data-square=a4]");
    keys(&browser, "\u{e012}");
    browser.until(&format!("{NOW} === '1'"));
    browser.run("document.querySelector('#moves .ply').focus(); document.querySelector('[data-square=d4]').focus();");
    keys(&browser, "\u{e012}\u{e013}");
    assert_eq!(browser.run("return document.activeElement.dataset.square;"), "c5");
    keys(&browser, "]");
    browser.until(&format!("{NOW} === '2'"));
    for (width, theme, name) in [
        (1280, "light", "variations.png"),
        (1280, "dark", "variations-dark.png"),
        (820, "dark", "variations-tablet.png"),
    ] {
        browser.size(width, 860, 1.0);
        browser.prefer("prefers-color-scheme", theme);
        press(&browser, 4);
        assert!(browser.text("#status").starts_with("Variation."), "{}", browser.text("#status"));
        browser.run("document.querySelector('#moves-panel').scrollIntoView({ block: 'center' });");
        browser.keep_picture(name);
    }
    browser.check_console();
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_move_has_a_menu_by_mouse_finger_and_keys() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    browser.size(390, 844, 2.0);
    browser.open(&format!("http://{address}/"));
    browser.until("document.querySelector('.squares .movable')");
    paste_into(
        &browser,
        "1. d6-c6 d5-e5 (1... d5-f5 2. c6-c5 f5-f6 {a long remark on what may follow here}) 2. c6-c5 *",
        6,
    );
    browser.open_panel("#more-panel");
    let menu = "document.querySelector('.menu')";
    // A finger that rests.
    browser.run("document.querySelector('#moves').scrollIntoView({ block: 'center' });");
    browser.press("#moves [data-place=\"4\"]", "touch", 0, Duration::from_millis(800));
    browser.until(menu);
    browser.keep_picture("phone-menu.png");
    browser.click(".menu [data-do=main]");
    browser.until("document.querySelectorAll('#moves > li > [data-place=\"4\"]').length === 1");
    assert_eq!(browser.run("return document.documentElement.scrollWidth;"), 390);
    // The right button, and a comment.
    browser.press("#moves [data-place=\"2\"]", "mouse", 2, Duration::ZERO);
    browser.until(menu);
    browser.click(".menu [data-do=comment]");
    browser.type_into("#ask-dialog textarea", "was {played}");
    browser.click("#comment-save");
    browser.until("document.querySelector('#moves').textContent.includes('was (played)')");
    // Keys: the button beside the steps has the menu of the move on the board.
    press(&browser, 2);
    browser.run("document.querySelector('#move-menu').focus();");
    keys(&browser, "\u{e007}");
    browser.until(&format!("{menu} && document.activeElement.dataset.do === 'promote'"));
    keys(&browser, "\u{e013}");
    browser.until("document.activeElement.dataset.do === 'remove'");
    keys(&browser, "\u{e00c}");
    browser.until(&format!("!{menu} && document.activeElement.id === 'move-menu'"));
    keys(&browser, "\u{e007}\u{e010}\u{e007}");
    // Two moves go: that is asked.
    browser.until("document.querySelector('#ask-dialog').open");
    browser.click("#keep-moves");
    assert_eq!(browser.run("return document.querySelectorAll('#moves [data-place]').length;"), 6);
    keys(&browser, "\u{e007}\u{e010}\u{e007}");
    browser.until("document.querySelector('#ask-dialog').open");
    browser.click("#remove-now");
    browser.until("document.querySelectorAll('#moves [data-place]').length === 4");
    browser.until(&format!("{NOW} === '1'"));
    browser.check_console();
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_link_leads_to_the_game_and_a_bad_one_to_a_word_and_a_game() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    browser.size(1280, 860, 1.0);
    let open = |fragment: &str| {
        browser.open("about:blank");
        browser.open(&format!("http://{address}/#{fragment}"));
    };
    open("/brandubh/moves=d6c6_d5e5/ply=1");
    browser.until("document.querySelectorAll('#moves [data-place]').length === 2");
    browser.until(&format!("{NOW} === '1'"));
    browser.open_panel("#more-panel");
    browser.click("#copy-link");
    browser.until("document.querySelector('#link').textContent");
    let link = browser.text("#link");
    assert_eq!(link, format!("http://{address}/#/brandubh/moves=d6c6_d5e5/ply=1"));
    // Where the browser does not let the page copy, as over plain HTTP, the link is there to be marked.
    browser.run(
        "Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true }); \
         document.querySelector('#link').textContent = '';",
    );
    browser.click("#copy-link");
    browser.until("document.querySelector('#problem').textContent.includes('mark the text')");
    assert_eq!(browser.text("#link"), link);
    // Written into the page that is open.
    browser.run("location.hash = '#/tablut';");
    browser.until("document.querySelectorAll('.squares button').length === 81");
    // The page may name its game in the address before it hears of another one.
    browser.run(
        "const named = location.hash; location.hash = '#/tablut/moves=a1a2'; history.replaceState(null, '', named);",
    );
    browser.until("document.querySelector('#problem').textContent.includes('ply 1')");
    assert_eq!(browser.run("return location.hash.startsWith('#/');"), false);
    open("/chess/moves=e2e4");
    browser.until("document.querySelector('#problem').textContent.includes('chess')");
    browser.until("document.querySelector('.squares .movable')");
    assert!(!browser.text("#problem").is_empty(), "the word stays while the first game goes on");
    let refused = "/api/games/open - Failed to load resource: the server responded with a status of 400";
    browser.check_console_but(&[refused]);
}

/// A server in a process of its own.
struct Server(Child);

impl Server {
    /// Starts this program again as a server at an address, and waits until it listens.
    fn start(address: SocketAddr) -> Server {
        let program = std::env::current_exe().expect("this program");
        let arguments = ["--exact", "tree::a_server_for_the_test_of_restarts", "--ignored", "--nocapture"];
        let child = Command::new(program).args(arguments).env("HNEFI_TEST_LISTEN", address.to_string()).spawn();
        let patience = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(address).is_err() {
            assert!(Instant::now() < patience, "the server does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        Server(child.expect("a process"))
    }

    fn kill(&mut self) {
        // It may have gone by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

#[test]
#[ignore = "a process of the test below"]
fn a_server_for_the_test_of_restarts() {
    let Ok(address) = std::env::var("HNEFI_TEST_LISTEN") else { return };
    let config = WebConfig { listen: address.parse().expect("an address"), ..WebConfig::default() };
    WebServer::bind(config).expect("a free port").run().expect("it serves until it is killed");
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_game_survives_a_server_that_is_killed_and_started_again() {
    let browser = Browser::start();
    let address = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port");
    let mut server = Server::start(address);
    browser.size(1280, 860, 1.0);
    browser.open(&format!("http://{address}/"));
    let my_turn = "document.querySelector('.squares .movable')";
    browser.until(my_turn);
    // A reply to a move, then another try: three moves and a variation of two.
    browser.some_move(3);
    browser.until(&format!("{NOW} === '3' && {my_turn}"));
    browser.click("#undo");
    browser.until(&format!("{NOW} === '1' && {my_turn}"));
    browser.some_move(5);
    browser.until(&format!("{NOW} === '5' && {my_turn}"));
    let seen = "return [document.querySelector('#fen').textContent, document.querySelector('#moves').textContent, \
                document.querySelector('#who-top').textContent, document.querySelector('.bar').className];";
    let before = browser.run(seen);
    let kept = "localStorage.getItem(`hnefi.game.${location.hash.slice(1, 33)}`)?.includes('\"place\":[3,3]')";
    browser.until(kept);
    browser.until("/^#[0-9a-f]{32}.brandubh.moves=/.test(location.hash)");
    let id = browser.run("return location.hash;");

    server.kill();
    browser.until("document.body.classList.contains('lost')");
    let mut server = Server::start(address);
    browser.until("!document.body.classList.contains('lost')");
    browser.until(my_turn);
    assert_eq!(browser.run("return location.hash.slice(0, 33);"), id.as_str().expect("a text")[..33]);
    assert_eq!(browser.run(seen), before, "the game, its variation, the opponent and the side that is seen");
    assert!(browser.text("#problem").is_empty(), "{}", browser.text("#problem"));
    browser.some_move(2);
    browser.until(&format!("document.querySelectorAll('#moves [data-place]').length === 7 && {my_turn}"));

    // What was played since is kept, too, and stands in the address: the server may be killed once more.
    browser.until(
        "JSON.parse(localStorage.getItem(`hnefi.game.${location.hash.slice(1, 33)}`))?.plies === 5 && \
         location.hash.split('_').length === 5",
    );
    let before = browser.run(seen);
    server.kill();
    browser.until("document.body.classList.contains('lost')");
    let _again = Server::start(address);
    browser.until("!document.body.classList.contains('lost')");
    browser.until(my_turn);
    assert_eq!(browser.run(seen), before);

    // And with the page loaded anew at the address of before, and without an address.
    for place in [id.as_str().expect("a text"), ""] {
        browser.open("about:blank");
        browser.open(&format!("http://{address}/{place}"));
        browser.until(my_turn);
        assert_eq!(browser.run(seen), before, "{place}");
    }
    browser.check_console_but(&["Failed to load resource", "ERR_"]);
}
