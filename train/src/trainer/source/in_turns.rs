//! Self-play in turns with training, by the trainer's fleet.

use std::time::{Duration, Instant};

use hnefi_run::store::StoreError;
use hnefi_selfplay::{Fleet, FleetControl, FleetError, FleetProgress, FleetSnapshot, Quota};

use super::game_source::GameSource;
use super::generation::Generation;
use crate::TrainError;

/// The trainer's fleet plays, on all threads.
pub(in crate::trainer) struct InTurns;

impl GameSource for InTurns {
    fn play(&mut self, generation: &mut Generation<'_>, fleet: &mut Fleet) -> Result<Option<f64>, TrainError> {
        let make_evaluator = generation.evaluators()?;
        let (quota, job) = (Quota::Plies(generation.quota), generation.job.clone());
        let every = Duration::from_secs(u64::from(generation.config.run.save_seconds));
        let mut turn = Turn { generation, every, due: Instant::now() + every, has_enough: false };
        match fleet.play(quota, job.playouts, &job.checkpoint, &*make_evaluator, &mut turn) {
            Ok(()) => {}
            // Games in flight go on in the next generation, and are dropped after the last one.
            Err(FleetError::Stopped) if turn.has_enough => {}
            Err(FleetError::Stopped) => return Ok(None),
            Err(FleetError::Store(error)) => return Err(error.into()),
            Err(error) => return Err(error.into()),
        }
        Ok(Some(generation.seconds()))
    }
}

/// Ends the turn of self-play when the generation has enough games, and saves the games in flight.
struct Turn<'a, 'b> {
    generation: &'a mut Generation<'b>,
    every: Duration,
    due: Instant,
    /// Whether the generation has its plies, or only the time to train on them is left.
    has_enough: bool,
}

impl FleetControl for Turn<'_, '_> {
    fn go_on(&mut self, progress: &FleetProgress) -> Result<bool, StoreError> {
        let generation = &mut *self.generation;
        generation.look()?;
        let uploaded = generation.uploads.plies;
        let plies = progress.training_plies + uploaded;
        self.has_enough |= generation.is_time_up(plies) || (uploaded > 0 && plies >= generation.quota);
        generation.report(progress, (0, 0));
        Ok(!self.has_enough && !generation.should_stop())
    }

    fn save_due(&mut self) -> bool {
        self.generation.context.store.is_exclusive() && Instant::now() >= self.due
    }

    fn save(&mut self, snapshot: FleetSnapshot) -> Result<(), StoreError> {
        self.due = Instant::now() + self.every;
        self.generation.save(&snapshot)
    }
}
