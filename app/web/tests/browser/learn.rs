//! The lessons and the puzzles as a person meets them, in a headless Chromium, on a large screen and on a phone.
//!
//! With `HNEFI_PICTURES` pictures of the pages are kept.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;

use super::driver::Browser;
use hnefi_engine::Preset;
use hnefi_puzzles::{Puzzle, Theme, shipped};
use hnefi_web::WebConfig;
use serde_json::{Value, json};

use super::http::{get, serve};

fn course(address: SocketAddr, rules: &str) -> Value {
    get(address, &format!("/api/lessons?rules={rules}")).ok()
}

/// Moves a piece by pressing it and where it goes.
fn play(browser: &Browser, mv: &str) {
    let (from, to) = squares(mv);
    browser.until(&format!("document.querySelector('[data-square={from}].movable')"));
    browser.click(&format!("[data-square={from}]"));
    browser.click(&format!("[data-square={to}]"));
}

/// The names of both squares of a move such as `a10a11`.
fn squares(mv: &str) -> (&str, &str) {
    let second = mv[1..].find(|letter: char| letter.is_ascii_alphabetic()).expect("two squares") + 1;
    mv.split_at(second)
}

fn says(browser: &Browser, kind: &str) {
    browser.until(&format!("document.querySelector('#status').dataset.kind === '{kind}'"));
}

const TOO_WIDE: &str = "document.documentElement.scrollWidth > innerWidth";

#[test]
#[ignore = "needs chromium and chromedriver"]
fn two_tabs_keep_what_both_have_done() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    browser.open(&format!("http://{address}/learn.html"));
    let rated = browser.run_later(
        "const done = arguments[arguments.length - 1]; localStorage.removeItem('hnefi.rating'); \
         Promise.all(['a', 'b'].map((tab) => import(new URL(`assets/rating.js?${tab}`, location.href)))).then(\
         ([a, b]) => { a.rate('p1', 700, true); b.rate('p2', 700, true); \
         done(JSON.parse(localStorage.getItem('hnefi.rating')).rated); }, (error) => done(String(error)));",
    );
    assert_eq!(rated, json!(["p1", "p2"]));
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn the_course_of_brandubh_is_played_through() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    let course = course(address, "brandubh");
    browser.size(1280, 860, 1.0);
    browser.open(&format!("http://{address}/"));
    browser.until("document.querySelector('#to-learn')");
    browser.click("#to-learn");
    browser.until("Boolean(document.querySelector('#lesson-title')?.textContent)");
    browser.keep_picture("learn-board.png");
    let lessons = course["lessons"].as_array().expect("lessons");
    for lesson in lessons {
        let id = lesson["id"].as_str().expect("an id");
        for exercise in lesson["exercises"].as_array().expect("exercises") {
            browser.until(&format!("location.hash === '#brandubh/{id}'"));
            if exercise["id"] == "capture_attackers" {
                play(&browser, "f2e2");
                says(&browser, "wrong");
                assert!(browser.text("#status").contains("Nothing was captured"), "{}", browser.text("#status"));
                browser.until("document.querySelector('[data-square=f2].movable')");
            }
            play(&browser, exercise["solution"].as_str().expect("a move"));
            says(&browser, "right");
            browser.keep_picture(&format!("learn-{}.png", exercise["id"].as_str().expect("an id")));
            browser.click("#next.main");
            browser.until("document.querySelector('#status').dataset.kind !== 'right'");
        }
        if lesson["exercises"].as_array().expect("exercises").is_empty() {
            browser.click("#next.main");
        }
    }
    browser.until("location.hash === '#brandubh/finish'");
    let all = lessons.len();
    assert!(browser.text("#progress").contains(&format!("{all} of {all}")), "{}", browser.text("#progress"));
    browser.keep_picture("learn-finish.png");
    // What is done is still so after a reload.
    browser.open(&format!("http://{address}/learn.html"));
    browser.until("Boolean(document.querySelector('#progress')?.textContent)");
    assert!(browser.text("#progress").contains(&format!("{all} of {all}")), "{}", browser.text("#progress"));
    // Another ruleset, and a position that others have played to.
    browser.open(&format!("http://{address}/learn.html#copenhagen/repetition"));
    browser.until("document.querySelector('#status').textContent.includes('You play the defenders')");
    browser.keep_picture("learn-copenhagen.png");
    browser.click("#show");
    says(&browser, "right");
    // The page may name its lesson in the address before it hears of another one.
    browser
        .run("const named = location.hash; location.hash = '#brandubh/finish'; history.replaceState(null, '', named);");
    browser.until("location.hash === '#brandubh/finish'");
    // The first game.
    browser.until("document.querySelector('#finish a')");
    browser.click("#finish a");
    browser.until("document.querySelector('.squares .movable')");
    assert!(browser.text("#status").contains("you play the defenders"), "{}", browser.text("#status"));
    browser.check_console();
}

