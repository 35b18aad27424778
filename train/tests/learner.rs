//! The learner: what a step does to the weights, and that a learner put away goes on exactly.

mod support;

use burn::tensor::Device;
use hnefi_engine::Preset;
use hnefi_inference::{Encoding, NetworkConfig, TrainPrecision};
use hnefi_models::{Auxiliaries, AuxiliaryHeads, Network};
use hnefi_selfplay::GameRecord;
use hnefi_train::TrainError;
use hnefi_train::auxiliary::{AuxiliaryTargets, PerHead};
use hnefi_train::batch::Batch;
use hnefi_train::learner::{Learner, LearnerParams, LearnerState};
use hnefi_train::loss::LossWeights;
use hnefi_train::sample::{Sampler, Targets, ValueTarget};

use support::random_game;

const CONFIG: NetworkConfig =
    NetworkConfig { blocks: 2, channels: 32, pool_every: 2, head_channels: 8, value_hidden: 16, role_heads: true };

const PARAMS: LearnerParams = LearnerParams {
    feature_inputs: true,
    precision: TrainPrecision::F32,
    shards: 2,
    weight_decay: 1e-4,
    clip_norm: 1.0,
    average_steps: 10,
    bad_steps: 3,
    weights: LossWeights { policy: 1.0, value: 1.0, moves_left: 0.1, occupancy: 0.1, auxiliary: PerHead::OFF },
    auxiliaries: Auxiliaries::NONE,
};

fn learner(params: LearnerParams) -> Learner {
    Learner::new(&Network::fresh(&CONFIG, 5, &Device::flex()), &[Device::flex()], params).unwrap()
}

fn games() -> Vec<GameRecord> {
    (0..6).map(|number| random_game(Preset::Brandubh, number)).collect()
}

fn batches(count: u64, rows: usize, shards: usize) -> Vec<Vec<Batch>> {
    let games = games();
    let sampler = Sampler::new(&games, 3, ValueTarget { search_mix: 0.0, fade: 0.0 }.into());
    (0..count).map(|step| sampler.batch(step, rows, shards).unwrap()).collect()
}

fn bytes(network: &Network) -> Vec<u8> {
    network.weights_bytes().unwrap()
}

/// Learns for some steps and says which input planes the first layer reads, by their largest weight.
fn planes_read(feature_inputs: bool) -> Vec<usize> {
    let mut learner = learner(LearnerParams { feature_inputs, ..PARAMS });
    let games = games();
    let sampler = Sampler::new(&games, 3, ValueTarget { search_mix: 0.0, fade: 0.0 }.into());
    let sampler = sampler.with_feature_inputs(feature_inputs);
    for step in 0..5 {
        learner.step(&sampler.batch(step, 32, 2).unwrap(), 3e-3).unwrap();
    }
    let read = |network: &Network| -> Vec<usize> {
        let weight = network.stem.conv.weight.val();
        let [outputs, inputs, ..] = weight.dims();
        let values = weight.into_data().try_into_vec::<f32>().unwrap();
        let of = |plane: usize| (0..outputs).flat_map(move |out| (0..9).map(move |at| (out * inputs + plane) * 9 + at));
        (0..inputs).filter(|&plane| of(plane).any(|at| values[at] != 0.0)).collect()
    };
    assert_eq!(read(learner.average()), read(learner.network()));
    read(learner.average())
}

