//! The page as a person meets it, in a headless Chromium: a game, its analysis, a run, and no word in the console.
//!
//! The search for barriers needs `axe-core` (`npm install --prefix target/npm axe-core@4`). With
//! `HNEFI_PICTURES=docs/images` the pictures of the documents are made anew, of the run that `HNEFI_PICTURES_RUN` names
//! or of a made-up one.

use std::path::PathBuf;

use hnefi_record::GameRecord;
use hnefi_run::encode_games;
use hnefi_web::WebConfig;
use serde_json::json;

use super::driver::{Browser, PLIES};
use super::http::{add_generation, configure, made_up_run, played, serve, two_people};

/// The training page is no longer hidden.
const SHOWN: &str = "!document.body.classList.contains('waiting')";

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_game_is_played_undone_analysed_and_ended() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    browser.size(1280, 860, 1.0);
    browser.open(&format!("http://{address}/"));

    // A visitor finds a game that has begun.
    browser.my_turn();
    assert_eq!(browser.run("return document.querySelectorAll('.squares button').length;"), 49);
    assert!(browser.text("#status").contains("you play the defenders"), "{}", browser.text("#status"));
    for number in 0..3 {
        browser.some_move(5 * number + 2);
        browser.my_turn();
    }
    let plies = browser.run(&format!("return {PLIES};")).as_u64().expect("a number");
    assert!(plies >= 6, "{plies}");
    browser.keep_picture("board.png");

    // Back and forth, a hint, the other way round.
    browser.click("#undo");
    browser.until("document.querySelectorAll('#moves .ahead').length === 2");
    browser.click("#redo");
    browser.until("document.querySelectorAll('#moves .ahead').length === 0");
    browser.my_turn();
    browser.click("#hint");
    browser.until("document.querySelectorAll('.marks .hint').length === 2");
    assert!(browser.text("#status").contains("Hint:"), "{}", browser.text("#status"));
    let first = "document.querySelector('.squares button').dataset.square";
    assert_eq!(browser.run(&format!("return {first};")), "a7");
    browser.click("#flip");
    browser.until(&format!("{first} === 'g1'"));
    browser.click("#flip");

    // By keys: to the throne's row and back, pick up and put down again.
    browser.run("document.querySelector('[data-square=d4]').focus();");
    browser.type_into("[data-square=d4]", "\u{e012}\u{e013}");
    assert_eq!(browser.run("return document.activeElement.dataset.square;"), "c5");
    let mine = browser.run("return document.querySelector('.squares .movable').dataset.square;");
    let mine = format!("[data-square=\"{}\"]", mine.as_str().expect("a square"));
    browser.type_into(&mine, "\u{e007}");
    browser.until("document.querySelector('.targets .target')");
    browser.type_into(&mine, "\u{e00c}");
    browser.until("!document.querySelector('.targets .target')");

    // By dragging.
    let plies = browser.run(&format!("return {PLIES};"));
    browser.click(&mine);
    let target = browser.run("return document.querySelector('.squares .reachable').dataset.square;");
    browser.type_into(&mine, "\u{e00c}");
    browser.drag(&mine, &format!("[data-square=\"{}\"]", target.as_str().expect("a square")));
    browser.until(&format!("{PLIES} > {plies}"));
    browser.my_turn();

    // What the model thinks.
    browser.open_panel("#analysis-panel");
    browser.until("document.querySelectorAll('#best-moves tbody tr').length >= 4");
    browser.until("document.querySelectorAll('.over .arrow').length >= 2");
    browser.keep_picture("analysis.png");
    browser.click("[name=heat]");
    browser.click("[name=arrows]");
    browser.until("document.querySelectorAll('.heat .warm').length > 0");
    browser.click("[name=after]");
    browser.until("document.querySelectorAll('.over .after').length > 5");
    browser.keep_picture("final-board.png");
    browser.click("#analyse");
    browser.until("document.querySelectorAll('.over .after').length === 0");

    // Once asked whether it is meant, once not and once so.
    browser.click("#resign");
    browser.click("#play-on");
    browser.until("!document.querySelector('#ask-dialog').open");
    assert!(!browser.text("#status").contains("resign"), "{}", browser.text("#status"));
    browser.click("#resign");
    browser.click("#resign-now");
    browser.until("document.querySelector('.status.ended')");
    assert!(
        browser.text("#status").contains("The defenders resign. The attackers win."),
        "{}",
        browser.text("#status")
    );
    browser.check_console();
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn games_are_begun_pasted_and_set_up() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    browser.size(1280, 860, 1.0);
    browser.open(&format!("http://{address}/"));
    browser.my_turn();
    browser.open_dialog("#new", "#new-dialog");
    // The Copenhagens are one, with its variants below; the game can be begun wherever the list stands.
    browser.click("[name=rules][value=copenhagen]");
    assert_eq!(browser.run("return document.querySelectorAll('[name=rules]').length;"), 6);
    assert_eq!(browser.run("return document.querySelectorAll('[name=variant]').length;"), 4);
    for (width, height) in [(1280, 860), (1024, 600), (390, 844), (320, 568)] {
        browser.size(width, height, 1.0);
        let seen = "const box = document.querySelector('#start').getBoundingClientRect(); \
                    return box.top > 0 && box.bottom < innerHeight;";
        assert_eq!(browser.run(seen), true, "{width}x{height}");
        assert_eq!(browser.run("return document.querySelector('.cards small').checkVisibility();"), true);
    }
    browser.size(1280, 860, 1.0);
    browser.click("[name=seat][value=attackers]");
    browser.keep_picture("new-game.png");
    browser.click("#start");
    browser.until("document.querySelectorAll('.squares button').length === 121");
    browser.my_turn();
    browser.some_move(40);
    browser.my_turn();
    browser.keep_picture("copenhagen.png");

    // A position from a text, and the end of a game in words.
    browser.open_panel("#more-panel");
    browser.open_dialog("#paste", "#paste-dialog");
    browser.type_into("#paste-dialog textarea", "kk5/7/7/7/7/7/7 a");
    browser.click("#paste-read");
    browser.until("document.querySelector('#paste-dialog .problem').textContent.includes('kings')");
    browser.run("document.querySelector('#paste-dialog textarea').value = '7/7/5a1/7/7/7/1k5 d';");
    browser.click("#paste-read");
    browser.until("document.querySelectorAll('.squares button').length === 49");
    browser.click("[data-square=b1]");
    browser.click("[data-square=a1]");
    browser.until("document.querySelector('.status.ended')");
    assert!(browser.text("#status").contains("The king reaches a corner and is free. The defenders win."));

    // A position set up by hand.
    browser.click("#edit");
    browser.click("#edit-dialog .end button");
    browser.click("#edit-dialog [data-square=f3]");
    browser.click("#edit-dialog [name=brush][value=k]");
    browser.click("#edit-dialog [data-square=d4]");
    browser.click("#edit-use");
    browser.until("document.getElementById('fen').textContent === '7/7/7/3k3/5a1/7/7 a'");

    // A game of the small board by two people at one screen.
    browser.open_dialog("#new", "#new-dialog");
    browser.click("[name=rules][value=tablut]");
    browser.click("[name=seat][value=both]");
    browser.click("#start");
    browser.until("document.querySelectorAll('.squares button').length === 81");
    browser.some_move(7);
    browser.some_move(9);
    browser.open(&format!("http://{address}/{}", browser.run("return location.hash;").as_str().expect("a text")));
    browser.until(&format!("{PLIES} === 2"));
    // The browser notes that the FEN with two kings was refused.
    browser
        .check_console_but(&["/api/games/open - Failed to load resource: the server responded with a status of 400"]);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_run_is_watched_and_its_games_are_looked_at() {
    let browser = Browser::start();
    let folder = tempfile::tempdir().expect("a folder");
    let real = std::env::var_os("HNEFI_PICTURES_RUN").map(PathBuf::from);
    let made_up = made_up_run(folder.path(), 40);
    let many: Vec<_> = (0..501).map(|number| GameRecord { game: number, ..played(number % 20).record(0) }).collect();
    std::fs::write(made_up.join("games/000025.hgames"), encode_games(&many)).expect("a file");
    let address = serve(WebConfig { runs: vec![real.clone().unwrap_or(made_up.clone())], ..WebConfig::default() });
    browser.size(1280, 1000, 1.0);
    browser.open(&format!("http://{address}/watch"));
    browser.until(SHOWN);
    browser.until("document.querySelectorAll('.plot svg path').length > 20");
    browser.until("document.querySelectorAll('#samples a').length === 12");
    browser.keep_picture("training.png");
    if real.is_none() {
        let tiles = browser.text("#tiles");
        for words in ["40", "Elo overall", "41: self-play", "a processor, 2 threads", "Seed"] {
            assert!(tiles.contains(words), "{words}: {tiles}");
        }
        assert!(
            browser
                .run("return document.querySelector('#configurations').textContent;")
                .to_string()
                .contains("train.rate = 0.1")
        );
        add_generation(&made_up, 41);
        browser.until("document.querySelector('#tiles dd').textContent === '41'");
        // Four generations of the ladder are drawn, and named is what they are measured by.
        browser.until("document.querySelector('[data-plot=elo] h3').textContent === 'Elo per side (random is 0)'");
        // Ratings have their error bands, and ends of games are said in words.
        browser.until("document.querySelectorAll('[data-plot=elo] .band').length === 3");
        assert!(browser.text("[data-plot=elo]").contains("±"), "{}", browser.text("[data-plot=elo]"));
        assert!(
            browser.text("[data-plot=ends]").contains("attackers won: king"),
            "{}",
            browser.text("[data-plot=ends]")
        );
    }
    // One cross-hair goes over all plots, which show their values there.
    browser.run(
        "document.querySelector('[data-plot=losses] svg').dispatchEvent(\
         new PointerEvent('pointermove', { clientX: 300 }));",
    );
    browser.until("[...document.querySelectorAll('.hair')].every((hair) => hair.getAttribute('d'))");
    for plot in ["losses", "length"] {
        let words = browser.text(&format!("[data-plot={plot}]"));
        assert!(!words.trim_end().ends_with("generation"), "the place of the pointer: {words}");
    }
    // What is smoothed keeps what it was, faintly; the choice is remembered.
    let choose = |id: &str, value: &str| browser.choose(id, value);
    choose("#smoothing", "0.9");
    choose("#axis", "processor");
    browser.until("document.querySelectorAll('[data-plot=losses] .raw').length === 6");
    browser.run("location.reload();");
    browser.until("document.querySelectorAll('[data-plot=losses] .raw').length === 6");
    browser.until(SHOWN);
    assert!(browser.text("[data-plot=losses]").contains("minutes of processor time"));
    choose("#smoothing", "0");
    choose("#axis", "generation");
    browser.until("document.querySelectorAll('.raw').length === 0");
    // Sample games by length, by surprise, by result and by their first moves.
    if real.is_none() {
        let plies = "[...document.querySelectorAll('#samples small')]\
             .map((one) => Number(/, (\\d+)/.exec(one.textContent)[1]))";
        browser.until("document.querySelectorAll('#samples a').length === 12");
        choose("#order", "shortest");
        browser.until(&format!(
            "(() => {{ const found = {plies}; return found.every((one, at) => at === 0 || one >= found[at - 1]); }})()"
        ));
        choose("#opening", "a1-a1");
        browser.until("document.querySelector('#samples-count').textContent === 'No game fits.'");
        choose("#opening", "");
        choose("#generation", "25");
        browser.until("document.querySelector('#samples-count').textContent === 'The first 500 games'");
        choose("#result", "draw");
        browser.until("!document.querySelector('#samples-count').textContent.includes('500')");
        choose("#result", "");
        choose("#generation", "40");
        browser.until("document.querySelector('#samples-count').textContent === '20 games'");
    }
    let ticks = browser.run_later(
        "const done = arguments[arguments.length - 1]; import('/assets/plots.js').then(({ tickLabels, brief }) => done([\
         tickLabels([950, 1000, 1050]), tickLabels([0, 0.25, 0.5]), tickLabels([-2500, 0, 2500, 12500]), \
         tickLabels([0, 5e6, 1.25e7]), [1034.4, 9999.6, 26900, 4.25, -312.7].map(brief)]), (error) => done(String(error)));",
    );
    let expected = json!([
        ["950", "1000", "1050"],
        ["0", "0.25", "0.50"],
        ["-2.5k", "0", "2.5k", "12.5k"],
        ["0", "5.0M", "12.5M"],
        ["1034", "10000", "26.9k", "4.25", "-313"]
    ]);
    assert_eq!(ticks, expected);
    // A saved picture has something on it, its title among it; caught on its way to the file.
    let saved = browser.run_later(
        "const done = arguments[arguments.length - 1]; const make = URL.createObjectURL; const seen = []; \
         URL.createObjectURL = (blob) => { seen.push(blob); return make(blob); }; \
         document.querySelector('[data-plot=losses] button').click(); \
         document.querySelector('[data-plot=losses] button + button').click(); \
         const wait = async () => { if (seen.length < 3) return setTimeout(wait, 50); URL.createObjectURL = make; \
         const png = seen.find((blob) => blob.type === 'image/png'); \
         const image = await createImageBitmap(png); \
         done([await seen[0].text(), await seen[1].text(), png.size, image.width, image.height]); }; wait();",
    );
    for drawing in [&saved[0], &saved[1]] {
        let drawing = drawing.as_str().expect("a drawing");
        assert!(drawing.contains(">Losses: "), "the title and the run stand in the file: {drawing}");
    }
    assert!(saved[2].as_u64() > Some(5_000), "{}", saved[2]);
    assert_eq!((&saved[3], &saved[4]), (&json!(1120), &json!(664)));
    if real.is_none() {
        // The trainer says that the budget is used up, although its last generation ended before.
        assert!(!browser.text("#live").contains("complete"), "{}", browser.text("#live"));
        std::fs::create_dir(made_up.join("jobs")).expect("a folder");
        std::fs::write(made_up.join("jobs/000042.json"), r#"{"finished": true}"#).expect("a file");
        browser.until("document.querySelector('#live').textContent === 'The run is complete: its budget is used up.'");
        browser.until("document.querySelector('#progress').getAttribute('aria-valuenow') === '100'");
        assert_eq!(browser.run("return document.querySelector('#progress i').style.width;"), "100%");
    }
    browser.click("#samples a");
    browser.until("document.querySelector('#game-title').textContent.includes(', generation ')");
    browser.click("#next");
    browser.until("document.querySelectorAll('#moves .now').length === 1");
    // A generation has more games than one list.
    browser.open_panel("#more-panel");
    browser.open_dialog("#open", "#open-dialog");
    let press = |which: &str, then: &str| {
        browser.run(&format!("[...document.querySelectorAll('#open-dialog li button')].at({which}).click();"));
        browser.until(&format!("document.querySelector('#open-dialog .library').innerText.includes('{then}')"));
    };
    press("0", "Generation 25");
    press("1", "More…");
    press("-1", "Game 500");
    assert_eq!(browser.run("return document.querySelectorAll('#open-dialog li').length;"), 1);
    browser.check_console();
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn runs_are_compared() {
    let browser = Browser::start();
    let folder = tempfile::tempdir().expect("a folder");
    let run = |(name, seed, rate, generations): (&str, u64, f64, u32)| {
        let run = made_up_run(&folder.path().join(name), generations);
        configure(&run, seed, rate);
        run
    };
    let runs = [("small", 1, 0.1, 40), ("other", 1, 0.2, 25), ("again", 2, 0.1, 30)].map(run).to_vec();
    let address = serve(WebConfig { runs, ..WebConfig::default() });
    let lines = |count: usize| {
        browser.until(&format!("document.querySelectorAll('[data-plot=\"loss/total\"] .line').length === {count}"));
    };
    let choose = |id: &str, value: &str| browser.choose(id, value);
    for (width, name) in [(1280, "training-runs.png"), (390, "phone-training-runs.png")] {
        browser.size(width, 1000, 1.0);
        browser.open(&format!("http://{address}/watch"));
        browser.until(SHOWN);
        lines(3);
        browser.until("document.querySelectorAll('#runs li').length === 3");
        let looks = browser.run(
            "return [...document.querySelectorAll('[data-plot=\"loss/total\"] .line')].map((line) => \
             `${line.getAttribute('stroke')} ${line.getAttribute('stroke-dasharray')}`);",
        );
        let looks: std::collections::BTreeSet<String> =
            looks.as_array().expect("a list").iter().map(ToString::to_string).collect();
        assert_eq!(looks.len(), 3, "runs are told apart: {looks:?}");
        assert!(
            browser.text("#runs").contains("small/quick") && browser.text("#runs").contains("a processor, 2 threads")
        );
        // One cross-hair, and the values of all runs.
        browser.run(
            "document.querySelector('[data-plot=\"loss/total\"] svg').dispatchEvent(\
             new PointerEvent('pointermove', { clientX: 150 }));",
        );
        browser.until("[...document.querySelectorAll('#plots .hair')].every((hair) => hair.getAttribute('d'))");
        browser.keep_picture(name);
        assert_eq!(browser.run("return document.documentElement.scrollWidth > innerWidth;"), false, "{name}");
        let table = browser.run(
            "document.querySelector('#settings').open = true; return document.querySelector('#differences').innerText;",
        );
        let table = table.as_str().expect("a text");
        assert!(table.contains("run.seed") && table.contains("train.rate") && table.contains("0.2"), "{table}");
        // The seeds of a configuration become one line with a band.
        choose("#seeds", "range");
        lines(2);
        assert!(browser.text("[data-plot=\"loss/total\"]").contains("small/quick (2 seeds)"));
        browser.until("document.querySelectorAll('[data-plot=\"loss/total\"] .band').length === 1");
        choose("#seeds", "apart");
        lines(3);
        browser.click("#show-1");
        lines(2);
        browser.click("#show-1");
        lines(3);
    }
    // Every number, by whatever view.
    browser.run("document.querySelector('#more').open = true;");
    browser.until("document.querySelectorAll('#more-plots .plot').length > 15");
    let csv = browser.run_later(
        "const done = arguments[arguments.length - 1]; \
         fetch(document.querySelector('#csv').href).then((answer) => answer.text()).then(done);",
    );
    assert!(csv.as_str().expect("a text").starts_with("run,generation,"), "{csv}");
    browser.check_console();
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn what_a_person_holds_is_not_taken_away() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    browser.size(1280, 860, 1.0);
    browser.open(&format!("http://{address}/"));
    browser.my_turn();
    // The list that was chosen from, although the dialog is drawn anew.
    browser.open_dialog("#new", "#new-dialog");
    browser.type_into("#new-dialog select", "\u{e015}");
    assert_eq!(browser.run("return document.activeElement === document.querySelector('#new-dialog select');"), true);
    browser.click("#new-dialog .close");
    // The square that keys led to, although the board is turned.
    browser.run("document.querySelector('[data-square=d4]').focus();");
    browser.type_into("[data-square=d4]", "f");
    browser.until("document.querySelector('.squares button').dataset.square === 'g1'");
    assert_eq!(browser.run("return document.activeElement.dataset.square;"), "d4");

    let id = two_people(address, "brandubh")["id"].as_str().expect("an id").to_owned();
    browser.open("about:blank");
    browser.open(&format!("http://{address}/#{id}"));
    browser.open_panel("#analysis-panel");
    browser.until("document.querySelectorAll('#best-moves tbody tr').length >= 4");
    // A person who presses a move for a while, while the numbers change, plays it.
    browser.run("document.querySelector('#best-moves').scrollIntoView({ block: 'center' });");
    browser.press("#best-moves tbody tr:nth-child(2)", "mouse", 0, std::time::Duration::from_millis(400));
    browser.until(&format!("{PLIES} === 1"));
    // A person who has come to a move by keys stays there when it becomes better or worse, and on no other when it
    // goes.
    browser.until("document.querySelectorAll('#best-moves tbody tr').length >= 4");
    browser.click("#analyse");
    browser.until("document.querySelector('#analyse').textContent === 'Analyse'");
    let held = browser.run_later(
        "const done = arguments[arguments.length - 1]; import('/assets/state.js').then(({ page, redraw }) => { \
         const name = () => document.activeElement.querySelector('th')?.textContent; \
         document.querySelectorAll('#best-moves tbody tr')[1].focus(); const names = [name()]; \
         const { report } = page; \
         page.report = { ...report, moves: [...report.moves].reverse() }; redraw(); names.push(name()); \
         page.report = { ...report, moves: report.moves.filter((_, index) => index !== 1) }; redraw(); \
         done([...names, document.activeElement.id]); }, (error) => done(String(error)));",
    );
    assert_eq!((&held[0], &held[2]), (&held[1], &json!("best-moves")), "{held}");
    // The list of who analyses, once another one does.
    browser.run(
        "const list = document.querySelector('#analysis select'); list.focus(); \
         list.value = 'model:shipped/copenhagen'; list.dispatchEvent(new Event('change'));",
    );
    let adviser = "import('/assets/state.js').then(({ page }) => page.state.adviser === 'model:shipped/copenhagen')";
    browser.until(adviser);
    let list = "const list = document.querySelector('#analysis select'); \
                return [list.value, list === document.activeElement];";
    assert_eq!(browser.run(list), json!(["model:shipped/copenhagen", true]));
    browser.check_console();
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_phone_is_wide_enough_and_the_night_is_dark() {
    let browser = Browser::start();
    let folder = tempfile::tempdir().expect("a folder");
    let address = serve(WebConfig { runs: vec![made_up_run(folder.path(), 30)], ..WebConfig::default() });
    browser.size(360, 760, 2.0);
    browser.prefer("prefers-color-scheme", "dark");
    browser.open(&format!("http://{address}/"));
    browser.my_turn();
    browser.some_move(3);
    browser.my_turn();
    let fits = |browser: &Browser, what: &str| {
        let beyond = browser.run(
            "return [...document.querySelectorAll('body *')].filter((element) => element.checkVisibility() && \
             element.getBoundingClientRect().right > innerWidth + 1 && !element.closest('.moves, .plots')) \
             .map((element) => `${element.tagName} ${element.id} ${element.className}`);",
        );
        let too_wide = browser.run("return document.documentElement.scrollWidth > innerWidth;");
        assert_eq!(too_wide, false, "{what}: {beyond}");
    };
    fits(&browser, "the board");
    assert_eq!(browser.run("return document.documentElement.dataset.theme;"), "dark");
    let square = |browser: &Browser| {
        let width = "return document.querySelector('[data-square=a1]').getBoundingClientRect().width;";
        browser.run(width).as_f64().expect("a width")
    };
    assert!(square(&browser) > 46.0, "{}", square(&browser));
    browser.keep_picture("phone.png");
    browser.open_dialog("#new", "#new-dialog");
    browser.keep_picture("phone-new-game.png");
    fits(&browser, "a new game");
    browser.open(&format!("http://{address}/watch"));
    browser.until(SHOWN);
    browser.until("document.querySelectorAll('.plot svg path').length > 20");
    fits(&browser, "training");
    browser.keep_picture("phone-training.png");
    // The smallest phones.
    browser.size(320, 568, 2.0);
    for (page, name) in [
        ("", "board"),
        ("learn.html#copenhagen/shieldwall", "learn"),
        ("puzzles.html#copenhagen", "puzzles"),
        ("watch", "training"),
    ] {
        browser.open("about:blank");
        browser.open(&format!("http://{address}/{page}"));
        browser.until("document.querySelectorAll('.squares button, .plot svg path').length > 20");
        browser.until("!document.querySelector('[aria-busy]')");
        fits(&browser, name);
        browser.keep_picture(&format!("small-{name}.png"));
    }
    browser.open(&format!("http://{address}/"));
    browser.my_turn();
    for panel in ["#analysis-panel", "#more-panel"] {
        browser.open_panel(panel);
    }
    fits(&browser, "every panel");
    for (button, dialog) in [("#new", "#new-dialog"), ("#paste", "#paste-dialog"), ("#edit", "#edit-dialog")] {
        browser.open_dialog(button, dialog);
        fits(&browser, dialog);
        browser.keep_picture(&format!("small-{}.png", &dialog[1..]));
        browser.run(&format!("document.querySelector('{dialog}').close();"));
    }
    browser.size(1280, 860, 1.0);
    browser.open(&format!("http://{address}/"));
    browser.my_turn();
    browser.keep_picture("board-dark.png");
    browser.click("#theme");
    assert_eq!(browser.run("return document.documentElement.dataset.theme;"), "light");
    browser.check_console();
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn who_resigns_while_looking_back_is_named() {
    let browser = Browser::start();
    let address = serve(WebConfig::default());
    let id = two_people(address, "brandubh")["id"].as_str().expect("an id").to_owned();
    browser.size(1280, 860, 1.0);
    browser.open(&format!("http://{address}/#{id}"));
    for number in [2, 5] {
        browser.my_turn();
        browser.some_move(number);
    }
    browser.my_turn();
    browser.click("#previous");
    browser.until("document.querySelector('#moves .ahead')");
    browser.open_dialog("#resign", "#ask-dialog");
    assert!(browser.text("#ask-dialog").contains("The attackers give up"), "{}", browser.text("#ask-dialog"));
    browser.click("#resign-now");
    browser.until("document.querySelector('#status').textContent.includes('The attackers resign')");
    browser.check_console();
}

#[cfg(unix)]
#[test]
#[ignore = "needs chromium and chromedriver"]
fn an_opponent_that_failed_is_asked_again() {
    let folder = tempfile::tempdir().expect("a folder");
    // Asked for a move for the first time, it ends.
    let cases = "go*) [ -e \"$0.asked\" ] || { : >\"$0.asked\"; exit 1; }; echo bestmove d3c3;;";
    let opponent = Some(super::http::program(folder.path(), cases));
    let browser = Browser::start();
    browser.size(390, 844, 2.0);
    let address = serve(WebConfig { opponent, people: [true, false], ..WebConfig::default() });
    browser.open(&format!("http://{address}/"));
    browser.my_turn();
    browser.click("[data-square=d2]");
    browser.click("[data-square=c2]");
    browser.until("!document.querySelector('#stuck').hidden");
    assert!(browser.text("#problem").contains("engine.sh"), "{}", browser.text("#problem"));
    assert_eq!(browser.run(&format!("return {PLIES};")), 1);
    browser.click("#try-again");
    browser.until(&format!("{PLIES} === 2"));
    browser.my_turn();
    assert!(browser.run("return document.querySelector('#stuck').hidden;").as_bool().expect("a word"));
    assert!(browser.run("return document.querySelector('#problem').hidden;").as_bool().expect("a word"));
    assert!(browser.text("#status").contains("d3 to c3"), "{}", browser.text("#status"));
    browser.check_console();
}
