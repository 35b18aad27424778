//! A store in a directory; `tests/machines` holds a bucket to the same.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;

fn open() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(&dir.path().join("run")).unwrap();
    (dir, store)
}

#[test]
fn objects_come_back_sorted_and_by_prefix() {
    let (_dir, store) = open();
    for key in ["games/000002.hgames", "games/000001.hgames", "games-of-old/1", "run.json", "state/000001/a"] {
        store.create(key, key.as_bytes()).unwrap();
    }
    assert_eq!(store.list("games/").unwrap(), ["games/000001.hgames", "games/000002.hgames"]);
    assert_eq!(store.list("games/000002").unwrap(), ["games/000002.hgames"]);
    assert_eq!(store.list("checkpoints/").unwrap(), [""; 0]);
    assert_eq!(store.list("").unwrap().len(), 5);
    assert_eq!(store.get("state/000001/a").unwrap(), b"state/000001/a");
    let exists = |key| store.exists(key).unwrap();
    assert!(exists("run.json") && !exists("run.toml") && !exists("../run"));
}

#[test]
fn nothing_is_overwritten() {
    let (_dir, store) = open();
    store.create("run.json", b"first").unwrap();
    let message = store.create("run.json", b"second").unwrap_err().to_string();
    assert!(message.starts_with("run.json in run directory") && message.contains("exists already"), "{message}");
    assert_eq!(store.get("run.json").unwrap(), b"first");
}

#[test]
fn a_missing_object_is_named() {
    let (_dir, store) = open();
    let message = store.get("games/000009.hgames").unwrap_err().to_string();
    assert!(message.starts_with("games/000009.hgames in") && message.ends_with("not found"), "{message}");
}

#[test]
fn keys_stay_inside_the_directory() {
    let (_dir, store) = open();
    for key in ["", "/etc/passwd", "../x", "games/../x", "games//x", ".lock", "games/.x", "a b", "games/"] {
        assert!(matches!(store.create(key, b""), Err(StoreError::BadKey { .. })), "{key:?}");
        assert!(matches!(store.get(key), Err(StoreError::BadKey { .. })), "{key:?}");
    }
}

#[test]
fn only_superseded_objects_can_be_removed() {
    let (_dir, store) = open();
    store.create("games/000001.hgames", b"kept").unwrap();
    store.create("state/000001/optimiser", b"old").unwrap();
    store.create("state/000001/weights", b"old").unwrap();
    let message = store.remove("games/000001.hgames").unwrap_err().to_string();
    assert!(message.contains("expected a key under uploads/, inflight/ or state/"), "{message}");
    store.remove("state/000001/optimiser").unwrap();
    assert_eq!(store.list("").unwrap(), ["games/000001.hgames", "state/000001/weights"]);
    store.remove("state/000001/weights").unwrap();
    store.remove("state/000001/weights").unwrap();
    assert!(!Path::new(&store.name("state/000001")).exists());
}

#[test]
fn what_a_killed_process_left_is_ignored_and_cleared_away() {
    let (dir, store) = open();
    store.create("games/000001.hgames", b"whole").unwrap();
    drop(store);
    let leftover = dir.path().join("run/games/.unfinished-x1");
    fs::write(&leftover, b"ha").unwrap();
    let reader = Store::open_to_read(&dir.path().join("run")).unwrap();
    assert_eq!(reader.list("").unwrap(), ["games/000001.hgames"]);
    assert!(leftover.exists(), "a reader changes nothing");
    let store = Store::open_or_create(&dir.path().join("run")).unwrap();
    assert!(!leftover.exists());
    assert_eq!(store.list("").unwrap(), ["games/000001.hgames"]);
}

#[test]
fn a_reader_cannot_write_and_needs_a_directory() {
    let (dir, _store) = open();
    let reader = Store::open_to_read(&dir.path().join("run")).unwrap();
    let message = reader.create("run.json", b"").unwrap_err().to_string();
    assert!(message.contains("reading only"), "{message}");
    let message = Store::open_to_read(&dir.path().join("nowhere")).unwrap_err().to_string();
    assert!(message.contains("not found; expected the directory of a run"), "{message}");
}

#[test]
fn who_adds_may_not_do_more_and_needs_no_lock() {
    let (dir, store) = open();
    let place = Location::Directory(dir.path().join("run"));
    let worker = Store::open(&place, Access::Add, RetryPolicy::default()).unwrap();
    worker.create("uploads/1.hupload", b"games").unwrap();
    worker.create("ladder/a.json", b"match").unwrap();
    for key in ["run.json", "games/000001.hgames", "state/000001/a"] {
        let message = worker.create(key, b"").unwrap_err().to_string();
        assert!(message.contains("expected a key under uploads/ or ladder/"), "{message}");
    }
    assert!(matches!(worker.remove("uploads/1.hupload"), Err(StoreError::NotOpenFor { .. })));
    assert!(store.is_exclusive() && !worker.is_exclusive());
    store.create_once("ladder/a.json", b"another").unwrap();
    store.create_same("ladder/a.json", b"match").unwrap();
    assert!(matches!(store.create_same("ladder/a.json", b"another"), Err(StoreError::Exists { .. })));
    assert_eq!(store.get("ladder/a.json").unwrap(), b"match");
    let keys = ["uploads/0.hupload", "uploads/1.hupload"].map(String::from);
    let found = store.get_all(&keys).unwrap();
    assert!(matches!(&found[..], [Err(StoreError::Missing { .. }), Ok(games)] if games == b"games"), "{found:?}");
    assert_eq!(store.list_after("uploads/", "uploads/0").unwrap(), ["uploads/1.hupload"]);
    store.remove("uploads/1.hupload").unwrap();
}

#[cfg(unix)]
#[test]
fn objects_are_as_readable_as_other_files() {
    use std::os::unix::fs::PermissionsExt;
    let (dir, store) = open();
    store.create("run.json", b"").unwrap();
    fs::write(dir.path().join("other"), b"").unwrap();
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(store.name("run.json").into()), mode(dir.path().join("other")));
}
