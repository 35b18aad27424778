//! What brings a person back to the board, in a headless Chromium: games that are kept and listed, links that lead to
//! them again, mistakes that come back, invitations, and a browser's storage in which anything may lie.

use std::net::SocketAddr;

use hnefi_web::WebConfig;
use serde_json::{Value, json};

use super::driver::{Browser, MY_TURN, PLIES};
use super::http::{get, post, request, serve, two_people};

const FEN: &str = "return document.querySelector('#fen').textContent;";

fn begin() -> (Browser, SocketAddr) {
    let browser = Browser::start();
    browser.size(1280, 800, 1.0);
    (browser, serve(WebConfig::default()))
}

/// A game with a move and its answer on the board, and its id.
fn begun() -> (Browser, String) {
    let (browser, address) = begin();
    browser.open(&format!("http://{address}/"));
    browser.my_turn();
    browser.some_move(2);
    browser.my_turn();
    let id = kept(&browser);
    (browser, id)
}

/// Opens a page anew, as in another visit of the same tab.
fn visit(browser: &Browser, url: &str) {
    browser.open("about:blank");
    browser.open(url);
}

/// The id of the game on the board, once the address names it and it is kept as it stands.
fn kept(browser: &Browser) -> String {
    browser.until(&format!(
        "JSON.parse(localStorage.getItem(`hnefi.game.${{location.hash.slice(1, 33)}}`))?.plies === {PLIES}"
    ));
    browser.run("return location.hash.slice(1, 33);").as_str().expect("an id").to_owned()
}