#[test]
fn without_feature_inputs_the_network_never_comes_to_read_them() {
    assert_eq!(planes_read(true), (0..16).collect::<Vec<_>>());
    assert_eq!(planes_read(false), [0, 1, 2, 3, 4, 5, 12, 13]);
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
    for (targets, params) in [(AuxiliaryTargets::default(), PARAMS), auxiliary()] {
        let params = LearnerParams { clip_norm: 1e9, ..params };
        let batches = auxiliary_batches(8, &targets);
        let mut learner = learner_with_heads(params);
        for batch in &batches[..6] {
            learner.step(batch, 3e-3).unwrap();
        }
        let again = || Learner::load(learner.save().unwrap(), &CONFIG, &[Device::flex()], params, "state").unwrap();
        let before = stem(learner.network(), CONFIG.channels);
        let mut grown = again().continued(&CONFIG, &larger, 9, params).unwrap();
        let network = learner.network().grown(&CONFIG, &larger, 9).unwrap();
        let mut forgetful = Learner::new(&network, &[Device::flex()], params).unwrap();
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
        let mut loaded = Learner::load(state, &larger, &[Device::flex()], params, "state").unwrap();
        for learner in [&mut grown, &mut loaded] {
            learner.step(&batches[7], 3e-3).unwrap();
        }
        assert_eq!(bytes(loaded.network()), bytes(grown.network()), "a grown learner goes on from a save");
    }
}

#[test]
fn it_learns_a_batch_by_heart() {
    let mut learner = learner(PARAMS);
    let batch = &batches(1, 32, 2)[0];
    let first = learner.step(batch, 3e-3).unwrap();
    let last = (0..40).map(|_| learner.step(batch, 3e-3).unwrap()).last().unwrap();
    let (first, last) = (first.losses, last.losses);
    assert!(last.total < 0.6 * first.total, "{first:?} became {last:?}");
    assert!(last.policy < first.policy && last.value < first.value && last.occupancy < first.occupancy);
    assert_eq!((learner.counts().steps, learner.counts().samples), (41, 41 * 32));
}

