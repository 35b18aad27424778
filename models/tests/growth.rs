//! A grown network says what the smaller one said, and can learn with all it has.

use burn::module::{Module, ModuleMapper, Param};
use burn::optim::{AdamWConfig, GradientsParams};
use burn::tensor::{Device, Distribution, Tensor};
use hnefi_inference::{GLOBALS, NetworkConfig, PLANES};
use hnefi_models::Network;

const SMALL: NetworkConfig =
    NetworkConfig { blocks: 3, channels: 8, pool_every: 3, head_channels: 6, value_hidden: 10 };

/// Random numbers wherever a fresh network has equal ones, as if it had been trained.
struct Disturb;

impl ModuleMapper for Disturb {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|tensor| {
            let noise = Tensor::random(tensor.shape(), Distribution::Uniform(0.0, 0.4), &tensor.device());
            tensor + noise
        })
    }
}

/// Planes and globals; the attackers are to move in every other position.
fn batch(side: usize, device: &Device) -> (Tensor<4>, Tensor<2>) {
    let planes = Tensor::random([6, PLANES, side, side], Distribution::Bernoulli(0.3), device);
    let roles = Tensor::<2>::from_floats([[1.0], [0.0], [1.0], [0.0], [1.0], [0.0]], device);
    let rest = Tensor::random([6, GLOBALS - 1], Distribution::Uniform(0.0, 1.0), device);
    (planes, Tensor::cat(vec![roles, rest], 1))
}

/// The largest difference of any output, relative to the largest of its kind.
fn largest_difference(one: &Network, other: &Network) -> f32 {
    let device = Device::flex();
    let largest = [7, 9, 11].map(|side| {
        let (planes, globals) = batch(side, &device);
        let here = one.forward_unfused(planes.clone(), globals.clone());
        let there = other.forward_unfused(planes, globals);
        let values = [
            relative(here.policy, there.policy),
            relative(here.occupancy, there.occupancy),
            relative(here.wdl, there.wdl),
            relative(here.moves_left, there.moves_left),
        ];
        values.into_iter().max_by(f32::total_cmp).unwrap_or_default()
    });
    largest.into_iter().max_by(f32::total_cmp).unwrap_or_default()
}

fn relative<const D: usize>(here: Tensor<D>, there: Tensor<D>) -> f32 {
    let difference: f32 = (here.clone() - there).abs().max().into_scalar();
    difference / here.abs().max().into_scalar::<f32>()
}

#[test]
fn a_grown_network_says_the_same() {
    let small = Network::fresh(&SMALL, 1, &Device::flex()).map(&mut Disturb);
    assert!(
        largest_difference(&small, &Network::fresh(&SMALL, 2, &Device::flex())) > 0.1,
        "the comparison sees nothing"
    );
    for larger in [
        NetworkConfig { blocks: 6, ..SMALL },
        NetworkConfig { channels: 16, ..SMALL },
        NetworkConfig { head_channels: 9, ..SMALL },
        NetworkConfig { value_hidden: 32, ..SMALL },
        NetworkConfig { pool_every: 1, ..SMALL },
        NetworkConfig { blocks: 7, channels: 12, head_channels: 8, value_hidden: 16, ..SMALL },
    ] {
        let grown = small.grown(&SMALL, &larger, 7).unwrap();
        let expected = Network::fresh(&larger, 0, &Device::flex()).parameter_count();
        assert_eq!(grown.parameter_count(), expected, "{larger:?}");
        let difference = largest_difference(&small, &grown);
        assert!(difference < 1e-4, "{larger:?}: {difference}");
    }
}

#[test]
fn a_grown_network_learns_with_all_its_weights() {
    let device = Device::flex().autodiff();
    let larger = NetworkConfig { blocks: 4, channels: 12, head_channels: 8, value_hidden: 16, pool_every: 1 };
    let small = Network::fresh(&SMALL, 1, &Device::flex()).map(&mut Disturb);
    let before = small.grown(&SMALL, &larger, 7).unwrap();
    let mut network = before.valid().train();
    let mut optimizer = AdamWConfig::new().init();
    // The first step moves the zeros, the second what lies behind them.
    for _ in 0..3 {
        let (planes, globals) = batch(11, &device);
        let heads = network.forward_unfused(planes, globals);
        let squares = |tensor: Tensor<4>| tensor.powi_scalar(2).mean();
        let loss = squares(heads.policy)
            + squares(heads.occupancy)
            + heads.wdl.powi_scalar(2).mean()
            + heads.moves_left.powi_scalar(2).mean();
        let gradients = GradientsParams::from_grads(loss.backward(), &network);
        network = optimizer.step(1e-2, network, gradients);
    }
    let [before, after] = [before, network].map(|network| network.weights().unwrap());
    for (path, before) in before.tensors() {
        let (before, after) = (&before.values, &after.tensors()[path].values);
        // What feeds a ReLU that happens to be off everywhere does not move; most does.
        let still = before.iter().zip(after).filter(|(before, after)| before == after).count();
        assert!(2 * still <= before.len(), "{path}: {still} of {} numbers stayed as they were", before.len());
    }
}

#[test]
fn a_network_does_not_shrink() {
    for (larger, expected) in [
        (NetworkConfig { blocks: 2, ..SMALL }, "blocks would shrink from 3 to 2"),
        (NetworkConfig { channels: 7, ..SMALL }, "channels would shrink from 8 to 7"),
        (NetworkConfig { head_channels: 5, ..SMALL }, "head_channels would shrink from 6 to 5"),
        (NetworkConfig { value_hidden: 9, ..SMALL }, "value_hidden would shrink from 10 to 9"),
        (NetworkConfig { blocks: 4, pool_every: 2, ..SMALL }, "block 3 would lose its global pooling"),
    ] {
        let network = Network::fresh(&SMALL, 0, &Device::flex());
        assert_eq!(network.grown(&SMALL, &larger, 0).err().map(|error| error.to_string()).as_deref(), Some(expected));
    }
}
