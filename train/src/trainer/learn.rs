//! Training of one generation.

use std::time::Instant;

use super::clock::Clock;
use super::command::{Task, TrainerCommand};
use super::context::Context;
use super::games::Games;
use super::observer::TrainingProgress;
use super::stage::CurrentStage;
use super::state::Counters;
use crate::TrainError;
use crate::learner::Learner;
use crate::metrics::StepMeans;
use crate::schedule::rate_at;
use crate::steps::take_steps;
use hnefi_run::sample::{Sampler, ValueTarget};
use hnefi_run::{LossValues, TrainingMetrics};

/// A generation trains on at most this multiple of `plies_per_generation` new plies. Workers may upload more plies than
/// the trainer can train on; all of them enter the replay window, and each is trained on less often.
pub(super) const MOST_NEW: u64 = 4;

/// Trains on the replay window, with `reuse` samples per new ply. `attend` is called before every step. Returns `None`
/// if the observer stopped it; the training then starts again from its beginning.
pub(super) fn learn(
    context: &Context<'_>,
    stage: &CurrentStage,
    clock: &Clock,
    attend: &mut dyn FnMut() -> Result<(), TrainError>,
    (learner, command): (&mut Learner, Option<&mut TrainerCommand>),
    counters: &mut Counters,
    games: &mut Games,
) -> Result<Option<TrainingMetrics>, TrainError> {
    let generation = counters.generation + 1;
    let (config, observer) = (&stage.config, context.observer);
    let train = &config.train;
    let window = counters.window(train);
    games.retain(|&generation, _| generation >= window.start);
    // After a lost state, later games may exist. The first training of this generation did not have them.
    let played = games.range(..=generation).flat_map(|(_, games)| games);
    let value = ValueTarget::at(train, stage.progress_after(clock, counters.generation));
    let sampler = Sampler::new(played, config.run.seed, value);
    let new_plies = counters.plies.last().copied().unwrap_or(0);
    let steps = steps(new_plies.min(MOST_NEW * train.plies_per_generation), sampler.plies(), train.reuse, train.batch);

    let (first, samples_before) = (learner.counts().steps, learner.counts().samples);
    let (mut means, mut rate) = (StepMeans::default(), 0.0);
    let (began, charged) = (Instant::now(), clock.elapsed());
    let mut stopped = false;
    let done = |step: u64| clock.progress(generation - 1, (step - first) as f64 / steps as f64);
    let report = |step: u64, losses: LossValues| {
        let progress = TrainingProgress { step: step - first + 1, steps, losses };
        observer.training(generation, &progress, done(step));
    };
    let mut theirs = None;
    match command.filter(|_| steps > 0) {
        Some(command) => {
            let numbers = first..first + steps;
            let rates: Vec<f64> = numbers.map(|step| rate_at(train, step, stage.progress(done(step)))).collect();
            rate = rates.last().copied().unwrap_or_default();
            let task = Task { config, generation, first_step: first, rates, value };
            let mut goes_on = |taken: Option<(u64, LossValues)>| {
                if let Some((step, losses)) = taken {
                    report(first + step.clamp(1, steps) - 1, losses);
                }
                attend().map(|()| !observer.should_stop())
            };
            theirs = command.train(learner, games.range(..=generation), &task, &mut goes_on)?;
            stopped = theirs.is_none();
        }
        None => {
            let mut rate_of = |step: u64| {
                attend()?;
                stopped = observer.should_stop();
                if stopped || clock.remaining() <= 0.0 {
                    return Ok(None);
                }
                rate = rate_at(train, step, stage.progress(done(step)));
                Ok(Some(rate))
            };
            take_steps(learner, &sampler, first..first + steps, train, &mut rate_of, &mut |step, taken, entropy| {
                means.add(taken, entropy);
                report(step, means.losses());
            })?;
        }
    }
    if stopped {
        return Ok(None);
    }
    let seconds = began.elapsed().as_secs_f64();
    let counts = learner.counts();
    let samples = counts.samples - samples_before;
    if samples > 0 {
        counters.samples_per_second = samples as f64 / (clock.elapsed() - charged).max(1e-9);
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
        ..TrainingMetrics::default()
    };
    means.write(&mut metrics);
    if let Some(losses) = theirs {
        metrics = TrainingMetrics { losses, generation_steps: steps, ..metrics };
    }
    Ok(Some(metrics))
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
