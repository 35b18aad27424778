//! Every page on screens of several sizes: readable, and without barriers.

mod presses;

use std::path::{Path, PathBuf};

use hnefi_web::WebConfig;

use super::driver::Browser;
use super::http::{configure, made_up_run, serve};

/// Opens a pasted game of the large board and has it analysed.
fn large_game(browser: &Browser) {
    browser.open_panel("#more-panel");
    large_game_from(browser);
}

/// The same with the panel open that has the button.
fn large_game_from(browser: &Browser) {
    browser.open_dialog("#paste", "#paste-dialog");
    let game = r#"{"rules": "copenhagen", "moves": ["d1d3", "e5e2", "g1g3", "f4c4"], "attackers": "Anna", "defenders": "Björn"}"#;
    browser.type_into("#paste-dialog textarea", game);
    browser.click("#paste-read");
    browser.until("document.querySelectorAll('.squares button').length === 121");
    browser.until("document.querySelector('#review-body .sides')");
    browser.run("document.querySelector('#review-panel').open = false;");
    browser.run("document.querySelector('#analysis-panel').open = true;");
    browser.until("document.querySelectorAll('.over .arrow').length >= 2");
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn the_large_board_is_readable_on_a_phone_either_way() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    let measures = "const side = (element) => element.getBoundingClientRect(); \
         const labels = [...document.querySelectorAll('.over .tag-value')].map((label) => side(label).height); \
         const board = side(document.querySelector('.drawing')); \
         const covered = [...document.querySelectorAll('.over .arrow')].filter((arrow) => { \
           const [head, tag] = [arrow, document.querySelector(`.over .tag[data-to=${arrow.dataset.to}] rect`)].map(side); \
           return tag.left < head.right - 2 && head.left < tag.right - 2 && tag.top < head.bottom - 2 \
             && head.top < tag.bottom - 2; }).length; \
         return [side(document.querySelector('[data-square=a1]')).width, Math.min(...labels), covered, \
           document.documentElement.scrollWidth - innerWidth, board.bottom, board.width / innerWidth];";
    for (width, height) in [(390, 844), (844, 390)] {
        browser.size(width, height, 2.0);
        browser.open(&format!("http://{address}/"));
        browser.my_turn();
        large_game(&browser);
        let found = browser.run(measures);
        let number = |index: usize| found[index].as_f64().expect("a number");
        assert!(number(0) >= 32.0, "squares of {} pixels at {width}x{height}", number(0));
        assert!(number(1) >= 12.0, "labels of {} pixels at {width}x{height}", number(1));
        assert_eq!(number(2), 0.0, "labels that cover their arrows at {width}x{height}");
        assert!(number(3) <= 0.0, "the page is too wide at {width}x{height}");
        assert!(number(4) <= f64::from(height), "the board is cut at {width}x{height}");
        assert_eq!(browser.text("#game-title"), "Pasted game: unfinished");
        for (who, name) in [("#who-top", "Anna"), ("#who-bottom", "Björn")] {
            assert!(browser.text(who).contains(name), "{}", browser.text(who));
        }
        if width > height {
            assert!(number(5) > 0.44, "the board takes the height");
            browser.keep_picture("phone-landscape.png");
        }
    }
    // Another game that is opened while the panel is open is analysed as well.
    browser.size(1280, 860, 1.0);
    browser.open_dialog("#paste", "#paste-dialog");
    browser.type_into("#paste-dialog textarea", "h1-h3 f8-i8 f10-i10 d6-d3");
    browser.click("#paste-read");
    browser.until("document.querySelectorAll('#moves button.ply')[0].textContent.includes('h1-h3')");
    browser.until("document.querySelectorAll('.over .arrow').length >= 2");
    browser.check_console();
}

