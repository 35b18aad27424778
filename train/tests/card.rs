//! Training on a card, whose driver is emulated (`models/cuda/kernels/emulated/`), beside burn on the CPU.
//!
//! They need a C++ compiler: `cargo test --test card -- --ignored`.

#[path = "../../models/cuda/tests/driver/mod.rs"]
mod driver;
mod support;

use std::collections::BTreeMap;

use burn::tensor::Device;
use hnefi_cuda::Cards;
use hnefi_engine::Preset;
use hnefi_inference::{DeviceChoice, NetworkConfig, TrainPrecision};
use hnefi_models::Network;
use hnefi_run::GameRecord;
use hnefi_run::sample::{Batch, Sampler, ValueTarget};
use hnefi_train::learner::{Learner, LearnerParams, TrainingDevice};
use hnefi_train::loss::LossWeights;

use support::random_game;

const PARAMS: LearnerParams = LearnerParams {
    precision: TrainPrecision::F32,
    shards: 1,
    threads: 1,
    weight_decay: 1e-4,
    clip_norm: 1.0,
    average_steps: 10,
    bad_steps: 3,
    weights: LossWeights { policy: 1.0, value: 1.5, moves_left: 0.3, occupancy: 0.2 },
};

fn card() -> Vec<TrainingDevice> {
    driver::use_emulated(&["-DTRAINING_EXPONENT=6"]);
    TrainingDevice::open_all(&Cards::default(), &DeviceChoice::Cuda(0).into()).unwrap()
}

fn batch(preset: Preset, rows: usize, step: u64) -> Vec<Batch> {
    let games: Vec<GameRecord> = (0..4).map(|number| random_game(preset, number)).collect();
    Sampler::new(&games, 3, ValueTarget { lambda: 0.9, fade: 0.0 }).batch(step, rows, 1).unwrap()
}

/// A network after a few steps, whose units have all something to say.
fn network(config: &NetworkConfig, batch: &[Batch]) -> Network {
    let fresh = Network::fresh(config, 5, &Device::flex());
    let mut learner = Learner::new(&fresh, &[TrainingDevice::Cpu], PARAMS).unwrap();
    for _ in 0..3 {
        learner.step(batch, 3e-3).unwrap();
    }
    learner.network().clone()
}

fn norm(values: &[f32]) -> f32 {
    values.iter().map(|value| value * value).sum::<f32>().sqrt()
}

/// For each tensor the card's gradient beside burn's: the part of it that points the same way, over burn's length (1
/// for equal ones), and the length of the difference over burn's length.
fn beside(expected: &BTreeMap<String, Vec<f32>>, found: &BTreeMap<String, Vec<f32>>) -> Vec<(String, f32, f32)> {
    assert!(expected.keys().eq(found.keys()), "gradients of the same tensors");
    let whole = norm(&expected.values().flatten().copied().collect::<Vec<_>>());
    // What hardly matters to the step is left out: there all is rounding.
    let matters = expected.iter().filter(|(_, expected)| norm(expected) > 5e-3 * whole);
    let of = |(name, expected): (&String, &Vec<f32>)| {
        let length = norm(expected);
        let pairs = expected.iter().zip(&found[name]);
        let along = pairs.clone().map(|(a, b)| a * b).sum::<f32>() / length.powi(2);
        let apart: Vec<f32> = pairs.map(|(a, b)| a - b).collect();
        (name.clone(), along, norm(&apart) / length)
    };
    matters.map(of).collect()
}

