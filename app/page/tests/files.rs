//! The files of the page: all are in the program, and their imports go one way.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The files of a folder whose names have one of these endings, with what they say.
fn files(folder: &str, endings: &[&str]) -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let has_ending = |path: &Path| endings.iter().any(|ending| path.extension().is_some_and(|found| found == *ending));
    let named = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    entries
        .filter(|path| has_ending(path))
        .map(|path| (named(&path), std::fs::read_to_string(&path).expect("a text")))
        .collect()
}

#[test]
fn every_file_is_in_the_program() {
    let texts = files("texts", &["json"]).into_iter().map(|(name, text)| (format!("texts/{name}"), text));
    for (name, text) in files(".", &["js", "css", "svg", "json"]).into_iter().chain(texts) {
        let file = hnefi_page::file(&name).unwrap_or_else(|| panic!("{name} is not in the list of src/lib.rs"));
        assert_eq!(file.text, text, "{name}");
    }
    assert!(hnefi_page::file("Cargo.toml").is_none() && hnefi_page::file("../page/texts.js").is_none());
}

#[test]
fn no_file_imports_itself_by_a_circle() {
    let imports = |text: &String| -> BTreeSet<String> {
        let named = text.split("from \"./").skip(1).filter_map(|rest| rest.split_once('"'));
        named.map(|(name, _)| name.to_owned()).collect()
    };
    let mut left: BTreeMap<String, BTreeSet<String>> =
        files(".", &["js"]).iter().map(|(name, text)| (name.clone(), imports(text))).collect();
    assert!(left["game.js"].len() > 20, "imports are found: {left:?}");
    for (name, imports) in &left {
        let missing: Vec<_> = imports.iter().filter(|import| !left.contains_key(*import)).collect();
        assert!(missing.is_empty(), "{name} imports what is not there: {missing:?}");
    }
    // Files that import nothing that is left are no part of a circle.
    loop {
        let before = left.len();
        let ends: BTreeSet<String> =
            left.iter().filter(|(_, to)| to.is_empty()).map(|(name, _)| name.clone()).collect();
        left.retain(|name, _| !ends.contains(name));
        left.values_mut().for_each(|to| to.retain(|name| !ends.contains(name)));
        if left.len() == before {
            break;
        }
    }
    assert!(left.is_empty(), "these import each other: {left:?}");
}
