//! The fast evaluator against burn's, on positions of random games on every board.

#[path = "../inference/tests/random_play/mod.rs"]
mod random_play;

use std::sync::Arc;

use burn::module::Param;
use burn::tensor::{Device, Tensor, TensorData};
use hnefi_engine::{Bitboard, BoardSize, MoveList, Position, Preset, Square};
use hnefi_inference::{
    CpuEvaluator, CpuNetwork, EvalRequest, Evaluations, Evaluator, Features, GLOBALS, Handicap, NetworkConfig,
    PolicyIndex, RawOutputs, Wdl, plies_left, softmax,
};
use hnefi_models::Network;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const TOLERANCE: f32 = 1e-4;

/// Positions of random games of several rulesets, so that sizes and sides alternate.
fn positions() -> Vec<(Position, MoveList)> {
    let presets = [Preset::Brandubh, Preset::Copenhagen, Preset::Tablut, Preset::Copenhagen];
    let groups = presets.iter().cycle().take(16).zip(0..);
    let all = groups.flat_map(|(preset, seed)| random_play::positions(&preset.rules(), 3, seed));
    all.map(|position| (position.clone(), random_play::legal(&position))).collect()
}

/// What answers consist of, as a row of numbers each.
fn evaluate(evaluator: &mut dyn Evaluator, requests: &[EvalRequest<'_>]) -> Vec<Vec<f32>> {
    let mut out = Evaluations::new();
    evaluator.evaluate(requests, &mut out).unwrap();
    assert_eq!(out.len(), requests.len());
    let row = |index| {
        let answer = out.get(index);
        row(answer.wdl, answer.moves_left, out.priors(index), answer.occupancy.iter().flatten())
    };
    (0..out.len()).map(row).collect()
}

fn row<'a>(wdl: Wdl, moves_left: f32, priors: &[f32], occupancy: impl Iterator<Item = &'a [f32; 4]>) -> Vec<f32> {
    let numbers = [wdl.win, wdl.draw, wdl.loss, moves_left].into_iter().chain(priors.iter().copied());
    numbers.chain(occupancy.copied().flatten()).collect()
}

/// What burn's layers say, in the same numbers.
fn by_burn(network: &Network, request: &EvalRequest<'_>) -> Vec<f32> {
    let size = request.position.size();
    let raw = network.raw_outputs(&[Features::of(request.position, request.handicap)], size);
    let mut priors: Vec<f32> =
        request.moves.iter().map(|&mv| raw.policy[PolicyIndex::of(mv, size).flat(size)]).collect();
    softmax(&mut priors);
    let content = |square: usize| {
        let mut chances = [0, 1, 2, 3].map(|kind| raw.occupancy[kind * size.squares() + square]);
        softmax(&mut chances);
        chances
    };
    let occupancy: Vec<_> = (0..if request.auxiliary { size.squares() } else { 0 }).map(content).collect();
    let wdl = Wdl::from_logits(raw.wdl.try_into().unwrap());
    row(wdl, plies_left(raw.moves_left[0]), &priors, occupancy.iter())
}

#[test]
fn answers_are_those_of_burn_whatever_the_batch() {
    let device = Device::flex();
    device.seed(11);
    let config = NetworkConfig { blocks: 3, channels: 32, pool_every: 2, head_channels: 16, value_hidden: 32 };
    let network = Network::fresh(&config, 0, &device);
    let positions = positions();
    let requests: Vec<EvalRequest<'_>> = positions
        .iter()
        .enumerate()
        .map(|(index, (position, moves))| EvalRequest {
            position,
            moves,
            handicap: Handicap::NONE,
            auxiliary: index % 4 == 0,
        })
        .collect();

    let mut fast = CpuEvaluator::new(Arc::new(CpuNetwork::new(&network.weights().unwrap()).unwrap()));
    let found = evaluate(&mut fast, &requests);
    for (request, found) in requests.iter().zip(&found) {
        let expected = by_burn(&network, request);
        assert_eq!(found.len(), expected.len());
        let difference =
            found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).max_by(f32::total_cmp).unwrap_or_default();
        assert!(difference <= TOLERANCE, "{}: {difference:e} apart", request.position.fen());
        let alone = evaluate(&mut fast, std::slice::from_ref(request));
        assert_eq!(alone[0], *found, "bit by bit, {}", request.position.fen());
    }
}

