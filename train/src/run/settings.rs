//! `run.json`: the configuration and origin of a run, written first and compared at every later start.

use std::path::Path;

use hnefi_inference::json as checked;
use hnefi_run::store::{Store, StoreError};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::origin::Origin;
use crate::TrainError;
use crate::config::TrainConfig;

/// The object's key.
pub(super) const KEY: &str = "run.json";

/// Layout version of `run.json` and of the run directory.
const FORMAT: u64 = 1;

/// Keys that may change when a run resumes, because they do not define the run.
const FREE: [&str; 10] = [
    "config.run.threads",
    "config.run.device",
    "config.run.precision",
    "config.run.train_device",
    "config.run.save_seconds",
    "config.budget.minutes",
    "config.budget.clock",
    "config.budget.generations",
    "config.evaluate",
    "config.ladder",
];

/// Writes configuration and origin of a new run, or compares them with what an existing run has. Returns the origin of
/// the run.
pub(super) fn settle(store: &Store, config: &TrainConfig, origin: Option<&Path>) -> Result<Option<Origin>, TrainError> {
    let origin = origin.map(|path| Origin { path: path.to_owned() });
    let mut wanted = json!({
        "format": FORMAT,
        "kind": "train",
        "program": format!("hnefi {}", env!("CARGO_PKG_VERSION")),
        "config": config,
    });
    if let Some(origin) = &origin {
        wanted["from"] = json!(origin);
    }
    if !store.exists(KEY)? {
        match store.create(KEY, checked::with_checksum(&format!("{wanted:#}\n")).as_bytes()) {
            // Another trainer has just begun a run here; compare with it.
            Err(StoreError::Exists { .. }) => {}
            other => return Ok(other.map(|()| origin)?),
        }
    }
    let unreadable = |problem: String| TrainError::RunFile { file: store.name(KEY), problem };
    let found = read(store)?;
    if origin.is_none()
        && let Some(from) = found.get("from")
    {
        wanted["from"] = from.clone();
    }
    let mut differences = Vec::new();
    compare("", &found, &wanted, &mut differences);
    let (there, here) = (beginning(&found), beginning(&wanted));
    if there != here {
        differences.push(format!("it began with {there}, not with {here}"));
    }
    if differences.is_empty() {
        let from = found.get("from").map(Origin::deserialize).transpose();
        return from.map_err(|error| unreadable(format!("from: {error}")));
    }
    Err(TrainError::OtherRun { place: store.place(), differences: differences.join(", ") })
}

/// Whether the store holds a run.
pub(super) fn exist(store: &Store) -> Result<bool, TrainError> {
    Ok(store.exists(KEY)?)
}

/// Reads `run.json`.
fn read(store: &Store) -> Result<Value, TrainError> {
    let unreadable = |problem: String| TrainError::RunFile { file: store.name(KEY), problem };
    let found: Value = checked::from_slice(&store.get(KEY)?).map_err(|error| unreadable(error.to_string()))?;
    let format = found.get("format").and_then(Value::as_u64).ok_or_else(|| unreadable("no format number".into()))?;
    if format > FORMAT {
        let program = found.get("program").and_then(Value::as_str).unwrap_or("an unnamed program").to_owned();
        return Err(TrainError::Newer { place: store.place(), program, found: format, known: FORMAT });
    }
    Ok(found)
}

/// The configuration of a run; `None` if there is no run.
///
/// # Errors
/// When the store cannot be read, or holds another kind of run or a run of a later version.
pub fn configuration(store: &Store) -> Result<Option<TrainConfig>, TrainError> {
    let found = match read(store) {
        Err(TrainError::Store(StoreError::Missing { .. })) => return Ok(None),
        other => other?,
    };
    let unreadable = |problem: String| TrainError::RunFile { file: store.name(KEY), problem };
    let kind = found.get("kind").and_then(Value::as_str).unwrap_or("nothing known");
    if kind != "train" {
        return Err(unreadable(format!("a run of kind {kind:?}")));
    }
    let config = found.get("config").cloned().unwrap_or(Value::Null);
    serde_json::from_value(config).map(Some).map_err(|error| unreadable(format!("config: {error}")))
}

