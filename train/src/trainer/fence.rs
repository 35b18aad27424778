//! Allows one trainer at a time, also in a bucket, which cannot be locked.
//!
//! Every trainer of a run writes to one log, `trainer/000001.json` and so on. Entries are created and never changed, so
//! of two trainers that want the same number one succeeds. A trainer begins with a **claim**, which opens a new
//! **epoch**, and announces every generation before it publishes it. A trainer that finds its next number taken has
//! been replaced by another one and writes nothing more.
//!
//! ```text
//! trainer/000001.json   epoch 1 claims
//! trainer/000002.json   epoch 1 publishes generation 1
//! trainer/000003.json   epoch 2 claims           epoch 1 wakes up, wants 000003 for generation 2, and stops
//! trainer/000004.json   epoch 2 publishes generation 2
//! ```
//!
//! A replaced trainer may still be writing the generation that it announced last. In a locked directory it cannot be
//! alive. In a bucket the new trainer skips that number ([`Fence::claim`] returns the newest announced generation). So
//! every checkpoint and every state has one writer.

use hnefi_inference::json;
use hnefi_run::PROGRAM;
use hnefi_run::store::{Store, StoreError, job_number, trainer_key, trainer_number};
use serde::{Deserialize, Serialize};

use crate::TrainError;
use crate::job::{PROTOCOL, read_object};

/// Number of attempts to claim a run that other trainers claim at the same time.
const ATTEMPTS: usize = 20;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    protocol: u32,
    program: String,
    epoch: u32,
    /// The trainer's process and start time, so that no two trainers have the same name.
    trainer: String,
    /// The hardware that it runs on, for those who look at the run.
    machine: String,
    /// `None` for a claim, else the announced generation.
    publishes: Option<u32>,
    /// Whether it had the run's lock. Games in flight are not saved without it.
    locked: bool,
}

/// The right to publish, until another trainer claims the run.
#[derive(Debug)]
pub(super) struct Fence {
    /// Number of this claim among all claims of the run.
    pub(super) epoch: u32,
    /// Number of this trainer's newest entry.
    pub(super) newest: u32,
    trainer: String,
    machine: String,
}

