//! What a trainer tells those who play for it: which network, and how.
//!
//! A trainer leaves terms when it begins and after every generation, once its checkpoint and state are there. They have
//! the number of the trainer's newest entry in the log (`fence.rs`), so those of a trainer that was replaced are never
//! the newest, and the newest are what a worker plays by: all it needs to know apart from the configuration in
//! `run.json`.

use hnefi_inference::json;
use hnefi_run::store::{Store, terms_key, terms_number};
use hnefi_selfplay::Adaptation;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::TrainError;

/// Version of what trainers and workers exchange. A worker and a trainer of different versions do not work together.
pub const PROTOCOL: u32 = 2;

/// This program.
pub(crate) const PROGRAM: &str = concat!("hnefi ", env!("CARGO_PKG_VERSION"));

/// The newest word to the workers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// [`PROTOCOL`] of the trainer.
    pub protocol: u32,
    /// Its program.
    pub program: String,
    /// Its epoch: how many trainers the run has had.
    pub epoch: u32,
    /// The generation whose checkpoint plays.
    pub generation: u32,
    /// Identity of that checkpoint.
    pub checkpoint: String,
    /// The stage of the run, from 0.
    pub stage: usize,
    /// Part of the stage that is over, 0 to 1.
    pub progress: f64,
    /// Playouts of a search.
    pub playouts: u32,
    /// Whether the budget is used up, so that nobody waits for more games.
    pub finished: bool,
    /// Handicaps and resignation.
    pub adaptation: Adaptation,
}

impl Terms {
    /// Publishes the terms under a number that nobody else has.
    pub(super) fn publish(&self, store: &Store, number: u32) -> Result<(), TrainError> {
        let text = serde_json::to_string(self).expect("terms hold only numbers and texts");
        Ok(store.create(&terms_key(number), json::with_checksum(&format!("{text}\n")).as_bytes())?)
    }

    /// The newest terms with a number above `known` (0 for all), and their number. Those that cannot be read are passed
    /// over, and `warn` hears of them.
    ///
    /// # Errors
    /// When the store cannot be read, or a trainer of another protocol wrote the newest.
    pub fn newest_after(
        store: &Store,
        known: u32,
        warn: &mut dyn FnMut(&str),
    ) -> Result<Option<(u32, Terms)>, TrainError> {
        let keys = store.list_after("terms/", &terms_key(known))?;
        let mut numbers: Vec<u32> = keys.iter().filter_map(|key| terms_number(key)).collect();
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        for number in numbers {
            match Terms::read(store, number) {
                Ok(terms) => return Ok(Some((number, terms))),
                Err(error @ TrainError::State { .. }) => warn(&format!("skipped {error}")),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// The terms with a number.
    pub(super) fn read(store: &Store, number: u32) -> Result<Terms, TrainError> {
        let key = terms_key(number);
        let fault =
            |problem: String| TrainError::State { object: store.name(&key), problem: format!("damaged: {problem}") };
        let value: Value = json::from_slice(&store.get(&key)?).map_err(|error| fault(error.to_string()))?;
        check_protocol(store, &value, |found| found == PROTOCOL)?;
        serde_json::from_value(value).map_err(|error| fault(error.to_string()))
    }
}

/// Checks what protocol an object was written for. That comes first: the rest of it may be another program's.
pub(super) fn check_protocol(store: &Store, object: &Value, known: impl Fn(u32) -> bool) -> Result<(), TrainError> {
    // One that names none is no program's: it is damaged, as whoever reads the rest of it will find.
    let Some(found) = object.get("protocol").and_then(Value::as_u64) else { return Ok(()) };
    let found = u32::try_from(found).unwrap_or(u32::MAX);
    if known(found) {
        return Ok(());
    }
    let program = object.get("program").and_then(Value::as_str).unwrap_or("an unnamed program").to_owned();
    Err(TrainError::Protocol { place: store.place(), program, found, known: PROTOCOL })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(generation: u32) -> Terms {
        Terms {
            protocol: PROTOCOL,
            program: PROGRAM.to_owned(),
            epoch: 1,
            generation,
            checkpoint: format!("id-{generation}"),
            stage: 0,
            progress: 0.25,
            playouts: 16,
            finished: false,
            adaptation: Adaptation::default(),
        }
    }

    #[test]
    fn the_newest_terms_hold() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(dir.path()).unwrap();
        let newest = |known| Terms::newest_after(&store, known, &mut |warning| panic!("{warning}")).unwrap();
        assert_eq!(newest(0), None);
        for (number, generation) in [(1, 0), (2, 1), (11, 9)] {
            terms(generation).publish(&store, number).unwrap();
        }
        assert_eq!(newest(0), Some((11, terms(9))));
        assert_eq!(newest(2), Some((11, terms(9))));
        assert_eq!(newest(11), None);
        assert!(terms(3).publish(&store, 2).is_err(), "the number is taken");

        store.create(&terms_key(12), b"").unwrap();
        let mut warnings = Vec::new();
        let found = Terms::newest_after(&store, 2, &mut |text| warnings.push(text.to_owned())).unwrap();
        assert_eq!(found, Some((11, terms(9))), "those before a damaged one");
        assert!(warnings.len() == 1 && warnings[0].contains("terms/000012.json: damaged: "), "{warnings:?}");
    }

    #[test]
    fn another_protocol_is_refused_whatever_else_it_says() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(dir.path()).unwrap();
        store.create(&terms_key(3), br#"{"protocol": 3, "program": "hnefi 3.1.4", "more": 1}"#).unwrap();
        let message = Terms::newest_after(&store, 0, &mut |_| ()).unwrap_err().to_string();
        assert!(message.contains("hnefi 3.1.4 with protocol 3") && message.contains("same version"), "{message}");
    }
}