/// Lists the keys on which two objects differ, with both values.
fn compare(path: &str, found: &Value, wanted: &Value, differences: &mut Vec<String>) {
    // The origin is compared separately.
    if ["program", "from"].contains(&path) || FREE.contains(&path) {
        return;
    }
    let (Value::Object(there), Value::Object(here)) = (found, wanted) else {
        if found != wanted {
            // Users know the keys without the prefix.
            let key = path.strip_prefix("config.").unwrap_or(path);
            differences.push(format!("{key} is {} there and {} here", shown(found), shown(wanted)));
        }
        return;
    };
    let value = |map: &Map<String, Value>, key: &str| map.get(key).cloned().unwrap_or(Value::Null);
    let mut keys: Vec<&String> = there.keys().chain(here.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        let inner = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        compare(&inner, &value(there, key), &value(here, key), differences);
    }
}

/// The origin of a run as text.
fn beginning(run: &Value) -> String {
    let path = run.pointer("/from/path").and_then(Value::as_str);
    path.map_or_else(|| "random weights".to_owned(), |path| format!("the weights of {path}"))
}

fn shown(value: &Value) -> String {
    if value.is_null() { "absent".to_owned() } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(dir.path()).unwrap();
        (dir, store)
    }

    #[test]
    fn the_same_run_goes_on_with_other_threads_and_a_longer_budget() {
        let (_dir, store) = store();
        let mut config = TrainConfig::default();
        assert_eq!(configuration(&store).unwrap(), None);
        settle(&store, &config, None).unwrap();
        settle(&store, &config, None).unwrap();
        assert_eq!(configuration(&store).unwrap(), Some(config.clone()));
        config.run.threads += 3;
        config.budget.minutes *= 2.0;
        config.evaluate.games = 7;
        config.run.precision = hnefi_inference::Precision::Int8.into();
        settle(&store, &config, None).unwrap();
    }

    #[test]
    fn another_run_is_named_by_what_differs() {
        let (_dir, store) = store();
        let mut config = TrainConfig::default();
        settle(&store, &config, None).unwrap();
        config.network.blocks = 9;
        config.search.c_scale = 0.5;
        let message = settle(&store, &config, None).unwrap_err().to_string();
        assert!(message.contains("network.blocks is 4 there and 9 here"), "{message}");
        assert!(message.contains("search.c_scale is "), "{message}");
        assert!(!message.contains("train."), "{message}");
    }

    #[test]
    fn the_origin_is_kept_and_cannot_change() {
        let (_dir, store) = store();
        let config = TrainConfig::default();
        let origin = Some(Origin { path: "runs/small".into() });
        assert_eq!(settle(&store, &config, Some(Path::new("runs/small"))).unwrap(), origin);
        assert_eq!(settle(&store, &config, None).unwrap(), origin, "who goes on need not say it");
        let message = settle(&store, &config, Some(Path::new("runs/other"))).unwrap_err().to_string();
        let expected = "it began with the weights of runs/small, not with the weights of runs/other; expected the same";
        assert!(message.contains(expected), "{message}");
        let (_dir, store) = self::store();
        settle(&store, &config, None).unwrap();
        let message = settle(&store, &config, Some(Path::new("runs/small"))).unwrap_err().to_string();
        assert!(message.contains("it began with random weights, not with the weights of runs/small"), "{message}");
    }

    #[test]
    fn runs_of_other_kinds_and_versions() {
        let config = TrainConfig::default();
        let message = |text: &str| {
            let (_dir, store) = store();
            store.create(KEY, text.as_bytes()).unwrap();
            settle(&store, &config, None).unwrap_err().to_string()
        };
        let newer = message(r#"{"format": 7, "program": "hnefi 9.0.0"}"#);
        assert!(newer.contains("written by hnefi 9.0.0 in format 7") && newer.contains("formats up to 1"), "{newer}");
        let other = message(r#"{"format": 1, "kind": "selfplay"}"#);
        assert!(other.contains(r#"kind is "selfplay" there and "train" here"#), "{other}");
        assert!(message("{\"format\": 1, ").contains("run.json: EOF"), "truncated");
        assert!(message("[]").contains("no format number"));
    }
}
