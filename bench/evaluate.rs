//! Speed of evaluation on one thread: `cargo bench -p hnefi-benches --bench evaluate`. Throughput is distinct
//! positions, each with its encoding and its softmax. `bench` nets have no pooling and shared heads, `real` ones have
//! both.

use std::sync::Arc;

use burn::tensor::Device;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hnefi_engine::{MoveList, Position, Preset};
use hnefi_inference::{CpuEvaluator, CpuNetwork, Encoding, EvalRequest, Evaluations, Evaluator, NetworkConfig};
use hnefi_models::{BurnEvaluator, Network};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Rng;

/// One preset for each board.
const PRESETS: [Preset; 3] = [Preset::Brandubh, Preset::Tablut, Preset::Copenhagen];

/// The architectures, by name.
const NETWORKS: [(&str, NetworkConfig); 3] =
    [("4x32 bench", network(4, 32, 0)), ("6x64 bench", network(6, 64, 0)), ("6x64 real", network(6, 64, 3))];

/// A position and its legal moves.
type Sample = Vec<(Position, MoveList)>;

const fn network(blocks: usize, channels: usize, pool_every: usize) -> NetworkConfig {
    let real = pool_every > 0;
    NetworkConfig {
        blocks,
        channels,
        pool_every,
        head_channels: 32,
        value_hidden: 64,
        role_heads: real,
        destinations: real,
    }
}

/// Positions, each from another random game.
fn sample(preset: Preset) -> Sample {
    let mut rng = Rng::seed_from_u64(1);
    let mut sample = Sample::new();
    while sample.len() < 64 {
        let mut position = Position::start(&preset.rules());
        for _ in 0..rng.random_range(0..40) {
            match position.random_move(|count| rng.random_range(0..count)) {
                Some(mv) => _ = position.play_unchecked(mv),
                None => break,
            }
        }
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        if !moves.is_empty() {
            sample.push((position, moves));
        }
    }
    sample
}

/// Evaluates the sample in batches.
fn evaluate(evaluator: &mut dyn Evaluator, sample: &Sample, batch: usize, out: &mut Evaluations) {
    for chunk in sample.chunks(batch) {
        let requests: Vec<EvalRequest<'_>> =
            chunk.iter().map(|(position, moves)| EvalRequest { position, moves, auxiliary: false }).collect();
        evaluator.evaluate(&requests, out).expect("the CPU evaluates any position");
    }
}

fn evaluations(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("evaluate");
    group.sample_size(10);
    let device = Device::flex();
    device.seed(1);
    for preset in PRESETS {
        let sample = sample(preset);
        group.throughput(Throughput::Elements(sample.len() as u64));
        for (name, config) in NETWORKS {
            let network: Network = Network::fresh(&config, 0, &device);
            let packed = CpuNetwork::new(&network.weights().expect("on the CPU")).expect("fresh weights are finite");
            let kernels = packed.kernels();
            let mut fast = CpuEvaluator::new(Arc::new(packed));
            let mut flex = BurnEvaluator::new(&network, &device);
            let mut out = Evaluations::new();
            for batch in [1, 32] {
                group.bench_function(format!("{preset} {name}, {kernels}, batches of {batch}"), |bencher| {
                    bencher.iter(|| evaluate(&mut fast, &sample, batch, &mut out));
                });
            }
            group.bench_function(format!("{preset} {name}, flex, batches of 32"), |bencher| {
                bencher.iter(|| evaluate(&mut flex, &sample, 32, &mut out));
            });
        }
    }
}

/// What comes before the network.
fn encodings(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("encode");
    for preset in PRESETS {
        let sample = sample(preset);
        group.throughput(Throughput::Elements(sample.len() as u64));
        group.bench_function(format!("{preset}"), |bencher| {
            bencher.iter(|| {
                sample.iter().map(|(position, _)| Encoding::NEWEST.features(position).globals[0]).sum::<f32>()
            });
        });
    }
}

criterion_group!(benches, evaluations, encodings);
criterion_main!(benches);
