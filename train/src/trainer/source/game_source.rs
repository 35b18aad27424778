//! What a trainer asks of a source of games.

use hnefi_run::store::Store;
use hnefi_selfplay::Fleet;

use super::generation::Generation;
use crate::TrainError;

/// Where the games of a trainer come from.
pub(in crate::trainer) trait GameSource {
    /// Plays, or waits, until the generation has enough games: finished games of `fleet`, which is the trainer's, and
    /// uploads that the generation takes in. Returns the seconds of self-play; `None` if the observer stopped it.
    fn play(&mut self, generation: &mut Generation<'_>, fleet: &mut Fleet) -> Result<Option<f64>, TrainError>;

    /// Called between two steps of the training, while games may be played.
    fn attend(&mut self, _store: &Store) -> Result<(), TrainError> {
        Ok(())
    }

    /// Plays nothing until the next generation: what follows is not charged to the budget.
    fn rest(&mut self) {}

    /// Ends, and saves finished games that no generation has.
    fn end(&mut self, _store: &Store) -> Result<(), TrainError> {
        Ok(())
    }
}
