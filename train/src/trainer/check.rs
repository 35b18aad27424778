//! Checks a run: reads every object with a checksum, and compares objects that belong together. Changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use hnefi_arena::ladder::LadderMatch;
use hnefi_engine::NamedRules;
use hnefi_inference::json;
use hnefi_run::store::{
    FleetSave, Store, StoreError, check_checkpoint, checkpoint_number, games_key, games_number, job_number, largest,
    trainer_key, trainer_number,
};
use hnefi_selfplay::{FleetSnapshot, Upload};
use serde::de::DeserializeOwned;

use super::fence;
use super::games::{check_game, check_rules, newest_games};
use super::saved;
use super::state::InFlight;
use crate::job::Job;
use crate::run_file::{self, configuration};
use crate::tensorboard::check_events;
use crate::{TrainConfig, TrainError};
use hnefi_run::{GenerationMetrics, RecordError, decode_games};

/// The findings for one kind of object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedObjects {
    /// The kind: the objects' folder, or `run.json`.
    pub kind: &'static str,
    /// Number of objects.
    pub objects: usize,
    /// Problems found, each with the object's name.
    pub damage: Vec<String>,
}

/// Checks every object of a run; files with other names are passed over.
///
/// # Errors
/// When the store cannot be read. Damage is a finding, not an error.
pub fn check(store: &Store) -> Result<Vec<CheckedObjects>, TrainError> {
    let mut check = Check {
        store,
        keys: store.list("")?.into_iter().filter(|key| largest(key).is_some()).collect(),
        config: None,
        rulesets: Vec::new(),
        is_training: false,
        ids: BTreeMap::new(),
    };
    let mut found = vec![check.run_file()?, check.metrics()?, check.checkpoints()?, check.games()?, check.states()?];
    found.push(check.all_in_flight()?);
    found.push(check.each("ladder", |_, _, bytes| Ok(parsed::<LadderMatch>(bytes)?.check()?))?);
    found.push(check.log()?);
    found.push(check.each("jobs", |check, key, _| match job_number(key) {
        Some(number) => Job::read(check.store, number).map(drop).map_err(bare),
        None => Ok(()),
    })?);
    found.push(check.each("uploads", |check, _, bytes| check.upload(bytes))?);
    found.push(check.each("tensorboard", |_, _, bytes| check_events(bytes))?);
    Ok(found)
}

struct Check<'a> {
    store: &'a Store,
    keys: Vec<String>,
    /// The configuration in `run.json`, if it can be read.
    config: Option<TrainConfig>,
    rulesets: Vec<NamedRules>,
    /// Whether it is a training run, rather than `hnefi selfplay`.
    is_training: bool,
    /// Ids of the checkpoints, from the metrics of their generations.
    ids: BTreeMap<u32, String>,
}