/// The processor stands in for a second GPU: what goes to another device and comes back is all there.
#[test]
fn several_devices_learn_what_one_does() {
    let several = vec![Device::flex(); 3];
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
    let mut second = Learner::load(state.clone(), &CONFIG, &[Device::flex()], PARAMS, "state").unwrap();
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
fn a_network_of_the_first_encoding_is_trained_on_in_the_newest() {
    let batches = batches(3, 16, 2);
    let mut before = learner(PARAMS);
    before.step(&batches[0], 1e-3).unwrap();
    let old = |network: &Network| Network { encoding: Encoding::FIRST, ..network.clone() };
    let state = LearnerState { encoding: Encoding::FIRST, ..before.save().unwrap() };
    let mut resumed = Learner::load(state, &CONFIG, &[Device::flex()], PARAMS, "state").unwrap();
    let from_it = Learner::new(&old(before.network()), &[Device::flex()], PARAMS).unwrap();
    for (found, source) in [
        (resumed.network(), before.network()),
        (resumed.average(), before.average()),
        (from_it.network(), before.network()),
        (from_it.average(), before.network()),
    ] {
        assert_eq!(found.encoding, Encoding::NEWEST);
        assert_eq!(bytes(found), bytes(&old(source).in_newest_encoding()));
        assert_ne!(bytes(found), bytes(source));
    }
    assert!(resumed.step(&batches[1], 1e-3).unwrap().finite, "the optimiser goes on");
    assert_eq!(resumed.save().unwrap().encoding, Encoding::NEWEST);
}

#[test]
fn a_run_repeats_itself() {
    let batches = batches(5, 16, 2);
    let trained = || {
        let mut learner = learner(PARAMS);
        for batch in &batches {
            learner.step(batch, 1e-3).unwrap();
        }
        bytes(learner.network())
    };
    assert_eq!(trained(), trained());
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
    // Without a loss all gradients are 0, so AdamW's step is the decay alone: 1 - rate * decay.
    let nothing = LossWeights { policy: 0.0, value: 0.0, moves_left: 0.0, occupancy: 0.0, auxiliary: PerHead::OFF };
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
        assert_eq!((learner.counts().skipped, learner.counts().skipped_in_a_row), (count, count as u32));
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
    assert_eq!((learner.counts().skipped, learner.counts().skipped_in_a_row), (8, 0));
}

#[test]
fn a_damaged_state_is_named() {
    let state = learner(PARAMS).save().unwrap();
    let load = |state, config: &NetworkConfig| {
        Learner::load(state, config, &[Device::flex()], PARAMS, "state/000003").err().unwrap().to_string()
    };
    let mut cut = state.clone();
    cut.average.truncate(cut.average.len() / 2);
    let message = load(cut, &CONFIG);
    assert!(message.starts_with("state/000003: the averaged weights cannot be read"), "{message}");
    let message = load(state, &NetworkConfig { blocks: 3, ..CONFIG });
    assert!(message.starts_with("state/000003: the weights cannot be read"), "{message}");
}

/// All auxiliary heads, and the parameters to train them.
fn auxiliary() -> (AuxiliaryTargets, LearnerParams) {
    let targets =
        AuxiliaryTargets { reply: true, soft_policy: true, short_values: vec![2, 8], captured: Some(8), ending: true };
    let weights = PerHead { reply: 0.15, soft_policy: 1.0, short_values: 0.3, captured: 0.2, ending: 0.1 };
    let weights = LossWeights { auxiliary: weights, ..PARAMS.weights };
    let params = LearnerParams { weights, auxiliaries: targets.heads(), ..PARAMS };
    (targets, params)
}

fn learner_with_heads(params: LearnerParams) -> Learner {
    let heads = AuxiliaryHeads::fresh(&CONFIG, params.auxiliaries, 5, &Device::flex());
    let network = Network::fresh(&CONFIG, 5, &Device::flex()).with_auxiliary(heads);
    Learner::new(&network, &[Device::flex()], params).unwrap()
}

fn auxiliary_batches(count: u64, targets: &AuxiliaryTargets) -> Vec<Vec<Batch>> {
    let games = games();
    let targets = Targets { value: ValueTarget { search_mix: 0.0, fade: 0.0 }, auxiliary: targets.clone() };
    let sampler = Sampler::new(&games, 3, targets);
    (0..count).map(|step| sampler.batch(step, 16, 2).unwrap()).collect()
}

#[test]
fn auxiliary_heads_learn_and_do_not_play() {
    let (targets, params) = auxiliary();
    let batch = &auxiliary_batches(1, &targets)[0];
    let mut learner = learner_with_heads(params);
    let first = learner.step(batch, 3e-3).unwrap().losses.auxiliary;
    let last = (0..40).map(|_| learner.step(batch, 3e-3).unwrap()).last().unwrap().losses.auxiliary;
    for (first, last) in first.into_array().into_iter().zip(last.into_array()) {
        // What is left is mostly the entropy of the targets.
        assert!(last.unwrap() < 0.97 * first.unwrap(), "{first:?} became {last:?}");
    }
    assert_eq!(learner.network().auxiliaries(), params.auxiliaries);
    assert_eq!(learner.average().auxiliaries(), Auxiliaries::NONE);
}

#[test]
fn the_total_is_the_weighted_sum() {
    let (targets, params) = auxiliary();
    let losses = learner_with_heads(params).step(&auxiliary_batches(1, &targets)[0], 1e-3).unwrap().losses;
    let weights = params.weights;
    let parts = losses.policy * weights.policy
        + losses.value * weights.value
        + losses.moves_left * weights.moves_left
        + losses.occupancy * weights.occupancy;
    let auxiliary = losses.auxiliary.into_array().into_iter().zip(weights.auxiliary.into_array());
    let sum = auxiliary.fold(parts, |sum, (loss, weight)| sum + loss.unwrap() * weight);
    assert!((losses.total - sum).abs() < 1e-4 * sum, "{} is not {sum}", losses.total);
}

#[test]
fn a_loss_without_weight_has_no_head() {
    let (targets, params) = auxiliary();
    let only = AuxiliaryTargets { captured: targets.captured, ..AuxiliaryTargets::default() };
    let params = LearnerParams { auxiliaries: only.heads(), ..params };
    let losses = learner_with_heads(params).step(&auxiliary_batches(1, &only)[0], 1e-3).unwrap().losses.auxiliary;
    assert_eq!(losses.map(|loss| loss.is_some()), PerHead { captured: true, ..PerHead::default() });
    let losses = learner(PARAMS).step(&batches(1, 16, 2)[0], 1e-3).unwrap().losses.auxiliary;
    assert!(losses.is_empty());
}

#[test]
fn auxiliary_heads_are_resumed_bit_for_bit_and_taken_over() {
    let (targets, params) = auxiliary();
    let batches = auxiliary_batches(6, &targets);
    let (mut whole, mut first) = (learner_with_heads(params), learner_with_heads(params));
    for (step, batch) in batches.iter().enumerate() {
        whole.step(batch, 1e-3).unwrap();
        if step < 3 {
            first.step(batch, 1e-3).unwrap();
        }
    }
    let state = first.save().unwrap();
    let device = [Device::flex()];
    let mut resumed = Learner::load(state.clone(), &CONFIG, &device, params, "state").unwrap();
    let mut taken = Learner::take_over(state, &CONFIG, 9, &device, params, "state").unwrap();
    assert_eq!(taken.counts().steps, 0);
    for batch in &batches[3..] {
        resumed.step(batch, 1e-3).unwrap();
        taken.step(batch, 1e-3).unwrap();
    }
    assert_eq!(bytes(whole.network()), bytes(resumed.network()));
    assert_eq!(
        bytes(whole.network()),
        bytes(taken.network()),
        "the same heads: the optimiser's moments are taken over too"
    );
    assert_eq!(bytes(whole.average()), bytes(resumed.average()));
}

#[test]
fn weights_are_taken_over_where_heads_differ() {
    let (targets, all) = auxiliary();
    let without = AuxiliaryTargets { ending: false, short_values: vec![2], ..targets.clone() };
    let some = LearnerParams { auxiliaries: without.heads(), ..all };
    let device = [Device::flex()];
    let bare = |learner: &Learner| bytes(&learner.network().clone().with_auxiliary(None));
    let hidden = |learner: &Learner| {
        let heads = learner.network().auxiliary.as_ref().unwrap().reply.as_ref().unwrap();
        heads.hidden.weight.val().into_data().try_to_vec::<f32>().unwrap()
    };

    let mut old = learner_with_heads(some);
    old.step(&auxiliary_batches(1, &without)[0], 1e-3).unwrap();
    // Some heads more, and one of another size.
    let mut more = Learner::take_over(old.save().unwrap(), &CONFIG, 9, &device, all, "state").unwrap();
    assert_eq!(bare(&more), bare(&old));
    assert_eq!(bytes(more.average()), bytes(old.average()));
    assert_eq!(hidden(&more), hidden(&old), "a head that both have");
    assert_eq!(more.network().auxiliaries(), all.auxiliaries);
    let fresh = learner_with_heads(all).save().unwrap().optimiser;
    assert_eq!(more.save().unwrap().optimiser.len(), fresh.len(), "no moments yet");
    assert!(more.step(&auxiliary_batches(1, &targets)[0], 1e-3).unwrap().finite);

    // None at all, and from none.
    let mut none = Learner::take_over(more.save().unwrap(), &CONFIG, 9, &device, PARAMS, "state").unwrap();
    assert_eq!(bytes(none.network()), bare(&more));
    none.step(&batches(1, 16, 2)[0], 1e-3).unwrap();
    let again = Learner::take_over(none.save().unwrap(), &CONFIG, 9, &device, all, "state").unwrap();
    assert_eq!((bare(&again), again.network().auxiliaries()), (bytes(none.network()), all.auxiliaries));

    let other = NetworkConfig { blocks: 3, ..CONFIG };
    let message = Learner::take_over(none.save().unwrap(), &other, 9, &device, all, "state").err().unwrap().to_string();
    assert!(message.starts_with("state: the weights cannot be read"), "{message}");
}
