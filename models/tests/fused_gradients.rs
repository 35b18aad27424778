//! The fused tower against burn's own operations: outputs, statistics and every gradient; and training against play.

use std::sync::{Mutex, MutexGuard, PoisonError};

use burn::module::{Module, RunningState};
use burn::tensor::activation::relu;
use burn::tensor::module::{batch_norm_train, conv2d};
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Device, Distribution, Tensor};
use hnefi_inference::{GLOBALS, NetworkConfig, PLANES, TrainPrecision};
use hnefi_models::fused::{Tower, serves, tower};
use hnefi_models::{Heads, Network};

const EPSILON: f64 = 1e-5;

/// The device's random numbers are one sequence for the whole process: a test that seeds it must draw alone, or its
/// inputs differ from run to run and now and then meet the kink of a ReLU, where two right gradients disagree.
static DRAWING: Mutex<()> = Mutex::new(());

/// The device, seeded and ours alone while the guard lives.
fn seeded(seed: u64) -> (Device, MutexGuard<'static, ()>) {
    let alone = DRAWING.lock().unwrap_or_else(PoisonError::into_inner);
    let device = Device::flex().autodiff();
    device.seed(seed);
    (device, alone)
}

struct Layer {
    weights: Tensor<4>,
    gamma: Tensor<1>,
    beta: Tensor<1>,
    pool: Option<(Tensor<2>, Tensor<1>)>,
    /// Running mean and variance.
    running: [Tensor<1>; 2],
}

struct Inputs {
    x: Tensor<4>,
    bias: Tensor<2>,
    layers: Vec<Layer>,
}

fn random<const D: usize>(shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::random(shape, Distribution::Normal(0.0, 1.0), device).require_grad()
}

impl Inputs {
    fn random(tower: &Tower, batch: usize, device: &Device) -> Inputs {
        let Tower { side, planes, channels, .. } = *tower;
        let layer = |number| Layer {
            weights: random([channels, if number == 0 { planes } else { channels }, 3, 3], device),
            gamma: random([channels], device),
            beta: random([channels], device),
            pool: tower.pools(number).then(|| (random([3 * channels, channels], device), random([channels], device))),
            // Of the size of the batch's own, and for some channels too far from it.
            running: [
                Tensor::random([channels], Distribution::Normal(0.0, 20.0), device),
                Tensor::random([channels], Distribution::Uniform(2.0, 8.0), device).exp(),
            ],
        };
        Inputs {
            x: Tensor::random([batch, side, side, planes], Distribution::Normal(0.0, 1.0), device),
            bias: random([batch, channels], device),
            layers: (0..tower.layers()).map(layer).collect(),
        }
    }
}

/// Activations, then mean and variance of every layer.
type Outputs = (Tensor<4>, Vec<[Tensor<1>; 2]>);

fn with_burn(inputs: &Inputs) -> Outputs {
    let mut statistics = Vec::new();
    let mut layer = |layer: &Layer, x: Tensor<4>, bias: Option<Tensor<2>>, skip: Option<Tensor<4>>| {
        let options = ConvOptions::new([1, 1], [1, 1], [1, 1], 1);
        let convolved = conv2d(x, layer.weights.clone(), None, options);
        let one = layer.gamma.ones_like();
        let normed = batch_norm_train(convolved, one.clone(), one.clone() * 0.0, EPSILON);
        let [mean, variance] = [normed.mean.detach(), normed.variance.detach()];
        // Batch renormalisation, as the paper has it: r and d are constants to the gradient.
        let [running_mean, running_variance] = layer.running.clone();
        let sigma = (running_variance + EPSILON).sqrt();
        let r = ((variance.clone() + EPSILON).sqrt() / sigma.clone()).clamp(1.0 / 3.0, 3.0);
        let d = ((mean.clone() - running_mean) / sigma).clamp(-5.0, 5.0);
        statistics.push([mean, variance]);
        let channels = |values: Tensor<1>| values.reshape([1, -1, 1, 1]);
        let renormed = normed.output * channels(r) + channels(d);
        let mut out = renormed * channels(layer.gamma.clone()) + channels(layer.beta.clone());
        if let Some(skip) = skip {
            out = out + skip;
        }
        if let Some(bias) = bias {
            let [batch, channels] = bias.dims();
            out = out + bias.reshape([batch, channels, 1, 1]);
        }
        relu(out)
    };
    let stem = inputs.x.clone().permute([0, 3, 1, 2]);
    let mut x = layer(&inputs.layers[0], stem, Some(inputs.bias.clone()), None);
    for [first, second] in inputs.layers[1..].as_chunks::<2>().0 {
        let y = layer(first, x.clone(), None, None);
        let bias = second
            .pool
            .as_ref()
            .map(|(weights, bias)| pooled(y.clone()).matmul(weights.clone()) + bias.clone().unsqueeze());
        x = layer(second, y, bias, Some(x));
    }
    (x.permute([0, 2, 3, 1]), statistics)
}

