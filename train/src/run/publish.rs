//! The end of a generation: publishes checkpoint, state, metrics and job.

use hnefi_inference::{Card, Checkpoint, json};
use hnefi_run::store::{check_checkpoint, checkpoint_key, metrics_key, tensorboard_key};

use super::Run;
use super::clock::unix_seconds;
use super::job::{Job, PROGRAM, PROTOCOL};
use super::saved::{self, FinishedSelfPlay};
use crate::TrainError;
use crate::metrics::selfplay_metrics;
use crate::schedule::playouts_at;
use crate::tensorboard::event_file;
use hnefi_run::{GenerationMetrics, TrainingMetrics};

impl Run<'_> {
    /// Completes the next generation.
    pub(super) fn publish(&mut self, played: &FinishedSelfPlay, training: TrainingMetrics) -> Result<(), TrainError> {
        let generation = self.complete() + 1;
        self.fence.announce(&self.store, generation)?;
        let stage = self.counters.stage;
        let entered = self.enter_stage(generation)?;
        let parent = std::mem::take(&mut self.checkpoint_id);
        self.publish_checkpoint(generation, stage, Some(parent))?;

        self.counters.generation = generation;
        self.counters.counts = self.learner.counts();
        let (spent, by) = (self.clock.spent(), self.config.budget.clock);
        self.counters.generation_seconds = spent.by(by) - self.counters.spent.by(by);
        self.counters.spent = spent;
        saved::write_state(&self.store, &self.counters, &self.learner.save()?)?;
        // Keep the state before the newest, in case the newest is damaged.
        for old in saved::states(&self.store)?.into_iter().filter(|&old| old + 1 < generation) {
            saved::remove_state(&self.store, old)?;
        }

        let metrics = GenerationMetrics {
            generation,
            checkpoint: self.published_id.clone(),
            progress: self.clock.progress(generation, 0.0),
            stage: self.whole.stage_name(stage).to_owned(),
            elapsed_seconds: spent.by(by),
            wall_seconds: spent.wall,
            processor_seconds: spent.processor,
            unix_seconds: unix_seconds(),
            selfplay: selfplay_metrics(&played.stats, played.playouts, played.seconds),
            training,
        };
        let line = json::with_checksum(&metrics.to_line());
        self.store.create_once(&metrics_key(generation), line.as_bytes())?;
        let events = event_file(metrics.unix_seconds, i64::from(generation), &metrics.scalars());
        self.store.create_once(&tensorboard_key(generation), &events)?;
        self.network = generation;
        self.publish_job()?;
        self.observer.generation(&metrics);
        if entered {
            self.resettle()?;
        }
        Ok(())
    }

    /// Publishes the job of the workers for the newest network.
    pub(super) fn publish_job(&mut self) -> Result<(), TrainError> {
        // Decide this once: with another answer a moment later, workers might wait for a trainer that has ended.
        self.finished_budget = !self.clock.has_room(self.complete());
        let progress = self.stage_progress();
        let job = Job {
            protocol: PROTOCOL,
            program: PROGRAM.to_owned(),
            epoch: self.fence.epoch(),
            generation: self.network,
            checkpoint: self.published_id.clone(),
            stage: self.counters.stage,
            progress,
            finished: self.finished_budget,
            playouts: playouts_at(&self.config.budget.playouts, progress),
            adaptation: self.fleet.adaptation(),
        };
        job.publish(&self.store, self.fence.newest())?;
        if let Some(link) = self.link {
            link.publish(self.network);
        }
        Ok(())
    }

    /// Names of the rulesets of all stages up to this one.
    fn rulesets_until(&self, stage: usize) -> Result<Vec<String>, TrainError> {
        let mut names = Vec::new();
        for stage in self.counters.first_stage..=stage {
            for preset in self.whole.stage(stage)?.selfplay.rulesets_played() {
                let name = preset.name().to_owned();
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        Ok(names)
    }

    /// Writes the averaged weights as the checkpoint of this generation, which belongs to `stage`. If the generation is
    /// trained again after a lost state, the existing checkpoint stays, because it may have played games.
    pub(super) fn publish_checkpoint(
        &mut self,
        generation: u32,
        stage: usize,
        parent: Option<String>,
    ) -> Result<(), TrainError> {
        let counts = self.learner.counts();
        let card = Card {
            rulesets: self.rulesets_until(stage)?,
            generation,
            steps: counts.steps,
            samples: counts.samples,
            parent,
            seed: self.config.run.seed,
            ..Card::new(self.config.network)
        };
        let mut checkpoint = self.learner.average().checkpoint(card)?;
        // Checkpoint 0 has the same id as the origin, unless the network was grown.
        checkpoint.card.parent.take_if(|parent| *parent == checkpoint.card.id);
        self.published_id = self.settle_checkpoint(generation, &checkpoint)?;
        self.checkpoint_id = checkpoint.card.id;
        Ok(())
    }

    /// Writes the missing parts of a checkpoint and leaves existing ones. Returns the id of the checkpoint in the
    /// store.
    fn settle_checkpoint(&self, generation: u32, checkpoint: &Checkpoint) -> Result<String, TrainError> {
        let folder = checkpoint_key(generation);
        let name = self.store.name(&folder);
        let id = checkpoint.card.id.clone();
        let problem = match check_checkpoint(&self.store, generation)? {
            Ok(card) => {
                if card.id != id {
                    self.observer.warning(&format!(
                        "{name} has other weights than the training state: the generation was trained again with \
                         another result, or one of them is of another run; it stays as it is"
                    ));
                }
                return Ok(card.id);
            }
            Err(problem) => problem,
        };
        let parts = checkpoint.parts()?;
        if self.store.list(&format!("{folder}/"))?.is_empty() {
            self.store.create_folder(&folder, &parts.each_ref().map(|(name, bytes)| (*name, bytes.as_slice())))?;
        } else {
            for (part, bytes) in &parts {
                self.store.create_once(&format!("{folder}/{part}"), bytes)?;
            }
        }
        let is_whole = check_checkpoint(&self.store, generation)?.is_ok();
        if !is_whole {
            self.observer.warning(&format!("{problem}; once {name} is removed it is written again"));
        } else if generation == self.network && generation > 0 {
            self.observer.warning(&format!("{problem}; it was written again"));
        }
        Ok(id)
    }
}
