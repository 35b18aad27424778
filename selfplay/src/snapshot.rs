//! Snapshots of a fleet, from which this process or another one resumes.
//!
//! Between rounds the state of a game is its record, and all randomness is derived from the seed. A snapshot therefore
//! holds the records of the games in flight and of the games finished in this generation. Game batches are independent,
//! so each may be saved at a different round and the resumed run still plays the same games.

use std::fmt;

use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::balance::Balance;
use super::resignation::Verification;
use super::statistics::Counters;
use hnefi_run::codec::{self, SNAPSHOT};
use hnefi_run::config::BATCH_GAMES;
use hnefi_run::{GameRecord, RecordError};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct GameBatchState {
    /// Number of games begun; the next game has number `begun * batches + batch`.
    pub(super) begun: u64,
    /// The game in flight of each slot; `None` for an empty slot.
    #[serde(deserialize_with = "slots")]
    pub(super) slots: Vec<Option<GameRecord>>,
    /// Games finished in this generation, in order of their ends.
    pub(super) finished: Vec<GameRecord>,
    pub(super) counters: Counters,
}

/// Reads the slots of a batch. An empty one is a byte of the file and takes hundreds in memory, so more than a batch
/// has are refused while they are read.
fn slots<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Option<GameRecord>>, D::Error> {
    struct Slots;

    impl<'de> Visitor<'de> for Slots {
        type Value = Vec<Option<GameRecord>>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "the {BATCH_GAMES} games of a batch")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut games: A) -> Result<Self::Value, A::Error> {
            let mut slots = Vec::with_capacity(BATCH_GAMES);
            while let Some(game) = games.next_element()? {
                if slots.len() == BATCH_GAMES {
                    return Err(A::Error::invalid_length(BATCH_GAMES + 1, &self));
                }
                slots.push(game);
            }
            Ok(slots)
        }
    }

    deserializer.deserialize_seq(Slots)
}

/// A whole fleet between rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FleetSnapshot {
    pub(super) seed: u64,
    pub(super) verification: Verification,
    pub(super) balance: Balance,
    pub(super) batches: Vec<GameBatchState>,
}

impl FleetSnapshot {
    /// Encodes the snapshot as the bytes of a file.
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(SNAPSHOT, self)
    }

    /// Decodes the bytes of [`FleetSnapshot::encode`]; `file` names them in errors.
    ///
    /// # Errors
    /// When the bytes are not a snapshot, come from a newer program, or are truncated or damaged.
    pub fn decode(file: &str, bytes: &[u8]) -> Result<FleetSnapshot, RecordError> {
        let snapshot: FleetSnapshot = codec::decode(SNAPSHOT, file, bytes)?;
        let damaged = |problem| RecordError::Damaged { file: file.to_owned(), what: "fleet snapshot", problem };
        snapshot.batches.iter().try_for_each(|batch| batch.counters.check()).map_err(damaged)?;
        Ok(snapshot)
    }

    /// Number of games in flight.
    pub fn games_in_flight(&self) -> usize {
        self.batches.iter().map(|batch| batch.slots.iter().flatten().count()).sum()
    }
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Preset;
    use hnefi_search::SearchConfig;

    use super::*;
    use crate::{Fleet, Quota, SelfPlayConfig, Uncontrolled};

    fn config() -> SelfPlayConfig {
        SelfPlayConfig { games_in_flight: 32, ..SelfPlayConfig::default() }
    }

    fn snapshot() -> FleetSnapshot {
        Fleet::new(&config(), &SearchConfig::default(), 7).snapshot()
    }

    fn resume(snapshot: FleetSnapshot) -> Result<Fleet, crate::FleetError> {
        let snapshot = FleetSnapshot::decode("a", &snapshot.encode())?;
        Fleet::resume(&config(), &SearchConfig::default(), 7, snapshot)
    }

    fn refusal(snapshot: FleetSnapshot) -> String {
        resume(snapshot).err().expect("a refusal").to_string()
    }

    #[test]
    fn more_games_than_a_batch_has_are_refused_as_they_are_read() {
        let mut many = snapshot();
        many.batches[0].slots = vec![None; BATCH_GAMES + 1];
        let message = refusal(many);
        assert!(message.contains("invalid length 33, expected the 32 games of a batch"), "{message}");
    }

    #[test]
    fn games_that_are_over_or_break_the_rules_are_not_continued() {
        let mut fleet = Fleet::new(&config(), &SearchConfig::default(), 7).with_threads(1);
        let uniform = || Box::new(hnefi_inference::UniformEvaluator) as Box<dyn hnefi_inference::Evaluator>;
        let game = fleet.run(Quota::Games(1), 2, "network", &uniform, &mut Uncontrolled).unwrap().games.remove(0);
        let with = |change: fn(&mut GameRecord)| {
            let mut changed = snapshot();
            let mut game = game.clone();
            change(&mut game);
            changed.batches[0].slots[3] = Some(game);
            changed
        };
        assert!(refusal(with(|_| {})).contains("the game is over; expected a game in flight"));
        let cut = with(|game| {
            game.plies.pop();
            game.outcome = None;
        });
        assert!(resume(cut).is_ok());
        let empty = with(|game| {
            (game.rules, game.plies, game.outcome) = (Preset::Brandubh.rules(), Vec::new(), None);
            game.rules.repetition_occurrence = 1;
        });
        assert!(refusal(empty).contains("repetition_occurrence = 1"));
        let mut finished = snapshot();
        finished.batches[0].finished = vec![GameRecord { outcome: None, ..game.clone() }];
        assert!(refusal(finished).contains("recorded is no end"));
    }

    #[test]
    fn numbers_that_no_fleet_reaches_are_refused() {
        let mut begun = snapshot();
        begun.batches[0].begun = u64::MAX;
        assert!(refusal(begun).contains("games begun in a batch 18446744073709551615; expected at most"));
        let mut endless = snapshot();
        endless.batches[0].counters.surprise = f64::INFINITY;
        assert!(refusal(endless).contains("surprise is inf"));
        let mut endless = snapshot();
        endless.batches[0].counters.surprise = 1e308;
        assert!(refusal(endless).contains("surprise is 1000"), "two of them add to infinity");
        let mut negative = snapshot();
        negative.batches[0].counters.surprise = -1e9;
        assert!(refusal(negative).contains("surprise is -1000000000"));
    }
}
