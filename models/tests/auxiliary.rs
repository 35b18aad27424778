//! Auxiliary heads: there when wanted, the same on the fused trunk and on burn's, and nothing to those who play.

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use hnefi_inference::{Card, Checkpoint, GLOBALS, NetworkConfig, PLANES, POLICY_PLANES, TrainPrecision};
use hnefi_models::{Auxiliaries, AuxiliaryHeads, AuxiliaryOutputs, KING_ENDINGS, Network, OTHER_ENDINGS};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const CONFIG: NetworkConfig =
    NetworkConfig { blocks: 3, channels: 32, pool_every: 3, head_channels: 16, value_hidden: 24, role_heads: true };

const ALL: Auxiliaries = Auxiliaries { reply: true, soft_policy: true, short_values: 2, captured: true, ending: true };

fn network(which: Auxiliaries, device: &Device) -> Network {
    Network::fresh(&CONFIG, 5, device).with_auxiliary(AuxiliaryHeads::fresh(&CONFIG, which, 5, device))
}

/// Random planes and globals of so many positions.
fn batch(count: usize, side: usize, device: &Device) -> (Tensor<4>, Tensor<2>) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(side as u64);
    let planes: Vec<f32> =
        (0..count * PLANES * side * side).map(|_| f32::from(u8::from(rng.random_bool(0.3)))).collect();
    let globals: Vec<f32> = (0..count * GLOBALS).map(|_| f32::from(u8::from(rng.random_bool(0.5)))).collect();
    let planes = TensorData::new(planes, [count, PLANES, side, side]);
    (Tensor::from_data(planes, device), Tensor::from_data(TensorData::new(globals, [count, GLOBALS]), device))
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec().unwrap()
}

/// Every answer one after the other.
fn flat(outputs: AuxiliaryOutputs) -> Tensor<1> {
    Tensor::cat(
        vec![
            outputs.reply.unwrap().flatten(0, 3),
            outputs.soft_policy.unwrap().flatten(0, 3),
            outputs.short_values.unwrap().flatten(0, 2),
            outputs.captured.unwrap().flatten(0, 3),
            outputs.ending.unwrap().flatten(0, 1),
        ],
        0,
    )
}

#[test]
fn heads_are_there_when_wanted() {
    let device = Device::flex();
    let heads = [
        Auxiliaries { reply: true, ..Auxiliaries::NONE },
        Auxiliaries { soft_policy: true, ..Auxiliaries::NONE },
        Auxiliaries { short_values: 3, ..Auxiliaries::NONE },
        Auxiliaries { captured: true, ..Auxiliaries::NONE },
        Auxiliaries { ending: true, ..Auxiliaries::NONE },
    ];
    for which in heads.into_iter().chain([Auxiliaries::NONE, ALL]) {
        let network = network(which, &device);
        assert_eq!(network.auxiliaries(), which);
        for side in [7, 9, 11] {
            let (planes, globals) = batch(2, side, &device);
            let (_, found) = network.forward_in_training(planes, globals, TrainPrecision::F32);
            let shape = |wanted: bool, shape: &[usize]| wanted.then(|| shape.to_vec());
            let policy = [2, POLICY_PLANES, side, side];
            assert_eq!(found.reply.map(|t| t.dims().to_vec()), shape(which.reply, &policy));
            assert_eq!(found.soft_policy.map(|t| t.dims().to_vec()), shape(which.soft_policy, &policy));
            let short = shape(which.short_values > 0, &[2, which.short_values, 3]);
            assert_eq!(found.short_values.map(|t| t.dims().to_vec()), short);
            assert_eq!(found.captured.map(|t| t.dims().to_vec()), shape(which.captured, &[2, 2, side, side]));
            let endings = KING_ENDINGS * side * side + OTHER_ENDINGS;
            assert_eq!(found.ending.map(|t| t.dims().to_vec()), shape(which.ending, &[2, endings]));
        }
    }
}

