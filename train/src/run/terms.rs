//! What a trainer tells those who play for it: which network, and how.
//!
//! A trainer leaves terms when it begins and after every generation, once its checkpoint and state are there. They have the number
//! of the trainer's newest entry in the log (`fence.rs`), so those of a trainer that was replaced are never the newest, and
//! the newest are what a worker plays by: all it needs to know apart from the configuration in `run.json`.

use hnefi_selfplay::fleet::Adaptation;
use hnefi_selfplay::store::{Store, terms_key, terms_number};
use serde::{Deserialize, Serialize};

use crate::TrainError;

/// Version of what trainers and workers exchange. A worker and a trainer of different versions do not work together.
pub const PROTOCOL: u32 = 1;

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
    /// Part of the budget used up, 0 to 1.
    pub progress: f64,
    /// Playouts of a full search.
    pub playouts: u32,
    /// The generation whose checkpoint takes one side in some of the games, if the configuration wants that.
    pub past: Option<u32>,
    /// Whether the budget is used up, so that nobody waits for more games.
    pub finished: bool,
    /// Handicaps and resignation.
    pub adaptation: Adaptation,
}

impl Terms {
    /// Publishes the terms under a number that nobody else has.
    pub(super) fn publish(&self, store: &Store, number: u32) -> Result<(), TrainError> {
        let text = serde_json::to_string(self).expect("terms hold only numbers and texts");
        Ok(store.create(&terms_key(number), format!("{text}\n").as_bytes())?)
    }

    /// The newest terms with a number above `known` (0 for all), and their number.
    ///
    /// # Errors
    /// When the store cannot be read, or a trainer of another protocol wrote them.
    pub fn newest_after(store: &Store, known: u32) -> Result<Option<(u32, Terms)>, TrainError> {
        let keys = store.list_after("terms/", &terms_key(known))?;
        let Some(newest) = keys.iter().filter_map(|key| terms_number(key)).max() else { return Ok(None) };
        let key = terms_key(newest);
        let fault = |problem: String| TrainError::State { object: store.name(&key), problem };
        // The protocol comes first: the rest may be another program's.
        let value: serde_json::Value =
            serde_json::from_slice(&store.get(&key)?).map_err(|error| fault(format!("damaged: {error}")))?;
        let found = value.get("protocol").and_then(serde_json::Value::as_u64).unwrap_or(0);
        if found != u64::from(PROTOCOL) {
            let program = value.get("program").and_then(serde_json::Value::as_str).unwrap_or("an unnamed program");
            return Err(TrainError::Protocol {
                place: store.place(),
                program: program.to_owned(),
                found: u32::try_from(found).unwrap_or(u32::MAX),
                known: PROTOCOL,
            });
        }
        let terms = serde_json::from_value(value).map_err(|error| fault(error.to_string()))?;
        Ok(Some((newest, terms)))
    }
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
            progress: 0.25,
            playouts: 16,
            past: None,
            finished: false,
            adaptation: Adaptation::default(),
        }
    }

    #[test]
    fn the_newest_terms_hold() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(dir.path()).unwrap();
        assert_eq!(Terms::newest_after(&store, 0).unwrap(), None);
        for (number, generation) in [(1, 0), (2, 1), (11, 9)] {
            terms(generation).publish(&store, number).unwrap();
        }
        assert_eq!(Terms::newest_after(&store, 0).unwrap(), Some((11, terms(9))));
        assert_eq!(Terms::newest_after(&store, 2).unwrap(), Some((11, terms(9))));
        assert_eq!(Terms::newest_after(&store, 11).unwrap(), None);
        assert!(terms(3).publish(&store, 2).is_err(), "the number is taken");
    }

    #[test]
    fn another_protocol_is_refused_whatever_else_it_says() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(dir.path()).unwrap();
        store.create(&terms_key(3), br#"{"protocol": 2, "program": "hnefi 3.1.4", "more": 1}"#).unwrap();
        let message = Terms::newest_after(&store, 0).unwrap_err().to_string();
        assert!(message.contains("hnefi 3.1.4 with protocol 2") && message.contains("same version"), "{message}");
    }
}
