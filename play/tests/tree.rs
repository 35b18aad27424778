//! Games as trees: variations by requests and in a headless Chromium, permanent addresses, and games that are opened
//! again on another server, or on the same one after it was killed.

mod driver;
mod http;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use hnefi_play::web::{WebConfig, WebServer};
use serde_json::{Value, json};

use driver::Browser;
use http::{get, post, request, serve, wait};

/// The path of something that is done with a game.
fn of(state: &Value, what: &str) -> String {
    format!("/api/games/{}/{what}", state["id"].as_str().expect("an id"))
}

fn paste(address: SocketAddr, text: &str) -> Value {
    post(address, "/api/games/open", &json!({ "text": { "text": text, "rules": "brandubh" } })).ok()
}

fn play(address: SocketAddr, state: &Value, mv: &str) -> Value {
    post(address, &of(state, "move"), &json!({ "move": mv, "stamp": state["stamp"] })).ok()
}

/// The texts of the moves, each with the place it follows.
fn moves(state: &Value) -> Vec<String> {
    let text = |mv: &Value| format!("{}>{} {}", mv[1], mv[0], mv[2].as_str().expect("a text"));
    state["tree"]["moves"].as_array().expect("moves").iter().map(text).collect()
}

fn export(address: SocketAddr, state: &Value) -> String {
    get(address, &of(state, "export?format=pgn")).body
}

const TREE: &str = "1. d6-c6 {why?} d5-e5 (1... d5-f5 2. c6-c5) 2. c6-c5 *";

#[test]
fn variations_are_made_gone_to_promoted_and_removed() {
    let address = serve(WebConfig::default());
    let state = paste(address, TREE);
    assert_eq!(moves(&state), ["0>1 d6-c6", "1>2 d5-e5", "2>3 c6-c5", "1>4 d5-f5", "4>5 c6-c5"]);
    assert_eq!(state["tree"]["comments"], json!({ "1": "why?" }));
    let go = |place: u32| post(address, &of(&state, "go"), &json!({ "place": place }));
    let there = go(5).ok();
    assert_eq!(
        (&there["ply"], &there["tree"]["line"], &there["departed"]),
        (&json!(3), &json!([1, 4, 5]), &json!(true))
    );
    let back = post(address, &of(&state, "go"), &json!({ "ply": 1 })).ok();
    assert_eq!((&back["plies"], &back["tree"]["place"], &back["departed"]), (&json!(3), &json!(1), &json!(false)));
    let another = play(address, &back, "d3e3");
    assert_eq!(moves(&another)[5..], ["1>6 d3-e3"]);
    let promoted = post(address, &of(&state, "promote"), &json!({ "place": 6 })).ok();
    assert_eq!(moves(&promoted)[1..3], ["1>6 d3-e3", "1>2 d5-e5"]);
    let commented = post(address, &of(&state, "comment"), &json!({ "place": 0, "text": "The {start}" })).ok();
    assert_eq!(commented["tree"]["comments"]["0"], "The (start)");
    assert_eq!(commented["stamp"], promoted["stamp"], "no search begins anew");
    post(address, &of(&state, "promote"), &json!({ "place": 5, "main": true })).ok();
    let removed = post(address, &of(&state, "remove"), &json!({ "place": 2 })).ok();
    assert_eq!(moves(&removed), ["0>1 d6-c6", "1>4 d5-f5", "4>5 c6-c5", "1>6 d3-e3"]);
    assert!(removed["tree"]["stamp"].as_u64() > promoted["tree"]["stamp"].as_u64());
    let text = export(address, &state);
    assert!(text.contains("{The (start)} 1. d6-c6 {why?} 1... d5-f5 (1... d3-e3) 2. c6-c5 *"), "{text}");
    assert_eq!(moves(&paste(address, &text)).len(), 4, "read again");
    go(2).refused(400, "no move 2");
    post(address, &of(&state, "remove"), &json!({ "place": 0 })).refused(400, "the start is no move");
    post(address, &of(&state, "promote"), &json!({ "place": 4, "up": 1 })).refused(400, "up");
    post(address, &of(&state, "go"), &json!({ "ply": 1, "place": 4 })).refused(400, "the request");
    post(address, &of(&state, "comment"), &json!({ "place": 4, "text": "x".repeat(5000) }))
        .refused(400, "at most 4000");
    let broken = json!({ "text": { "text": "d6-c6\n(d6-b6", "rules": "brandubh" } });
    post(address, "/api/games/open", &broken).refused(400, "line 2: the variation that begins here has no end");
}

