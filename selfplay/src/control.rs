//! The control of a fleet: receives progress and snapshots, and decides when the fleet saves and stops.

use hnefi_run::store::StoreError;

use super::snapshot::FleetSnapshot;

/// Progress of a generation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FleetProgress {
    /// Share of the quota reached, 0 to 1.
    pub done: f64,
    /// Games finished in this generation.
    pub games: u64,
    /// Games being played.
    pub games_in_flight: u64,
    /// Training samples in the finished games.
    pub training_plies: u64,
    /// Plies played in this generation.
    pub plies: u64,
    /// Playouts searched in this generation.
    pub playouts: u64,
    /// Positions evaluated in this generation.
    pub evaluations: u64,
}

/// Controls a fleet. All methods are called a few times a second on the thread that called [`super::Fleet::play`]. An
/// error ends the play and is its error.
pub trait FleetControl {
    /// Receives the progress of the generation and returns whether to go on. Otherwise the round being played is
    /// abandoned; all earlier rounds are kept. Also called at the end, when the answer changes nothing.
    ///
    /// # Errors
    /// When something cannot be read or written.
    fn go_on(&mut self, _progress: &FleetProgress) -> Result<bool, StoreError> {
        Ok(true)
    }

    /// Whether to end the play after the rounds under way; every thread ends at least one. The play then ends as if
    /// [`FleetControl::go_on`] had stopped it.
    fn rests(&mut self, _progress: &FleetProgress) -> bool {
        false
    }

    /// Whether a snapshot should be taken.
    fn save_due(&mut self) -> bool {
        false
    }

    /// Receives the snapshot that was due, while the games go on.
    ///
    /// # Errors
    /// When it cannot be written.
    fn save(&mut self, _snapshot: FleetSnapshot) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Lets a fleet play until its quota is reached.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uncontrolled;

impl FleetControl for Uncontrolled {}
