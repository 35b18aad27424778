//! The network: that it learns, that it is fair before it has learnt, and that each role gets its own heads.

use burn::module::Module;
use burn::optim::{AdamWConfig, GradientsParams};
use burn::tensor::activation::{log_softmax, softmax};
use burn::tensor::{Device, Tensor, TensorData};
use hnefi_inference::{GLOBALS, NetworkConfig, PLANES, policy_planes};
use hnefi_models::Network;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const SMALL: NetworkConfig =
    NetworkConfig { blocks: 3, channels: 16, pool_every: 3, head_channels: 16, value_hidden: 32 };

/// A batch of random planes; the attackers are to move in every other one.
fn batch(count: usize, side: usize, device: &Device) -> (Tensor<4>, Tensor<2>) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(side as u64);
    let planes = (0..count * PLANES * side * side).map(|_| f32::from(u8::from(rng.random_bool(0.2)))).collect();
    let mut globals: Vec<f32> = (0..count * GLOBALS).map(|_| rng.random_range(0.0..1.0)).collect();
    for (row, globals) in globals.chunks_exact_mut(GLOBALS).enumerate() {
        globals[0] = f32::from(u8::from(row % 2 == 0));
    }
    let planes = TensorData::new::<f32, _>(planes, [count, PLANES, side, side]);
    (Tensor::from_data(planes, device), Tensor::from_data(TensorData::new(globals, [count, GLOBALS]), device))
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec().unwrap()
}

#[test]
fn the_same_weights_serve_every_board() {
    let device = Device::flex();
    let network = Network::fresh(&SMALL, 0, &device);
    for side in [7, 9, 11] {
        let (planes, globals) = batch(2, side, &device);
        let heads = network.forward(planes, globals);
        assert_eq!(heads.policy.dims(), [2, policy_planes(side), side, side]);
        assert_eq!(heads.wdl.dims(), [2, 3]);
        assert_eq!(heads.moves_left.dims(), [2, 1]);
        assert_eq!(heads.occupancy.dims(), [2, 4, side, side]);
    }
}

#[test]
fn training_steps_lower_the_loss_on_every_board() {
    let device = Device::flex().autodiff();
    let mut network = Network::fresh(&SMALL, 3, &device);
    let mut optimizer = AdamWConfig::new().with_epsilon(1e-8).init();
    for side in [7, 9, 11] {
        let (planes, globals) = batch(8, side, &device);
        let loss = |network: &Network| {
            let heads = network.forward(planes.clone(), globals.clone());
            let policy = log_softmax(heads.policy.flatten::<2>(1, 3), 1).narrow(1, 17, 1).mean();
            let wdl = log_softmax(heads.wdl, 1).narrow(1, 0, 1).mean();
            let occupancy = log_softmax(heads.occupancy, 1).narrow(1, 2, 1).mean();
            heads.moves_left.powi_scalar(2).mean() - policy - wdl - occupancy
        };
        let before = loss(&network).into_scalar::<f32>();
        for _ in 0..10 {
            let gradients = GradientsParams::from_grads(loss(&network).backward(), &network);
            network = optimizer.step(3e-3, network, gradients);
        }
        let after = loss(&network).into_scalar::<f32>();
        assert!(after < 0.8 * before, "{side}x{side}: {before} before, {after} after");
    }
}

#[test]
fn an_untrained_network_has_hardly_an_opinion() {
    let device = Device::flex();
    for (seed, blocks) in [(0, 4), (1, 4), (2, 10)] {
        let network = Network::fresh(&NetworkConfig { blocks, channels: 32, ..SMALL }, seed, &device);
        let (planes, globals) = batch(4, 11, &device);
        let heads = network.forward(planes, globals);
        let wdl = values(softmax(heads.wdl, 1));
        assert!(wdl.iter().all(|chance| (chance - 1.0 / 3.0).abs() < 0.1), "{wdl:?}");
        let logits = values(heads.policy);
        let largest = logits.iter().fold(0.0_f32, |largest, logit| largest.max(logit.abs()));
        assert!(largest > 0.0 && largest < 0.5, "largest policy logit {largest}");
    }
}