/// The words between quotes.
fn quoted(source: &str) -> impl Iterator<Item = &str> {
    source.split('"').skip(1).step_by(2)
}

#[test]
fn every_lesson_has_its_words_and_no_words_are_left_over() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../page/texts/en.json");
    let texts: Value = serde_json::from_str(&std::fs::read_to_string(page).expect("a text")).expect("texts");
    let texts = texts.as_object().expect("texts by key");
    let lessons = Path::new(env!("CARGO_MANIFEST_DIR")).join("../board/src/lessons");
    let source = |name: &str| std::fs::read_to_string(lessons.join(name)).expect("a source");
    // Keys of the lessons and their paragraphs, and keys of the exercises.
    let (course, exercises) = (source("course.rs"), source("exercises.rs"));
    let is_id = |word: &&str| word.len() > 2 && word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_');
    let mut wanted: BTreeSet<String> =
        ["lesson.finish", "teach.finish.plan", "teach.finish.play"].map(str::to_owned).into();
    for word in quoted(&course) {
        wanted.insert(if word.contains('.') { format!("teach.{word}") } else { format!("lesson.{word}") });
    }
    for word in quoted(&exercises).filter(is_id) {
        wanted.extend([format!("task.{word}"), format!("done.{word}")]);
    }
    wanted.extend(Theme::ALL.iter().flat_map(|theme| [format!("theme.{theme}"), format!("set.{theme}")]));
    let families = ["lesson.", "teach.", "task.", "done.", "theme.", "set."];
    let found: BTreeSet<String> =
        texts.keys().filter(|key| families.iter().any(|family| key.starts_with(family))).cloned().collect();
    assert_eq!(found, wanted);
    for preset in Preset::ALL {
        let rules = preset.rules();
        for time in [rules.repetition_occurrence, rules.draw_fort_occurrence] {
            assert!(time == 0 || texts["learn.time"][time.to_string()].is_string(), "{preset}: {time}");
        }
    }
}

/// The puzzle on the board.
fn puzzle(browser: &Browser) -> Puzzle {
    let id = browser.until("document.querySelector('#board').dataset.puzzle");
    shipped().into_iter().find(|puzzle| id == puzzle.id.as_str()).expect("a shipped puzzle")
}

/// Plays the line of the puzzle on the board.
fn solve(browser: &Browser) {
    let puzzle = puzzle(browser);
    for mv in puzzle.line.iter().step_by(2) {
        // What was said of the move before is not taken for an answer: until that comes no other move is heard.
        browser.run("document.querySelector('#status').dataset.kind = '';");
        play(browser, &mv.text(puzzle.rules.rules().size()));
        says(browser, "right");
    }
    browser.until("document.querySelector('#next').classList.contains('main')");
}

