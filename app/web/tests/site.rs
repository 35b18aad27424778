//! The page without a server as a person meets it, in a headless Chromium: from a plain file server, below a folder,
//! and after the server has gone.
//!
//! `HNEFI_SITE` names the folder that `scripts/build-site.sh --out` made. Needs it, `chromium` and
//! `chromedriver`. With `HNEFI_PICTURES` pictures of the page are kept.

mod driver;
mod http;
mod own_rules;

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use driver::{Browser, MY_TURN, PLIES};
use hnefi_engine::{MoveList, Position, Preset};
use hnefi_inference::{Devices, EvalRequest, Evaluations, Handicap, Precision, pretrained};
use serde_json::Value;

/// A server of files that knows nothing of the page, and can be made to fall silent.
struct Files {
    address: SocketAddr,
    silent: Arc<AtomicBool>,
}

impl Files {
    /// Serves `folder` as `/games/hnefi/`.
    fn serve(folder: PathBuf) -> Files {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let silent = Arc::new(AtomicBool::new(false));
        let hush = silent.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let folder = folder.clone();
                if !hush.load(Ordering::Relaxed) {
                    // A browser that leaves early concerns nobody.
                    std::thread::spawn(move || answer(stream, &folder));
                }
            }
        });
        Files { address, silent }
    }

    fn url(&self) -> String {
        format!("http://{}/games/hnefi/", self.address)
    }
}

fn answer(mut stream: TcpStream, folder: &Path) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let path = first.split_whitespace().nth(1).unwrap_or_default();
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let name = path.strip_prefix("/games/hnefi/").map(|name| if name.is_empty() { "index.html" } else { name });
    let kind = match path.rsplit('.').next() {
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("wasm") => "application/wasm",
        Some("webmanifest") => "application/manifest+json",
        Some("safetensors") => "application/octet-stream",
        _ => "text/html; charset=utf-8",
    };
    let (status, body) = match name.and_then(|name| std::fs::read(folder.join(name)).ok()) {
        Some(body) => ("200 OK", body),
        None => ("404 Not Found", Vec::new()),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(&body)
}

/// The built page and a browser, or a word on what is missing.
fn begin() -> (PathBuf, Browser) {
    let site = std::env::var_os("HNEFI_SITE").expect("HNEFI_SITE, what scripts/build-site.sh --out made");
    // Tests run in the crate's folder; the name is meant from the workspace's.
    let site = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(site);
    assert!(site.join("index.html").is_file(), "{}: expected the page", site.display());
    (site, Browser::start())
}

/// Plays by the page's own buttons until the game is over, at most `most` moves.
fn play_to_the_end(browser: &Browser, most: usize) {
    for number in 0..most {
        browser.my_turn();
        if browser.run("return Boolean(document.querySelector('.status.ended'));") == Value::Bool(true) {
            return;
        }
        browser.some_move(7 * number + 3);
    }
    panic!("the game is not over after {most} moves: {}", browser.text("#status"));
}