fn compare(config: &NetworkConfig, preset: Preset, rows: usize) {
    let batch = batch(preset, rows, 0);
    let network = network(config, &batch);
    let learner = |devices: &[TrainingDevice]| Learner::new(&network, devices, PARAMS).unwrap();
    let expected = learner(&[TrainingDevice::Cpu]).gradients(&batch).unwrap();
    let found = learner(&card()).gradients(&batch).unwrap();
    // A unit that rounding turns on or off changes its whole gradient, and so does a maximum that moves to another
    // square: hence the size of the difference. What a step would be wrong by shows along the gradient.
    let beside = beside(&expected, &found);
    let far = |(_, along, apart): &&(String, f32, f32)| !((along - 1.0).abs() < 0.05 && *apart < 0.2);
    let far: Vec<&(String, f32, f32)> = beside.iter().filter(far).collect();
    assert!(beside.len() > 8 && far.is_empty(), "{config:?} on {preset}: {far:?}");
    let steps = [vec![TrainingDevice::Cpu], card()].map(|devices| learner(&devices).step(&batch, 1e-3).unwrap());
    let [expected, found] = steps.map(|step| step.losses);
    for (expected, found) in [
        (expected.policy, found.policy),
        (expected.value, found.value),
        (expected.moves_left, found.moves_left),
        (expected.occupancy, found.occupancy),
        (expected.total, found.total),
    ] {
        assert!((expected - found).abs() < 0.01 * expected, "{expected} and {found}");
    }
}

#[test]
#[ignore = "needs a C++ compiler"]
fn gradients_are_those_of_burn() {
    let config = NetworkConfig { blocks: 3, channels: 32, pool_every: 2, head_channels: 16, value_hidden: 24 };
    compare(&NetworkConfig { blocks: 0, pool_every: 0, ..config }, Preset::Brandubh, 12);
    compare(&NetworkConfig { blocks: 1, pool_every: 1, ..config }, Preset::Brandubh, 12);
    compare(&config, Preset::Copenhagen, 5);
    // Channels and units that are no whole groups of 32.
    compare(&NetworkConfig { channels: 72, head_channels: 40, ..config }, Preset::Tablut, 3);
    compare(&NetworkConfig { blocks: 1, channels: 256, pool_every: 1, ..config }, Preset::Brandubh, 2);
    compare(
        &NetworkConfig { blocks: 1, channels: 20, pool_every: 0, head_channels: 5, value_hidden: 9 },
        Preset::Tablut,
        3,
    );
}

#[test]
#[ignore = "needs a C++ compiler"]
fn a_step_repeats_itself_whatever_the_card_has_done_before() {
    let config = NetworkConfig { blocks: 2, channels: 32, pool_every: 2, head_channels: 8, value_hidden: 16 };
    let [first, other] = [batch(Preset::Brandubh, 8, 0), batch(Preset::Tablut, 6, 1)];
    let network = network(&config, &first);
    let learner = Learner::new(&network, &card(), PARAMS).unwrap();
    let once = learner.gradients(&first).unwrap();
    learner.gradients(&other).unwrap();
    assert_eq!(learner.gradients(&first).unwrap(), once);
}

/// Two parts of a batch on a card and on the CPU are the two parts on the CPU.
#[test]
#[ignore = "needs a C++ compiler"]
fn a_card_and_the_cpu_share_a_batch() {
    let config = NetworkConfig { blocks: 1, channels: 32, pool_every: 0, head_channels: 8, value_hidden: 16 };
    let games: Vec<GameRecord> = (0..4).map(|number| random_game(Preset::Brandubh, number)).collect();
    let sampler = Sampler::new(&games, 3, ValueTarget { lambda: 0.9, fade: 0.0 });
    let batch = sampler.batch(0, 16, 2).unwrap();
    let network = Network::fresh(&config, 5, &Device::flex());
    let params = LearnerParams { shards: 2, ..PARAMS };
    let both = [vec![TrainingDevice::Cpu], vec![TrainingDevice::Cpu, card().remove(0)]];
    let [cpu, shared] =
        both.map(|devices| Learner::new(&network, &devices, params).unwrap().step(&batch, 1e-3).unwrap());
    assert!((cpu.losses.total - shared.losses.total).abs() < 0.01 * cpu.losses.total);
    assert!((cpu.gradient_norm - shared.gradient_norm).abs() < 0.02 * cpu.gradient_norm);
}
