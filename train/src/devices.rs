//! The devices of a configuration that leaves them to the machine (`auto`).

use std::time::{Duration, Instant};

use burn::tensor::Device;
use hnefi_cuda::Cards;
use hnefi_engine::{NamedRules, Preset};
use hnefi_inference::{Backend, DeviceChoice, DeviceList, Trial, Weights};
use hnefi_models::Network;
use hnefi_run::GameRecord;
use hnefi_run::sample::{Sampler, ValueTarget, random_game};

use crate::TrainError;
use crate::config::TrainConfig;
use crate::learner::{Learner, LearnerParams, TrainingDevice};

/// Samples of the CPU's steps in a trial: a sample takes about as long in a larger step.
const FEW: usize = 64;

/// How long a device trains in a trial, after a first step.
const TRIAL: Duration = Duration::from_millis(300);

/// Chooses the devices of self-play where they are to be chosen; `say` gets what was tried.
///
/// # Errors
/// When the CPU cannot evaluate the network.
pub fn choose_for_play(config: &mut TrainConfig, cards: &Cards, say: &dyn Fn(&str)) -> Result<(), TrainError> {
    if config.run.device.is_auto() {
        let weights = Weights::fresh(&config.last_stage()?.network, config.run.seed);
        let trials = cards.evaluating(DeviceList::AUTO).try_all(&weights, config.run.precision)?;
        config.run.device = chosen("run.device", &trials, say);
    }
    Ok(())
}

/// Chooses the devices of training where they are to be chosen; `say` gets what was tried.
///
/// # Errors
/// When the CPU cannot train the network.
pub fn choose_for_training(config: &mut TrainConfig, cards: &Cards, say: &dyn Fn(&str)) -> Result<(), TrainError> {
    if config.run.train_device.is_auto() {
        config.run.train_device = chosen("run.train_device", &try_training(config, cards)?, say);
    }
    Ok(())
}

fn chosen(key: &str, trials: &[Trial], say: &dyn Fn(&str)) -> DeviceList {
    let fastest = Trial::fastest(trials);
    let trials: Vec<String> = trials.iter().map(Trial::to_string).collect();
    say(&format!("{key}: auto takes {fastest} ({})", trials.join(", ")));
    fastest
}

/// Samples a second of the CPU, and of as many cards as there are parts of a batch.
fn try_training(config: &TrainConfig, cards: &Cards) -> Result<Vec<Trial>, TrainError> {
    let stage = config.last_stage()?;
    let batch = stage.train.batch;
    let rules = stage.selfplay.rulesets_played().first().map_or(Preset::Copenhagen.rules(), NamedRules::rules);
    let game = random_game(rules, 0);
    let cpu = samples_per_second(&stage, &game, TrainingDevice::Cpu, batch.min(FEW))?;
    let mut trials = vec![Trial { device: DeviceChoice::Cpu, rate: Ok(cpu) }];
    for device in cards.usable().into_iter().take(stage.train.shards) {
        let Some(card) = cards.of(device)? else { continue };
        let rate = samples_per_second(&stage, &game, TrainingDevice::Card(card), batch);
        trials.push(Trial { device, rate: rate.map_err(|error| device.unavailable(error.to_string())) });
    }
    Ok(trials)
}

fn samples_per_second(
    config: &TrainConfig,
    game: &GameRecord,
    device: TrainingDevice,
    batch: usize,
) -> Result<f64, TrainError> {
    let mut params = LearnerParams::from(&config.train);
    params.shards = params.shards.min(batch / 2);
    let network = Network::fresh(&config.network, 1, &Device::flex());
    let mut learner = Learner::new(&network, &[device], params)?;
    let target = ValueTarget { lambda: 1.0, fade: 0.0 };
    let batch = Sampler::new(std::slice::from_ref(game), 1, target).batch(
        0,
        batch / params.shards * params.shards,
        params.shards,
    )?;
    // A card makes its kernels ready in the first.
    learner.step(&batch, 0.0)?;
    let (began, mut samples) = (Instant::now(), 0);
    while began.elapsed() < TRIAL {
        learner.step(&batch, 0.0)?;
        samples += batch.iter().map(|shard| shard.rows).sum::<usize>();
    }
    Ok(samples as f64 / began.elapsed().as_secs_f64())
}