impl Check<'_> {
    fn run_file(&mut self) -> Result<CheckedObjects, TrainError> {
        let mut found = CheckedObjects { kind: run_file::KEY, ..CheckedObjects::default() };
        let bytes = match self.store.get(run_file::KEY) {
            Err(error) if error.is_of_object() => {
                found.damage.push(error.to_string());
                return Ok(found);
            }
            read => read?,
        };
        found.objects = 1;
        let kind = parsed::<serde_json::Value>(&bytes).map(|value| value.get("kind").cloned());
        self.is_training = !kind.is_ok_and(|kind| kind == Some("selfplay".into()));
        if self.is_training {
            match configuration(self.store) {
                Ok(config) => {
                    self.rulesets = config.as_ref().map_or(Ok(Vec::new()), TrainConfig::rulesets)?;
                    self.config = config;
                }
                Err(TrainError::Store(error)) => return Err(error.into()),
                Err(error) => found.damage.push(error.to_string()),
            }
        }
        Ok(found)
    }

    /// Checks every object of a folder with `sound`.
    fn each(
        &self,
        kind: &'static str,
        mut sound: impl FnMut(&Self, &str, &[u8]) -> Result<(), String>,
    ) -> Result<CheckedObjects, TrainError> {
        let mut found = CheckedObjects { kind, ..CheckedObjects::default() };
        let prefix = format!("{kind}/");
        for key in self.keys.iter().filter(|key| key.starts_with(&prefix)) {
            let bytes = match self.store.get(key) {
                Ok(bytes) => bytes,
                // A missing object was superseded meanwhile, unless it is a broken link.
                Err(StoreError::Missing { .. }) if !self.store.list(key)?.contains(key) => continue,
                Err(error) if error.is_of_object() => {
                    found.objects += 1;
                    found.damage.push(error.to_string());
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            found.objects += 1;
            if let Err(problem) = sound(self, key, &bytes) {
                found.damage.push(format!("{}: {problem}", self.store.name(key)));
            }
        }
        Ok(found)
    }

    fn metrics(&mut self) -> Result<CheckedObjects, TrainError> {
        let mut ids = BTreeMap::new();
        let found = self.each("metrics", |_, key, bytes| {
            let metrics: GenerationMetrics = parsed(bytes)?;
            metrics.check()?;
            if hnefi_run::store::metrics_key(metrics.generation) != key {
                return Err(format!("it is of generation {}, and its name is of another", metrics.generation));
            }
            ids.insert(metrics.generation, metrics.checkpoint);
            Ok(())
        })?;
        self.ids = ids;
        Ok(found)
    }

    fn checkpoints(&self) -> Result<CheckedObjects, TrainError> {
        let prefix = "checkpoints/";
        let objects = self.keys.iter().filter(|key| key.starts_with(prefix)).count();
        let mut found = CheckedObjects { kind: "checkpoints", objects, ..CheckedObjects::default() };
        let there: BTreeSet<u32> = self.keys.iter().filter_map(|key| checkpoint_number(key)).collect();
        // A copy may lack the first checkpoints; from its first one on, each generation with metrics must have one.
        let first = there.first().copied().unwrap_or(u32::MAX);
        let measured = self.ids.keys().copied().filter(|&generation| generation >= first);
        for generation in there.iter().copied().chain(measured).collect::<BTreeSet<u32>>() {
            let name = self.store.name(&hnefi_run::store::checkpoint_key(generation));
            // A bucket shows weights before their card, so the newest generation may lack one.
            let has_card = self.keys.contains(&format!("checkpoints/{generation:06}/card.json"));
            if !has_card && !self.ids.contains_key(&generation) && there.last() == Some(&generation) {
                continue;
            }
            match check_checkpoint(self.store, generation)? {
                Err(problem) => found.damage.push(problem.to_string()),
                Ok(card) if card.generation != generation => {
                    found.damage.push(format!("{name}: its card is of generation {}", card.generation));
                }
                Ok(card) if self.config.as_ref().is_some_and(|config| config.run.seed != card.seed) => {
                    found.damage.push(format!("{name}: its card is of a run with seed {}", card.seed));
                }
                Ok(card) => {
                    if let Some(id) = self.ids.get(&generation).filter(|id| **id != card.id) {
                        found.damage.push(format!("{name}: its id is {}; the metrics say {id}", card.id));
                    }
                }
            }
        }
        Ok(found)
    }

    fn games(&self) -> Result<CheckedObjects, TrainError> {
        let mut found = self.each("games", |check, key, bytes| {
            if games_number(key).is_none() {
                return Ok(());
            }
            let games = decode_games("games", bytes).map_err(of_games)?;
            let check_one = |game| match &check.config {
                Some(_) => check_game(&check.rulesets, game),
                None => hnefi_run::GameRecord::check(game).map_err(|error| error.to_string()),
            };
            games.iter().try_for_each(check_one)
        })?;
        let numbers: BTreeSet<u32> = self.keys.iter().filter_map(|key| games_number(key)).collect();
        found.damage.extend(self.gaps(&numbers, games_key));
        Ok(found)
    }

    /// Missing objects between the smallest and largest of these numbers.
    fn gaps(&self, numbers: &BTreeSet<u32>, key: impl Fn(u32) -> String) -> Vec<String> {
        const NAMED: usize = 20;
        let mut missing = Vec::new();
        for (before, after) in numbers.iter().zip(numbers.iter().skip(1)) {
            let left = NAMED.saturating_sub(missing.len());
            missing.extend(
                ((before + 1)..*after).take(left).map(|number| format!("{}: not found", self.store.name(&key(number)))),
            );
        }
        missing
    }

    fn states(&self) -> Result<CheckedObjects, TrainError> {
        let objects = self.keys.iter().filter(|key| key.starts_with("state/")).count();
        let mut found = CheckedObjects { kind: "state", objects, ..CheckedObjects::default() };
        let states = saved::states(self.store)?;
        for &generation in &states {
            match saved::read_state(self.store, generation) {
                Ok(_) => {}
                // It has been superseded meanwhile.
                Err(TrainError::Store(StoreError::Missing { .. }))
                    if !saved::states(self.store)?.contains(&generation) => {}
                Err(TrainError::Store(error)) if !matches!(error, StoreError::Missing { .. }) => {
                    return Err(error.into());
                }
                Err(error) => found.damage.push(error.to_string()),
            }
        }
        // Every generation with metrics had a state. A run without any states left them out on purpose.
        let measured = self.ids.keys().next_back().copied().unwrap_or(0);
        if objects > 0 && measured > 0 && !states.iter().any(|&generation| generation >= measured) {
            let name = self.store.name(&format!("state/{measured:06}/counters.json"));
            found.damage.push(format!("{name}: not found, and its generation is complete"));
        }
        Ok(found)
    }

    /// The games in flight: what is there, and that it is there. A trainer with a lock ends every generation with a
    /// save for the next one. A run without any states left them out on purpose.
    fn all_in_flight(&self) -> Result<CheckedObjects, TrainError> {
        let mut found = self.each("inflight", |check, key, bytes| check.inflight(key, bytes))?;
        let has_states = self.keys.iter().any(|key| key.starts_with("state/"));
        if !self.is_training || !has_states || !fence::saved_in_flight(self.store)? {
            return Ok(found);
        }
        // A trainer that works meanwhile writes the save before the games, and removes the ones before after them.
        let played = newest_games(self.store)?;
        let saved = self.store.numbers("inflight/", FleetSave::from_key)?.pop();
        if played > 0 && saved.is_none_or(|save| save.generation <= played) {
            let name = self.store.name(&FleetSave { generation: played + 1, save: 0 }.key());
            found.damage.push(format!("{name}: not found, nor a later save of the games in flight"));
        }
        Ok(found)
    }

    fn inflight(&self, key: &str, bytes: &[u8]) -> Result<(), String> {
        if key.ends_with(".json") {
            return parsed::<InFlight>(bytes)?.check();
        }
        let Some(save) = FleetSave::from_key(key) else { return Ok(()) };
        FleetSnapshot::decode("games", bytes).map_err(of_games)?;
        let clock = saved::clock_key(save);
        if self.is_training && !self.keys.contains(&clock) {
            return Err(format!("{clock} is not found beside it"));
        }
        Ok(())
    }

    fn upload(&self, bytes: &[u8]) -> Result<(), String> {
        let upload = Upload::decode("games", bytes).map_err(of_games)?;
        if self.config.is_none() {
            return Ok(());
        }
        upload.games.iter().try_for_each(|game| check_rules(&self.rulesets, game))
    }

    fn log(&self) -> Result<CheckedObjects, TrainError> {
        let mut found = self.each("trainer", |check, key, _| match trainer_number(key) {
            Some(number) => fence::read(check.store, number).map(drop).map_err(bare),
            None => Ok(()),
        })?;
        // No entry is ever removed.
        let mut numbers: BTreeSet<u32> = self.keys.iter().filter_map(|key| trainer_number(key)).collect();
        if !numbers.is_empty() {
            numbers.insert(0);
        }
        found.damage.extend(self.gaps(&numbers, trainer_key));
        Ok(found)
    }
}

fn parsed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    json::from_slice(bytes).map_err(|error| error.to_string())
}

/// The problem without the object's name, which precedes it.
fn bare(error: TrainError) -> String {
    match error {
        TrainError::State { problem, .. } => problem,
        error => error.to_string(),
    }
}

/// The same of games that were decoded as `games`.
fn of_games(error: RecordError) -> String {
    let text = error.to_string();
    text.strip_prefix("games: ").map_or(text.clone(), str::to_owned)
}
