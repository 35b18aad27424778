//! Read access to a training run, in a directory or a bucket, during training or afterwards.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use hnefi_inference::{CARD_FILE, Card, Checkpoint, json};
use serde::de::DeserializeOwned;

use crate::store::{
    Access, Location, RetryPolicy, Store, StoreError, checkpoint_key, games_key, games_number, job_key, job_number,
    metrics_key, metrics_number, read_checkpoint, trainer_key, trainer_number,
};
use crate::{GameRecord, GenerationMetrics, ReadError, decode_games};

pub(crate) const CONFIGURATION: &str = "run.json";

/// The most generations whose metrics one call returns.
const AT_ONCE: usize = 2_000;

/// An open run. All code that only reads a run uses this type. Methods that return a list skip damaged and missing
/// objects; methods that return one object report an error.
#[derive(Debug)]
pub struct Run {
    store: Store,
    name: String,
    /// Cards never change.
    cards: Mutex<HashMap<u32, Card>>,
}

impl Run {
    /// Opens the run at `location` for reading.
    ///
    /// # Errors
    /// When there is no such directory, or the settings of a bucket are invalid. Whether it holds a run is not checked.
    pub fn open(location: &Location, retry: RetryPolicy) -> Result<Run, StoreError> {
        let name = match location {
            Location::Directory(dir) => last_part(dir),
            Location::Bucket(url) => last_part(Path::new(url.trim_end_matches('/'))),
        };
        let store = Store::open(location, Access::Read, retry)?;
        Ok(Run { store, name, cards: Mutex::default() })
    }

    /// Opens the run in a directory.
    ///
    /// # Errors
    /// When there is no such directory.
    pub fn open_directory(dir: &Path) -> Result<Run, StoreError> {
        Run::open(&Location::Directory(dir.to_owned()), RetryPolicy::default())
    }

    /// The last part of the directory's path or of the bucket's prefix.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The store of its objects.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Whether the store holds a run: a configuration, metrics or games.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn is_there(&self) -> Result<bool, StoreError> {
        if !self.store.is_remote() {
            let exists = |name: &&str| Path::new(&self.store.name(name)).exists();
            return Ok([CONFIGURATION, "metrics", "games"].iter().any(exists));
        }
        let any = |prefix: &str| self.store.list(prefix).map(|keys| !keys.is_empty());
        Ok(self.store.exists(CONFIGURATION)? || any("metrics/")? || any("games/")?)
    }

    /// The resolved configuration of the run as JSON, with seed and program version.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub fn configuration(&self) -> Result<serde_json::Value, ReadError> {
        let bytes = self.store.get(CONFIGURATION)?;
        json::from_slice(&bytes).map_err(|source| ReadError::Json { key: CONFIGURATION, source })
    }

    /// The hardware that the newest trainer of the run has noted; `None` if it did not.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn machine(&self) -> Result<Option<String>, StoreError> {
        let newest = self.store.numbers("trainer/", trainer_number)?.pop();
        let entry: Option<serde_json::Value> = self.json(newest.map(trainer_key))?;
        Ok(entry.and_then(|entry| Some(entry["machine"].as_str().filter(|text| !text.is_empty())?.to_owned())))
    }

    /// The metrics of the generations after `after`, in ascending order. An object whose generation differs from its
    /// key, or with numbers that no run has, is skipped like a damaged one, so that repeated calls never return a
    /// generation twice.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn metrics(&self, after: u32) -> Result<Vec<GenerationMetrics>, StoreError> {
        let numbers = self.store.numbers("metrics/", metrics_number)?.into_iter().filter(|&number| number > after);
        let mut found = Vec::new();
        for number in numbers {
            let metrics: Option<GenerationMetrics> = self.json(Some(metrics_key(number)))?;
            found.extend(metrics.filter(|metrics| metrics.generation == number && metrics.check().is_ok()));
            if found.len() == AT_ONCE {
                break;
            }
        }
        Ok(found)
    }

    /// Whether the trainer has published that the budget is used up.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn is_finished(&self) -> Result<bool, StoreError> {
        let newest = self.store.numbers("jobs/", job_number)?.pop();
        let job: Option<serde_json::Value> = self.json(newest.map(job_key))?;
        Ok(job.is_some_and(|job| job["finished"] == true))
    }

    /// The generations with a checkpoint, in ascending order.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn checkpoints(&self) -> Result<Vec<u32>, StoreError> {
        self.store.checkpoints()
    }

    /// The card of a generation's checkpoint; `None` if it is missing or damaged.
    pub fn card(&self, generation: u32) -> Option<Card> {
        let mut cards = self.cards.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(card) = cards.get(&generation) {
            return Some(card.clone());
        }
        let key = format!("{}/{CARD_FILE}", checkpoint_key(generation));
        let card = Card::from_json(&self.store.get(&key).ok()?, Path::new(&self.store.name(&key))).ok()?;
        cards.insert(generation, card.clone());
        Some(card)
    }

    /// A generation's checkpoint.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub fn checkpoint(&self, generation: u32) -> Result<Checkpoint, ReadError> {
        read_checkpoint(&self.store, generation)
    }

    /// The generations with games, in ascending order.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn generations(&self) -> Result<Vec<u32>, StoreError> {
        self.store.numbers("games/", games_number)
    }

    /// A generation's games.
    ///
    /// # Errors
    /// When they are missing or damaged.
    pub fn games(&self, generation: u32) -> Result<Vec<GameRecord>, ReadError> {
        let key = games_key(generation);
        Ok(decode_games(&self.store.name(&key), &self.store.get(&key)?)?)
    }

    /// Number of matches on the ladder; needs only one list of keys.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn matches_played(&self) -> Result<usize, StoreError> {
        Ok(self.store.list("ladder/")?.iter().filter(|key| key.ends_with(".json")).count())
    }

    /// Decodes a JSON object; `None` if it is missing or damaged.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn json<T: DeserializeOwned>(&self, key: Option<String>) -> Result<Option<T>, StoreError> {
        match key.map(|key| self.store.get(&key)) {
            None => Ok(None),
            Some(Ok(bytes)) => Ok(json::from_slice(&bytes).ok()),
            Some(Err(error)) if error.is_of_object() => Ok(None),
            Some(Err(error)) => Err(error),
        }
    }
}