#[test]
fn nothing_that_plays_changes() {
    let device = Device::flex();
    let (with, without) = (network(ALL, &device), network(Auxiliaries::NONE, &device));
    let (planes, globals) = batch(4, 7, &device);
    let heads = |network: &Network| network.forward(planes.clone(), globals.clone());
    assert_eq!(values(heads(&with).policy), values(heads(&without).policy));
    assert_eq!(values(heads(&with).wdl), values(heads(&without).wdl));
    let trained = with.forward_in_training(planes.clone(), globals.clone(), TrainPrecision::F32).0;
    assert_eq!(values(trained.policy), values(heads(&with).policy));

    let checkpoint = |network: &Network| network.checkpoint(Card::new(CONFIG)).unwrap();
    assert_eq!(checkpoint(&with).card, checkpoint(&without).card, "the same weights by the same name");
    let home = tempfile::TempDir::new().unwrap();
    checkpoint(&with).save(&home.path().join("kept")).unwrap();
    let read = Checkpoint::load(&home.path().join("kept")).unwrap();
    assert_eq!(Network::load(&read.weights, &device).unwrap().auxiliaries(), Auxiliaries::NONE);
    assert_ne!(with.weights_bytes().unwrap(), without.weights_bytes().unwrap());
    assert!(with.parameter_count() > without.parameter_count());
}

#[test]
fn they_begin_nearly_without_an_opinion_and_by_their_seed() {
    let device = Device::flex();
    let (planes, globals) = batch(4, 9, &device);
    let answers = |seed| {
        let network =
            Network::fresh(&CONFIG, 5, &device).with_auxiliary(AuxiliaryHeads::fresh(&CONFIG, ALL, seed, &device));
        values(flat(network.forward_in_training(planes.clone(), globals.clone(), TrainPrecision::F32).1))
    };
    let first = answers(1);
    assert!(first.iter().all(|logit| logit.abs() < 1.0) && first.iter().any(|logit| logit.abs() > 1e-3));
    assert_eq!(first, answers(1));
    assert_ne!(first, answers(2));
}

/// In training mode: the heads on the fused trunk of flex against burn's own layers, answers and gradients.
#[test]
fn the_fused_trunk_serves_them() {
    let device = Device::flex().autodiff();
    let network = network(ALL, &device).train();
    for side in [7, 9, 11] {
        let (planes, globals) = batch(6, side, &device);
        let fused = flat(network.forward_in_training(planes.clone(), globals.clone(), TrainPrecision::F32).1);
        let plain = flat(network.forward_in_training_unfused(planes, globals).1);
        let close = |what: &str, expected: Vec<f32>, found: Vec<f32>, tolerance: f32| {
            let largest = expected.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
            let furthest = expected.iter().zip(&found).fold(0.0_f32, |most, (a, b)| most.max((a - b).abs()));
            assert!(largest > 0.0 && furthest <= tolerance * largest, "{what} at side {side}: {furthest} of {largest}");
        };
        close("answers", values(plain.clone().inner()), values(fused.clone().inner()), 1e-4);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let weighting: Vec<f32> = (0..fused.dims()[0]).map(|_| rng.random_range(-1.0..1.0)).collect();
        let weighting = Tensor::<1>::from_data(TensorData::new(weighting, fused.dims()), &device);
        let (plain, fused) = ((plain * weighting.clone()).sum().backward(), (fused * weighting).sum().backward());
        let heads = network.auxiliary.as_ref().unwrap();
        macro_rules! check {
            ($what:literal, $weights:expr) => {
                let weights = $weights.val();
                let of = |gradients| values(weights.grad(gradients).expect("a gradient"));
                // Rounding may put an activation on the other side of a ReLU.
                close($what, of(&plain), of(&fused), 5e-3)
            };
        }
        check!("stem", network.stem.conv.weight);
        check!("second convolution", network.blocks[2].second.conv.weight);
        check!("reply", heads.reply.as_ref().unwrap().hidden.weight);
        check!("soft policy", heads.soft_policy.as_ref().unwrap().out.weight);
        check!("short values", heads.short_values.as_ref().unwrap().hidden.weight);
        check!("captured", heads.captured.as_ref().unwrap().weight);
        check!("place of the end", heads.ending.as_ref().unwrap().king.weight);
        check!("way of the end", heads.ending.as_ref().unwrap().other.weight);
    }
}
