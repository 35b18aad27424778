//! The state from which a run resumes exactly, besides games and checkpoints: the learner's state after each
//! generation, and the clock beside each save of the games in flight.
//!
//! ```text
//! state/000001/weights.bpk      weights in training
//! state/000001/average.bpk      averaged weights
//! state/000001/optimiser.bpk    the optimisers' moments
//! state/000001/trainer.state    the state of a trainer of its own, where one trains
//! state/000001/counters.json    counts, and sizes and checksums of the other files; written last
//! inflight/000002-0003.json     clock and self-play figures at that save
//! ```

use std::collections::BTreeSet;

use hnefi_inference::{ENCODING_VERSION, json};
use hnefi_run::store::{FleetSave, Store, StoreError, state_key};

use super::state::{Counters, FORMAT, InFlight, Part};
use crate::TrainError;
use crate::learner::LearnerState;

const PARTS: [&str; 3] = ["weights.bpk", "average.bpk", "optimiser.bpk"];

pub(super) const COMMAND_STATE: &str = "trainer.state";

fn part_key(generation: u32, part: &str) -> String {
    format!("{}/{part}", state_key(generation))
}

/// Writes the state after a generation. In a directory, and for generation 0, it replaces an existing state.
pub(super) fn write_state(store: &Store, counters: &Counters, learner: &LearnerState) -> Result<(), TrainError> {
    let generation = counters.generation;
    // A state exists only if it is damaged or incomplete and the generation was trained again. In a bucket an
    // incomplete generation is not repeated under its number, except generation 0: its earlier trainer has been
    // replaced, and may have been another version of the program, whose bytes differ.
    if store.is_exclusive() || generation == 0 {
        remove_state(store, generation)?;
    }
    let mut counters = counters.clone();
    let command = Some((COMMAND_STATE, &learner.command)).filter(|(_, state)| !state.is_empty());
    let parts = PARTS.into_iter().zip([&learner.weights, &learner.average, &learner.optimiser]);
    for (name, bytes) in parts.chain(command) {
        store.create_same(&part_key(generation, name), bytes)?;
        counters.parts.insert(name.to_owned(), Part { bytes: bytes.len() as u64, crc32c: crc32c::crc32c(bytes) });
    }
    let text = serde_json::to_string_pretty(&counters).expect("counters hold only numbers and texts");
    let text = json::with_checksum(&format!("{text}\n"));
    Ok(store.create_same(&part_key(generation, "counters.json"), text.as_bytes())?)
}

/// Removes the state of a generation, `counters.json` first, so that a partly removed state is never taken for a
/// complete one.
pub(super) fn remove_state(store: &Store, generation: u32) -> Result<(), TrainError> {
    for name in ["counters.json", COMMAND_STATE].into_iter().chain(PARTS) {
        store.remove(&part_key(generation, name))?;
    }
    Ok(())
}

/// Keeps the newest two states up to generation `newest` and removes what is older, also what is left of a state whose
/// writing or removal was interrupted.
pub(super) fn remove_old_states(store: &Store, newest: u32) -> Result<(), TrainError> {
    let keys = store.list("state/")?;
    let generation = |key: &String| key.strip_prefix("state/")?.split('/').next()?.parse::<u32>().ok();
    let whole = keys.iter().filter(|key| key.ends_with("/counters.json")).filter_map(generation);
    let whole: BTreeSet<u32> = whole.filter(|&whole| whole <= newest).collect();
    let Some(&kept) = whole.iter().nth_back(1) else { return Ok(()) };
    let old: BTreeSet<u32> = keys.iter().filter_map(generation).filter(|&old| old < kept).collect();
    old.into_iter().try_for_each(|old| remove_state(store, old))
}

pub(super) fn states(store: &Store) -> Result<Vec<u32>, TrainError> {
    let number = |key: &str| key.strip_prefix("state/")?.strip_suffix("/counters.json")?.parse().ok();
    Ok(store.numbers("state/", number)?.into_iter().rev().collect())
}

