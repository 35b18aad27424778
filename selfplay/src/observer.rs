//! The observer of a fleet: receives progress and snapshots, and asks the fleet to save or stop.

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

/// Observes a fleet. All methods are called a few times a second on the thread that called [`super::Fleet::run`].
pub trait FleetObserver: Sync {
    /// Receives the progress of the generation.
    fn progress(&self, progress: &FleetProgress) {
        let _ = progress;
    }

    /// Whether to stop now. The round being played is abandoned; all earlier rounds are kept.
    fn should_stop(&self) -> bool {
        false
    }

    /// Whether a snapshot should be taken.
    fn save_due(&self) -> bool {
        false
    }

    /// Receives the snapshot that was due, while the games go on.
    fn save(&self, snapshot: FleetSnapshot) {
        let _ = snapshot;
    }
}

/// An observer that ignores everything and never stops the fleet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl FleetObserver for Unobserved {}
