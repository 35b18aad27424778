//! A fleet put away to go on later, in this process or another.
//!
//! Between rounds a game is nothing but the plies played, and all randomness comes from the seed. So a snapshot is
//! mostly records: those of games in flight and those finished but not handed over yet. Lanes do not depend on each
//! other, which is why each may be saved at a different round and the continued run still plays the same games.

use serde::{Deserialize, Serialize};

use super::balance::Balance;
use super::resignation::Verification;
use super::statistics::Counters;
use hnefi_run::codec;
use hnefi_run::codec::SNAPSHOT;
use hnefi_run::{GameRecord, RecordError};

/// One lane between two rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LaneState {
    /// Games begun; the next one is number `begun * lanes + lane`.
    pub(super) begun: u64,
    /// The games in flight by seat; `None` where no more games are to be begun.
    pub(super) seats: Vec<Option<GameRecord>>,
    /// Games finished in this generation, in the order in which they ended.
    pub(super) finished: Vec<GameRecord>,
    pub(super) counters: Counters,
}

/// A whole fleet between rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FleetSnapshot {
    pub(super) seed: u64,
    pub(super) verification: Verification,
    pub(super) balance: Balance,
    pub(super) lanes: Vec<LaneState>,
}

impl FleetSnapshot {
    /// The snapshot as the bytes of a file.
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(SNAPSHOT, self)
    }

    /// Reads what [`FleetSnapshot::encode`] made; `file` names it in errors.
    ///
    /// # Errors
    /// When the bytes are no snapshot, come from a newer program, or are cut or damaged.
    pub fn decode(file: &str, bytes: &[u8]) -> Result<FleetSnapshot, RecordError> {
        codec::decode(SNAPSHOT, file, bytes)
    }

    /// Number of games in flight.
    pub fn games_in_flight(&self) -> usize {
        self.lanes.iter().map(|lane| lane.seats.iter().flatten().count()).sum()
    }
}
