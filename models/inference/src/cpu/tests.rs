//! Kernels and precisions against each other. (The crate of the burn network compares with burn's forward pass.)

use hnefi_engine::{Bitboard, BoardSize, Side, Square};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::CpuNetwork;
use crate::{Features, GLOBALS, NetworkConfig, PolicyIndex, Precision, Weights, policy_planes};
use hnefi_kernels::{Kernels, LowPrecisionKernels};

/// Largest difference allowed on a logit.
const TOLERANCE: f32 = 1e-4;

type Rng = Xoshiro256PlusPlus;

/// Everything the heads say of one position, as logits: policy, value, occupancy.
type Logits = [Vec<f32>; 3];

fn difference(one: &Logits, other: &Logits) -> f32 {
    let pairs = one.iter().zip(other).flat_map(|(a, b)| {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b)
    });
    pairs.map(|(a, b)| (a - b).abs()).max_by(f32::total_cmp).unwrap_or_default()
}

fn config(channels: usize, pool_every: usize) -> NetworkConfig {
    NetworkConfig { blocks: 3, channels, pool_every, head_channels: 24, value_hidden: 40 }
}

/// Random weights, whose norms have statistics as after some training.
fn random_weights(config: &NetworkConfig, rng: &mut Rng) -> Weights {
    let mut weights = Weights::fresh(config, rng.random());
    let names: Vec<String> = weights.tensors().keys().cloned().collect();
    for name in names {
        let range = match name.rsplit('.').next() {
            Some("gamma") => -1.5..2.0,
            Some("beta") => -0.5..0.5,
            Some("running_mean") => -0.3..0.3,
            Some("running_var") => 0.05..2.0,
            _ => continue,
        };
        weights.values_mut(&name).fill_with(|| rng.random_range(range.clone()));
    }
    weights
}

fn random_features(size: BoardSize, side: Side, rng: &mut Rng) -> Features {
    let planes = std::array::from_fn(|_| {
        let density = rng.random_range(0.0..0.6);
        let squares = (0..size.squares()).filter(|_| rng.random_bool(density));
        squares.map(Square::new).collect::<Bitboard>()
    });
    let mut globals: [f32; GLOBALS] = std::array::from_fn(|_| rng.random());
    globals[0] = if side == Side::Attackers { 1.0 } else { 0.0 };
    Features { planes, globals }
}

/// Every logit of some positions that go through the tower together.
fn by_kernels(network: &CpuNetwork, positions: &[Features], size: BoardSize) -> Vec<Logits> {
    let mut scratch = network.scratch();
    // Leftovers of another size must not matter.
    network.lay_out(BoardSize::LARGEST, &mut scratch);
    network.enter(0, &positions[0], &mut scratch);
    network.run_tower(1, &mut scratch);
    network.lay_out(size, &mut scratch);
    for (index, features) in positions.iter().enumerate() {
        network.enter(index, features, &mut scratch);
    }
    network.run_tower(positions.len(), &mut scratch);
    let places = PolicyIndex::all(size.side());
    let answer = |(index, features): (usize, &Features)| {
        let side = if features.globals[0] == 1.0 { Side::Attackers } else { Side::Defenders };
        let mut policy = Vec::new();
        network.policy(index, side, places.clone(), &mut scratch, &mut policy);
        let value = network.value(index, side, &mut scratch).to_vec();
        [policy, value, network.occupancy(index, &mut scratch).into_iter().flatten().collect()]
    };
    positions.iter().enumerate().map(answer).collect()
}