fn number(browser: &Browser, tile: &str) -> String {
    browser.text(&format!("#puzzles-{tile} dd"))
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn five_puzzles_are_solved_and_the_streak_is_kept() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    browser.size(1280, 860, 1.0);
    browser.open(&format!("http://{address}/puzzles.html#brandubh"));
    browser.until("document.querySelector('#board').dataset.puzzle");
    browser.run(
        "const theme = document.querySelector('#theme-choice'); theme.value = 'escape'; \
        theme.dispatchEvent(new Event('change'));",
    );
    browser.until("document.querySelector('#task').textContent.includes('Escape')");
    browser.keep_picture("puzzle.png");
    for count in 1..=5 {
        solve(&browser);
        assert_eq!(number(&browser, "streak"), count.to_string());
        if count == 1 {
            browser.keep_picture("puzzle-solved.png");
        }
        browser.click("#next");
        browser.until("!document.querySelector('#next').classList.contains('main')");
    }
    browser.open(&format!("http://{address}/puzzles.html"));
    browser.until("document.querySelector('#board').dataset.puzzle");
    assert_eq!((number(&browser, "streak"), number(&browser, "solved")), ("5".to_owned(), "5".to_owned()));
    assert_eq!(browser.run("return document.querySelector('#rules').value;"), "brandubh");

    // A wrong move ends the streak and may be followed by the right one.
    let set = puzzle(&browser);
    let answer = set.answers[0].text(set.rules.rules().size());
    let other = format!(
        "const piece = [...document.querySelectorAll('.movable')].find((one) => one.dataset.square !== '{}'); \
         return piece.dataset.square;",
        squares(&answer).0
    );
    let from = browser.run(&other);
    browser.click(&format!("[data-square={}]", from.as_str().expect("a square")));
    browser.click(".squares [aria-label$=target]");
    says(&browser, "wrong");
    assert_eq!(number(&browser, "streak"), "0");
    browser.keep_picture("puzzle-wrong.png");
    solve(&browser);
    assert_eq!((number(&browser, "streak"), number(&browser, "best")), ("0".to_owned(), "5".to_owned()));

    // An answer that comes late is not taken for one about the next puzzle.
    browser.run(
        "const real = fetch; window.fetch = async (path, ...rest) => { const answer = await real(path, ...rest); \
         if (!path.endsWith('/solution')) return answer; const text = await answer.text(); \
         await new Promise((done) => { window.release = done; }); \
         setTimeout(() => { window.release = null; }); return { status: 200, text: async () => text }; };",
    );
    let look =
        "return [document.querySelector('#status').textContent, document.querySelectorAll('.marks .hint').length];";
    for button in ["#hint", "#solution"] {
        browser.click("#next");
        browser.until("!document.querySelector('#next').classList.contains('main')");
        browser.click(button);
        browser.until("Boolean(window.release)");
        let before = browser.run("return document.querySelector('#board').dataset.puzzle;");
        browser.click("#next");
        browser.until(&format!("document.querySelector('#board').dataset.puzzle !== {before}"));
        let said = browser.run(look);
        browser.run("window.release();");
        browser.until("!window.release");
        assert_eq!(browser.run(look), said, "{button}");
        assert_eq!(browser.run("return document.querySelector('#solution').disabled;"), false, "{button}");
    }
    browser.open(&format!("http://{address}/puzzles.html"));
    browser.until("document.querySelector('#board').dataset.puzzle");

    // A hint points at the piece, a solution is played, and the position goes to the board.
    browser.click("#next");
    browser.until("!document.querySelector('#hint').disabled");
    browser.click("#hint");
    browser.until("document.querySelector('.marks .hint')");
    let hidden_before = browser.run("return document.querySelector('#look').hidden;");
    browser.click("#solution");
    browser.until("document.querySelector('#next').classList.contains('main')");
    assert!(browser.text("#status").contains("The solution is"), "{}", browser.text("#status"));
    // Only now: the board would tell the answer.
    assert_eq!(hidden_before, true);
    let fen = puzzle(&browser).fen;
    browser.click("#look");
    browser.until(&format!("document.querySelector('#fen')?.textContent === {}", json!(fen)));
    browser.check_console();
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn on_a_phone_everything_has_its_place() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    for (theme, suffix) in [("light", ""), ("dark", "-dark")] {
        browser.prefer("prefers-color-scheme", theme);
        browser.size(390, 844, 2.0);
        for (page, name) in [
            ("learn.html#brandubh/board", "phone-learn-board"),
            ("learn.html#copenhagen/shieldwall", "phone-learn-wall"),
            ("learn.html#tablut/finish", "phone-learn-finish"),
            ("puzzles.html#copenhagen", "phone-puzzle"),
        ] {
            browser.open("about:blank");
            browser.open(&format!("http://{address}/{page}"));
            browser.until("document.querySelectorAll('.squares button').length");
            browser.until("!document.querySelector('[aria-busy]')");
            assert_eq!(browser.run(&format!("return {TOO_WIDE};")), false, "{page}");
            browser.keep_picture(&format!("{name}{suffix}.png"));
        }
        browser.size(1280, 860, 1.0);
        for (page, name) in [("learn.html#copenhagen/fort", "learn"), ("puzzles.html#copenhagen", "puzzles")] {
            browser.open("about:blank");
            browser.open(&format!("http://{address}/{page}"));
            browser.until("document.querySelector('.movable')");
            browser.keep_picture(&format!("{name}{suffix}.png"));
        }
    }
    // On a phone every lesson begins with its board and what is to be done there; the words follow.
    browser.size(390, 844, 2.0);
    for rules in ["brandubh", "copenhagen"] {
        let course = course(address, rules);
        for lesson in course["lessons"].as_array().expect("lessons") {
            let id = lesson["id"].as_str().expect("an id");
            browser.open("about:blank");
            browser.open(&format!("http://{address}/learn.html#{rules}/{id}"));
            browser.until("!document.querySelector('[aria-busy]') && document.querySelector('#words p')");
            let shown = browser.run(
                "const box = (name) => document.querySelector(name).getBoundingClientRect(); \
                 return [scrollY, box('#board').bottom < innerHeight, box('#steps').bottom < innerHeight, \
                   box('#words').top >= box('#board').bottom];",
            );
            assert_eq!(shown, json!([0, true, true, true]), "{rules}/{id}");
        }
    }
    // Sideways the board takes the height and the words stand beside it.
    browser.size(844, 390, 2.0);
    browser.open("about:blank");
    browser.open(&format!("http://{address}/learn.html#copenhagen/shieldwall"));
    browser.until("document.querySelector('.movable')");
    assert_eq!(browser.run(&format!("return {TOO_WIDE};")), false);
    browser.keep_picture("phone-learn-sideways.png");
    browser.size(820, 1180, 1.0);
    browser.open(&format!("http://{address}/puzzles.html"));
    browser.until("document.querySelector('.movable')");
    browser.keep_picture("tablet-puzzle.png");
    browser.check_console();
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_lesson_by_keys_alone() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    browser.size(1280, 860, 1.0);
    browser.open(&format!("http://{address}/learn.html#brandubh/moves"));
    browser.until("document.querySelector('[data-square=b2].movable')");
    browser.run("document.querySelector('[data-square=b2]').focus();");
    browser.type_into("[data-square=b2]", "\u{e007}");
    browser.until("document.querySelector('.targets .target')");
    browser.type_into("[data-square=b2]", "\u{e013}\u{e013}\u{e013}\u{e013}\u{e007}");
    says(&browser, "right");
    assert_eq!(browser.run("return document.querySelector('#status').getAttribute('aria-live');"), "polite");
    // On with `n`, and shown with `h`.
    browser.type_into("body", "n");
    browser.until("document.querySelector('#status').dataset.kind === '' && !document.querySelector('#show').disabled");
    browser.type_into("body", "h");
    says(&browser, "right");
    browser.check_console();
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn the_puzzle_of_the_day_comes_from_the_date_alone() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    let page = format!("http://{address}/puzzles.html#daily");
    browser.size(1280, 800, 1.0);
    browser.open(&page);
    let shown = browser.until("document.querySelector('#board').dataset.puzzle");
    // Five years of days from Monday, 5 January 2026, on.
    let days = browser.run_later(
        "const done = arguments[arguments.length - 1]; Promise.all([import('/assets/daily.js'), \
         import('/assets/day.js'), \
         fetch('/api/puzzles').then((answer) => answer.json())]).then(([{ ofTheDay }, { dayOf, today }, { puzzles }]) \
         => { \
         const monday = dayOf(new Date(2026, 0, 5)); const all = Array.from({ length: 1820 }, (_, day) => \
         ofTheDay(puzzles, monday + day)); done({ monday, today: ofTheDay(puzzles, today()).id, \
         last: dayOf(new Date(2026, 0, 5, 23, 59)), ids: all.map(({ id }) => id), \
         levels: all.map(({ level }) => level) }); }, (error) => done(String(error)));",
    );
    assert_eq!((&days["monday"], &days["last"], &days["today"]), (&json!(20_458), &json!(20_458), &shown));
    let numbers = |key: &str| days[key].as_array().expect("a list").clone();
    for week in numbers("levels").chunks(7) {
        assert_eq!(week, [1, 2, 2, 3, 3, 4, 5].map(|level| json!(level)), "harder towards Sunday");
    }
    // Sundays' puzzles: none comes again before all of its level have come.
    let sundays: Vec<Value> = numbers("ids").into_iter().skip(6).step_by(7).collect();
    let fifth = shipped().len() / 5;
    assert!(
        sundays.len() > fifth && sundays[..fifth].iter().map(Value::to_string).collect::<BTreeSet<_>>().len() == fifth
    );

    // Solved at the second try, four days after another.
    browser.run(
        "Object.defineProperty(navigator, 'share', { value: async ({ text }) => { window.shared = text; } }); \
                 Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { \
                 window.copied = text; } } });",
    );
    let set = puzzle(&browser);
    let answer = set.answers[0].text(set.rules.rules().size());
    let wrong = format!(
        "return [...document.querySelectorAll('.movable')].find((one) => one.dataset.square !== '{}').dataset.square;",
        squares(&answer).0
    );
    let from = browser.run(&wrong);
    browser.click(&format!("[data-square={}]", from.as_str().expect("a square")));
    browser.click(".squares [aria-label$=target]");
    browser.until(
        "['wrong', ''].includes(document.querySelector('#status').dataset.kind) && document.querySelector('.movable')",
    );
    let is_wrong = browser.run("return document.querySelector('#status').dataset.kind;") == "wrong";
    solve(&browser);
    browser.until("document.querySelector('#daily-copy')");
    browser.keep_picture("daily.png");
    let score = browser.stored("daily");
    assert_eq!((&score["streak"], &score["tries"]), (&json!(1), &json!(if is_wrong { 2 } else { 1 })), "{score}");
    browser.click("#daily-copy");
    let line = browser.until("window.copied").as_str().expect("a line").to_owned();
    assert!(line.starts_with("Hnefi, puzzle of ") && line.contains(", streak 1 http"), "{line}");
    assert!(line.ends_with(&page), "{line}");
    browser.click("#daily-share");
    assert_eq!(browser.until("window.shared"), line);
    // Another day: yesterday's streak goes on, an older one is over.
    let today = score["last"].as_u64().expect("a day");
    for (last, streak) in [(today - 1, 5), (today - 2, 1)] {
        let before = json!({ "last": last, "tries": 1, "streak": 4, "best": 4 });
        browser.run(&format!("localStorage.setItem('hnefi.daily', JSON.stringify({before}));"));
        browser.open("about:blank");
        browser.open(&page);
        solve(&browser);
        let score = browser.stored("daily");
        assert_eq!((&score["streak"], &score["last"]), (&json!(streak), &json!(today)));
    }
    // A hint is a try, and a solution that was shown ends the day's chance, whenever the page is loaded anew.
    for (button, over, solved) in [
        ("#hint", "document.querySelector('.marks .hint')", json!([today, 2])),
        ("#solution", "document.querySelector('#next.main')", json!([-1, 1])),
    ] {
        let visit = || {
            browser.open("about:blank");
            browser.open(&page);
            browser.until("document.querySelector('#board').dataset.puzzle");
        };
        browser.run("localStorage.removeItem('hnefi.daily');");
        visit();
        browser.click(button);
        browser.until(over);
        visit();
        solve(&browser);
        let score = browser.stored("daily");
        assert_eq!(json!([score["last"], score["tries"]]), solved, "{button}");
    }
    browser.size(390, 844, 2.0);
    browser.run("document.querySelector('#daily').scrollIntoView();");
    browser.keep_picture("phone-daily.png");
    assert_eq!(browser.run(&format!("return {TOO_WIDE};")), false);
    browser.check_console();
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_rating_follows_the_first_tries_and_chooses_the_next_puzzle() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    let book = get(address, "/api/puzzles").ok()["puzzles"].clone();
    let book = book.as_array().expect("puzzles");
    let page = format!("http://{address}/puzzles.html");
    browser.size(1280, 800, 1.0);
    let rating = |id: &str| {
        let place = book.iter().position(|one| one["id"] == id).expect("a puzzle");
        600.0 + 1200.0 * place as f64 / (book.len() - 1) as f64
    };
    let value = || browser.stored("rating")["value"].as_f64().expect("a number");
    // A newcomer begins with what is easy.
    for _ in 0..8 {
        browser.open("about:blank");
        browser.open(&page);
        let id = browser.until("document.querySelector('#board').dataset.puzzle");
        assert!((rating(id.as_str().expect("an id")) - 700.0).abs() < 10.0, "{id}");
        assert!(browser.text("#puzzle-about").contains("level 1 of 5"), "{}", browser.text("#puzzle-about"));
    }
    let after = |before: f64, id: &str, solved: f64| {
        before + 64.0 * (solved - 1.0 / (1.0 + 10_f64.powf((rating(id) - before) / 400.0)))
    };
    let id = puzzle(&browser).id;
    solve(&browser);
    let mut expected = after(700.0, &id, 1.0);
    assert!((value() - expected).abs() < 1e-6, "{}", value());
    // Once more the same says nothing new, nor does its solution then.
    browser.click("#again");
    solve(&browser);
    browser.click("#again");
    browser.click("#solution");
    browser.until("document.querySelector('#next.main')");
    assert!((value() - expected).abs() < 1e-6, "{}", value());
    assert_eq!((number(&browser, "streak"), number(&browser, "best")), ("1".to_owned(), "1".to_owned()));
    for (button, over) in
        [("#hint", "document.querySelector('.marks .hint')"), ("#solution", "document.querySelector('#next.main')")]
    {
        let last = puzzle(&browser).id;
        browser.click("#next");
        browser.until(&format!("document.querySelector('#board').dataset.puzzle !== '{last}'"));
        let id = puzzle(&browser).id;
        assert!((rating(&id) - expected).abs() < 25.0, "near the rating: {} and {expected}", rating(&id));
        browser.click(button);
        browser.until(over);
        expected = after(expected, &id, 0.0);
        assert!((value() - expected).abs() < 1e-6, "{button}: {}", value());
    }
    assert_eq!(browser.text("#rating-value"), expected.round().to_string());
    assert_eq!(browser.run("return document.querySelectorAll('#rating .history polyline').length;"), 1);
    browser.click("#rating summary");
    assert!(browser.text("#rating").contains("the easiest puzzle has 600"), "{}", browser.text("#rating"));
    browser.keep_picture("rating.png");
    browser.size(390, 844, 2.0);
    browser.keep_picture("phone-rating.png");
    assert_eq!(browser.run(&format!("return {TOO_WIDE};")), false);
    browser.check_console();
}
