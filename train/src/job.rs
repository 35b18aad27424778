//! The job of the workers: which checkpoint plays, and how.
//!
//! A trainer publishes a job when it begins and after every generation, once checkpoint and state are written. A job
//! has the number of the trainer's newest entry in the log (`trainer/fence.rs`), so the newest job never comes from a
//! replaced trainer. A worker plays by the newest job and the configuration in `run.json`.

use std::ops::RangeInclusive;

use hnefi_inference::json;
use hnefi_run::store::{Store, job_key, job_number};
use hnefi_selfplay::Adaptation;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::TrainError;

/// Version of the objects that trainers and workers exchange. Trainer and worker must have the same version.
pub const PROTOCOL: u32 = 3;

/// The most playouts of a search and stages of a run that are believed; configurations allow fewer.
const MOST_PLAYOUTS: u32 = 1_000_000;
pub(crate) const MOST_STAGES: usize = 100_000;

/// The job of the workers, under `jobs/`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// [`PROTOCOL`] of the trainer.
    pub protocol: u32,
    /// The trainer's program.
    pub program: String,
    /// The trainer's epoch: the number of trainers that the run has had.
    pub epoch: u32,
    /// The generation whose checkpoint plays.
    pub generation: u32,
    /// Id of that checkpoint.
    pub checkpoint: String,
    /// The stage of the run, from 0.
    pub stage: usize,
    /// Playouts of a search.
    pub playouts: u32,
    /// Whether the budget is used up, so that no more games are needed.
    pub finished: bool,
    /// Handicaps and resignation.
    pub adaptation: Adaptation,
}

impl Job {
    /// Publishes the job under a number that no other job has.
    pub(crate) fn publish(&self, store: &Store, number: u32) -> Result<(), TrainError> {
        let text = serde_json::to_string(self).expect("a job holds only numbers and texts");
        Ok(store.create(&job_key(number), json::with_checksum(&format!("{text}\n")).as_bytes())?)
    }

    /// The newest job with a number above `known` (0 for all), and its number. Damaged jobs are skipped and reported to
    /// `warn`.
    ///
    /// # Errors
    /// When the store cannot be read, or a trainer of another protocol wrote the newest job.
    pub fn newest_after(
        store: &Store,
        known: u32,
        warn: &mut dyn FnMut(&str),
    ) -> Result<Option<(u32, Job)>, TrainError> {
        let keys = store.list_after("jobs/", &job_key(known))?;
        let mut numbers: Vec<u32> = keys.iter().filter_map(|key| job_number(key)).collect();
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        for number in numbers {
            match Job::read(store, number) {
                Ok(job) => return Ok(Some((number, job))),
                Err(error @ TrainError::State { .. }) => warn(&format!("skipped {error}")),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    pub(crate) fn read(store: &Store, number: u32) -> Result<Job, TrainError> {
        read_object(store, &job_key(number), PROTOCOL..=PROTOCOL, Job::check)
    }

    /// Whether a job can have these numbers. Who plays restricts the handicaps.
    fn check(&self) -> Result<(), String> {
        json::check(1..=MOST_PLAYOUTS, &[("playouts", self.playouts)])?;
        Ok(json::check(0..=MOST_STAGES, &[("stage", self.stage)])?)
    }
}

/// Reads an object of one of these protocols and checks it.
pub(crate) fn read_object<T: DeserializeOwned>(
    store: &Store,
    key: &str,
    protocols: RangeInclusive<u32>,
    check: impl FnOnce(&T) -> Result<(), String>,
) -> Result<T, TrainError> {
    let damaged =
        |problem: String| TrainError::State { object: store.name(key), problem: format!("damaged: {problem}") };
    let value: Value = json::from_slice(&store.get(key)?).map_err(|error| damaged(error.to_string()))?;
    // The meaning of the other fields depends on the protocol. An object without one is damaged, as decoding reports.
    if let Some(found) = value.get("protocol").and_then(Value::as_u64) {
        let found = u32::try_from(found).unwrap_or(u32::MAX);
        if !protocols.contains(&found) {
            let program = value.get("program").and_then(Value::as_str).unwrap_or("an unnamed program").to_owned();
            return Err(TrainError::Protocol { place: store.place(), program, found, known: PROTOCOL });
        }
    }
    let object = serde_json::from_value(value).map_err(|error| damaged(error.to_string()))?;
    check(&object).map_err(damaged)?;
    Ok(object)
}

#[cfg(test)]
pub(crate) mod tests {
    use hnefi_run::PROGRAM;

    use super::*;

    pub(crate) fn job(generation: u32) -> Job {
        Job {
            protocol: PROTOCOL,
            program: PROGRAM.to_owned(),
            epoch: 1,
            generation,
            checkpoint: format!("id-{generation}"),
            stage: 0,
            playouts: 2,
            finished: false,
            adaptation: Adaptation::default(),
        }
    }

    #[test]
    fn the_newest_job_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(dir.path()).unwrap();
        let newest = |known| Job::newest_after(&store, known, &mut |warning| panic!("{warning}")).unwrap();
        assert_eq!(newest(0), None);
        for (number, generation) in [(1, 0), (2, 1), (11, 9)] {
            job(generation).publish(&store, number).unwrap();
        }
        assert_eq!(newest(0), Some((11, job(9))));
        assert_eq!(newest(2), Some((11, job(9))));
        assert_eq!(newest(11), None);
        assert!(job(3).publish(&store, 2).is_err(), "the number is taken");

        store.create(&job_key(12), b"").unwrap();
        let mut warnings = Vec::new();
        let found = Job::newest_after(&store, 2, &mut |text| warnings.push(text.to_owned())).unwrap();
        assert_eq!(found, Some((11, job(9))), "a damaged job is skipped");
        assert!(warnings.len() == 1 && warnings[0].contains("jobs/000012.json: damaged: "), "{warnings:?}");
    }

    #[test]
    fn numbers_that_no_job_has_are_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(dir.path()).unwrap();
        for (number, (job, said)) in [
            (Job { playouts: u32::MAX, ..job(1) }, "playouts is 4294967295; expected 1 to 1000000"),
            (Job { stage: usize::MAX, ..job(1) }, "stage is 18446744073709551615; expected 0 to 100000"),
        ]
        .into_iter()
        .enumerate()
        {
            let number = number as u32 + 1;
            job.publish(&store, number).unwrap();
            let message = Job::read(&store, number).unwrap_err().to_string();
            assert!(message.contains(&job_key(number)) && message.contains(said), "{message}");
        }
    }

    #[test]
    fn another_protocol_is_refused_whatever_else_it_says() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(dir.path()).unwrap();
        store.create(&job_key(3), br#"{"protocol": 99, "program": "hnefi 9.0.0", "more": 1}"#).unwrap();
        let message = Job::newest_after(&store, 0, &mut |_| ()).unwrap_err().to_string();
        assert!(message.contains("hnefi 9.0.0 with protocol 99") && message.contains("same version"), "{message}");
    }
}
