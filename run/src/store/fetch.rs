//! Copies a run from one store to another, in an order in which readers never see an incomplete checkpoint or state.

use std::collections::HashSet;

use super::{SUPERSEDED, Store, StoreError, largest};
use crate::run::CONFIGURATION;

/// Suffixes of the objects that complete a folder; they are copied last.
const LAST: [&str; 2] = ["/card.json", "/counters.json"];

/// What [`fetch`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// Number of objects copied.
    pub copied: usize,
    /// Objects left out, each with its name and the reason: links lead from it out of the run, it is no file, or it is
    /// too large.
    pub left_out: Vec<String>,
}

/// Copies the objects of `from` that `to` lacks. Training states, games in flight and workers' uploads are left out
/// unless `all` is set, because only a trainer needs them; with it, objects of these that `from` no longer has are
/// removed from `to`, unless `to` has been trained on, `from` has no state, or something vanished meanwhile. Objects
/// that vanish meanwhile are skipped, and so is what has another name than objects have.
///
/// # Errors
/// When `to` holds another run, or an object cannot be read or written.
pub fn fetch(
    from: &Store,
    to: &Store,
    all: bool,
    begins: &dyn Fn(&str),
    should_stop: &dyn Fn() -> bool,
) -> Result<Fetched, StoreError> {
    let there: HashSet<String> = to.list("")?.into_iter().collect();
    let is_superseded = |key: &String| SUPERSEDED.iter().any(|prefix| key.starts_with(prefix));
    let mut keys = from.list("")?;
    // A trainer would take an upload in again whose games left its window.
    let newest = |keys: &mut dyn Iterator<Item = &String>| {
        keys.filter(|key| key.starts_with("games/") && largest(key).is_some()).max().cloned()
    };
    let mut gone: Vec<String> = Vec::new();
    let has_state = keys.iter().any(|key| key.starts_with("state/"));
    if all && has_state && newest(&mut there.iter()) <= newest(&mut keys.iter()) {
        let kept: HashSet<&String> = keys.iter().collect();
        gone.extend(there.iter().filter(|key| is_superseded(key) && !kept.contains(key)).cloned());
    }
    keys.retain(|key| largest(key).is_some() && !there.contains(key) && (all || !is_superseded(key)));
    // What the run is comes first, so that a copy that was interrupted is known for one.
    keys.sort_by_key(|key| (key != CONFIGURATION, LAST.iter().any(|last| key.ends_with(last))));
    if there.contains(CONFIGURATION)
        && from.exists(CONFIGURATION)?
        && from.get(CONFIGURATION)? != to.get(CONFIGURATION)?
    {
        return Err(StoreError::OtherRun { place: to.place(), from: from.place() });
    }
    let mut fetched = Fetched::default();
    for key in keys {
        if should_stop() {
            return Ok(fetched);
        }
        if from.place.leads_out(&key) {
            fetched.left_out.push(format!("{}: a link out of the run; it is not followed", from.name(&key)));
            continue;
        }
        begins(&key);
        match from.get(&key) {
            Ok(bytes) => {
                to.create(&key, &bytes)?;
                fetched.copied += 1;
            }
            // A later state has taken its place, which is not copied yet: the one before it must stay.
            Err(StoreError::Missing { .. }) => gone.clear(),
            Err(error @ StoreError::Unfit { .. }) => fetched.left_out.push(error.to_string()),
            Err(error) => return Err(error),
        }
    }
    to.remove_all(&gone)?;
    Ok(fetched)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn stores() -> ([tempfile::TempDir; 2], [Store; 2]) {
        let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let stores = dirs.each_ref().map(|dir| Store::open_or_create(dir.path()).unwrap());
        (dirs, stores)
    }

    #[test]
    fn what_is_missing_is_copied_and_cards_come_last() {
        let (_dirs, [from, to]) = stores();
        let (card, weights, state) =
            ("checkpoints/000001/card.json", "checkpoints/000001/model.safetensors", "state/000001/average.bpk");
        for key in [card, weights, "run.json", state, "games/notes"] {
            from.create(key, key.as_bytes()).unwrap();
        }
        let order = std::cell::RefCell::new(Vec::new());
        let note = |key: &str| order.borrow_mut().push(key.to_owned());
        let copied = |all, stops: bool| fetch(&from, &to, all, &note, &|| stops).unwrap().copied;
        assert_eq!(copied(false, false), 3);
        assert_eq!(*order.borrow(), ["run.json", weights, card]);
        assert_eq!(to.get("run.json").unwrap(), b"run.json");
        assert_eq!(copied(false, false), 0, "nothing twice");
        assert_eq!(copied(true, true), 0, "stopped");
        assert_eq!(copied(true, false), 1);
        assert!(!to.exists("games/notes").unwrap(), "it is no object");
        // The next pass leaves what the run has left, unless the copy goes on by itself.
        from.create("state/000002/average.bpk", b"state").unwrap();
        from.remove(state).unwrap();
        to.create("games/000009.hgames", b"games").unwrap();
        assert_eq!(copied(true, false), 1);
        assert!(to.exists(state).unwrap());
        from.create("games/000009.hgames", b"games").unwrap();
        assert_eq!((copied(false, false), to.exists(state).unwrap()), (0, true));
        assert_eq!((copied(true, false), to.exists(state).unwrap()), (0, false));
        assert!(to.exists("state/000002/average.bpk").unwrap());
    }

    #[test]
    fn another_run_is_left_as_it_is() {
        let (_dirs, [from, to]) = stores();
        for (store, seed) in [(&from, b"seed 1"), (&to, b"seed 9")] {
            store.create("run.json", seed).unwrap();
        }
        from.create("games/000002.hgames", b"games").unwrap();
        let refused = fetch(&from, &to, true, &|_| (), &|| false).unwrap_err();
        assert!(matches!(refused, StoreError::OtherRun { .. }), "{refused}");
        assert_eq!(to.list("").unwrap(), ["run.json"]);
    }

    #[cfg(unix)]
    #[test]
    fn what_lies_outside_and_what_is_no_object_is_left_out_by_name() {
        let (dirs, [from, to]) = stores();
        let outside = tempfile::tempdir().unwrap();
        let at = |key: &str| dirs[0].path().join(key);
        from.create("run.json", b"{}").unwrap();
        from.create("games/000001.hgames", b"games").unwrap();
        fs::write(outside.path().join("secret"), "secret").unwrap();
        let link = |to: &std::path::Path, key: &str| {
            fs::create_dir_all(at(key).parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(to, at(key)).unwrap();
        };
        link(&outside.path().join("secret"), "games/000002.hgames");
        link(outside.path(), "checkpoints/000001");
        fs::write(outside.path().join("card.json"), "secret").unwrap();
        link(std::path::Path::new("/dev/zero"), "metrics/000001.json");
        // A link within the run is another name.
        link(&at("games/000001.hgames"), "games/000003.hgames");
        fs::File::create(at("games/000004.hgames")).unwrap().set_len(20 << 30).unwrap();
        fs::create_dir(at("games/000005.hgames")).unwrap();
        let Fetched { copied, left_out } = fetch(&from, &to, true, &|_| (), &|| false).unwrap();
        assert_eq!((copied, left_out.len()), (3, 5), "{left_out:?}");
        for (key, said) in [
            ("games/000002.hgames", "a link out of the run"),
            ("checkpoints/000001/card.json", "a link out of the run"),
            ("metrics/000001.json", "a link out of the run"),
            ("games/000004.hgames", "21474836480 bytes; expected at most 1073741824"),
            ("games/000005.hgames", "a folder; expected a file"),
        ] {
            assert!(left_out.iter().any(|text| text.contains(key) && text.contains(said)), "{key}: {left_out:?}");
            assert!(!to.exists(key).unwrap());
        }
        assert_eq!(to.get("games/000003.hgames").unwrap(), b"games");
    }
}
