//! `run.json`: the configuration and origin of a run, written first and compared at every later start.

use std::path::Path;

use hnefi_inference::json as checked;
use hnefi_run::config::{KeyError, forget};
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
    let (found, gone) = read(store)?;
    refuse_gone(store, &gone)?;
    if origin.is_none()
        && let Some(from) = found.get("from")
    {
        wanted["from"] = from.clone();
    }
    let mut differences = Vec::new();
    let known = with_absent(&found, &before_all_keys());
    compare("", &known, &wanted, &mut differences);
    let (there, here) = (beginning(&known), beginning(&wanted));
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

/// Reads `run.json` without removed keys, and returns an error for each removed key that had an effect.
fn read(store: &Store) -> Result<(Value, Vec<KeyError>), TrainError> {
    let unreadable = |problem: String| TrainError::RunFile { file: store.name(KEY), problem };
    let mut found: Value = checked::from_slice(&store.get(KEY)?).map_err(|error| unreadable(error.to_string()))?;
    let format = found.get("format").and_then(Value::as_u64).ok_or_else(|| unreadable("no format number".into()))?;
    if format > FORMAT {
        let program = found.get("program").and_then(Value::as_str).unwrap_or("an unnamed program").to_owned();
        return Err(TrainError::Newer { place: store.place(), program, found: format, known: FORMAT });
    }
    let mut gone = Vec::new();
    if let Some(config) = found.get_mut("config")
        && let Ok(mut table) = toml::Table::try_from(&*config)
    {
        gone = forget(&mut table);
        *config = json!(table);
    }
    Ok((found, gone))
}

/// Refuses to resume a run with removed keys that had an effect.
fn refuse_gone(store: &Store, gone: &[KeyError]) -> Result<(), TrainError> {
    if gone.is_empty() {
        return Ok(());
    }
    let keys: Vec<String> = gone.iter().map(ToString::to_string).collect();
    Err(TrainError::Gone { place: store.place(), keys: keys.join("; ") })
}

/// The configuration of a run, without removed keys; `None` if there is no run.
///
/// # Errors
/// When the store cannot be read, or holds another kind of run or a run of a later version.
pub fn configuration(store: &Store) -> Result<Option<TrainConfig>, TrainError> {
    let (found, _) = match read(store) {
        Err(TrainError::Store(StoreError::Missing { .. })) => return Ok(None),
        other => other?,
    };
    let unreadable = |problem: String| TrainError::RunFile { file: store.name(KEY), problem };
    let kind = found.get("kind").and_then(Value::as_str).unwrap_or("nothing known");
    if kind != "train" {
        return Err(unreadable(format!("a run of kind {kind:?}")));
    }
    let known = with_absent(&found, &before_all_keys());
    let config = known.get("config").cloned().unwrap_or(Value::Null);
    serde_json::from_value(config).map(Some).map_err(|error| unreadable(format!("config: {error}")))
}

/// What a run older than a key did: the key's default, except where the default changed with the key.
fn before_all_keys() -> Value {
    let mut config = TrainConfig::default();
    config.network.destinations = false;
    json!({ "config": config })
}

/// Adds missing keys of existing tables from `defaults`.
fn with_absent(found: &Value, defaults: &Value) -> Value {
    let (Value::Object(there), Value::Object(defaults)) = (found, defaults) else { return found.clone() };
    let mut whole = there.clone();
    for (key, default) in defaults {
        match there.get(key) {
            Some(inner) => whole.insert(key.clone(), with_absent(inner, default)),
            None if key == "config" => None,
            None => whole.insert(key.clone(), default.clone()),
        };
    }
    Value::Object(whole)
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
        config.run.precision = hnefi_inference::Precision::Bf16.into();
        settle(&store, &config, None).unwrap();
    }

    #[test]
    fn a_run_from_before_a_key_goes_on_with_its_default() {
        let (_dir, store) = store();
        let mut config = TrainConfig::default();
        let mut old = json!({ "format": FORMAT, "kind": "train", "config": config });
        let train = old["config"]["train"].as_object_mut().unwrap();
        train.remove("value_search_mix").unwrap();
        train.remove("weight_decay").unwrap();
        store.create(KEY, old.to_string().as_bytes()).unwrap();
        settle(&store, &config, None).unwrap();
        config.train.value_search_mix = 0.5;
        let message = settle(&store, &config, None).unwrap_err().to_string();
        assert!(message.contains("train.value_search_mix is 0.0 there and 0.5 here"), "{message}");
    }

    #[test]
    fn a_run_from_before_destinations_goes_on_without_them() {
        let (_dir, store) = store();
        let mut config = TrainConfig::default();
        let mut old = json!({ "format": FORMAT, "kind": "train", "config": config });
        old["config"]["network"].as_object_mut().unwrap().remove("destinations").unwrap();
        store.create(KEY, old.to_string().as_bytes()).unwrap();
        let message = settle(&store, &config, None).unwrap_err().to_string();
        assert!(message.contains("network.destinations is false there and true here"), "{message}");
        config.network.destinations = false;
        settle(&store, &config, None).unwrap();
        assert_eq!(configuration(&store).unwrap(), Some(config));
    }

    #[test]
    fn a_run_with_keys_that_are_gone_goes_on_where_they_did_nothing() {
        let config = TrainConfig::default();
        let old = |fork_share: f64| {
            let (dir, store) = store();
            let mut old = json!({ "format": FORMAT, "kind": "train", "config": config });
            old["config"]["selfplay"]["fork_share"] = json!(fork_share);
            old["config"]["search"]["root"] = json!("gumbel");
            old["config"]["search"]["c_puct"] = json!(0.9);
            old["config"]["train"]["short_value_horizons"] = json!([4, 12]);
            store.create(KEY, old.to_string().as_bytes()).unwrap();
            (dir, store)
        };
        let (_dir, store) = old(0.0);
        settle(&store, &config, None).unwrap();
        let (_dir, store) = old(0.15);
        assert_eq!(configuration(&store).unwrap(), Some(config.clone()), "to look at, it is good enough");
        let message = settle(&store, &config, None).unwrap_err().to_string();
        assert!(message.starts_with(&store.place()) && message.contains("selfplay.fork_share = 0.15: "), "{message}");
        assert!(message.ends_with("train in a new place with --from the old one"), "{message}");
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
