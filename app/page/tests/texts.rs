//! The page's texts: every key that the page asks for is there, and every language says the same things.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use hnefi_engine::Reason;
use serde_json::{Map, Value};

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path, ending: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if name.ends_with(ending) {
            files.push((name, std::fs::read_to_string(&path).expect("a text")));
        }
    }
    files
}

fn languages() -> BTreeMap<String, Map<String, Value>> {
    let language = |(name, text): (String, String)| {
        let texts = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name.trim_end_matches(".json").to_owned(), texts)
    };
    files(&page().join("texts"), ".json").into_iter().map(language).collect()
}

/// The texts behind a key, by the form they are chosen for.
fn forms(value: &Value) -> BTreeMap<&str, &str> {
    match value {
        Value::String(text) => BTreeMap::from([("", text.as_str())]),
        Value::Object(forms) => {
            forms.iter().map(|(form, text)| (form.as_str(), text.as_str().expect("a text"))).collect()
        }
        _ => panic!("neither a text nor an object: {value}"),
    }
}

/// The names in braces.
fn places(text: &str) -> BTreeSet<&str> {
    text.split('{').skip(1).map(|rest| rest.split('}').next().expect("a name")).collect()
}

/// What stands between quotes behind each `before` that is no part of a longer name.
fn quoted<'a>(text: &'a str, before: &str, quote: char) -> Vec<&'a str> {
    let whole = |&(at, _): &(usize, &str)| !text[..at].ends_with(|letter: char| letter.is_alphanumeric());
    let behind = |(at, found): (usize, &str)| text[at + found.len()..].split(quote).next().expect("an end");
    text.match_indices(&format!("{before}{quote}")).filter(whole).map(behind).collect()
}

#[test]
fn every_key_that_the_page_asks_for_has_a_text_and_no_text_is_left_over() {
    let all = languages();
    let english = &all["en"];
    let mut unused: BTreeSet<&str> = english.keys().map(String::as_str).collect();
    let mut sources = files(&page(), ".js");
    sources.extend(files(&page(), ".html"));
    sources.extend(files(&page().join("../wasm/page"), ".js"));
    for (name, source) in &sources {
        // Literal keys, wherever they stand: `t("…")`, `t(one ? "…" : "…")`, `data-t="…"`.
        for key in source.split('"').filter(|word| word.split_once('.').is_some()) {
            unused.remove(key);
        }
        let mut asked = quoted(source, "t(", '"');
        for mark in ["data-t=", "data-t-label=", "data-t-title="] {
            asked.extend(quoted(source, mark, '"'));
        }
        for key in asked.into_iter().filter(|key| !key.is_empty()) {
            assert!(english.contains_key(key) || key.contains('/'), "{name}: no text {key:?} in en.json");
            unused.remove(key);
        }
        // Keys with a part that is computed: the texts with the same beginning and end are used.
        for key in quoted(source, "t(", '`') {
            let (start, end) = (key.split("${").next().unwrap_or(""), key.rsplit('}').next().unwrap_or(""));
            let fits = |key: &&str| key.starts_with(start) && key.ends_with(end);
            assert!(english.keys().any(|key| fits(&key.as_str())), "{name}: no text like {key:?}");
            unused.retain(|key| !fits(key));
        }
    }
    for (key, _) in problems() {
        unused.remove(key.as_str());
    }
    assert!(unused.is_empty(), "texts that no page shows: {unused:?}");
}

#[test]
fn every_end_of_a_game_has_its_words_and_no_words_are_left_over() {
    let all = languages();
    // Who gives up or has no time left does not end the game by its rules.
    let ends: BTreeSet<&str> = Reason::ALL.into_iter().map(Reason::as_str).chain(["resigned", "time"]).collect();
    let families: [(&str, &[&str]); 2] = [("reason.", &[]), ("ending.", &["won", "drawn"])];
    for (family, others) in families {
        let names = all["en"].keys().filter_map(|key| key.strip_prefix(family));
        let found: BTreeSet<&str> = names.filter(|name| !others.contains(name)).collect();
        assert_eq!(found, ends, "{family}");
    }
}

/// Keys and English words of all that a board, a server and a page without one may find wrong:
/// `problem!("key", "words"`.
fn problems() -> BTreeMap<String, String> {
    let root = page().join("..");
    let mut sources = Vec::new();
    for folder in ["board/src", "board/src/lessons", "web/src", "wasm/src"] {
        sources.extend(files(&root.join(folder), ".rs"));
    }
    let mut found = BTreeMap::new();
    // What the type itself is tested with is no text of the page.
    for (name, source) in sources.iter().filter(|(name, _)| name != "problem.rs") {
        for call in source.split("problem!(").skip(1) {
            let mut words = call.split('"').skip(1).step_by(2);
            let (key, english) = (words.next().expect("a key"), words.next().expect("words"));
            assert!(key.starts_with("error."), "{name}: {key}");
            let before = found.insert(key.to_owned(), english.to_owned());
            assert!(before.is_none_or(|before| before == english), "{name}: {key} has two texts");
        }
    }
    assert!(found.len() > 30, "{found:?}");
    found
}

#[test]
fn whatever_is_refused_is_said_in_every_language_with_its_values() {
    let all = languages();
    for (key, words) in problems() {
        for (language, texts) in &all {
            let text = texts.get(&key).and_then(Value::as_str).unwrap_or_else(|| panic!("{language}: no text {key:?}"));
            assert_eq!(places(text), places(&words), "{language}: {key}");
        }
        let english = all["en"][&key].as_str().expect("a text").trim_end_matches('.');
        assert_eq!(
            english.to_lowercase(),
            words.to_lowercase(),
            "{key}: the page and everybody else are told the same"
        );
    }
}

#[test]
fn one_file_alone_reads_and_writes_what_the_browser_keeps() {
    for (name, source) in files(&page(), ".js") {
        let own = name == "store.js";
        for storage in ["localStorage", "sessionStorage"] {
            assert!(
                own || !source.contains(storage),
                "{name}: {storage}; expected store.js, which looks at what it reads"
            );
        }
    }
}

#[test]
fn every_language_has_every_text_with_the_same_places() {
    let all = languages();
    let english = &all["en"];
    for (language, texts) in &all {
        for (key, value) in english {
            let theirs = texts.get(key).unwrap_or_else(|| panic!("{language}: no text {key:?}"));
            let (english, theirs) = (forms(value), forms(theirs));
            for form in english.keys().filter(|form| **form != "one") {
                assert!(theirs.contains_key(form), "{language}: {key:?} has no form {form:?}");
            }
            let most: BTreeSet<&str> = english.values().flat_map(|text| places(text)).collect();
            for (form, text) in theirs {
                assert!(!text.trim().is_empty(), "{language}: {key:?} is empty");
                let found = places(text);
                let missing: Vec<_> = most.difference(&found).collect();
                // A form of one thing may spell the number out.
                assert!(found.is_subset(&most), "{language}: {key:?} {form:?} has places {found:?} of {most:?}");
                assert!(form == "one" || missing.is_empty(), "{language}: {key:?} {form:?} lacks {missing:?}");
            }
        }
        let strange: Vec<_> = texts.keys().filter(|key| !english.contains_key(*key)).collect();
        assert!(strange.is_empty(), "{language}: texts that English lacks: {strange:?}");
    }
}

#[test]
fn icelandic_counts_tries_by_their_number() {
    // Its form for one is that of 21, too.
    let all = languages();
    assert!(all["is"]["daily.tries"]["one"].as_str().expect("a text").contains("{n}"));
}
