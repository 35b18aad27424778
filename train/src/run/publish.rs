//! The end of a generation: checkpoint, state and metrics on the disk.

use std::time::{SystemTime, UNIX_EPOCH};

use hnefi_models::{Card, Checkpoint};
use hnefi_selfplay::store::{checkpoint_key, metrics_key, tensorboard_key};

use super::Run;
use super::saved::{self, FinishedSelfPlay};
use crate::TrainError;
use crate::metrics::{GenerationMetrics, SelfPlayMetrics, TrainingMetrics};
use crate::tensorboard::event_file;

impl Run<'_> {
    /// Completes the next generation.
    pub(super) fn publish(&mut self, played: &FinishedSelfPlay, training: TrainingMetrics) -> Result<(), TrainError> {
        let generation = self.complete() + 1;
        let parent = std::mem::take(&mut self.checkpoint_id);
        self.publish_checkpoint(generation, Some(parent))?;

        self.counters.generation = generation;
        self.counters.counts = self.learner.counts();
        self.counters.generation_seconds = played.seconds + training.seconds;
        if training.generation_steps > 0 {
            self.counters.samples_per_second = training.samples_per_second;
        }
        self.counters.elapsed_seconds = self.clock.elapsed();
        saved::write_state(&self.store, &self.counters, &self.learner.save()?)?;
        // The one before stays, in case the newest is found damaged one day.
        for old in saved::states(&self.store)?.into_iter().filter(|&old| old + 1 < generation) {
            saved::remove_state(&self.store, old)?;
        }

        let metrics = GenerationMetrics {
            generation,
            checkpoint: self.checkpoint_id.clone(),
            progress: self.clock.progress(generation, 0.0),
            elapsed_seconds: self.counters.elapsed_seconds,
            selfplay: SelfPlayMetrics::new(&played.stats, played.playouts, played.seconds),
            training,
        };
        self.create_once(&metrics_key(generation), metrics.to_line().as_bytes())?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        let events = event_file(now, i64::from(generation), &metrics.scalars());
        self.create_once(&tensorboard_key(generation), &events)?;
        self.observer.generation(&metrics);
        Ok(())
    }

    /// Writes the averaged weights as checkpoint of this generation. One that is there already, because the generation is
    /// trained again after its state was lost, stays: games may have been played by it.
    pub(super) fn publish_checkpoint(&mut self, generation: u32, parent: Option<String>) -> Result<(), TrainError> {
        let counts = self.learner.counts();
        // Those that new games had by the beginning of this generation.
        let progress = self.clock.progress(generation.saturating_sub(1), 0.0);
        let rulesets = self.config.selfplay.rulesets_begun(progress);
        let card = Card {
            rulesets: rulesets.iter().map(|rules| rules.name().to_owned()).collect(),
            generation,
            steps: counts.steps,
            samples: counts.samples,
            parent,
            seed: self.config.run.seed,
            ..Card::new(self.config.network)
        };
        let checkpoint = Checkpoint::new(card, self.learner.average())?;
        let folder = self.store.path(&checkpoint_key(generation));
        if folder.exists() {
            match Checkpoint::load_card(&folder) {
                Ok(card) if card.id == checkpoint.card.id => {}
                Ok(_) => self.observer.warning(&format!(
                    "checkpoint {generation} was trained again with another result; {} stays as it is",
                    folder.display()
                )),
                Err(error) => self.observer.warning(&format!("{error}; it stays as it is")),
            }
        } else {
            checkpoint.save(&folder)?;
        }
        self.checkpoint_id = checkpoint.card.id;
        Ok(())
    }

    /// Creates an object unless an earlier call already did.
    pub(super) fn create_once(&self, key: &str, bytes: &[u8]) -> Result<(), TrainError> {
        if self.store.exists(key) { Ok(()) } else { Ok(self.store.create(key, bytes)?) }
    }
}
