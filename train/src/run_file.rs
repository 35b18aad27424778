//! `run.json`: the configuration and origin of a run, written first and compared at every later start.

use std::path::{Path, PathBuf};

use hnefi_inference::json as checked;
use hnefi_run::config::may_change_on_resume;
use hnefi_run::store::{Store, StoreError};
use hnefi_run::{PROGRAM, differences};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::TrainError;
use crate::config::TrainConfig;

pub(crate) const KEY: &str = "run.json";

/// Layout version of `run.json` and of the run directory.
const FORMAT: u64 = 1;

/// The origin of a run's first weights, as stored in `run.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Origin {
    /// A run directory, a checkpoint folder, or the name of a shipped checkpoint.
    pub(crate) path: PathBuf,
}

/// Writes configuration and origin of a new run, or compares them with what an existing run has. Returns the origin of
/// the run.
pub(crate) fn write_or_compare(
    store: &Store,
    config: &TrainConfig,
    origin: Option<&Path>,
) -> Result<Option<Origin>, TrainError> {
    let origin = origin.map(|path| Origin { path: path.to_owned() });
    let mut wanted = json!({
        "format": FORMAT,
        "kind": "train",
        "program": PROGRAM,
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
    let found = read(store)?;
    if origin.is_none()
        && let Some(from) = found.get("from")
    {
        wanted["from"] = from.clone();
    }
    // The origin is compared below.
    let passes_over = |path: &str| {
        path == "program" || path.starts_with("from.") || path.strip_prefix("config.").is_some_and(may_change_on_resume)
    };
    let mut differences = differences(&found, &wanted, &passes_over);
    let (there, here) = (beginning(&found), beginning(&wanted));
    if there != here {
        differences.push(format!("it began with {there}, not with {here}"));
    }
    if differences.is_empty() {
        let from = found.get("from").map(Origin::deserialize).transpose();
        return from.map_err(|error| unreadable(store, format!("from: {error}")));
    }
    Err(TrainError::OtherRun { place: store.place(), differences: differences.join(", ") })
}

pub(crate) fn unreadable(store: &Store, problem: String) -> TrainError {
    TrainError::RunFile { file: store.name(KEY), problem }
}

fn read(store: &Store) -> Result<Value, TrainError> {
    let found: Value = checked::from_slice(&store.get(KEY)?).map_err(|error| unreadable(store, error.to_string()))?;
    let format = found.get("format").and_then(Value::as_u64);
    let format = format.ok_or_else(|| unreadable(store, "no format number".into()))?;
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
    let kind = found.get("kind").and_then(Value::as_str).unwrap_or("nothing known");
    if kind != "train" {
        return Err(unreadable(store, format!("a run of kind {kind:?}")));
    }
    let config = found.get("config").cloned().unwrap_or(Value::Null);
    serde_json::from_value(config).map(Some).map_err(|error| unreadable(store, format!("config: {error}")))
}

fn beginning(run: &Value) -> String {
    let path = run.pointer("/from/path").and_then(Value::as_str);
    path.map_or_else(|| "random weights".to_owned(), |path| format!("the weights of {path}"))
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
        write_or_compare(&store, &config, None).unwrap();
        write_or_compare(&store, &config, None).unwrap();
        assert_eq!(configuration(&store).unwrap(), Some(config.clone()));
        config.run.threads += 3;
        config.budget.minutes *= 2.0;
        config.evaluate.games = 7;
        config.run.precision = hnefi_inference::Precision::Int8.into();
        write_or_compare(&store, &config, None).unwrap();
    }

    #[test]
    fn another_run_is_named_by_what_differs() {
        let (_dir, store) = store();
        let mut config = TrainConfig::default();
        write_or_compare(&store, &config, None).unwrap();
        config.network.blocks = 9;
        config.search.c_scale = 0.5;
        let message = write_or_compare(&store, &config, None).unwrap_err().to_string();
        assert!(message.contains("network.blocks is 4 there and 9 here"), "{message}");
        assert!(message.contains("search.c_scale is "), "{message}");
        assert!(!message.contains("train."), "{message}");
    }

    #[test]
    fn the_origin_is_kept_and_cannot_change() {
        let (_dir, store) = store();
        let config = TrainConfig::default();
        let origin = Some(Origin { path: "runs/small".into() });
        assert_eq!(write_or_compare(&store, &config, Some(Path::new("runs/small"))).unwrap(), origin);
        assert_eq!(write_or_compare(&store, &config, None).unwrap(), origin, "who goes on need not say it");
        let message = write_or_compare(&store, &config, Some(Path::new("runs/other"))).unwrap_err().to_string();
        let expected = "it began with the weights of runs/small, not with the weights of runs/other; expected the same";
        assert!(message.contains(expected), "{message}");
        let (_dir, store) = self::store();
        write_or_compare(&store, &config, None).unwrap();
        let message = write_or_compare(&store, &config, Some(Path::new("runs/small"))).unwrap_err().to_string();
        assert!(message.contains("it began with random weights, not with the weights of runs/small"), "{message}");
    }

    #[test]
    fn runs_of_other_kinds_and_versions() {
        let config = TrainConfig::default();
        let message = |text: &str| {
            let (_dir, store) = store();
            store.create(KEY, text.as_bytes()).unwrap();
            write_or_compare(&store, &config, None).unwrap_err().to_string()
        };
        let newer = message(r#"{"format": 7, "program": "hnefi 9.0.0"}"#);
        assert!(newer.contains("written by hnefi 9.0.0 in format 7") && newer.contains("formats up to 1"), "{newer}");
        let other = message(r#"{"format": 1, "kind": "selfplay"}"#);
        assert!(other.contains(r#"kind is "selfplay" there and "train" here"#), "{other}");
        assert!(message("{\"format\": 1, ").contains("run.json: EOF"), "truncated");
        assert!(message("[]").contains("no format number"));
    }
}