#[test]
fn a_game_that_goes_on_keeps_what_was_taken_back() {
    let address = serve(WebConfig::default());
    let seat = json!({ "player": "random" });
    let state = post(address, "/api/games", &json!({ "rules": "brandubh", "attackers": {}, "defenders": seat })).ok();
    let here = of(&state, "");
    let here = here.trim_end_matches('/');
    play(address, &state, "d6c6");
    wait(address, here, |state| state["ply"] == 2);
    let state = post(address, &of(&state, "undo"), &json!({})).ok();
    play(address, &state, "d6b6");
    let state = wait(address, here, |state| state["ply"] == 2);
    let found = moves(&state);
    assert!(found[0].ends_with("d6-b6") && found[2].ends_with("d6-c6"), "what is played is the main line: {found:?}");
    assert_eq!((found.len(), &state["departed"]), (4, &json!(false)));
    // The player answers where the game goes on, and not where somebody only looks.
    let looked = post(address, &of(&state, "go"), &json!({ "place": 1 })).ok();
    assert_eq!((&looked["thinking"], &looked["departed"]), (&json!(false), &json!(true)));
}

#[test]
fn addresses_lead_to_games() {
    let address = serve(WebConfig::default());
    let open = |at: &str| post(address, "/api/games/open", &json!({ "address": at }));
    let state = open("brandubh/moves=d6c6_d5e5_c6c5").ok();
    assert_eq!((&state["ply"], &state["rules"]["name"]), (&json!(3), &json!("brandubh")));
    post(address, &of(&state, "go"), &json!({ "ply": 1 })).ok();
    let link = get(address, &of(&state, "address")).ok()["address"].as_str().expect("an address").to_owned();
    assert_eq!(link, "brandubh/moves=d6c6_d5e5_c6c5/ply=1");
    assert_eq!(open(&link).ok()["board"], get(address, of(&state, "").trim_end_matches('/')).ok()["board"]);
    open("chess/moves=e2e4").refused(400, "unknown ruleset");
    open("brandubh/moves=e2e4").refused(400, "the address: ply 1");
    post(address, &of(&state, "address"), &json!({})).refused(405, "method");
}

