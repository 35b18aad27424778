//! Training of one generation.

use std::time::Instant;

use super::{Run, TrainingProgress};
use crate::TrainError;
use crate::learner::CLIP_NORM;
use crate::metrics::StepMeans;
use crate::sample::{Sampler, ValueTarget};
use crate::schedule::RateSchedule;
use crate::steps::take_steps;
use crate::window::WindowParams;
use hnefi_run::TrainingMetrics;

/// A generation trains on at most this multiple of `plies_per_generation` new plies. Workers may upload more plies than
/// the trainer can train on; all of them enter the replay window, and each is trained on less often.
const MOST_NEW: u64 = 4;

impl Run<'_> {
    /// Trains on the replay window, with `reuse` samples per new ply. Returns `None` if the observer stopped it; the
    /// training then starts again from its beginning.
    pub(super) fn learn(&mut self) -> Result<Option<TrainingMetrics>, TrainError> {
        let generation = self.complete() + 1;
        let train = &self.config.train;
        let window = self.counters.window(WindowParams::from(train));
        self.games.retain(|&generation, _| generation >= window.start);
        // After a lost state, later games may exist. The first training of this generation did not have them.
        let games = self.games.range(..=generation).flat_map(|(_, games)| games);
        let sampler = Sampler::new(games, self.config.run.seed, ValueTarget::at(train, self.stage_progress()));
        let new_plies = self.counters.plies.last().copied().unwrap_or(0);
        let steps =
            steps(new_plies.min(MOST_NEW * train.plies_per_generation), sampler.plies(), train.reuse, train.batch);

        let schedule = RateSchedule::from(train);
        let (learner, clock, span, observer) = (&mut self.learner, &self.clock, self.span, self.observer);
        let first = learner.counts().steps;
        let samples_before = learner.counts().samples;
        let (mut means, mut rate) = (StepMeans::default(), 0.0);
        let (began, charged) = (Instant::now(), clock.elapsed());
        let stopped = std::cell::Cell::new(false);
        let done = |step: u64| clock.progress(generation - 1, (step - first) as f64 / steps as f64);
        let mut rate_of = |step: u64| {
            stopped.set(observer.should_stop());
            if stopped.get() || clock.remaining() <= 0.0 {
                return None;
            }
            rate = schedule.rate(step, span.within(done(step)));
            Some(rate)
        };
        let batches = (train.batch, train.shards);
        take_steps(learner, &sampler, first..first + steps, batches, &mut rate_of, &mut |step, taken| {
            means.add(&taken.report, taken.entropy, CLIP_NORM);
            let progress = TrainingProgress { step: step - first + 1, steps, losses: means.losses() };
            observer.training(generation, &progress, done(step));
        })?;
        if stopped.get() {
            return Ok(None);
        }
        let dead_units = match steps {
            0 => 0.0,
            _ => learner.dead_units(&sampler.batch(first + steps, train.batch, train.shards)?)?,
        };
        let seconds = began.elapsed().as_secs_f64();
        let counts = self.learner.counts();
        let samples = counts.samples - samples_before;
        if samples > 0 {
            self.counters.samples_per_second = samples as f64 / (self.clock.elapsed() - charged).max(1e-9);
        }
        let mut metrics = TrainingMetrics {
            seconds,
            steps: counts.steps,
            samples: counts.samples,
            samples_per_second: samples as f64 / seconds.max(1e-9),
            reuse: samples as f64 / new_plies.max(1) as f64,
            window_plies: sampler.plies() as u64,
            window_generations: window.len() as u64,
            rate,
            dead_units,
            ..TrainingMetrics::default()
        };
        means.write(&mut metrics);
        Ok(Some(metrics))
    }
}

/// Number of steps that train on each of `new` plies `reuse` times on average; 0 for an empty window.
fn steps(new: u64, held: usize, reuse: f64, batch: usize) -> u64 {
    if held == 0 { 0 } else { (new as f64 * reuse / batch as f64).ceil() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_by_hand() {
        assert_eq!(steps(8_192, 50_000, 2.0, 256), 64);
        assert_eq!(steps(8_193, 50_000, 2.0, 256), 65);
        assert_eq!(steps(0, 50_000, 2.0, 256), 0);
        assert_eq!(steps(8_192, 0, 2.0, 256), 0, "a window whose files were all lost");
    }
}