/// A network with random weights, whose norms have statistics as after some training.
fn random_network(config: &NetworkConfig, rng: &mut Xoshiro256PlusPlus) -> Network {
    let device = Device::flex();
    let mut network = Network::fresh(config, rng.random(), &device);
    let blocks = network.blocks.iter_mut().flat_map(|block| [&mut block.first, &mut block.second]);
    for layer in blocks.chain([&mut network.stem]) {
        let channels = layer.norm.gamma.dims()[0];
        let mut draw = |low: f32, high: f32| {
            let values: Vec<f32> = (0..channels).map(|_| rng.random_range(low..high)).collect();
            Tensor::<1>::from_data(TensorData::new(values, [channels]), &device)
        };
        layer.norm.gamma = Param::from_tensor(draw(-1.5, 2.0));
        layer.norm.beta = Param::from_tensor(draw(-0.5, 0.5));
        layer.norm.running_mean.update(draw(-0.3, 0.3));
        layer.norm.running_var.update(draw(0.05, 2.0));
    }
    network
}

fn random_features(size: BoardSize, attacking: bool, rng: &mut Xoshiro256PlusPlus) -> Features {
    let planes = std::array::from_fn(|_| {
        let density = rng.random_range(0.0..0.6);
        let squares = (0..size.squares()).filter(|_| rng.random_bool(density));
        squares.map(Square::new).collect::<Bitboard>()
    });
    let mut globals: [f32; GLOBALS] = std::array::from_fn(|_| rng.random());
    globals[0] = if attacking { 1.0 } else { 0.0 };
    Features { planes, globals }
}

/// The largest difference of any output, and the largest output.
fn difference(config: &NetworkConfig, size: BoardSize, rng: &mut Xoshiro256PlusPlus) -> (f32, f32) {
    let network = random_network(config, rng);
    let features = [true, false].map(|attacking| random_features(size, attacking, rng));
    let flat = |RawOutputs { policy, wdl, moves_left, occupancy }| [policy, wdl, moves_left, occupancy].concat();
    let expected = flat(network.raw_outputs(&features, size));
    let found = flat(CpuNetwork::new(&network.weights().unwrap()).unwrap().raw_outputs(&features, size));
    assert_eq!(found.len(), expected.len());
    let pairs = found.iter().zip(&expected);
    (
        pairs.map(|(a, b)| (a - b).abs()).max_by(f32::total_cmp).unwrap_or_default(),
        expected.iter().fold(1.0, |max, value| max.max(value.abs())),
    )
}

#[test]
fn logits_are_those_of_burn() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    for channels in [16, 24, 32, 48, 64] {
        for pool_every in [0, 2] {
            let config = NetworkConfig { blocks: 3, channels, pool_every, head_channels: 24, value_hidden: 40 };
            for size in BoardSize::ALL {
                let (apart, _) = difference(&config, size, &mut rng);
                assert!(apart <= TOLERANCE, "{config:?} on {size:?}: {apart:e} apart");
            }
        }
    }
}

#[test]
fn a_deep_tower_loses_no_precision() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let config = NetworkConfig { blocks: 12, channels: 64, pool_every: 3, head_channels: 32, value_hidden: 64 };
    for size in BoardSize::ALL {
        let (apart, largest) = difference(&config, size, &mut rng);
        assert!(apart <= TOLERANCE * largest, "{size:?}: {apart:e} apart, largest {largest}");
    }
}