/// Mean, scaled mean and maximum over the squares of `[B, C, N, N]`.
fn pooled(x: Tensor<4>) -> Tensor<2> {
    let [batch, channels, side, _] = x.dims();
    let x = x.reshape([batch, channels, side * side]);
    let mean = x.clone().mean_dim(2).reshape([batch, channels]);
    let scaled = mean.clone().mul_scalar((side as f32 - 9.0) / 2.0);
    Tensor::cat(vec![mean, scaled, x.max_dim(2).reshape([batch, channels])], 1)
}

fn with_tower(inputs: &Inputs, shape: &Tower) -> Outputs {
    let mut parameters = Vec::new();
    for layer in &inputs.layers {
        parameters.extend([layer.weights.clone().flatten(0, 3), layer.gamma.clone(), layer.beta.clone()]);
        if let Some((weights, bias)) = &layer.pool {
            parameters.extend([weights.clone().flatten(0, 1), bias.clone()]);
        }
    }
    let running = inputs.layers.iter().flat_map(|layer| layer.running.clone()).collect();
    let running = Tensor::cat(running, 0).reshape([-1, shape.channels as i32]);
    let (out, statistics) = tower(*shape, inputs.x.clone(), inputs.bias.clone(), Tensor::cat(parameters, 0), running);
    let row = |index| statistics.clone().narrow(0, index, 1).flatten(0, 1);
    (out, (0..shape.layers()).map(|layer| [row(2 * layer), row(2 * layer + 1)]).collect())
}

fn assert_close<const D: usize>(name: &str, expected: Tensor<D>, found: Tensor<D>) {
    assert_eq!(expected.dims(), found.dims(), "{name}");
    let largest: f32 = expected.clone().abs().max().into_scalar();
    let difference: f32 = (expected - found).abs().max().into_scalar();
    assert!(difference <= 2e-5 * largest.max(1e-3), "{name}: differs by {difference}, largest value {largest}");
}

/// For rounded operands: the root of the mean square of the difference, over the same of the expected values. Single
/// values say little, since a ReLU may fall on the other side of its kink.
fn assert_near<const D: usize>(name: &str, expected: Tensor<D>, found: Tensor<D>, bound: f32) {
    assert_eq!(expected.dims(), found.dims(), "{name}");
    let size: f32 = expected.clone().square().mean().into_scalar();
    let difference: f32 = (expected - found).square().mean().into_scalar();
    let share = (difference / size).sqrt();
    assert!(share <= bound, "{name}: differs by {share} of its size");
    assert!(share > 0.0, "{name}: nothing was rounded");
}

/// What rounding both operands of the products to bf16 may cost: activations and their variance; their means, which are
/// near 0 and so large in proportion; gradients, which go through the masks of rounded activations.
const ROUNDED: [f32; 3] = [0.02, 0.1, 0.2];

/// A tower of `blocks` blocks, the second of which pools. Rounding is bounded for a few layers alone: with each, more
/// ReLUs and maxima fall to other squares, and their gradients with them.
fn compare(side: usize, planes: usize, channels: usize, blocks: usize) {
    let precisions = if blocks < 2 { &TrainPrecision::ALL[..] } else { &[TrainPrecision::F32] };
    for &precision in precisions {
        compare_one(&Tower { side, planes, channels, blocks, pool_every: 2, epsilon: EPSILON, precision });
    }
}