/// Reads the state after a generation and checks every part of it.
pub(super) fn read_state(store: &Store, generation: u32) -> Result<(Counters, LearnerState), TrainError> {
    let state_error = |name: &str, problem: String| TrainError::State { object: part_key(generation, name), problem };
    let damaged = |error: json::JsonError| state_error("counters.json", format!("damaged: {error}"));
    let value: serde_json::Value =
        json::from_slice(&store.get(&part_key(generation, "counters.json"))?).map_err(damaged)?;
    // Check the format first: other fields depend on it.
    let found = value.get("format").and_then(serde_json::Value::as_u64).unwrap_or(0);
    if found > u64::from(FORMAT) {
        let place = store.name(&part_key(generation, "counters.json"));
        let program = "a later version".to_owned();
        return Err(TrainError::Newer { place, program, found, known: FORMAT.into() });
    }
    let counters: Counters = serde_json::from_value(value).map_err(|error| damaged(error.into()))?;
    if counters.generation != generation || counters.plies.len() != generation as usize {
        let problem = format!(
            "generation {} with {} counts of plies; expected {generation}",
            counters.generation,
            counters.plies.len()
        );
        return Err(state_error("counters.json", problem));
    }
    counters.check().map_err(|problem| state_error("counters.json", problem))?;
    if counters.encoding != ENCODING_VERSION {
        let problem = format!("encoding {}; this program knows encoding {ENCODING_VERSION}", counters.encoding);
        return Err(state_error("counters.json", problem));
    }
    let part = |name: &str| {
        let bytes = store.get(&part_key(generation, name))?;
        let known =
            counters.parts.get(name).ok_or_else(|| state_error("counters.json", format!("no entry for {name}")))?;
        if bytes.len() as u64 != known.bytes {
            return Err(state_error(name, format!("{} bytes; expected {}, it was cut off", bytes.len(), known.bytes)));
        }
        let found = crc32c::crc32c(&bytes);
        if found != known.crc32c {
            return Err(state_error(
                name,
                format!("checksum {found:08x}; expected {:08x}, it is damaged", known.crc32c),
            ));
        }
        Ok(bytes)
    };
    let [weights, average, optimiser] = PARTS;
    let learner = LearnerState {
        weights: part(weights)?,
        average: part(average)?,
        optimiser: part(optimiser)?,
        command: counters.parts.get(COMMAND_STATE).map_or(Ok(Vec::new()), |_| part(COMMAND_STATE))?,
        counts: counters.counts,
    };
    Ok((counters, learner))
}

pub(super) fn clock_key(save: FleetSave) -> String {
    let key = save.key();
    format!("{}.json", key.strip_suffix(".hfleet").unwrap_or(&key))
}

fn clock_number(key: &str) -> Option<FleetSave> {
    FleetSave::from_key(&format!("{}.hfleet", key.strip_suffix(".json")?))
}

/// Writes one save of the games in flight with its clock, and replaces an existing one. The clock is written first, so
/// that every fleet has one.
pub(super) fn write_inflight(store: &Store, save: FleetSave, clock: &InFlight, fleet: &[u8]) -> Result<(), StoreError> {
    let (fleet_key, clock_key) = (save.key(), clock_key(save));
    store.remove(&fleet_key)?;
    store.remove(&clock_key)?;
    let text = serde_json::to_string_pretty(clock).expect("the clock holds only numbers and texts");
    store.create(&clock_key, json::with_checksum(&format!("{text}\n")).as_bytes())?;
    store.create(&fleet_key, fleet)
}

pub(super) fn inflight_saves(store: &Store, generation: u32) -> Result<Vec<FleetSave>, TrainError> {
    let save = |key: &str| FleetSave::from_key(key).filter(|save| save.generation == generation);
    Ok(store.numbers("inflight/", save)?.into_iter().rev().collect())
}

/// Reads the clock beside a save.
pub(super) fn read_clock(store: &Store, save: FleetSave) -> Result<InFlight, TrainError> {
    let key = clock_key(save);
    let damaged = |problem: String| TrainError::State { object: key.clone(), problem: format!("damaged: {problem}") };
    let clock: InFlight = json::from_slice(&store.get(&key)?).map_err(|error| damaged(error.to_string()))?;
    clock.check().map_err(damaged)?;
    Ok(clock)
}

