//! A worker's games: its fleet, and the network that plays.

use hnefi_cuda::Cards;
use hnefi_inference::{EvaluatorFactory, Weights};
use hnefi_run::PROGRAM;
use hnefi_run::config::BATCH_GAMES;
use hnefi_selfplay::{Fleet, FleetControl, FleetError, Quota, Upload, search_config};

use crate::job::Job;
use crate::{TrainConfig, TrainError};

pub(crate) struct Player {
    whole: TrainConfig,
    cards: Cards,
    pub(crate) job: Job,
    config: TrainConfig,
    fleet: Fleet,
    make_evaluator: EvaluatorFactory,
}

impl Player {
    /// Begins to play by this job with its network. The seed of the games is unique within the run.
    pub(crate) fn new(
        whole: TrainConfig,
        cards: Cards,
        seed: u64,
        job: Job,
        weights: &Weights,
    ) -> Result<Player, TrainError> {
        let config = whole.stage(job.stage)?;
        let fleet = Fleet::new(&config.selfplay, &search_config(&config.search), seed).with_threads(threads(&config));
        let make_evaluator = evaluators(&cards, &config, weights)?;
        Ok(Player { whole, cards, job, config, fleet, make_evaluator })
    }

    /// Goes on by another job. `weights` is asked for its network if that is another one. Games in flight keep their
    /// rules if the stage is another one.
    pub(crate) fn take_up(
        &mut self,
        job: Job,
        weights: impl FnOnce(&Job) -> Result<Weights, TrainError>,
    ) -> Result<(), TrainError> {
        if job.stage != self.job.stage {
            self.config = self.whole.stage(job.stage)?;
            let (selfplay, search) = (&self.config.selfplay, &search_config(&self.config.search));
            let fleet = Fleet::resume(selfplay, search, self.fleet.seed(), self.fleet.snapshot())?;
            self.fleet = fleet.with_threads(threads(&self.config));
        }
        if job.checkpoint != self.job.checkpoint {
            self.make_evaluator = evaluators(&self.cards, &self.config, &weights(&job)?)?;
        }
        self.job = job;
        Ok(())
    }

    /// Plays until `control` stops it, and returns the finished games.
    pub(crate) fn play(&mut self, control: &mut dyn FleetControl) -> Result<Upload, TrainError> {
        self.fleet.adapt(&self.job.adaptation);
        let Job { playouts, checkpoint, generation, .. } = &self.job;
        match self.fleet.play(Quota::Plies(u64::MAX), *playouts, checkpoint, &*self.make_evaluator, control) {
            Ok(()) | Err(FleetError::Stopped) => Ok(self.fleet.send(PROGRAM, *generation)),
            Err(error) => Err(error.into()),
        }
    }
}

fn evaluators(cards: &Cards, config: &TrainConfig, weights: &Weights) -> Result<EvaluatorFactory, TrainError> {
    Ok(cards.evaluating(config.run.device.clone()).evaluators(weights, config.run.precision)?)
}

pub(crate) fn threads(config: &TrainConfig) -> usize {
    match config.run.threads {
        0 => config.selfplay.threads_on(&config.run.device),
        threads => threads,
    }
}

/// Games in flight that keep all threads busy, since a thread takes a whole batch of games. For workers: the number of
/// games changes the results, but so does when they come.
pub(crate) fn busy_games(config: &TrainConfig) -> usize {
    config.selfplay.games_in_flight.max(BATCH_GAMES * threads(config))
}
