//! How a fleet tells what it is doing, and how it is told to save or to stop.

use super::snapshot::FleetSnapshot;

/// How far a generation is.
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

/// Watches a fleet at work. All methods are called from the thread that called [`super::Fleet::run`], a few times a
/// second.
pub trait FleetObserver: Sync {
    /// Shows how far the generation is.
    fn progress(&self, progress: &FleetProgress) {
        let _ = progress;
    }

    /// Whether to stop now. The round being played is abandoned, nothing played before it is lost.
    fn should_stop(&self) -> bool {
        false
    }

    /// Whether a snapshot should be taken.
    fn save_due(&self) -> bool {
        false
    }

    /// Keeps the snapshot that was due; the games go on meanwhile.
    fn save(&self, snapshot: FleetSnapshot) {
        let _ = snapshot;
    }
}

/// Watches nothing and never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl FleetObserver for Unobserved {}