impl Fence {
    /// Claims the run. Also returns the newest generation that any trainer may have announced, 0 for none. Damaged
    /// entries are skipped and reported to `warn`. `machine` describes the hardware.
    pub(super) fn claim(store: &Store, machine: &str, warn: &mut dyn FnMut(&str)) -> Result<(Fence, u32), TrainError> {
        let trainer = trainer();
        for _ in 0..ATTEMPTS {
            let log = Log::read(store, warn)?;
            let (trainer, machine) = (trainer.clone(), machine.to_owned());
            let fence = Fence { epoch: log.epoch.saturating_add(1), newest: log.newest + 1, trainer, machine };
            match fence.write(store, None) {
                Ok(()) => return Ok((fence, log.announced)),
                // Another trainer claimed it first; claim after it.
                Err(StoreError::Exists { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(TrainError::Replaced { place: store.place(), by: "other trainers that keep claiming it".to_owned() })
    }

    /// Announces a generation, unless another trainer has claimed the run.
    pub(super) fn announce(&mut self, store: &Store, generation: u32) -> Result<(), TrainError> {
        self.newest += 1;
        match self.write(store, Some(generation)) {
            Err(StoreError::Exists { .. }) => Err(self.replaced(store, self.newest)),
            other => Ok(other?),
        }
    }

    /// Checks that no other trainer has claimed the run.
    pub(super) fn check(&self, store: &Store) -> Result<(), TrainError> {
        let after = store.list_after("trainer/", &trainer_key(self.newest))?;
        match after.iter().filter_map(|key| trainer_number(key)).max() {
            Some(number) => Err(self.replaced(store, number)),
            None => Ok(()),
        }
    }

    fn write(&self, store: &Store, publishes: Option<u32>) -> Result<(), StoreError> {
        let (program, trainer, machine) = (PROGRAM.to_owned(), self.trainer.clone(), self.machine.clone());
        let (epoch, locked) = (self.epoch, store.is_exclusive());
        let entry = Entry { protocol: PROTOCOL, program, epoch, trainer, machine, publishes, locked };
        let text = serde_json::to_string(&entry).expect("an entry holds only numbers and texts");
        store.create(&trainer_key(self.newest), json::with_checksum(&format!("{text}\n")).as_bytes())
    }

    fn replaced(&self, store: &Store, number: u32) -> TrainError {
        let by = match read(store, number) {
            Ok(entry) => format!("epoch {}, {}", entry.epoch, entry.trainer),
            Err(error) => error.to_string(),
        };
        TrainError::Replaced { place: store.place(), by }
    }
}

#[derive(Default)]
struct Log {
    newest: u32,
    epoch: u32,
    announced: u32,
}

impl Log {
    /// Reads the log backwards as far as needed. A damaged entry may have been a claim or an announcement and counts as
    /// both, so that no epoch and no generation is used twice.
    fn read(store: &Store, warn: &mut dyn FnMut(&str)) -> Result<Log, TrainError> {
        let numbers = store.numbers("trainer/", trainer_number)?;
        // A job has the number of the log entry before it. That number is taken even if the entry is gone.
        let job = store.numbers("jobs/", job_number)?.pop().unwrap_or(0);
        let newest = numbers.last().copied().unwrap_or(0).max(job);
        let (mut unreadable, mut epoch) = (0, None);
        for number in numbers.into_iter().rev() {
            match read(store, number) {
                Ok(entry) => {
                    let epoch = *epoch.get_or_insert(entry.epoch.saturating_add(unreadable));
                    if let Some(generation) = entry.publishes {
                        return Ok(Log { newest, epoch, announced: generation.saturating_add(unreadable) });
                    }
                }
                Err(error @ (TrainError::State { .. } | TrainError::Store(StoreError::Missing { .. }))) => {
                    warn(&format!("skipped {error}"));
                    unreadable += 1;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Log { newest, epoch: epoch.unwrap_or(unreadable), announced: unreadable })
    }
}

/// Whether the newest trainer saved its games in flight, as far as the log says.
pub(super) fn saved_in_flight(store: &Store) -> Result<bool, TrainError> {
    let newest = store.numbers("trainer/", trainer_number)?.pop();
    Ok(newest.is_some_and(|number| read(store, number).is_ok_and(|entry| entry.locked)))
}

/// Reads an entry of this or an earlier protocol.
pub(super) fn read(store: &Store, number: u32) -> Result<Entry, TrainError> {
    read_object(store, &trainer_key(number), 0..=PROTOCOL, |_| Ok(()))
}

fn trainer() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let host = if host.trim().is_empty() { "a machine" } else { host.trim() };
    format!("process {} on {host} at {}.{:09}", std::process::id(), since.as_secs(), since.subsec_nanos())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use hnefi_run::store::{Access, Location, RetryPolicy};

    use super::*;

    /// Two stores over the same directory, as two trainers of a bucket have them: nothing is locked here.
    fn unlocked(dir: &Path) -> Store {
        Store::open(&Location::from(dir), Access::Shared, RetryPolicy::default()).unwrap()
    }

    fn claim(store: &Store) -> (Fence, u32) {
        Fence::claim(store, "", &mut |warning| panic!("{warning}")).unwrap()
    }

    #[test]
    fn the_log_says_whether_games_in_flight_are_saved() {
        let dir = tempfile::tempdir().unwrap();
        let store = unlocked(dir.path());
        assert!(!saved_in_flight(&store).unwrap(), "there is no log");
        claim(&store);
        assert!(!saved_in_flight(&store).unwrap());
        claim(&Store::open_or_create(dir.path()).unwrap());
        assert!(saved_in_flight(&store).unwrap());
    }

    #[test]
    fn entries_that_cannot_be_read_are_named_and_counted_as_what_they_may_have_been() {
        let dir = tempfile::tempdir().unwrap();
        let store = unlocked(dir.path());
        let (mut first, _) = claim(&store);
        first.announce(&store, 1).unwrap();
        let damaged = |number| store.create(&trainer_key(number), b"").unwrap();
        damaged(3);
        damaged(4);
        let mut warnings = Vec::new();
        let (second, announced) = Fence::claim(&store, "", &mut |text| warnings.push(text.to_owned())).unwrap();
        assert_eq!((second.epoch, second.newest, announced), (4, 5, 3));
        let expected = ["000004", "000003"].map(|number| format!("trainer/{number}.json: damaged: "));
        assert_eq!(warnings.len(), 2);
        assert!(warnings.iter().zip(expected).all(|(text, part)| text.contains(&part)), "{warnings:?}");
        let (third, announced) = Fence::claim(&store, "", &mut |_| ()).unwrap();
        assert_eq!((third.epoch, announced), (5, 3), "nothing is counted twice");
        // All of it.
        let none = tempfile::tempdir().unwrap();
        let store = unlocked(none.path());
        store.create(&trainer_key(1), b"{").unwrap();
        let (fence, announced) = Fence::claim(&store, "", &mut |_| ()).unwrap();
        assert_eq!((fence.epoch, fence.newest, announced), (2, 2, 1));
    }

    #[test]
    fn the_newer_claim_wins_and_the_older_trainer_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let store = unlocked(dir.path());
        let (mut first, announced) = claim(&store);
        assert_eq!((first.epoch, announced), (1, 0));
        first.announce(&store, 1).unwrap();
        first.check(&store).unwrap();

        let (mut second, announced) = claim(&store);
        assert_eq!((second.epoch, announced), (2, 1));
        let message = first.check(&store).unwrap_err().to_string();
        assert!(message.contains("another trainer has taken over: epoch 2, process "), "{message}");
        assert!(matches!(first.announce(&store, 2), Err(TrainError::Replaced { .. })));
        second.announce(&store, 2).unwrap();
        assert!(first.announce(&store, 2).is_err(), "it does not slip in at a later number either");
        assert_eq!(store.list("trainer/").unwrap().len(), 4);
    }

    #[test]
    fn of_many_who_claim_at_once_each_has_an_epoch_and_one_stays() {
        let dir = tempfile::tempdir().unwrap();
        let mut fences: Vec<Fence> = std::thread::scope(|scope| {
            let claims: Vec<_> = (0..6).map(|_| scope.spawn(|| claim(&unlocked(dir.path())).0)).collect();
            claims.into_iter().map(|claim| claim.join().unwrap()).collect()
        });
        fences.sort_by_key(|fence| fence.epoch);
        assert_eq!(fences.iter().map(|fence| fence.epoch).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
        let store = unlocked(dir.path());
        let won: Vec<u32> =
            fences.iter_mut().filter_map(|fence| fence.announce(&store, 1).is_ok().then_some(fence.epoch)).collect();
        assert_eq!(won, [6]);
    }

    #[test]
    fn a_later_protocol_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let store = unlocked(dir.path());
        let text = r#"{"protocol": 99, "program": "hnefi 9.0.0", "epoch": 1, "trainer": "x", "publishes": null}"#;
        store.create(&trainer_key(1), text.as_bytes()).unwrap();
        let message = Fence::claim(&store, "", &mut |_| ()).unwrap_err().to_string();
        assert!(
            message.contains("hnefi 9.0.0 with protocol 99") && message.contains(&format!("speaks {PROTOCOL}")),
            "{message}"
        );
    }
}
