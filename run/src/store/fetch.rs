//! Copies a run from one store to another, in an order in which readers never see an incomplete checkpoint or state.

use super::{SUPERSEDED, Store, StoreError};

/// Suffixes of the objects that complete a folder; they are copied last.
const LAST: [&str; 2] = ["/card.json", "/counters.json"];

/// Copies the objects of `from` that `to` lacks and returns their number. Training states, games in flight and workers'
/// uploads are left out unless `all` is set, because only a trainer needs them. Objects that vanish meanwhile are
/// skipped.
///
/// # Errors
/// When an object cannot be read or written.
pub fn fetch(
    from: &Store,
    to: &Store,
    all: bool,
    begins: &dyn Fn(&str),
    should_stop: &dyn Fn() -> bool,
) -> Result<usize, StoreError> {
    let there: std::collections::HashSet<String> = to.list("")?.into_iter().collect();
    let mut keys = from.list("")?;
    keys.retain(|key| {
        let superseded = SUPERSEDED.iter().any(|prefix| key.starts_with(prefix));
        !there.contains(key) && (all || !superseded)
    });
    keys.sort_by_key(|key| LAST.iter().any(|last| key.ends_with(last)));
    let mut copied = 0;
    for key in keys {
        if should_stop() {
            break;
        }
        begins(&key);
        match from.get(&key) {
            Ok(bytes) => {
                to.create(&key, &bytes)?;
                copied += 1;
            }
            Err(StoreError::Missing { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(copied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_copied_and_cards_come_last() {
        let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [from, to] = dirs.each_ref().map(|dir| Store::open_or_create(dir.path()).unwrap());
        for key in ["checkpoints/000001/card.json", "checkpoints/000001/weights", "run.json", "state/000001/a"] {
            from.create(key, key.as_bytes()).unwrap();
        }
        let order = std::cell::RefCell::new(Vec::new());
        let note = |key: &str| order.borrow_mut().push(key.to_owned());
        assert_eq!(fetch(&from, &to, false, &note, &|| false).unwrap(), 3);
        assert_eq!(*order.borrow(), ["checkpoints/000001/weights", "run.json", "checkpoints/000001/card.json"]);
        assert_eq!(to.get("run.json").unwrap(), b"run.json");
        assert_eq!(fetch(&from, &to, false, &note, &|| false).unwrap(), 0, "nothing twice");
        assert_eq!(fetch(&from, &to, true, &note, &|| true).unwrap(), 0, "stopped");
        assert_eq!(fetch(&from, &to, true, &note, &|| false).unwrap(), 1);
    }
}