/// What axe-core finds wrong with the page as it stands.
fn barriers(browser: &Browser, axe: &str) -> Vec<String> {
    browser.run(axe);
    let found = browser.run_later(
        "const done = arguments[arguments.length - 1]; axe.run({ resultTypes: ['violations'] }).then(({ violations }) => \
         done(violations.flatMap(({ id, impact, nodes }) => nodes.map((node) => \
         `${impact} ${id}: ${node.target} ${node.failureSummary}`))), (error) => done([String(error)]));",
    );
    found.as_array().expect("a list").iter().map(|one| one.as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn no_page_has_barriers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/npm/node_modules/axe-core/axe.min.js");
    let path = std::env::var_os("HNEFI_AXE").map_or(folder, PathBuf::from);
    let axe = std::fs::read_to_string(&path).expect("axe-core: npm install --prefix target/npm axe-core@4");
    let browser = Browser::start();
    let folder = tempfile::tempdir().expect("a folder");
    let run = made_up_run(folder.path(), 30);
    let other = made_up_run(&folder.path().join("other"), 5);
    configure(&other, 2, 0.1);
    let several = serve(WebConfig { runs: vec![run.clone(), other], ..WebConfig::default() });
    let address = serve(WebConfig { runs: vec![run], ..WebConfig::default() });
    let mut found = Vec::new();
    for (width, height) in [(1280, 900), (390, 844)] {
        for theme in ["light", "dark"] {
            let mut look = |what: &str| {
                // Colours change over a moment.
                std::thread::sleep(std::time::Duration::from_millis(600));
                let here = format!("{what}, {theme}, {width}x{height}");
                found.extend(barriers(&browser, &axe).into_iter().map(|barrier| format!("{here}: {barrier}")));
            };
            browser.size(width, height, 1.0);
            browser.prefer("prefers-color-scheme", theme);
            browser.open(&format!("http://{address}/"));
            browser.my_turn();
            // The game that was looked at last comes back by itself.
            browser.open_dialog("#new", "#new-dialog");
            browser.click("#start");
            browser.until("!document.querySelector('#new-dialog').open && !document.querySelector('#resign').hidden");
            browser.my_turn();
            browser.some_move(3);
            browser.my_turn();
            look("the board");
            for (button, dialog) in [("#new", "new"), ("#resign", "ask"), ("#my-games", "games")] {
                browser.click(button);
                look(dialog);
                browser.click(&format!("#{dialog}-dialog .close"));
            }
            browser.click("#resign");
            browser.click("#resign-now");
            browser.until("document.querySelector('.status.ended')");
            look("a game that is over");
            browser.open_panel("#more-panel");
            for (button, dialog) in [("#open", "open"), ("#paste", "paste"), ("#edit", "edit")] {
                browser.open_dialog(button, &format!("#{dialog}-dialog"));
                look(dialog);
                browser.click(&format!("#{dialog}-dialog .close"));
            }
            large_game_from(&browser);
            browser.click("#next");
            browser.click("[name=heat]");
            browser.click("[name=after]");
            look("analysis");
            browser.open_dialog("#paste", "#paste-dialog");
            browser.type_into("#paste-dialog textarea", "{so} 1. d1-d3 {why?} (1. g1-g3 f4-c4 (1... e5-e2))");
            browser.click("#paste-read");
            browser.until("document.querySelectorAll('#moves [data-place]').length === 4");
            browser.click("#move-menu");
            look("a tree and the menu of a move");
            browser.open(&format!("http://{address}/watch"));
            browser.until("document.querySelectorAll('.plot svg path').length > 20");
            browser.until("document.querySelectorAll('#samples a').length === 12");
            look("training");
            browser.open(&format!("http://{several}/watch"));
            browser.until("document.querySelectorAll('#runs dl dd').length > 10");
            browser.run("for (const panel of document.querySelectorAll('main details')) panel.open = true;");
            look("several runs");
            for page in ["learn.html#copenhagen/moves", "puzzles.html"] {
                browser.open(&format!("http://{address}/{page}"));
                browser.until("document.querySelector('.squares .movable')");
                look(page);
                // What is said of a move has colours of its own.
                browser.click(if page == "puzzles.html" { "#solution" } else { "#show" });
                browser.until("document.querySelector('#show, #solution').disabled");
                look(page);
            }
        }
    }
    assert!(found.is_empty(), "{} barriers:\n{}", found.len(), found.join("\n"));
}
