//! A generation that is being played.

use std::time::{Duration, Instant};

use hnefi_inference::EvaluatorFactory;
use hnefi_run::store::{FleetSave, StoreError};
use hnefi_selfplay::{FleetError, FleetProgress, FleetSnapshot};

use super::uploads::Uploads;
use crate::TrainError;
use crate::config::TrainConfig;
use crate::job::Job;
use crate::learner::Learner;
use crate::trainer::clock::Clock;
use crate::trainer::context::Context;
use crate::trainer::learn::MOST_NEW;
use crate::trainer::saved;
use crate::trainer::state::InFlight;

/// The saves of the games in flight in the generation being played.
#[derive(Debug, Default)]
pub(in crate::trainer) struct Saves {
    pub(in crate::trainer) newest: u32,
    /// Seconds that earlier processes spent on self-play of this generation.
    pub(in crate::trainer) seconds: f64,
}

/// A generation that is being played: what it needs, and the games of workers that it has.
pub(in crate::trainer) struct Generation<'a> {
    pub(in crate::trainer) number: u32,
    pub(in crate::trainer) context: &'a Context<'a>,
    pub(in crate::trainer) config: &'a TrainConfig,
    pub(in crate::trainer) clock: Clock,
    /// Its averaged weights play.
    pub(in crate::trainer) learner: &'a Learner,
    /// How they play; names the averaged weights.
    pub(in crate::trainer) job: Job,
    /// Training plies that the generation should have.
    pub(in crate::trainer) quota: u64,
    /// Expected seconds of training per new ply; `None` before the first training.
    pub(in crate::trainer) training_seconds_per_ply: Option<f64>,
    pub(in crate::trainer) uploads: Uploads,
    pub(in crate::trainer) saves: &'a mut Saves,
    pub(in crate::trainer) began: Instant,
    /// Seconds of the budget that the generation before took; 0 before the first.
    pub(in crate::trainer) seconds_before: f64,
    /// How long the cards had worked by then.
    pub(in crate::trainer) busy: Duration,
}

impl Generation<'_> {
    pub(super) fn evaluators(&self) -> Result<EvaluatorFactory, TrainError> {
        let run = &self.config.run;
        let devices = self.context.params.cards.evaluating(run.device.clone());
        let made = devices.evaluators(&self.learner.average().weights()?, run.precision);
        Ok(made.map_err(|source| FleetError::Evaluation { source })?)
    }

    pub(super) fn seconds(&self) -> f64 {
        self.saves.seconds + self.began.elapsed().as_secs_f64()
    }

    /// Whether the remaining time is only enough to train on `plies` plies. Before the first training, training is
    /// assumed to take as long as self-play.
    pub(super) fn is_time_up(&self, plies: u64) -> bool {
        let training = match self.training_seconds_per_ply {
            Some(seconds) => seconds * plies as f64,
            // There is nothing to train on yet: the first game may still come to its end.
            None if plies == 0 => 0.0,
            None => self.clock.elapsed(),
        };
        self.clock.remaining() <= training
    }

    pub(super) fn look(&mut self) -> Result<(), StoreError> {
        self.uploads.look(self.context, MOST_NEW * self.config.train.plies_per_generation)
    }

    /// Reports the progress of the fleet, with the games taken in and `more` games and plies that wait to be.
    pub(super) fn report(&self, fleet: &FleetProgress, (games, plies): (u64, u64)) {
        let (games, plies) = (games + self.uploads.games, plies + self.uploads.plies);
        let progress = FleetProgress {
            done: (fleet.done + plies as f64 / self.quota.max(1) as f64).min(1.0),
            games: fleet.games + games,
            training_plies: fleet.training_plies + plies,
            ..*fleet
        };
        let run = self.clock.progress(self.number - 1, 0.5 * progress.done);
        self.context.observer.generating(self.number, &progress, run);
    }

    pub(super) fn should_stop(&self) -> bool {
        self.context.observer.should_stop()
    }

    /// Saves the games in flight, with the clock. Not in a bucket, where another trainer may save its own.
    pub(in crate::trainer) fn save(&mut self, snapshot: &FleetSnapshot) -> Result<(), StoreError> {
        let store = &self.context.store;
        if !store.is_exclusive() {
            return Ok(());
        }
        let clock = InFlight { spent: self.clock.spent(), selfplay_seconds: self.seconds(), finished: None };
        let save = FleetSave { generation: self.number, save: self.saves.newest + 1 };
        saved::write_inflight(store, save, &clock, &snapshot.encode())?;
        self.saves.newest += 1;
        saved::remove_inflight_before(store, save)
    }
}
