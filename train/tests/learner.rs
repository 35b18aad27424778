//! The learner: the effect of a step on the weights, and exact resumption from a saved state.

mod support;

use burn::tensor::Device;
use hnefi_engine::{Preset, Rules, Start};
use hnefi_inference::{NetworkConfig, TrainPrecision};
use hnefi_models::Network;
use hnefi_run::GameRecord;
use hnefi_run::sample::Batch;
use hnefi_run::sample::{Sampler, ValueTarget};
use hnefi_train::TrainError;
use hnefi_train::learner::{Learner, LearnerParams, TrainingDevice};
use hnefi_train::loss::LossWeights;

use support::{random_game, random_game_by};

const CONFIG: NetworkConfig =
    NetworkConfig { blocks: 2, channels: 32, pool_every: 2, head_channels: 8, value_hidden: 16 };

const PARAMS: LearnerParams = LearnerParams {
    precision: TrainPrecision::F32,
    shards: 2,
    threads: 1,
    weight_decay: 1e-4,
    clip_norm: 1.0,
    average_steps: 10,
    bad_steps: 3,
    weights: LossWeights { policy: 1.0, value: 1.0, moves_left: 0.1, occupancy: 0.1 },
};

fn learner(params: LearnerParams) -> Learner {
    Learner::new(&Network::fresh(&CONFIG, 5, &Device::flex()), &[TrainingDevice::Cpu], params).unwrap()
}

fn games() -> Vec<GameRecord> {
    (0..6).map(|number| random_game(Preset::Brandubh, number)).collect()
}

fn batches(count: u64, rows: usize, shards: usize) -> Vec<Vec<Batch>> {
    let games = games();
    let sampler = Sampler::new(&games, 3, ValueTarget { lambda: 1.0, fade: 0.0 });
    (0..count).map(|step| sampler.batch(step, rows, shards).unwrap()).collect()
}

fn bytes(network: &Network) -> Vec<u8> {
    network.weights().unwrap().to_safetensors().unwrap()
}

/// The first layer's weights for its first `outputs` channels, `[outputs, PLANES, 3, 3]`.
fn stem(network: &Network, outputs: usize) -> Vec<f32> {
    let weight = network.stem.conv.weight.val();
    let [_, inputs, rows, columns] = weight.dims();
    weight.slice([0..outputs, 0..inputs, 0..rows, 0..columns]).into_data().try_into_vec().unwrap()
}

/// Euclidean. (Single weights whose gradients are nearly zero take steps that are mostly rounding.)
fn distance(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt()
}

/// What is new in a grown network changes no gradient of what is old, so with the same moments the old weights take the
/// same step, and with moments that begin anew they do not.
#[test]
fn a_grown_learner_keeps_its_moments_and_counts() {
    let larger = NetworkConfig { blocks: 3, channels: 48, head_channels: 12, value_hidden: 24, ..CONFIG };
    let params = LearnerParams { clip_norm: 1e9, ..PARAMS };
    let batches = batches(8, 16, 2);
    let mut learner = learner(params);
    for batch in &batches[..6] {
        learner.step(batch, 3e-3).unwrap();
    }
    let again = || Learner::load(learner.save().unwrap(), &CONFIG, &[TrainingDevice::Cpu], params, "state").unwrap();
    let before = stem(learner.network(), CONFIG.channels);
    let mut grown = again().continued(&CONFIG, &larger, 9, params).unwrap();
    let network = learner.network().grown(&CONFIG, &larger, 9).unwrap();
    let mut forgetful = Learner::new(&network, &[TrainingDevice::Cpu], params).unwrap();
    assert_eq!(grown.counts(), learner.counts());
    assert_eq!(stem(grown.network(), CONFIG.channels), before);
    assert_eq!(stem(grown.average(), CONFIG.channels), stem(learner.average(), CONFIG.channels));

    let mut same = again().continued(&CONFIG, &CONFIG, 9, params).unwrap();
    for learner in [&mut learner, &mut grown, &mut forgetful, &mut same] {
        learner.step(&batches[6], 3e-3).unwrap();
    }
    assert_eq!(bytes(same.network()), bytes(learner.network()));
    let after = stem(learner.network(), CONFIG.channels);
    let moved = distance(&before, &after);
    let kept = distance(&stem(grown.network(), CONFIG.channels), &after);
    let lost = distance(&stem(forgetful.network(), CONFIG.channels), &after);
    assert!(kept < 0.05 * moved && lost > 0.5 * moved, "moved {moved}, kept {kept}, lost {lost}");

    let state = grown.save().unwrap();
    let mut loaded = Learner::load(state, &larger, &[TrainingDevice::Cpu], params, "state").unwrap();
    for learner in [&mut grown, &mut loaded] {
        learner.step(&batches[7], 3e-3).unwrap();
    }
    assert_eq!(bytes(loaded.network()), bytes(grown.network()), "a grown learner goes on from a save");
}