/// The values of nested objects by the path of their keys, such as `train.batch`; a list is one value. Numbers of
/// single precision are as short as they were written: 0.3 rather than 0.30000001192092896.
pub fn flat(value: &serde_json::Value) -> BTreeMap<String, serde_json::Value> {
    fn collect(value: &serde_json::Value, path: &str, found: &mut BTreeMap<String, serde_json::Value>) {
        match value {
            serde_json::Value::Object(inner) => {
                for (key, value) in inner {
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    collect(value, &path, found);
                }
            }
            value => {
                let single = value.as_f64().filter(|&number| value.is_f64() && f64::from(number as f32) == number);
                let short = single.and_then(|number| (number as f32).to_string().parse::<f64>().ok());
                found.insert(path.to_owned(), short.map_or_else(|| value.clone(), serde_json::Value::from));
            }
        }
    }
    let mut found = BTreeMap::new();
    collect(value, "", &mut found);
    found
}

fn last_part(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_with(objects: &[(&str, &str)]) -> (tempfile::TempDir, Run) {
        let folder = tempfile::tempdir().unwrap();
        for (key, text) in objects {
            let path = folder.path().join(key);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let run = Run::open_directory(folder.path()).unwrap();
        (folder, run)
    }

    #[test]
    fn metrics_come_in_order_and_damaged_objects_are_passed_over() {
        let (_folder, run) = run_with(&[]);
        assert!(run.metrics(0).unwrap().is_empty() && !run.is_there().unwrap());
        let (_folder, run) = run_with(&[
            ("metrics/000002.json", r#"{"generation":2}"#),
            ("metrics/000001.json", r#"{"generation":1}"#),
            ("metrics/000003.json", "{"),
            ("metrics/000004.json", r#"{"generation":2}"#),
            ("metrics/000005.json", r#"{"generation":4000000000}"#),
            ("metrics/000006.json", "{}"),
            ("metrics/notes", ""),
        ]);
        let found = |after| -> Vec<u32> { run.metrics(after).unwrap().iter().map(|one| one.generation).collect() };
        assert_eq!((found(0), found(1)), (vec![1, 2], vec![2]));
        assert_eq!(found(2), [0; 0], "what was told last is not followed by itself");
        assert!(run.is_there().unwrap());
    }

    #[test]
    fn a_run_is_finished_when_its_newest_job_says_so() {
        let mut objects = Vec::new();
        for (key, text, over) in [
            ("jobs/000001.json", r#"{"finished":false}"#, false),
            ("jobs/000002.json", r#"{"finished":true}"#, true),
            ("jobs/000010.json", r#"{"finished":false}"#, false),
            ("jobs/000011.json", r#"{"finished":true}"#, true),
            ("jobs/000012.json", "{", false),
        ] {
            objects.push((key, text));
            assert_eq!(run_with(&objects).1.is_finished().unwrap(), over, "{key}");
        }
    }

    #[test]
    fn keys_are_told_by_their_path_and_numbers_as_they_were_written() {
        let value = serde_json::json!({ "a": { "b": 0.3_f32, "c": 0.001, "d": [1] }, "e": 7, "f": 1.0, "g": true });
        let found: Vec<String> = flat(&value).into_iter().map(|(key, value)| format!("{key} = {value}")).collect();
        assert_eq!(found, ["a.b = 0.3", "a.c = 0.001", "a.d = [1]", "e = 7", "f = 1.0", "g = true"]);
    }

    #[test]
    fn a_checkpoint_is_there_with_its_card() {
        let (_folder, run) = run_with(&[
            ("checkpoints/000002/card.json", "{}"),
            ("checkpoints/000010/card.json", "{}"),
            ("checkpoints/000011/model.safetensors", ""),
            ("checkpoints/notes/card.json", "{}"),
        ]);
        assert_eq!(run.checkpoints().unwrap(), [2, 10]);
        assert!(run.card(2).is_none() && run.checkpoint(2).unwrap_err().to_string().contains("checkpoint card"));
    }
}