#[test]
fn all_kernels_give_the_same_logits() {
    let mut rng = Rng::seed_from_u64(1);
    for channels in [16, 24, 32, 48, 64] {
        for pool_every in [0, 2] {
            let weights = random_weights(&config(channels, pool_every), &mut rng);
            let pack = |kernels| CpuNetwork::with_kernels(&weights, kernels, None).unwrap();
            let portable = pack(Kernels::available().last().unwrap());
            for packed in Kernels::available().map(pack) {
                for size in BoardSize::ALL {
                    for side in Side::BOTH {
                        let features = [random_features(size, side, &mut rng)];
                        let expected = &by_kernels(&portable, &features, size)[0];
                        let apart = difference(&by_kernels(&packed, &features, size)[0], expected);
                        assert!(
                            apart <= TOLERANCE,
                            "{} on {size:?} with {channels} channels, pooling {pool_every}: {apart:e} apart",
                            packed.kernels(),
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn raw_outputs_are_those_of_the_heads() {
    let mut rng = Rng::seed_from_u64(2);
    let packed = CpuNetwork::new(&random_weights(&config(16, 2), &mut rng)).unwrap();
    for size in BoardSize::ALL {
        let features = Side::BOTH.map(|side| random_features(size, side, &mut rng));
        let raw = packed.raw_outputs(&features, size);
        let squares = size.squares();
        for (index, features) in features.iter().enumerate() {
            let [policy, value, occupancy] = &by_kernels(&packed, std::slice::from_ref(features), size)[0];
            let places = policy_planes(size.side()) * squares;
            assert_eq!(raw.policy[index * places..][..places], *policy);
            assert_eq!([&raw.wdl[3 * index..][..3], &raw.moves_left[index..][..1]].concat(), *value);
            let found = &raw.occupancy[index * 4 * squares..][..4 * squares];
            assert_eq!(found[3 * squares + 5], occupancy[4 * 5 + 3], "contents first, then squares");
        }
    }
}

#[test]
fn the_answer_does_not_depend_on_the_group() {
    let mut rng = Rng::seed_from_u64(3);
    let weights = random_weights(&config(32, 2), &mut rng);
    for kernels in Kernels::available() {
        let alone = CpuNetwork::with_kernels(&weights, kernels, None).unwrap().with_rows(1);
        let together = CpuNetwork::with_kernels(&weights, kernels, None).unwrap().with_rows(125);
        for size in BoardSize::ALL {
            let positions: Vec<Features> =
                (0..5).map(|index| random_features(size, Side::BOTH[index % 2], &mut rng)).collect();
            let found = by_kernels(&together, &positions, size);
            for (features, found) in positions.iter().zip(found) {
                let expected = &by_kernels(&alone, std::slice::from_ref(features), size)[0];
                assert_eq!(found, *expected, "bit by bit, {} on {size:?}", kernels.name);
            }
        }
    }
}

#[test]
fn low_precision_towers_are_near_and_the_same_on_all_kernels() {
    let mut rng = Rng::seed_from_u64(6);
    for channels in [16, 24, 32, 48, 64] {
        let weights = random_weights(&config(channels, 2), &mut rng);
        let [floats, portable] = [Kernels::best(), Kernels::available().last().unwrap()];
        let exact = CpuNetwork::with_kernels(&weights, floats, None).unwrap();
        let pack = |low| CpuNetwork::with_kernels(&weights, portable, Some(low)).unwrap();
        let int8: Vec<_> = LowPrecisionKernels::available().map(pack).collect();
        for size in BoardSize::ALL {
            let features = [random_features(size, Side::Defenders, &mut rng)];
            let answer = |network: &CpuNetwork| by_kernels(network, &features, size).remove(0);
            let expected = answer(&exact);
            let largest = expected[0].iter().fold(1.0, |max: f32, logit| max.max(logit.abs()));
            // Features without any pattern are far from the calibration's, so that some activations are cut off.
            let answers: Vec<Logits> = int8.iter().map(answer).collect();
            for (network, found) in int8.iter().zip(&answers) {
                let what = format!("{} on {size:?} with {channels} channels", network.kernels());
                let apart = difference(found, &expected) / largest;
                println!("{what}: {apart}");
                assert!(apart <= 0.3, "{what}: {apart} of {largest} apart");
                assert_eq!(difference(found, &answers[0]), 0.0, "{what}: bit by bit");
            }
        }
    }
}

#[test]
fn weights_that_overflow_have_no_eight_bit_steps() {
    let mut rng = Rng::seed_from_u64(7);
    let mut weights = random_weights(&config(16, 0), &mut rng);
    for (part, value) in [("gamma", 1.0), ("beta", 3e38), ("running_mean", -3e38)] {
        weights.values_mut(&format!("blocks.0.second.norm.{part}")).fill(value);
    }
    let error = CpuNetwork::with_precision(&weights, Precision::Int8).unwrap_err().to_string();
    assert_eq!(error, "network weights: activations of block 1 reach inf, expected finite numbers for int8");
}

#[test]
fn what_is_no_number_is_not_near() {
    let of = |value| [vec![value], Vec::new(), Vec::new()];
    assert!(difference(&of(f32::NAN), &of(0.0)).is_nan());
}