#[test]
fn it_learns_a_batch_by_heart() {
    let start = Start::of("5aaa5/13/13/6d6/6d6/a5d5a/a2dddkddd2a/a5d5a/6d6/6d6/13/13/5aaa5");
    let large = random_game_by(Rules { start, ..Preset::Copenhagen.rules() }, 1);
    let target = ValueTarget { lambda: 1.0, fade: 0.0 };
    for (games, side) in [(games(), 7), (vec![large], 13)] {
        let batch = &Sampler::new(&games, 3, target).batch(0, 32, 2).unwrap();
        assert_eq!(batch[0].size.side(), side);
        let mut learner = learner(PARAMS);
        let first = learner.step(batch, 3e-3).unwrap().losses;
        let last = (0..40).map(|_| learner.step(batch, 3e-3).unwrap()).last().unwrap().losses;
        assert!(last.total < 0.6 * first.total, "{first:?} became {last:?}");
        assert!(last.policy < first.policy && last.value < first.value && last.occupancy < first.occupancy);
        assert_eq!((learner.counts().steps, learner.counts().samples), (41, 41 * 32));
    }
}

/// Shards go to the devices in turns.
#[test]
fn several_devices_learn_what_one_does() {
    let several = vec![TrainingDevice::Cpu; 3];
    let params = LearnerParams { shards: 4, ..PARAMS };
    let mut shared = Learner::new(&Network::fresh(&CONFIG, 5, &Device::flex()), &several, params).unwrap();
    let mut alone = learner(params);
    for batch in &batches(3, 16, 4) {
        assert_eq!(shared.step(batch, 1e-3).unwrap(), alone.step(batch, 1e-3).unwrap());
    }
    assert!(bytes(shared.network()) == bytes(alone.network()) && bytes(shared.average()) == bytes(alone.average()));
}

#[test]
fn resumed_is_uninterrupted_bit_for_bit() {
    let batches = batches(9, 16, 2);
    let mut whole = learner(PARAMS);
    for batch in &batches {
        whole.step(batch, 1e-3).unwrap();
    }
    let mut first = learner(PARAMS);
    for batch in &batches[..4] {
        first.step(batch, 1e-3).unwrap();
    }
    let state = first.save().unwrap();
    let mut second = Learner::load(state.clone(), &CONFIG, &[TrainingDevice::Cpu], PARAMS, "state").unwrap();
    assert_eq!(second.save().unwrap().counts, state.counts);
    for batch in &batches[4..] {
        second.step(batch, 1e-3).unwrap();
    }
    assert_eq!(bytes(whole.network()), bytes(second.network()));
    assert_eq!(bytes(whole.average()), bytes(second.average()));
    assert_eq!(whole.counts(), second.counts());
    assert_ne!(bytes(whole.network()), bytes(whole.average()));
}

#[test]
fn a_new_run_goes_on_with_the_average_that_it_began_with() {
    let batches = batches(6, 16, 2);
    let mut old = learner(PARAMS);
    for batch in &batches[..4] {
        old.step(batch, 1e-3).unwrap();
    }
    let mut state = old.save().unwrap();
    state.counts = state.counts.of_a_new_run();
    let mut new = Learner::load(state, &CONFIG, &[TrainingDevice::Cpu], PARAMS, "state").unwrap();
    for batch in &batches[4..] {
        old.step(batch, 1e-3).unwrap();
        new.step(batch, 1e-3).unwrap();
    }
    assert_eq!(bytes(old.average()), bytes(new.average()));
    assert_eq!((old.counts().steps, new.counts().steps), (6, 2));
}

/// A shard of 200 samples has four parts, the last one smaller, for one to five threads.
#[test]
fn the_threads_of_a_shard_change_nothing() {
    let batches = batches(3, 400, 2);
    let trained = |threads: usize| {
        let mut learner = learner(LearnerParams { threads, ..PARAMS });
        let reports: Vec<_> = batches.iter().map(|batch| learner.step(batch, 1e-3).unwrap()).collect();
        (reports, bytes(learner.network()))
    };
    let expected = trained(1);
    for threads in [2, 3, 5] {
        assert!(trained(threads) == expected, "{threads} threads");
    }
}