#[test]
fn a_game_is_opened_again_as_it_was_left_on_another_server() {
    let (first, second) = (serve(WebConfig::default()), serve(WebConfig { seed: 2, ..WebConfig::default() }));
    let mut count = 0;
    let mut again = |state: &Value, kept: &Value| {
        count += 1;
        let id = format!("{count:032x}");
        let found = post(second, "/api/games/open", &json!({ "kept": { "id": id, "game": kept["game"] } })).ok();
        assert_eq!(found["id"], id, "its links lead to it again");
        for part in ["rules", "board", "ply", "plies", "seats", "source", "departed", "history", "number", "ending"] {
            assert_eq!(found[part], state[part], "{part}");
        }
        for part in ["moves", "comments", "first"] {
            assert_eq!(found["tree"][part], state["tree"][part], "{part}");
        }
        found
    };
    // A game that is looked at, off its main line.
    let state = paste(first, &format!("[Rules \"brandubh\"]\n[Attackers \"Anna\"]\n\n{}", TREE.replace('*', "1-0")));
    let state = post(first, &of(&state, "go"), &json!({ "place": 4 })).ok();
    assert_eq!((&state["departed"], &state["seats"][0]["name"]), (&json!(true), &json!("Anna")));
    let kept = get(first, &of(&state, "kept")).ok();
    let found = again(&state, &kept);
    assert!(export(second, &found).contains("[Result \"1-0\"]"), "how it ended is known");
    // One against a player, that goes on, and its end.
    let seat = json!({ "player": "model:shipped/brandubh", "strength": { "level": 1 } });
    let state = post(first, "/api/games", &json!({ "rules": "brandubh", "attackers": {}, "defenders": seat })).ok();
    play(first, &state, "d6c6");
    let here = of(&state, "");
    let state = wait(first, here.trim_end_matches('/'), |state| state["ply"] == 2);
    let found = again(&state, &get(first, &of(&state, "kept")).ok());
    assert_eq!((&found["views"][1], &found["your_turn"]), (&state["views"][1], &json!(true)));
    let target = |state: &Value| {
        let (from, to) = state["moves"].as_object().expect("moves").iter().next().expect("a move");
        format!("{from}{}", to[0].as_str().expect("a square"))
    };
    play(second, &found, &target(&found));
    wait(second, of(&found, "").trim_end_matches('/'), |state| state["ply"] == 4);
    let state = post(first, &of(&state, "resign"), &json!({})).ok();
    again(&state, &get(first, &of(&state, "kept")).ok());
    // Clocks go on, and nobody takes back by deleting while they run.
    let timed = json!({ "rules": "brandubh", "attackers": {}, "defenders": {}, "clock": { "seconds": 60 } });
    let timed = play(first, &post(first, "/api/games", &timed).ok(), "d6c6");
    post(first, &of(&timed, "remove"), &json!({ "place": 1 })).refused(409, "while the clock runs");
    let found = again(&timed, &get(first, &of(&timed, "kept")).ok());
    assert_eq!((&found["clock"]["running"], &found["clock"]["left"][0]), (&json!("defenders"), &json!(60_000)));
    let left = found["clock"]["left"][1].as_u64().expect("milliseconds");
    assert!((50_000..60_000).contains(&left), "{left}");
    // A player that is here no more leaves its side to a person.
    let mut kept = get(first, &of(&state, "kept")).ok()["game"].take();
    kept["defenders"]["player"] = json!("model:run/7");
    let open = |id: &str, kept: &Value| post(second, "/api/games/open", &json!({ "kept": { "id": id, "game": kept } }));
    let found = open(&"a".repeat(32), &kept).ok();
    assert_eq!(found["seats"][1]["person"], true);
    let problem = &found["problem"];
    assert!(problem["error"].as_str().is_some_and(|words| words.contains("run/7")), "{problem}");
    assert_eq!(open(&"a".repeat(32), &json!({})).status, 400);
    assert_eq!(open(&"a".repeat(32), &kept).ok()["opened"], found["opened"], "whoever comes later finds the same game");
    open("../../setup", &kept).refused(400, "32 letters of 0-9a-f");
    // What was tampered with is refused in words.
    for (part, value, words) in [
        ("pgn", json!("[Rules \"brandubh\"]\n\n(d6c6"), "the kept game cannot be opened: line 3"),
        ("place", json!([9, 99]), "the kept game cannot be opened: place 99"),
        ("players", json!(["x".repeat(500), null]), "a kept name of 500 bytes"),
        ("views", json!(vec![[0, 0, 0]; 90]), "90 views"),
        ("seat", json!(1), "seat"),
    ] {
        let mut kept = kept.clone();
        kept[part] = value;
        open(&"b".repeat(32), &kept).refused(400, words);
    }
}

