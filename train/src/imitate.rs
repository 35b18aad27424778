//! Imitation learning: trains a network on recorded games.
//!
//! The policy target is the move played and the value target is the result of the game. No search is needed, so
//! training on a few thousand games takes minutes. The network is not strong, but self-play may begin with it
//! ([`crate::TrainerParams::origin`]).

use std::path::Path;

use burn::tensor::Device;
use hnefi_engine::NamedRules;
use hnefi_inference::{Card, Checkpoint};
use hnefi_models::Network;
use hnefi_run::GameRecord;

use crate::config::checked;
use crate::learner::{Learner, LearnerParams, TrainingDevice};
use crate::metrics::StepMeans;
use crate::schedule::rate_at;
use crate::steps::take_steps;
use crate::trainer::{Ancestor, TrainingProgress, ancestor};
use crate::{TrainConfig, TrainError};
use hnefi_run::LossValues;
use hnefi_run::sample::{Sampler, ValueTarget};

/// Number of steps over which the displayed losses are averaged.
const RECENT: u64 = 50;

/// The result of imitation learning.
#[derive(Clone, Debug)]
pub struct Imitation {
    /// The averaged weights.
    pub checkpoint: Checkpoint,
    /// Number of training plies.
    pub plies: usize,
    /// Mean losses over the last tenth of the steps.
    pub losses: LossValues,
    /// Entropy of the policy targets, nats: 0 where each is one move.
    pub entropy: f32,
}

/// Trains a network of the configuration on `devices`, on every training ply of the finished games `epochs` times on
/// average, from random weights or from the checkpoint `origin`. `progress` is called after every step and returns
/// whether to continue. The configuration's rates, batches and averaging apply; its value horizon does not.
///
/// # Errors
/// When the configuration has errors, there is nothing to learn from, the origin cannot be read or grown to the
/// configuration's shape, a step fails, or `progress` stopped it ([`TrainError::Interrupted`]).
pub fn imitate(
    config: &TrainConfig,
    devices: &[TrainingDevice],
    games: &[GameRecord],
    epochs: f64,
    origin: Option<&Path>,
    progress: &mut dyn FnMut(&TrainingProgress) -> bool,
) -> Result<Imitation, TrainError> {
    checked(config, "of this training")?;
    games.iter().try_for_each(GameRecord::check)?;
    let value = ValueTarget { lambda: config.train.value_lambda, fade: 0.0 };
    let sampler = Sampler::new(games, config.run.seed, value);
    if sampler.plies() == 0 {
        return Err(TrainError::NothingToLearn { games: games.len() });
    }
    let train = &config.train;
    let (network, parent) = match origin {
        None => (Network::fresh(&config.network, config.run.seed, &Device::flex()), None),
        Some(path) => {
            let Ancestor { network, id, .. } = ancestor(path, config)?;
            (network, Some(id))
        }
    };
    let mut learner = Learner::new(&network, devices, LearnerParams::from(train))?;
    let steps = ((sampler.plies() as f64 * epochs / train.batch as f64).ceil() as u64).max(1);
    let (mut recent, mut last) = (StepMeans::default(), StepMeans::default());
    let stop = std::cell::Cell::new(false);
    let mut rate = |step: u64| Ok((!stop.get()).then(|| rate_at(train, step, step as f64 / steps as f64)));
    take_steps(&mut learner, &sampler, 0..steps, train, &mut rate, &mut |step, taken, entropy| {
        recent.add(taken, entropy);
        if step >= steps - steps.div_ceil(10) {
            last.add(taken, entropy);
        }
        let so_far = TrainingProgress { step: step + 1, steps, losses: recent.losses() };
        // Show the losses of the latest steps only.
        if (step + 1).is_multiple_of(RECENT) {
            recent = StepMeans::default();
        }
        stop.set(!progress(&so_far));
    })?;
    let counts = learner.counts();
    if stop.get() && counts.steps < steps {
        return Err(TrainError::Interrupted);
    }
    let mut rulesets: Vec<String> = Vec::new();
    for game in games.iter() {
        let name = NamedRules::from(game.rules).name();
        if !rulesets.contains(&name) {
            rulesets.push(name);
        }
    }
    let card = Card {
        rulesets,
        steps: counts.steps,
        samples: counts.samples,
        parent,
        seed: config.run.seed,
        ..Card::new(config.network)
    };
    let checkpoint = learner.average().checkpoint(card)?;
    Ok(Imitation { checkpoint, plies: sampler.plies(), losses: last.losses(), entropy: last.entropy() })
}