/// Makes a game of its own by the dialog's request.
fn enter(browser: &Browser, path: &str, body: &Value) {
    let script = format!(
        "const done = arguments[arguments.length - 1]; \
         import(new URL('assets/state.js', location.href)).then(({{ enter }}) => enter('{path}', {body})).then(\
         (state) => done(state.id), (error) => done(String(error)));"
    );
    let id = browser.run_later(&script);
    browser.until(&format!("location.hash.startsWith('#{}')", id.as_str().expect("an id")));
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn the_unfinished_game_comes_back_by_itself_and_all_games_are_listed() {
    let (browser, address) = begin();
    let board = format!("http://{address}/");
    browser.open(&board);
    browser.my_turn();
    // Who only looks in has no game in the list.
    browser.open_dialog("#my-games", "#games-dialog");
    assert!(browser.text("#games-dialog").contains("no games yet"), "{}", browser.text("#games-dialog"));
    browser.run("document.querySelector('#games-dialog').close();");
    for number in [2, 7] {
        browser.some_move(number);
        browser.my_turn();
    }
    let first = kept(&browser);
    let fen = browser.run(FEN);
    for way in ["#to-learn", "#to-puzzles"] {
        browser.click(way);
        browser.until("document.querySelector('main.stage:not([aria-busy])')");
        browser.click("#to-board");
        browser.my_turn();
        assert_eq!(browser.run(FEN), fen, "{way}");
    }
    // Another tab, which has left no game, begins with the one that is not over; a game begun beside it is kept, too.
    browser.run("sessionStorage.clear();");
    visit(&browser, &board);
    browser.my_turn();
    assert_eq!(browser.run(FEN), fen);
    enter(&browser, "/api/games", &json!({ "rules": "tablut", "attackers": {}, "defenders": {} }));
    browser.some_move(3);
    let second = kept(&browser);
    browser.open_dialog("#my-games", "#games-dialog");
    let list = "return [...document.querySelectorAll('#games-dialog li')].map((one) => one.dataset.game);";
    assert_eq!(browser.run(list), json!([second, first]));
    assert!(
        browser.text("#games-dialog").contains("Tablut, 9×9 Both (two people)"),
        "{}",
        browser.text("#games-dialog")
    );
    for (width, height, scale) in [(390, 844, 2.0), (1280, 800, 1.0)] {
        browser.size(width, height, scale);
        browser.keep_picture(&format!("my-games-{width}.png"));
        assert_eq!(browser.run("return document.documentElement.scrollWidth > innerWidth;"), false);
    }
    // What a button saves, caught on its way to the file.
    let saved = |format: &str| {
        browser.run(&format!(
            "window.saved = null; const make = URL.createObjectURL; URL.createObjectURL = (blob) => {{ \
             URL.createObjectURL = make; blob.text().then((text) => {{ window.saved = text; }}); \
             return make(blob); }}; \
             document.querySelector(`[data-game='{first}'] [data-do={format}]`).click();"
        ));
        browser.until("window.saved").as_str().expect("a text").to_owned()
    };
    let pgn = saved("pgn");
    assert!(pgn.contains("[Rules \"brandubh\"]") && pgn.contains("[Defenders \"person\"]"), "{pgn}");
    let json: Value = serde_json::from_str(&saved("jsonl")).expect("a line of JSON");
    assert_eq!(json["moves"].as_array().map(Vec::len), Some(5), "{json}");
    browser.until(&format!("document.querySelector(`[data-game='{second}'][aria-current]`)"));
    // Who only looks at a game has not played on.
    browser.run(&format!(
        "const key = 'hnefi.game.{first}'; const one = JSON.parse(localStorage.getItem(key)); \
         localStorage.setItem(key, JSON.stringify({{ ...one, time: 1000, accuracy: null }}));"
    ));
    browser.click(&format!("[data-game='{first}'] .open"));
    browser.until(&format!("!document.querySelector('#games-dialog').open && location.hash.startsWith('#{first}/')"));
    assert_eq!(browser.run(FEN), fen);
    assert_eq!(browser.stored(&format!("game.{first}"))["time"], 1000);
    // Deleted is what was meant to be, after a second press.
    browser.open_dialog("#my-games", "#games-dialog");
    let delete = format!("[data-game='{second}'] [data-do=delete]");
    browser.click(&delete);
    assert_eq!(browser.run(list).as_array().map(Vec::len), Some(2));
    browser.click(&delete);
    assert_eq!(browser.run(list), json!([first]));
    assert_eq!(browser.run("return document.activeElement.closest('[data-game]').dataset.game;"), json!(first));
    browser.check_console_but(&["/api/games/"]);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn the_same_again_is_another_game_beside_the_one_before() {
    let (browser, first) = begun();
    let fen = browser.run(FEN);
    browser.open_dialog("#new", "#new-dialog");
    // Keys begin at what is chosen, and not at the cross that closes the dialog.
    assert_eq!(browser.run("return document.activeElement.matches('[name=rules]:checked');"), true);
    browser.run(
        "[...document.querySelectorAll('#new-dialog .end button')].find((one) => \
         one.textContent === 'Same again').click();",
    );
    browser.until(&format!("!location.hash.startsWith('#{first}') && {PLIES} === 1"));
    browser.my_turn();
    browser.open_dialog("#my-games", "#games-dialog");
    browser.click(&format!("[data-game='{first}'] .open"));
    browser.until(&format!("!document.querySelector('#games-dialog').open && location.hash.startsWith('#{first}')"));
    assert_eq!(browser.run(FEN), fen);
    browser.check_console_but(&["/api/games/"]);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn more_tabs_than_a_browser_has_connections_show_the_same_game() {
    let (browser, address) = begin();
    let id = two_people(address, "brandubh")["id"].as_str().expect("an id").to_owned();
    let board = format!("http://{address}/#{id}");
    browser.open(&board);
    browser.my_turn();
    let first = browser.tab();
    for _ in 0..7 {
        browser.open_tab(&board);
        browser.my_turn();
    }
    browser.some_move(2);
    browser.show_tab(&first);
    browser.until(&format!("{PLIES} === 1"));
    browser.some_move(5);
    // Where a clock runs it is told to tabs that nobody sees, too.
    let clock = json!({ "seconds": 600 });
    let timed = json!({ "rules": "brandubh", "attackers": {}, "defenders": {}, "clock": clock });
    enter(&browser, "/api/games", &timed);
    browser.some_move(2);
    let id = browser.run("return location.hash.slice(1, 33);").as_str().expect("an id").to_owned();
    browser.run(
        "new MutationObserver(() => localStorage.setItem('told', document.hidden)).observe(\
         document.querySelector('#moves'), { childList: true });",
    );
    browser.open_tab(&format!("http://{address}/#{id}"));
    browser.until(&format!("{PLIES} === 1"));
    browser.some_move(5);
    assert_eq!(browser.until("localStorage.getItem('told')"), "true");
    browser.check_console();
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_link_leads_to_its_game_for_whoever_does_not_know_its_id() {
    let (browser, address) = begin();
    browser.open(&format!("http://{address}/#/tablut/moves=e2f2_e3f3"));
    browser.until(&format!("{PLIES} === 2"));
    browser.some_move(4);
    browser.until("location.hash.split('_').length === 3");
    let named = browser.run("return location.hash;").as_str().expect("a fragment").to_owned();
    assert!(named[33..].starts_with("/tablut/moves=e2f2_e3f3_"), "{named}");
    let fen = browser.run(FEN);
    // A server that was started again, for which this browser kept the game, and another browser, which keeps nothing.
    request(address, "DELETE", &format!("/api/games/{}", &named[1..33]), &[], None).ok();
    visit(&browser, &format!("http://{address}/{named}"));
    browser.until(&format!("{PLIES} === 3"));
    assert_eq!(
        (browser.run(FEN), browser.run("return location.hash.slice(0, 33);")),
        (fen.clone(), json!(named[..33]))
    );
    let other = serve(WebConfig::default());
    visit(&browser, &format!("http://{other}/{named}"));
    browser.until(&format!("{PLIES} === 3"));
    assert_eq!(browser.run(FEN), fen);
    // An id that nobody knows is said so, and a board stands there.
    visit(&browser, &format!("http://{other}/#{}", "0".repeat(32)));
    browser.my_turn();
    assert!(browser.text("#problem").contains("not known any more"), "{}", browser.text("#problem"));
    browser.check_console_but(&["/api/games/"]);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn mistakes_of_a_reviewed_game_come_back_another_day() {
    let (browser, address) = begin();
    browser.open(&format!("http://{address}/"));
    // The page sets up a game of its own first.
    browser.my_turn();
    // The attackers let the king out; a person has played them.
    let seat = json!({ "player": "random" });
    enter(&browser, "/api/games", &json!({ "rules": "brandubh", "attackers": {}, "defenders": seat }));
    for number in [1, 8, 3] {
        browser.until(&format!("{MY_TURN} || document.querySelector('.status.ended')"));
        if browser.run("return Boolean(document.querySelector('.status.ended'));") == false {
            browser.some_move(number);
        }
    }
    browser.until(&format!("{MY_TURN} || document.querySelector('.status.ended')"));
    browser.end_and_review();
    browser.until("JSON.parse(localStorage.getItem(`hnefi.game.${location.hash.slice(1, 33)}`))?.accuracy?.[0] >= 0");
    let today = browser.run(
        "const now = new Date(); return Math.round(Date.UTC(now.getFullYear(), now.getMonth(), \
                             now.getDate()) / 864e5);",
    );
    // Played at random, they may be none; then one is put there as a review would.
    for one in browser.stored("mistakes").as_array().into_iter().flatten() {
        assert_eq!(one["due"].as_u64(), today.as_u64().map(|day| day + 1), "tomorrow: {one}");
    }
    assert_eq!(browser.run("return document.querySelector('#due').hidden;"), true, "nothing is due today");
    // The king goes out at once if the attackers do not stand in his way.
    let mistake =
        json!([{ "rules": "brandubh", "fen": "7/7/5a1/3k3/1a5/7/7 a", "move": "b3b4", "passed": 1, "due": today }]);
    browser.run(&format!("localStorage.setItem('hnefi.mistakes', JSON.stringify({mistake}));"));
    visit(&browser, &format!("http://{address}/"));
    browser.until("!document.querySelector('#due').hidden");
    assert_eq!(browser.text("#due"), "Try 1 mistake of yours again");
    browser.click("#due");
    browser.until("document.querySelector('#status').textContent.includes('Find a better move')");
    assert!(browser.text("#game-title").contains("From a game of yours"), "{}", browser.text("#game-title"));
    assert_eq!(browser.run("return document.querySelectorAll('.over .arrow.better').length;"), 0, "no answer yet");
    for (width, height, scale) in [(390, 844, 2.0), (1280, 800, 1.0)] {
        browser.size(width, height, scale);
        browser.keep_picture(&format!("again-{width}.png"));
    }
    // Who loads the page anew in the middle is asked again, and it counts.
    let here = browser.run("return location.href;");
    visit(&browser, here.as_str().expect("an address"));
    browser.until("document.querySelector('#status').textContent.includes('Find a better move')");
    browser.click("#retry-answer");
    browser.until("document.querySelector('.over .arrow.better')");
    let after = browser.stored("mistakes");
    let due = |days: u64| today.as_u64().map(|day| day + days);
    assert_eq!((&after[0]["passed"], after[0]["due"].as_u64()), (&json!(0), due(1)), "tomorrow again: {after}");
    assert_eq!(browser.run("return document.querySelector('#due').hidden;"), true);
    // Found, it comes back later.
    browser.run(&format!("localStorage.setItem('hnefi.mistakes', JSON.stringify({mistake}));"));
    visit(&browser, &format!("http://{address}/?retry"));
    browser.until("document.querySelector('#status').textContent.includes('Find a better move')");
    let best = browser.run_later(
        "const done = arguments[arguments.length - 1]; import(new URL('assets/state.js', location.href)).then(\
         ({ page }) => done(page.state.review.plies[0].best));",
    );
    for square in ["from", "to"] {
        browser.click(&format!("[data-square={}]", best[square].as_str().expect("a square")));
    }
    browser.until("document.querySelector('#status').textContent.includes('the best move')");
    let after = browser.stored("mistakes");
    assert_eq!((&after[0]["passed"], after[0]["due"].as_u64()), (&json!(2), due(7)), "in a week: {after}");
    browser.check_console_but(&["/api/games/"]);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn an_invitation_leads_somebody_else_to_the_same_game() {
    let (browser, address) = begin();
    browser.open(&format!("http://{address}/"));
    browser.my_turn();
    assert_eq!(browser.run("return document.querySelector('#invite').hidden;"), true, "a game against a player");
    enter(&browser, "/api/games", &json!({ "rules": "brandubh", "attackers": {}, "defenders": {} }));
    browser.until("!document.querySelector('#invite').hidden");
    browser.click("#invite");
    browser.until("document.querySelector('#invite-link')?.textContent");
    assert!(browser.text("#ask-dialog").contains("this device alone"), "{}", browser.text("#ask-dialog"));
    let link = browser.text("#invite-link");
    // Where others can come there is a code, too: as a proxy with a name shows the page.
    let id = browser.run("return location.hash.slice(1, 33);").as_str().expect("an id").to_owned();
    let page = "https%3A%2F%2Fboard.example%2Ftafl%2F";
    let found = get(address, &format!("/api/games/{id}/invitation?page={page}")).ok();
    assert_eq!(
        (&found["link"], &found["reachable"]),
        (&json!(format!("https://board.example/tafl/#{id}")), &json!(true))
    );
    browser.run(&format!(
        "const real = fetch; window.fetch = (path, ...rest) => real(path.includes('/invitation?') ? \
         'api/games/{id}/invitation?page={page}' : path, ...rest); document.querySelector('#ask-dialog').close();"
    ));
    browser.until("!document.querySelector('#ask-dialog').firstChild");
    browser.click("#invite");
    browser.until("document.querySelector('.invitation .code path')?.getBoundingClientRect().width > 100");
    for (width, height, scale) in [(390, 844, 2.0), (1280, 800, 1.0)] {
        browser.size(width, height, scale);
        browser.keep_picture(&format!("invitation-{width}.png"));
        assert_eq!(browser.run("return document.documentElement.scrollWidth > innerWidth;"), false);
    }
    browser.run("document.querySelector('#ask-dialog').close();");
    let guest = Browser::start();
    guest.open(&link);
    guest.until(MY_TURN);
    browser.some_move(2);
    guest.until(&format!("{PLIES} === 1"));
    guest.some_move(5);
    browser.until(&format!("{PLIES} === 2"));
    // Who turns to another game takes nothing from the other one.
    enter(&browser, "/api/games", &json!({ "rules": "tablut", "attackers": {}, "defenders": {} }));
    guest.some_move(1);
    assert_eq!(get(address, &format!("/api/games/{id}")).ok()["ply"], 3);
    guest.check_console();
    get(address, "/api/games/0/invitation?page=http%3A%2F%2Fx%2F").refused(404, "not open here");
    let id = two_people(address, "brandubh")["id"].as_str().expect("an id").to_owned();
    get(address, &format!("/api/games/{id}/invitation?page=javascript:alert(1)")).refused(400, "expected an address");
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn whatever_lies_in_the_storage_a_board_stands_there() {
    let (browser, address) = begin();
    let id = "0123456789abcdef0123456789abcdef";
    let entry = json!({
        "time": 1, "goesOn": true, "listed": true, "rules": { "name": "__proto__", "played_on": null, "side": 7 },
        "seats": [{ "person": false, "name": "<img src=x onerror=alert(1)>", "player": "constructor",
                    "strength": { "level": 4 } },
                  { "person": true, "name": null, "player": null, "strength": null }],
        "source": null, "ending": { "winner": "attackers", "reason": "toString", "plies": null }, "plies": 3,
        "accuracy": [50, null], "game": { "pgn": "nonsense" },
    });
    let poisons = [
        json!("toString"),
        json!({ "__proto__": { "x": 1 }, "solved": { "length": 9 }, "streak": "9" }),
        json!([["__proto__", ["board"]], ["constructor", 7], 5]),
        json!({ "value": 1e308, "history": [null, {}], "rated": 3, "last": -9e99 }),
        json!([{ "rules": "x", "fen": "y", "move": "z", "passed": 0, "due": 0 }, null, 5]),
        json!(null),
    ];
    let keys = ["language", "theme", "sound", "lessons", "puzzles", "rating", "daily", "mistakes", "first", "rulesets"];
    browser.open(&format!("http://{address}/assets/icon.svg"));
    for (number, poison) in poisons.iter().enumerate() {
        browser.run(&format!(
            "localStorage.clear(); sessionStorage.clear(); \
             for (const key of {keys:?}) localStorage.setItem('hnefi.' + key, \
             JSON.stringify({poison})); localStorage.setItem('hnefi.game.{id}', JSON.stringify({entry})); \
             localStorage.setItem('hnefi.game.__proto__', JSON.stringify({entry})); \
             localStorage.setItem('hnefi.game.' + 'f'.repeat(32), '{{not JSON'); \
             localStorage.setItem('language', 'toString'); \
             sessionStorage.setItem('hnefi.board', JSON.stringify({poison}));"
        ));
        for (page, there) in [
            ("", MY_TURN),
            (
                "learn.html",
                "document.querySelector('#lesson-title')?.textContent && document.querySelector('.squares')",
            ),
            ("puzzles.html", MY_TURN),
        ] {
            visit(&browser, &format!("http://{address}/{page}"));
            browser.until(there);
            assert_eq!(browser.run("return document.documentElement.lang;"), "en", "{number} {page}");
        }
        assert_eq!(browser.text("#puzzles-solved dd"), "0", "{number}");
    }
    // The list says what it can, as a text; the game that cannot be opened says so and takes nothing away.
    visit(&browser, &format!("http://{address}/"));
    browser.my_turn();
    browser.open_dialog("#my-games", "#games-dialog");
    assert_eq!(browser.run("return document.querySelectorAll('#games-dialog li').length;"), 1);
    assert!(browser.text("#games-dialog").contains("Own rules, 7×7"), "{}", browser.text("#games-dialog"));
    browser.click(&format!("[data-game='{id}'] .open"));
    browser.until("document.querySelector('#games-dialog .problem').textContent.includes('missing field')");
    browser.run("document.querySelector('#games-dialog').close();");
    browser.my_turn();
    // The game to go on with is that one: it is tried once, and a board stands there all the same.
    browser.run(&format!("sessionStorage.setItem('hnefi.board', JSON.stringify('{id}'));"));
    visit(&browser, &format!("http://{address}/"));
    browser.my_turn();
    // An address that holds the game leads to it all the same.
    visit(&browser, &format!("http://{address}/#{id}/brandubh/moves=d6c6"));
    browser.until(&format!("{PLIES} === 1"));
    // What an address asks for and is not there is said, beside a board.
    for (asked, words, board) in [
        ("?rules=nonsense", "no such rules", MY_TURN),
        ("?rules=toString&fen=7/7", "no such rules", MY_TURN),
        ("?run=9&generation=1&index=0", "no run 9", MY_TURN),
        ("#/nonsense", "no game", MY_TURN),
        ("#../setup", "no game", MY_TURN),
        ("#foo", "no game", MY_TURN),
        ("learn.html#nonsense", "no such rules", "document.querySelectorAll('.squares button').length === 49"),
        ("puzzles.html#nonsense", "no puzzles for “nonsense”", MY_TURN),
    ] {
        visit(&browser, &format!("http://{address}/{asked}"));
        browser.until(board);
        browser.until("!document.querySelector('#problem').hidden");
        assert!(browser.text("#problem").contains(words), "{asked}: {}", browser.text("#problem"));
    }
    browser.check_console_but(&["Failed to load resource: the server responded with a status of 40"]);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn where_there_is_no_room_what_cannot_be_read_goes_and_the_game_is_kept() {
    let (browser, id) = begun();
    let [old, strange] = ["a", "b"].map(|letter| letter.repeat(32));
    browser.run(&format!(
        "const kept = localStorage.getItem('hnefi.game.{id}'); localStorage.setItem('hnefi.game.{old}', kept); \
         let text = ''; for (let more = 'x'.repeat(1 << 22); more; more = more.slice(0, more.length >> 1)) \
         try {{ localStorage.setItem('hnefi.game.{strange}', text + more); text += more; }} catch {{ /* too much */ }}"
    ));
    browser.some_move(4);
    browser.my_turn();
    assert_eq!(kept(&browser), id);
    assert_eq!(browser.stored(&format!("game.{strange}")), Value::Null);
    assert!(browser.stored(&format!("game.{old}"))["plies"].is_number());
    browser.check_console();
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_game_takes_the_place_of_the_oldest_of_its_kind() {
    let (browser, id) = begun();
    // With this one, sixty of one's own and six that were opened.
    browser.run(&format!(
        "const one = JSON.parse(localStorage.getItem('hnefi.game.{id}')); \
         for (let time = 1; time <= 65; time++) \
         localStorage.setItem('hnefi.game.' + String(time).padStart(32, '0'), \
         JSON.stringify({{ ...one, time, source: time < 60 ? null : 'game' }}));"
    ));
    let numbers = "const games = Object.keys(localStorage).filter((key) => key.startsWith('hnefi.game.')).map((key) => \
                   JSON.parse(localStorage.getItem(key))); \
                   return [games.filter(({ source }) => !source), games.filter(({ source }) => source)].map((kind) => \
                   [kind.length, Math.min(...kind.map(({ time }) => time))]);";
    assert_eq!(browser.run(numbers), json!([[60, 1], [6, 60]]));
    let text = json!({ "text": { "text": "d6-c6 d5-e5", "rules": "brandubh" } });
    enter(&browser, "/api/games/open", &text);
    kept(&browser);
    assert_eq!(browser.run(numbers), json!([[60, 1], [6, 61]]), "opened to look at");
    enter(&browser, "/api/games", &json!({ "rules": "tablut", "attackers": {}, "defenders": {} }));
    browser.some_move(3);
    kept(&browser);
    assert_eq!(browser.run(numbers), json!([[60, 2], [6, 61]]), "one's own");
    browser.check_console_but(&["/api/games/"]);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn refusals_are_said_in_the_language_of_the_page() {
    let (browser, address) = begin();
    browser.open(&format!("http://{address}/assets/icon.svg"));
    for (language, words) in [("de", "Solche Regeln gibt es nicht: "), ("is", "Þær reglur eru ekki til: ")] {
        browser.run(&format!("localStorage.setItem('hnefi.language', JSON.stringify('{language}'));"));
        visit(&browser, &format!("http://{address}/?rules=nonsense"));
        browser.my_turn();
        assert!(browser.text("#problem").starts_with(words), "{}", browser.text("#problem"));
    }
    // What a search runs into is told with the state.
    let seat = json!({ "player": "model:shipped/brandubh", "strength": { "level": 1 } });
    let game = json!({ "rules": "brandubh", "attackers": seat, "defenders": {} });
    let id = post(address, "/api/games", &game).ok()["id"].clone();
    let mut kept = get(address, &format!("/api/games/{}/kept", id.as_str().expect("an id"))).ok()["game"].take();
    kept["attackers"]["player"] = json!("model:run/7");
    enter(&browser, "/api/games/open", &json!({ "kept": { "id": "d".repeat(32), "game": kept } }));
    browser.until("document.querySelector('#problem').textContent.startsWith('Þessi leikmaður er ekki hér: ')");
    browser.check_console_but(&["favicon.ico", "Failed to load resource: the server responded with a status of 400"]);
}
