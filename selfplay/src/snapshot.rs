//! Snapshots of a fleet, from which this process or another one resumes.
//!
//! Between rounds the state of a game is its record, and all randomness is derived from the seed. A snapshot therefore
//! holds the records of the games in flight and of the games finished in this generation. Game batches are independent,
//! so each may be saved at a different round and the resumed run still plays the same games.

use serde::{Deserialize, Serialize};

use super::balance::Balance;
use super::resignation::Verification;
use super::statistics::Counters;
use hnefi_run::codec;
use hnefi_run::codec::SNAPSHOT;
use hnefi_run::{GameRecord, RecordError};

/// A game batch between two rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct GameBatchState {
    /// Number of games begun; the next game has number `begun * batches + batch`.
    pub(super) begun: u64,
    /// The game in flight of each slot; `None` for an empty slot.
    pub(super) slots: Vec<Option<GameRecord>>,
    /// Games finished in this generation, in order of their ends.
    pub(super) finished: Vec<GameRecord>,
    pub(super) counters: Counters,
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
        codec::decode(SNAPSHOT, file, bytes)
    }

    /// Number of games in flight.
    pub fn games_in_flight(&self) -> usize {
        self.batches.iter().map(|batch| batch.slots.iter().flatten().count()).sum()
    }
}
