//! A game by rules that no preset has, as a person plays it in a page with a server or without one.

use super::driver::{Browser, PLIES};

/// The king stands free, and no attacker stops him in both directions.
const OWN: &str =
    "dim:15 name:Open_Field esc:e ks:w cor: start:/15/15/2t9t2/15/15/15/15/6TKT6/15/15/15/15/2t9t2/15/15/";

/// Pastes a rules record with a mistake and without, plays a game by it to its end, and finds it again after a reload
/// and by its link; then learns how it is played. `picture` is the name under which the dialog is kept.
pub fn played_and_found_again(browser: &Browser, url: &str, picture: &str) {
    browser.open(url);
    browser.my_turn();
    browser.open_dialog("#new", "#new-dialog");
    browser.click("[name=rules][value=other]");
    browser.open_panel("#new-dialog .other details");
    browser.choose("#record", &OWN.replace("ks:w", "kj:r"));
    browser.click("#record-take");
    browser.until("document.querySelector('#new-dialog .problem').textContent.includes('kj: found r; expected n')");
    browser.choose("#record", OWN);
    browser.click("#record-take");
    browser.until("document.querySelector('[name=other]').value.startsWith('dim:15')");
    assert!(browser.text(".train pre").starts_with("hnefi train --config any --rules"));
    assert_eq!(browser.run("return document.querySelector('[name=player]').value;"), "alphabeta:2");
    browser.click("[name=seat][value=defenders]");
    browser.keep_picture(picture);
    browser.click("#start");
    browser.until("document.querySelectorAll('.squares button').length === 225");
    browser.my_turn();
    // Words say why there is no analysis.
    browser.open_panel("#analysis-panel");
    browser.until("document.querySelector('#analysis').innerText.includes('No network knows this board')");
    browser.click("[data-square=h8]");
    let free = "['h1', 'h15'].find((name) => document.querySelector(`[data-square=${name}].reachable`))";
    let free = browser.until(free);
    browser.click(&format!("[data-square={}]", free.as_str().expect("a way out")));
    browser.until("document.querySelector('.status.ended')");
    let is_over = || {
        browser.until(&format!("{PLIES} === 2 && document.querySelector('.status.ended')"));
        assert!(browser.text("#status").contains("The king reaches the edge and is free. The defenders win."));
        assert_eq!(browser.text("#rules-title"), "Open Field, 15×15");
    };
    is_over();
    browser.until("localStorage.getItem(`hnefi.game.${location.hash.slice(1, 33)}`)?.includes('\"plies\":2')");
    browser.run("location.reload();");
    is_over();
    // A person who knows nothing of the game finds it by its link.
    let link = browser.run("return location.hash.replace(/^#[^/]*/, '#');");
    assert!(link.as_str().is_some_and(|link| link.starts_with("#/dim:15_")), "{link}");
    browser.open("about:blank");
    browser.open(&format!("{url}{}", link.as_str().expect("a link")));
    is_over();
    browser.click("#how");
    browser.until("document.querySelectorAll('#lessons li').length > 6");
    let lessons = browser.run("return document.querySelector('#lessons').textContent;");
    assert!(!lessons.as_str().expect("a text").contains("orner"), "{lessons}");
}