#[test]
#[ignore = "needs chromium, chromedriver and the built page; scripts/check-site.sh runs it"]
fn a_whole_game_an_analysis_and_a_reload_without_the_server() {
    let (site, browser) = begin();
    let files = Files::serve(site);
    browser.size(1280, 860, 1.0);
    browser.open(&files.url());

    // The first game is against the network of Brandubh, which is fetched for it.
    browser.my_turn();
    assert!(browser.text("#status").contains("you play the defenders"), "{}", browser.text("#status"));
    play_to_the_end(&browser, 60);
    assert!(browser.text("#status").contains("win."), "{}", browser.text("#status"));
    browser.keep_picture("site-board.png");

    // Back into the game, and what the network thinks there.
    browser.click("#first");
    browser.until("document.querySelectorAll('#moves .ahead').length > 2");
    browser.open_panel("#analysis-panel");
    browser.until("document.querySelectorAll('#best-moves tbody tr').length >= 4");
    browser.until("document.querySelectorAll('.over .arrow').length >= 2");
    browser.keep_picture("site-analysis.png");

    // Another board, whose network comes when it is wanted: the request of the page's own dialog.
    browser.run(
        "import(new URL('assets/state.js', location.href)).then(({ enter }) => \
         enter('/api/games', { rules: 'copenhagen', attackers: {}, defenders: {} }));",
    );
    browser.until("document.querySelectorAll('.squares button').length === 121");
    browser.until("document.querySelectorAll('#best-moves tbody tr').length >= 4");
    let raw = browser.until("import(new URL('assets/state.js', location.href)).then(({ page }) => page.report?.raw)");
    let expected = raw_chances("copenhagen", Preset::Copenhagen);
    for (name, expected) in ["attackers", "draw", "defenders"].into_iter().zip(expected) {
        let found = raw[name].as_f64().expect("a chance") as f32;
        // The page has three digits.
        assert!((found - expected).abs() < 0.001, "{name}: {found} in the page, {expected} here");
    }

    // A game of this device's files.
    browser.open_panel("#more-panel");
    browser.click("#open");
    browser.run(
        "const field = document.querySelector('#open-file'); const data = new DataTransfer(); \
         data.items.add(new File(['[Rules \"brandubh\"]\\n\\nd6-c6 d5-e5 *\\n'], 'mine.pgn')); \
         field.files = data.files; field.dispatchEvent(new Event('change'));",
    );
    browser.until("document.querySelectorAll('#moves button.ply').length === 2");
    assert!(browser.text("#game-title").contains("Pasted game"), "{}", browser.text("#game-title"));

    // Whatever a host may be doing, a page that was loaded once works.
    browser.until("navigator.serviceWorker.controller");
    files.silent.store(true, Ordering::Relaxed);
    browser.open("about:blank");
    browser.open(&files.url());
    browser.my_turn();
    browser.some_move(5);
    browser.my_turn();
    assert!(browser.run(&format!("return {PLIES};")).as_u64() >= Some(3));

    // So do the lessons and the puzzles.
    browser.click("#to-learn");
    browser.until("Boolean(document.querySelector('#lesson-title')?.textContent)");
    browser.click("#next.main");
    browser.until("document.querySelector('.squares .movable')");
    browser.click("#show");
    browser.until("document.querySelector('#status').dataset.kind === 'right'");
    browser.keep_picture("site-learn.png");
    browser.click("#to-puzzles");
    browser.until("document.querySelector('.squares .movable')");
    browser.click("#solution");
    browser.until("document.querySelector('#status').textContent.includes('The solution is')");
    browser.check_console();
}

#[test]
#[ignore = "needs chromium, chromedriver and the built page; scripts/check-site.sh runs it"]
fn any_tafl_is_played_without_a_server() {
    let (site, browser) = begin();
    let files = Files::serve(site);
    browser.size(390, 844, 1.0);
    own_rules::played_and_found_again(&browser, &files.url(), "site-own-rules.png");
    browser.check_console();
}

#[test]
#[ignore = "needs chromium, chromedriver and the built page; scripts/check-site.sh runs it"]
fn a_game_survives_a_reload_and_a_link_holds_one() {
    let (site, browser) = begin();
    let files = Files::serve(site);
    browser.size(1280, 860, 1.0);
    browser.open(&files.url());
    for number in 0..2 {
        browser.my_turn();
        browser.some_move(4 * number + 1);
    }
    browser.my_turn();
    // One move is taken back and another played, so there is a variation.
    browser.click("#undo");
    browser.until("document.querySelector('#moves .ahead')");
    browser.some_move(3);
    browser.my_turn();
    browser.until(&format!("{PLIES} === 7"));
    let seen = "return [document.querySelector('#fen').textContent, document.querySelector('#moves').textContent, \
                document.querySelector('#who-top').textContent];";
    let before = browser.run(seen);
    let kept = "localStorage.getItem(`hnefi.game.${location.hash.slice(1, 33)}`)?.includes('\"place\":[5,5]')";
    browser.until(kept);
    browser.run("location.reload();");
    browser.until(&format!("{PLIES} === 7 && ({MY_TURN})"));
    assert_eq!(browser.run(seen), before, "the game, its variation and its opponent");
    browser.some_move(2);
    browser.my_turn();

    // Who leaves the board, and who begins another game, loses none: every load gives the games other ids.
    browser.until(&format!("{PLIES} === 9"));
    browser.until("localStorage.getItem(`hnefi.game.${location.hash.slice(1, 33)}`)?.includes('\"plies\":7')");
    let left = browser.run(seen);
    let ids = "return Object.keys(localStorage).filter((key) => key.startsWith('hnefi.game.')).sort();";
    let first = browser.run(ids);
    browser.click("#to-learn");
    browser.until("Boolean(document.querySelector('#lesson-title')?.textContent)");
    browser.click("#to-board");
    browser.my_turn();
    assert_eq!((browser.run(seen), browser.run(ids)), (left.clone(), first.clone()), "the game that was left");
    browser.open_dialog("#new", "#new-dialog");
    browser.click("#start");
    browser.until(&format!("{PLIES} === 1 && ({MY_TURN})"));
    browser.some_move(1);
    browser.until(&format!("{PLIES} === 3 && ({MY_TURN})"));
    browser.until("Object.keys(localStorage).filter((key) => key.startsWith('hnefi.game.')).length === 2");
    let old = first[0].as_str().expect("a key").trim_start_matches("hnefi.game.").to_owned();
    browser.open_dialog("#my-games", "#games-dialog");
    browser.keep_picture("site-games.png");
    browser.click(&format!("[data-game='{old}'] .open"));
    browser.until(&format!("location.hash.includes('{old}') && ({MY_TURN})"));
    assert_eq!(browser.run(seen), left);
    assert_eq!(browser.run("return document.querySelector('#invite').hidden;"), true, "nobody else comes to this page");

    browser.open("about:blank");
    browser.open(&format!("{}#/tablut/moves=e2f2_e3f3", files.url()));
    browser.until("document.querySelectorAll('.squares button').length === 81");
    browser.until(&format!("{PLIES} === 2"));
    browser.open_panel("#more-panel");
    browser.click("#copy-link");
    browser.until("document.querySelector('#link').textContent.endsWith('/games/hnefi/#/tablut/moves=e2f2_e3f3')");
    browser.open("about:blank");
    browser.open(&format!("{}#/tablut/moves=a1a2", files.url()));
    browser.until("document.querySelector('#problem').textContent.includes('ply 1')");
    browser.my_turn();
    browser.check_console();
}

