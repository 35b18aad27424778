//! A training run to be read, while it goes on or afterwards, in a directory or in a bucket.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use hnefi_inference::{CARD_FILE, Card, Checkpoint, WEIGHTS_FILE, json};
use serde::de::DeserializeOwned;

use crate::store::{
    Access, Location, Patience, Store, StoreError, checkpoint_key, checkpoint_number, games_key, games_number,
    metrics_key, metrics_number, terms_key, terms_number,
};
use crate::{GameRecord, GenerationMetrics, RecordError, decode_games};

/// The object that says what a run is.
const CONFIGURATION: &str = "run.json";

/// The largest JSON object that is read, in bytes; a real one has some thousand.
const LARGEST: u64 = 1 << 20;

/// Generations whose metrics are given out at once.
const AT_ONCE: usize = 2_000;

/// An open run. Whoever only looks at a run reads it through this; objects that are damaged or not there yet are passed
/// over where a list is asked for, and an error where one is.
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
    /// When there is no such directory, or a bucket cannot be asked. That it holds a run is not looked at.
    pub fn open(location: &Location, patience: Patience) -> Result<Run, StoreError> {
        let name = match location {
            Location::Directory(dir) => last_part(dir),
            Location::Bucket(url) => last_part(Path::new(url.trim_end_matches('/'))),
        };
        let store = Store::open(location, Access::Read, patience)?;
        Ok(Run { store, name, cards: Mutex::default() })
    }

    /// Opens the run in a directory.
    ///
    /// # Errors
    /// When there is no such directory.
    pub fn open_directory(dir: &Path) -> Result<Run, StoreError> {
        Run::open(&Location::Directory(dir.to_owned()), Patience::default())
    }

    /// The last part of the directory's path or of the bucket's prefix.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where its objects lie.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Whether anything of a run is there: its configuration, or what a generation measured or played.
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

    /// The configuration as it was resolved when the run began, with seed and version.
    ///
    /// # Errors
    /// In words, when it is not there or damaged.
    pub fn configuration(&self) -> Result<serde_json::Value, String> {
        let bytes = self.store.get(CONFIGURATION).map_err(|error| error.to_string())?;
        json::from_slice(&bytes).map_err(|error| format!("{CONFIGURATION}: {error}"))
    }

    /// What the generations after `after` measured, rising. An object that says it is of another generation than its
    /// key is passed over like a damaged one: whoever asks for what comes after the last answer is never told the same
    /// twice.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn metrics(&self, after: u32) -> Result<Vec<GenerationMetrics>, StoreError> {
        let numbers = self.numbers("metrics/", metrics_number)?.into_iter().filter(|&number| number > after);
        let read = |number: u32| {
            let metrics: GenerationMetrics = self.json(&metrics_key(number))?;
            (metrics.generation == number).then_some(metrics)
        };
        Ok(numbers.filter_map(read).take(AT_ONCE).collect())
    }

    /// Whether the trainer has said that the budget is used up.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn is_finished(&self) -> Result<bool, StoreError> {
        let newest = self.numbers("terms/", terms_number)?.pop();
        let terms: Option<serde_json::Value> = newest.and_then(|number| self.json(&terms_key(number)));
        Ok(terms.is_some_and(|terms| terms["finished"] == true))
    }

    /// The generations that have a checkpoint, rising.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn checkpoints(&self) -> Result<Vec<u32>, StoreError> {
        self.numbers("checkpoints/", |key| checkpoint_number(key).filter(|_| key.ends_with(CARD_FILE)))
    }

    /// The card of a generation's checkpoint; `None` where it is damaged or not there.
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
    /// In words, when it is damaged or not there.
    pub fn checkpoint(&self, generation: u32) -> Result<Checkpoint, String> {
        let [card_key, weights_key] = [CARD_FILE, WEIGHTS_FILE].map(|file| self.key(generation, file));
        let read = |key: &str| self.store.get(key).map_err(|error| error.to_string());
        let name = |key: &str| PathBuf::from(self.store.name(key));
        let card = Card::from_json(&read(&card_key)?, &name(&card_key)).map_err(|error| error.to_string())?;
        Checkpoint::from_parts(card, &read(&weights_key)?, &name(&weights_key)).map_err(|error| error.to_string())
    }

    fn key(&self, generation: u32, file: &str) -> String {
        format!("{}/{file}", checkpoint_key(generation))
    }

    /// The generations that have games, rising.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn generations(&self) -> Result<Vec<u32>, StoreError> {
        self.numbers("games/", games_number)
    }

    /// A generation's games.
    ///
    /// # Errors
    /// In words, when they are damaged or not there.
    pub fn games(&self, generation: u32) -> Result<Vec<GameRecord>, String> {
        let key = games_key(generation);
        let bytes = self.store.get(&key).map_err(|error| error.to_string())?;
        decode_games(&self.store.name(&key), &bytes).map_err(|error: RecordError| error.to_string())
    }

    /// How many matches the ladder has; cheap enough to ask all the time.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn matches_played(&self) -> Result<usize, StoreError> {
        Ok(self.store.list("ladder/")?.iter().filter(|key| key.ends_with(".json")).count())
    }

    /// What a key says of the objects under a prefix, rising, each once.
    fn numbers(&self, prefix: &str, number: impl Fn(&str) -> Option<u32>) -> Result<Vec<u32>, StoreError> {
        let mut numbers: Vec<u32> = self.store.list(prefix)?.iter().filter_map(|key| number(key)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }

    /// What an object of sensible size holds, if it is whole.
    fn json<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        let small = self.store.size(key).ok()?.is_some_and(|size| size <= LARGEST);
        let bytes = small.then(|| self.store.get(key).ok()).flatten()?;
        json::from_slice(&bytes).ok()
    }
}

/// The name that a folder goes by.
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
    fn a_run_is_finished_when_its_newest_terms_say_so() {
        let mut objects = Vec::new();
        for (key, text, over) in [
            ("terms/000001.json", r#"{"finished":false}"#, false),
            ("terms/000002.json", r#"{"finished":true}"#, true),
            ("terms/000010.json", r#"{"finished":false}"#, false),
            ("terms/000011.json", r#"{"finished":true}"#, true),
            ("terms/000012.json", "{", false),
        ] {
            objects.push((key, text));
            assert_eq!(run_with(&objects).1.is_finished().unwrap(), over, "{key}");
        }
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
        assert!(run.card(2).is_none() && run.checkpoint(2).unwrap_err().contains("checkpoint card"));
    }
}