fn compare_one(shape: &Tower) {
    let Tower { side, planes, channels, blocks, precision, .. } = *shape;
    let (device, _alone) = seeded((side * 1000 + planes * 10 + channels) as u64);
    assert!(serves(&device, side, planes, channels));
    // On the small board a whole part of 64 boards and one that is not full; groups of boards are not full either.
    let batch = if side == 7 && channels <= 32 { 73 } else { 9 };
    let inputs = Inputs::random(shape, batch, &device);
    let weighting = Tensor::<4>::random([batch, side, side, channels], Distribution::Normal(0.0, 1.0), &device);
    let (expected, expected_statistics) = with_burn(&inputs);
    let (found, statistics) = with_tower(&inputs, shape);
    let name = |what: &str| {
        format!("{what} on side {side}, {planes} to {channels} channels, {blocks} blocks in {}", precision.as_str())
    };
    macro_rules! check_value {
        ($what:expr, $expected:expr, $found:expr, $bound:expr) => {
            match precision {
                TrainPrecision::F32 => assert_close(&name($what), $expected, $found),
                TrainPrecision::Bf16 => assert_near(&name($what), $expected, $found, $bound),
            }
        };
    }
    check_value!("activations", expected.clone().inner(), found.clone().inner(), ROUNDED[0]);
    for (layer, (expected, found)) in expected_statistics.into_iter().zip(statistics).enumerate() {
        let ([expected_mean, expected_variance], [mean, variance]) = (expected, found);
        check_value!(&format!("mean {layer}"), expected_mean.inner(), mean.inner(), ROUNDED[1]);
        check_value!(&format!("variance {layer}"), expected_variance.inner(), variance.inner(), ROUNDED[0]);
    }

    let expected = (expected * weighting.clone()).sum().backward();
    let found = (found * weighting).sum().backward();
    macro_rules! check {
        ($what:expr, $tensor:expr) => {
            check_value!(
                $what,
                $tensor.grad(&expected).expect("burn has a gradient"),
                $tensor.grad(&found).expect("the tower has a gradient"),
                ROUNDED[2]
            )
        };
    }
    check!("gradient of the bias", inputs.bias);
    for (number, layer) in inputs.layers.iter().enumerate() {
        check!(&format!("gradient of weights {number}"), layer.weights);
        check!(&format!("gradient of gamma {number}"), layer.gamma);
        check!(&format!("gradient of beta {number}"), layer.beta);
        if let Some((weights, bias)) = &layer.pool {
            check!(&format!("gradient of pooling weights {number}"), weights);
            check!(&format!("gradient of pooling bias {number}"), bias);
        }
    }
}

#[test]
fn agrees_with_burn_on_every_board() {
    for side in [7, 9, 11] {
        for blocks in [0, 1, 2, 3] {
            compare(side, 16, 32, blocks);
        }
    }
}

#[test]
fn agrees_with_burn_for_every_channel_count() {
    for channels in [16, 32, 48, 64, 96, 128] {
        compare(7, channels, channels, 0);
        compare(7, 16, channels, 2);
    }
    compare(11, 64, 64, 1);
    for side in [5, 6, 8, 10, 13, 15, 19] {
        compare(side, 32, 32, 2);
    }
}

#[test]
fn says_no_to_what_it_cannot_do() {
    let device = Device::flex();
    assert!(serves(&device, 7, 32, 32));
    assert!(!serves(&device, 7, 32, 40));
    assert!(!serves(&device, 7, 24, 32));
}

/// The whole network in training mode: the fused pass on flex against burn's own layers, which a network with a channel
/// count without kernels would use. Both read the same weights through the batch's own statistics.
#[test]
fn the_network_agrees_with_its_unfused_self() {
    // Pooling has kernels for whole panels of 16 channels and leaves others to burn.
    [16, 24, 32].into_iter().for_each(network_agrees);
}

/// The running statistics of all layers.
fn running(network: &Network) -> impl Iterator<Item = &RunningState<Tensor<1>>> {
    let layers = network.blocks.iter().flat_map(|block| [&block.first, &block.second]);
    let norms = std::iter::once(&network.stem).chain(layers).map(|layer| &layer.norm);
    norms.flat_map(|norm| [&norm.running_mean, &norm.running_var])
}