#[test]
#[ignore = "needs chromium, chromedriver and the built page; scripts/check-site.sh runs it"]
fn a_new_version_replaces_the_old_one() {
    let (site, browser) = begin();
    let folder = tempfile::tempdir().expect("a folder");
    copy(&site, folder.path());
    let files = Files::serve(folder.path().to_owned());
    browser.open(&files.url());
    browser.my_turn();
    browser.until("navigator.serviceWorker.controller");
    // As a build would: other files, another version.
    let change = |name: &str, from: &str, to: &str| {
        let path = folder.path().join(name);
        let text = std::fs::read_to_string(&path).expect("a text");
        assert!(text.contains(from), "{name} has {from:?}");
        std::fs::write(path, text.replace(from, to)).expect("written");
    };
    change("assets/texts/en.json", "\"frame.title\": \"Hnefi", "\"frame.title\": \"Newer Hnefi");
    change("service-worker.js", "const VERSION = \"", "const VERSION = \"newer-");
    // The first visit finds the new version, a later one shows it.
    let visit = || {
        browser.open("about:blank");
        browser.open(&files.url());
        browser.my_turn();
    };
    visit();
    browser.until("navigator.serviceWorker.getRegistration().then((known) => Boolean(known.waiting))");
    // The page that is being left may hold the old version a moment longer.
    let newer = "return document.title.startsWith('Newer');";
    let shown = (0..20).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(500));
        visit();
        browser.run(newer) == true
    });
    assert!(shown, "twenty visits later the old version is still there");
    let kept = browser.until("caches.keys().then((names) => names.length === 1 && names[0])");
    assert!(kept.as_str().is_some_and(|name| name.contains("newer-")), "{kept}");
    browser.check_console();
}

/// What a shipped network says of the start here, in single precision: chances of attackers, draw and defenders.
fn raw_chances(network: &str, rules: Preset) -> [f32; 3] {
    let checkpoint = pretrained(network).expect("shipped").expect("sound");
    let position = Position::start(&rules.rules());
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    let request = EvalRequest { position: &position, moves: &moves, handicap: Handicap::NONE, auxiliary: false };
    let mut found = Evaluations::new();
    let mut evaluator = Devices::cpu().evaluator(&checkpoint.weights, Precision::F32.into()).expect("an evaluator");
    evaluator.evaluate(&[request], &mut found).expect("an evaluation");
    // The attackers move first.
    let wdl = found.get(0).wdl;
    [wdl.win, wdl.draw, wdl.loss]
}

/// Copies a folder with its folders.
fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            std::fs::create_dir_all(&target).expect("a folder");
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).expect("copied");
        }
    }
}
