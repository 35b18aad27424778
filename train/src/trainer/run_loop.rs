//! The trainer, and its loop.

use std::path::Path;

use hnefi_run::store::checkpoint_key;
use hnefi_run::{GenerationMetrics, SelfPlayMetrics, TrainingMetrics};

use super::clock::{Clock, unix_seconds};
use super::observer::TrainObserver;
use super::open::open;
use super::params::{SelfPlay, Summary, TrainerParams};
use super::parts::Trainer;
use super::publish::{NewCheckpoint, publish_checkpoint, publish_job, publish_metrics, publish_state};
use super::selfplay::generate;
use super::state::{FinishedSelfPlay, RunState};
use super::{ladder, learn, stage};
use crate::TrainError;
use crate::config::TrainConfig;
use crate::devices::{choose_for_play, choose_for_training};
use crate::metrics::selfplay_metrics;

/// Trains in `dir` until the budget of `config` is used up. Begins with random weights, or resumes an earlier call.
///
/// # Errors
/// As [`train_at`].
pub fn train(config: &TrainConfig, dir: &Path, observer: &dyn TrainObserver) -> Result<Summary, TrainError> {
    train_at(config, &TrainerParams::new(dir), observer)
}

/// As [`train`], at any location.
///
/// # Errors
/// When the configuration has errors, the location holds another run or is in use, the origin cannot be read, does not
/// grow to the configured network or is not the run's own, or an operation fails. Everything written before stays
/// usable, and the same call resumes.
pub fn train_at(
    config: &TrainConfig,
    params: &TrainerParams<'_>,
    observer: &dyn TrainObserver,
) -> Result<Summary, TrainError> {
    let (asked, mut config, say) = (config, config.clone(), |text: &str| observer.chose(text));
    // Workers choose for themselves: the run keeps what was asked for.
    if params.selfplay != SelfPlay::Elsewhere {
        choose_for_play(&mut config, &params.cards, &say)?;
    }
    choose_for_training(&mut config, &params.cards, &say)?;
    let mut trainer = open(asked, &config, params, observer)?;
    let trained = trainer.train();
    let ended = trainer.players.source.end(&trainer.context.store);
    let summary = trained?;
    ended.map(|()| summary)
}

impl Trainer<'_> {
    fn train(&mut self) -> Result<Summary, TrainError> {
        loop {
            if !self.play_ladder()? {
                return Ok(self.summary(true));
            }
            if self.state.job.finished {
                return Ok(self.summary(false));
            }
            let Trainer { context, fence, clock, stage, learner, command, players, state } = self;
            let Some(played) = generate(context, stage, clock, learner, fence, players, state)? else {
                return Ok(self.summary(true));
            };
            let mut attend = || players.source.attend(&context.store);
            let (counters, games, command) = (&mut state.counters, &mut state.games, command.as_mut());
            let trained = learn::learn(context, stage, clock, &mut attend, (learner, command), counters, games)?;
            let Some(training) = trained else {
                return Ok(self.summary(true));
            };
            self.publish(&played, training)?;
        }
    }

    /// Plays the ladder matches that are due, whose time is not charged to the budget. Returns false if the observer
    /// stopped it.
    fn play_ladder(&mut self) -> Result<bool, TrainError> {
        let (ladder, budget) = (&self.stage.config.ladder, &self.stage.config.budget);
        let spent = self.clock.spent();
        let (generation, is_last) = (self.state.job.generation, self.state.job.finished);
        let mut rest = || self.players.source.rest();
        let goes_on = ladder::play(&self.context, ladder.every, generation, is_last, &mut rest)?;
        if goes_on {
            self.clock = Clock::starting_from(spent, budget);
        }
        Ok(goes_on)
    }

    fn publish(&mut self, played: &FinishedSelfPlay, training: TrainingMetrics) -> Result<(), TrainError> {
        let Trainer { context, fence, clock, stage, learner, players, state, .. } = self;
        let (store, generation, number) = (&context.store, state.counters.generation + 1, state.counters.stage);
        fence.announce(store, generation)?;
        let entered = stage::enter(context.whole, clock, generation, &mut state.counters.stage, stage, learner)?;
        let new = NewCheckpoint {
            config: &stage.config,
            generation,
            stages: state.counters.first_stage..=number,
            parent: Some(std::mem::take(&mut state.checkpoint_id)),
            was_there: false,
        };
        let ids = publish_checkpoint(context, learner, new)?;
        state.checkpoint_id = ids.averaged;

        let counters = &mut state.counters;
        let (spent, by) = (clock.spent(), stage.config.budget.clock);
        (counters.generation, counters.counts) = (generation, learner.counts());
        counters.generation_seconds = spent.by(by) - counters.spent.by(by);
        counters.spent = spent;
        publish_state(store, counters, &learner.save()?)?;

        let metrics = GenerationMetrics {
            generation,
            checkpoint: ids.in_store.clone(),
            progress: clock.progress(generation, 0.0),
            stage: context.whole.stage_name(number).to_owned(),
            elapsed_seconds: spent.by(by),
            wall_seconds: spent.wall,
            processor_seconds: spent.processor,
            unix_seconds: unix_seconds(),
            selfplay: SelfPlayMetrics {
                card_busy: played.card_busy,
                ..selfplay_metrics(&played.stats, played.playouts, played.seconds)
            },
            training,
        };
        publish_metrics(store, &metrics)?;
        let network = (generation, ids.in_store);
        state.job = publish_job(store, fence, clock, stage, counters, network, players.fleet.adaptation())?;
        context.observer.generation(&metrics);
        if entered {
            stage::move_into(context, stage, &mut players.fleet, state)?;
        }
        Ok(())
    }

    fn summary(&self, stopped: bool) -> Summary {
        let RunState { counters, job, .. } = &self.state;
        Summary {
            generations: counters.generation,
            checkpoint: self.context.store.name(&checkpoint_key(job.generation)),
            checkpoint_generation: job.generation,
            checkpoint_id: job.checkpoint.clone(),
            steps: counters.counts.steps,
            samples: counters.counts.samples,
            elapsed_seconds: self.clock.elapsed(),
            stopped,
        }
    }
}