#[test]
fn trees_are_bounded_and_a_long_game_is_told_in_few_letters() {
    let address = serve(WebConfig::default());
    // Two men walk to and fro, where nothing ends the game.
    let round = ["d7c7", "d5c5", "c7d7", "c5d5"];
    let long: Vec<&str> = (0..1000).map(|ply| round[ply % 4]).collect();
    let rules = "brandubh/repetition=ignore/no_capture_draw_plies=0";
    let game = json!({ "address": format!("{rules}/moves={}", long.join("_")) });
    let state = post(address, "/api/games/open", &game).ok();
    assert_eq!(state["plies"], 1000);
    let told = get(address, of(&state, "").trim_end_matches('/')).body.len();
    assert!(told < 160 << 10, "{told} bytes");
    let tree = state["tree"].to_string().len();
    assert!(tree < 32 << 10, "{tree} bytes of the tree");
    let more =
        |state: &Value, mv: &str| post(address, &of(state, "move"), &json!({ "move": mv, "stamp": state["stamp"] }));
    more(&state, "d7c7").refused(400, "1000 plies");
    let reopened = |state: &Value, most: usize| {
        let kept = get(address, &of(state, "kept")).ok()["game"].take();
        assert!(kept.to_string().len() < most, "{} bytes kept", kept.to_string().len());
        post(address, "/api/games/open", &json!({ "kept": { "id": "c".repeat(32), "game": kept } })).ok();
        get(address, &format!("/api/games/{}", "c".repeat(32))).ok();
        request(address, "DELETE", &format!("/api/games/{}", "c".repeat(32)), &[], None).ok();
    };
    reopened(&state, 32 << 10);

    // As many variations as there may be, and one more.
    let others = "(d7b7) (d7e7) (d7f7) (d6c6) (d6b6) (d6a6) (d6e6) (d6f6) (d6g6) (b4b3) (b4b2) (b4b5)";
    let tags = export(address, &state).split("\n\n").next().expect("tags").to_owned();
    let rounds = vec![format!("d7c7 {others} d5c5 c7d7 c5d5"); 250].join("\n");
    let open = |moves: &str| {
        let text = json!({ "text": { "text": format!("{tags}\n\n{moves}"), "rules": "brandubh" } });
        post(address, "/api/games/open", &text)
    };
    let state = open(&rounds).ok();
    assert_eq!(state["tree"]["moves"].as_array().map(Vec::len), Some(4000));
    more(&state, "b4b6").refused(400, "4000 moves with their variations");
    assert_eq!(more(&state, "d6g6").ok()["plies"], 1, "what is there can be gone into");
    open(&rounds.replacen("(b4b5)", "(b4b5) (b4b6)", 1)).refused(400, "4001 moves with its variations");
    reopened(&state, 128 << 10);
}

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
    browser.run("location.hash = '#/tablut/moves=a1a2';");
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
        let arguments = ["--exact", "a_server_for_the_test_of_restarts", "--nocapture"];
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
    let some_move = |number: usize| {
        for class in [".squares .movable", ".squares [aria-label$=target]"] {
            let pick = format!(
                "const all = [...document.querySelectorAll('{class}')]; \
                 return all[{number} % all.length].dataset.square;"
            );
            let square = browser.run(&pick);
            browser.click(&format!("[data-square=\"{}\"]", square.as_str().expect("a square")));
        }
    };
    some_move(3);
    browser.until(&format!("{NOW} === '3' && {my_turn}"));
    browser.click("#undo");
    browser.until(&format!("{NOW} === '1' && {my_turn}"));
    some_move(5);
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
    let _again = Server::start(address);
    browser.until("!document.body.classList.contains('lost')");
    browser.until(my_turn);
    assert_eq!(browser.run("return location.hash.slice(0, 33);"), id.as_str().expect("a text")[..33]);
    assert_eq!(browser.run(seen), before, "the game, its variation, the opponent and the side that is seen");
    assert!(browser.text("#problem").is_empty(), "{}", browser.text("#problem"));
    some_move(2);
    browser.until(&format!("document.querySelectorAll('#moves [data-place]').length === 7 && {my_turn}"));

    // And with the page loaded anew at the address of before, and without an address.
    let before = browser.run(seen);
    for place in [id.as_str().expect("a text"), ""] {
        browser.open("about:blank");
        browser.open(&format!("http://{address}/{place}"));
        browser.until(my_turn);
        assert_eq!(browser.run(seen), before, "{place}");
    }
    browser.check_console_but(&["Failed to load resource", "ERR_"]);
}