pub(super) fn remove_inflight_before(store: &Store, newest: FleetSave) -> Result<(), StoreError> {
    for key in store.list("inflight/")? {
        if FleetSave::from_key(&key).or_else(|| clock_number(&key)).is_some_and(|save| save < newest) {
            store.remove(&key)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use hnefi_run::store::{Access, Location, RetryPolicy};

    use super::*;
    use crate::learner::StepCounts;
    use crate::trainer::clock::Spent;

    fn state() -> (Counters, LearnerState) {
        let counters = Counters {
            generation: 2,
            spent: Spent { wall: 1.5, processor: 2.5 },
            plies: vec![10, 20],
            ..Counters::fresh(None)
        };
        let learner = LearnerState {
            weights: vec![1; 100],
            average: vec![2; 100],
            optimiser: vec![3; 200],
            command: vec![4; 50],
            counts: StepCounts { steps: 7, samples: 70, averaged_before: 3, ..StepCounts::default() },
        };
        (Counters { counts: learner.counts, ..counters }, learner)
    }

    fn store() -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(dir.path()).unwrap();
        (dir, store)
    }

    #[test]
    fn two_states_stay_when_a_number_was_left_out_and_no_parts() {
        let (_dir, store) = store();
        let (counters, learner) = state();
        store.create(&part_key(3, "weights.bpk"), b"left by one that died").unwrap();
        for generation in [4, 5, 7] {
            write_state(&store, &Counters { generation, ..counters.clone() }, &learner).unwrap();
            remove_old_states(&store, generation).unwrap();
        }
        assert_eq!(states(&store).unwrap(), [7, 5]);
        assert!(store.list("state/000003/").unwrap().is_empty());
    }

    #[test]
    fn a_state_reads_back_and_can_be_written_again() {
        let (_dir, store) = store();
        let (counters, learner) = state();
        write_state(&store, &counters, &learner).unwrap();
        write_state(&store, &counters, &learner).unwrap();
        let (read, read_learner) = read_state(&store, 2).unwrap();
        assert_eq!((read.spent, read.plies), (counters.spent, vec![10, 20]));
        assert_eq!(read_learner, learner);
        assert_eq!(states(&store).unwrap(), [2]);
        remove_state(&store, 2).unwrap();
        assert!(states(&store).unwrap().is_empty());
    }

    #[test]
    fn a_state_of_another_encoding_is_refused() {
        let (dir, store) = store();
        let (counters, learner) = state();
        write_state(&store, &counters, &learner).unwrap();
        let path = dir.path().join("state/000002/counters.json");
        let text = std::fs::read_to_string(&path).unwrap();
        // What is edited has no checksum.
        let (_, text) = text.split_once(',').unwrap();
        std::fs::write(&path, format!("{{{}", text.replace("\"encoding\": 3", "\"encoding\": 2"))).unwrap();
        let message = read_state(&store, 2).unwrap_err().to_string();
        assert_eq!(message, "state/000002/counters.json: encoding 2; this program knows encoding 3");
    }

    #[test]
    fn a_beginning_that_was_cut_off_in_a_bucket_is_written_again() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&Location::from(dir.path()), Access::Shared, RetryPolicy::default()).unwrap();
        let (later, learner) = state();
        let counters = Counters { counts: learner.counts, ..Counters::fresh(None) };
        store.create(&part_key(0, "weights.bpk"), &[9; 100]).unwrap();
        write_state(&store, &counters, &learner).unwrap();
        assert_eq!(read_state(&store, 0).unwrap().1, learner);

        store.create(&part_key(2, "weights.bpk"), &[9; 100]).unwrap();
        let message = write_state(&store, &later, &learner).unwrap_err().to_string();
        assert!(message.contains("state/000002/weights.bpk"), "later ones have one writer: {message}");
    }

    #[test]
    fn damage_is_named() {
        let (dir, store) = store();
        let (counters, learner) = state();
        write_state(&store, &counters, &learner).unwrap();
        let path = dir.path().join("state/000002/optimiser.bpk");
        let message = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            read_state(&store, 2).unwrap_err().to_string()
        };
        let cut = message(&[3; 150]);
        assert_eq!(cut, "state/000002/optimiser.bpk: 150 bytes; expected 200, it was cut off");
        let flipped: Vec<u8> = (0..200).map(|index| if index == 77 { 2 } else { 3 }).collect();
        let damaged = message(&flipped);
        assert!(damaged.starts_with("state/000002/optimiser.bpk: checksum "), "{damaged}");
        std::fs::write(dir.path().join("state/000002/counters.json"), "{\"format\": 1").unwrap();
        let torn = read_state(&store, 2).unwrap_err().to_string();
        assert!(torn.starts_with("state/000002/counters.json: damaged: EOF"), "{torn}");
    }

    #[test]
    fn a_changed_digit_is_damage() {
        let (dir, store) = store();
        let (counters, learner) = state();
        write_state(&store, &counters, &learner).unwrap();
        let path = dir.path().join("state/000002/counters.json");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("\"steps\": 7", "\"steps\": 4")).unwrap();
        let message = read_state(&store, 2).unwrap_err().to_string();
        assert!(message.starts_with("state/000002/counters.json: damaged: its checksum is "), "{message}");
    }

    #[test]
    fn saves_in_flight_and_their_clocks() {
        let (_dir, store) = store();
        let clock = |wall| InFlight { spent: Spent { wall, processor: 0.0 }, ..InFlight::default() };
        let number = |generation, save| FleetSave { generation, save };
        for save in [number(1, 0), number(1, 1), number(1, 2), number(2, 0)] {
            write_inflight(&store, save, &clock(f64::from(save.save)), b"fleet").unwrap();
        }
        assert_eq!(inflight_saves(&store, 1).unwrap(), [2, 1, 0].map(|save| number(1, save)));
        remove_inflight_before(&store, number(1, 2)).unwrap();
        assert_eq!(inflight_saves(&store, 1).unwrap(), [number(1, 2)]);
        assert_eq!(read_clock(&store, number(1, 2)).unwrap(), clock(2.0));
        assert!(read_clock(&store, number(1, 1)).is_err());
        assert_eq!(store.list("inflight/").unwrap().len(), 4, "two saves with their clocks");
    }
}