#[test]
fn two_equal_shards_are_one_batch() {
    let half = batches(1, 16, 1).remove(0);
    let mut one = learner(LearnerParams { shards: 1, ..PARAMS });
    let mut two = learner(PARAMS);
    let single = one.step(&half, 1e-3).unwrap();
    let double = two.step(&[half[0].clone(), half[0].clone()], 1e-3).unwrap();
    assert_eq!(single.losses, double.losses);
    assert_eq!(single.gradient_norm, double.gradient_norm);
    assert_eq!(bytes(one.network()), bytes(two.network()), "running statistics included");
}

#[test]
fn only_weights_decay() {
    // Without a loss all gradients are 0, so the step of Muon and AdamW is the decay alone: 1 - rate * decay.
    let nothing = LossWeights { policy: 0.0, value: 0.0, moves_left: 0.0, occupancy: 0.0 };
    let mut learner = learner(LearnerParams { weight_decay: 0.5, weights: nothing, ..PARAMS });
    let values = |network: &Network| {
        let read = |tensor: burn::tensor::Tensor<1>| tensor.into_data().try_to_vec::<f32>().unwrap()[0];
        let block = &network.blocks[1];
        [
            read(block.first.conv.weight.val().flatten(0, 3)),
            read(block.first.norm.gamma.val()),
            read(network.globals.weight.val().flatten(0, 1)),
            read(network.roles[0].value_hidden.bias.as_ref().unwrap().val()),
        ]
    };
    let before = values(learner.network());
    learner.step(&batches(1, 16, 2)[0], 0.1).unwrap();
    let after = values(learner.network());
    assert!((after[0] / before[0] - 0.95).abs() < 1e-6, "convolution {} became {}", before[0], after[0]);
    assert!((after[2] / before[2] - 0.95).abs() < 1e-6, "linear layer {} became {}", before[2], after[2]);
    assert_eq!((after[1], after[3]), (before[1], before[3]), "gamma and bias stay");
}

#[test]
fn a_step_that_is_not_finite_changes_nothing() {
    let good = batches(1, 16, 2).remove(0);
    let mut bad = good.clone();
    bad[1].value[0] = f32::NAN;
    let mut learner = learner(PARAMS);
    learner.step(&good, 1e-3).unwrap();
    let before = learner.save().unwrap();
    for count in 1..=2 {
        let report = learner.step(&bad, 1e-3).unwrap();
        assert!(!report.finite);
        assert_eq!(learner.counts().skipped_in_a_row, count);
    }
    let after = learner.save().unwrap();
    assert_eq!(before.weights, after.weights, "weights and running statistics");
    assert_eq!(before.average, after.average);
    let error = learner.step(&bad, 1e-3).unwrap_err();
    assert!(matches!(error, TrainError::NotFinite { count: 3, .. }));
    assert!(error.to_string().contains("training stopped at step 3: 3 steps in a row"), "{error}");
}

#[test]
fn a_good_step_ends_a_bad_row() {
    let good = batches(1, 16, 2).remove(0);
    let mut bad = good.clone();
    bad[0].value[0] = f32::INFINITY;
    let mut learner = learner(PARAMS);
    for _ in 0..4 {
        learner.step(&bad, 1e-3).unwrap();
        learner.step(&bad, 1e-3).unwrap();
        learner.step(&good, 1e-3).unwrap();
    }
    assert_eq!(learner.counts().skipped_in_a_row, 0);
}

#[test]
fn a_damaged_state_is_named() {
    let state = learner(PARAMS).save().unwrap();
    let load = |state, config: &NetworkConfig| {
        Learner::load(state, config, &[TrainingDevice::Cpu], PARAMS, "state/000003").err().unwrap().to_string()
    };
    let mut cut = state.clone();
    cut.average.truncate(cut.average.len() / 2);
    let message = load(cut, &CONFIG);
    assert!(message.starts_with("state/000003: the averaged weights cannot be read"), "{message}");
    let message = load(state, &NetworkConfig { blocks: 3, ..CONFIG });
    assert!(message.starts_with("state/000003: the weights cannot be read"), "{message}");
}