/// The running statistics of one board are not another's, and play has but one set of them. Training reads them as play
/// does, so it sees the same outputs, whatever the board.
#[test]
fn training_sees_the_outputs_of_play_on_every_board() {
    let (device, _alone) = seeded(5);
    let config = NetworkConfig { blocks: 3, channels: 32, pool_every: 3, head_channels: 32, value_hidden: 24 };
    let network = Network::fresh(&config, 1, &device);
    let positions = |side| {
        let planes = Tensor::<4>::random([40, PLANES, side, side], Distribution::Bernoulli(0.3), &device);
        (planes, Tensor::<2>::random([40, GLOBALS], Distribution::Bernoulli(0.5), &device))
    };
    for _ in 0..60 {
        let (planes, globals) = positions(11);
        network.forward(planes, globals);
    }
    for side in [7, 11] {
        let (planes, globals) = positions(side);
        let play = network.valid().forward_unfused(planes.clone().inner(), globals.clone().inner());
        let training = network.forward(planes, globals);
        assert_close(&format!("policy on side {side}"), play.policy, training.policy.inner());
        assert_close(&format!("value on side {side}"), play.wdl, training.wdl.inner());
    }
}

fn network_agrees(head_channels: usize) {
    let (device, _alone) = seeded(3);
    let config = NetworkConfig { blocks: 3, channels: 32, pool_every: 3, head_channels, value_hidden: 24 };
    let network = Network::fresh(&config, 0, &device);
    for side in [7, 9, 11, 5, 6, 8, 10, 13, 15, 19] {
        // Few squares, so that rounding takes no ReLU or maximum to the other side of its kink.
        let boards = if [7, 9, 11].contains(&side) { 6 } else { 1 };
        let planes = Tensor::<4>::random([boards, PLANES, side, side], Distribution::Bernoulli(0.3), &device);
        let globals = Tensor::<2>::random([boards, GLOBALS], Distribution::Bernoulli(0.5), &device);
        // A forward pass moves the running statistics, which the next one reads.
        let running = running(&network).map(|running| (running.clone(), running.value_sync())).collect::<Vec<_>>();
        let fused = network.forward(planes.clone(), globals.clone());
        running.into_iter().for_each(|(running, before)| running.update(before));
        let plain = network.forward_unfused(planes, globals);
        let flat = |heads: Heads| -> Tensor<1> {
            let small: Tensor<1> = Tensor::cat(vec![heads.wdl, heads.moves_left], 1).flatten(0, 1);
            Tensor::cat(vec![heads.policy.flatten(0, 3), heads.occupancy.flatten(0, 3), small], 0)
        };
        let (fused, plain) = (flat(fused), flat(plain));
        assert_close(&format!("heads at side {side}"), plain.clone().inner(), fused.clone().inner());
        let weighting = Tensor::<1>::random(fused.dims(), Distribution::Normal(0.0, 1.0), &device);
        let plain = (plain * weighting.clone()).sum().backward();
        let fused = (fused * weighting).sum().backward();
        let pool = network.blocks[2].pool.as_ref().expect("every third block pools");
        let gradients_of = |name: &str, expected: Tensor<1>, found: Tensor<1>| {
            let largest: f32 = expected.clone().abs().max().into_scalar();
            let difference: f32 = (expected - found).abs().max().into_scalar();
            assert!(difference <= 1e-3 * largest, "{name} at side {side}: differs by {difference} of {largest}");
        };
        macro_rules! check {
            ($what:literal, $weights:expr) => {
                let weights = $weights.val();
                let expected = weights.grad(&plain).expect("burn has a gradient").flatten(0, -1);
                gradients_of($what, expected, weights.grad(&fused).expect("a gradient").flatten(0, -1))
            };
        }
        check!("stem", network.stem.conv.weight);
        check!("first convolution", network.blocks[1].first.conv.weight);
        check!("second convolution", network.blocks[2].second.conv.weight);
        check!("pooled bias", pool.weight);
        check!("occupancy", network.occupancy.weight);
        for (number, role) in network.roles.iter().enumerate() {
            println!("role {number}");
            check!("policy convolution", role.policy_conv.weight);
            check!("pooled bias of the policy", role.policy_pool.weight);
            check!("policy output", role.policy_out.weight);
            check!("bias of the policy output", role.policy_out.bias.as_ref().expect("a bias"));
            check!("destinations of the policy", role.policy_destination.weight);
            check!("value convolution", role.value_conv.weight);
            check!("bias of the value convolution", role.value_conv.bias.as_ref().expect("a bias"));
            check!("hidden value layer", role.value_hidden.weight);
        }
    }
}