#[test]
fn each_role_is_answered_by_its_own_heads() {
    let device = Device::flex();
    let network = Network::fresh(&SMALL, 5, &device);
    let with_heads = |heads: usize| {
        let mut shared = network.clone();
        shared.roles = vec![network.roles[heads].clone(), network.roles[heads].clone()];
        shared
    };
    let (planes, globals) = batch(4, 9, &device);
    let answer = |network: &Network| {
        let heads = network.forward(planes.clone(), globals.clone());
        Tensor::cat(vec![heads.policy.flatten::<2>(1, 3), heads.wdl, heads.moves_left], 1)
    };
    let (both, attackers, defenders) = (answer(&network), answer(&with_heads(0)), answer(&with_heads(1)));
    for row in 0..4 {
        let row_of = |answers: &Tensor<2>| values(answers.clone().narrow(0, row, 1));
        let (own, other) = if row % 2 == 0 { (&attackers, &defenders) } else { (&defenders, &attackers) };
        assert_eq!(row_of(&both), row_of(own), "row {row}");
        assert_ne!(row_of(&both), row_of(other), "row {row}");
    }
}

#[test]
fn fresh_weights_depend_on_the_seed_alone() {
    let weights = |seed, device: &Device| Network::fresh(&SMALL, seed, device).weights().unwrap();
    let device = Device::flex();
    let first = weights(7, &device);
    device.seed(99);
    assert!(first == weights(7, &device), "the device's own seed must not matter");
    assert!(first == weights(7, &device.clone().autodiff()), "nor whether it differentiates");
    assert!(first != weights(8, &device));
}

#[test]
fn parameters_are_counted_without_running_statistics() {
    let config = NetworkConfig { blocks: 2, channels: 8, pool_every: 2, head_channels: 4, value_hidden: 5 };
    let norm = 2 * 8;
    let stem = PLANES * 8 * 9 + norm + GLOBALS * 8 + 8;
    let block = 2 * (8 * 8 * 9 + norm);
    let pool = 3 * 8 * 8 + 8;
    let policy = (8 * 4 + 4) + 3 * 8 * 4 + (4 * 72 + 72) + 8 * 4;
    let value = (8 * 4 + 4) + (3 * 4 * 5 + 5) + (5 * 4 + 4);
    let occupancy = 8 * 4 + 4;
    let expected = stem + 2 * block + pool + 2 * (policy + value) + occupancy;
    assert_eq!(Network::fresh(&config, 0, &Device::flex()).parameter_count(), expected);
}

/// A network whose running statistics have moved away from where they began.
fn trained_a_little(seed: u64) -> Network {
    let device = Device::flex().autodiff();
    let network = Network::fresh(&SMALL, seed, &device);
    let (planes, globals) = batch(4, 7, &device);
    for _ in 0..1 + seed {
        network.forward(planes.clone(), globals.clone());
    }
    network
}

#[test]
fn averaging_moves_every_tensor_and_changes_neither_network() {
    let (a, b) = (trained_a_little(1), trained_a_little(2));
    let weights = |network: &Network| network.weights().unwrap();
    let before = (weights(&a), weights(&b));
    assert!(weights(&a.average(&b, 0.0)) == before.0);
    assert!(weights(&a.average(&b, 1.0)) == before.1);

    let mixed = a.average(&b, 0.25);
    let check = |of: &dyn Fn(&Network) -> Vec<f32>| {
        let (a, b, mixed) = (of(&a.valid()), of(&b.valid()), of(&mixed));
        assert_ne!(a, b);
        for ((a, b), mixed) in a.iter().zip(&b).zip(&mixed) {
            assert!((0.75 * a + 0.25 * b - mixed).abs() < 1e-6, "{a} and {b} gave {mixed}");
        }
    };
    check(&|network| values(network.stem.conv.weight.val()));
    check(&|network| values(network.blocks[2].pool.as_ref().unwrap().weight.val()));
    check(&|network| values(network.roles[1].value_out.weight.val()));
    check(&|network| values(network.blocks[1].second.norm.running_mean.value()));
    check(&|network| values(network.stem.norm.running_var.value()));
    assert!((weights(&a), weights(&b)) == before, "averaging must not change what it averages");
}

#[test]
fn networks_are_shared_between_threads() {
    fn shareable<T: Send + Sync>(_: &T) {}
    shareable(&Network::fresh(&SMALL, 0, &Device::flex()));
}
