//! Samples per second of a training step on random boards, by board, network and number of shards.
//!
//! `cargo bench -p hnefi-benches --bench learner` (stop other work first: the shards want a core each).

use std::hint::black_box;
use std::time::Duration;

use burn::tensor::Device;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hnefi_engine::BoardSize;
use hnefi_inference::{GLOBALS, NetworkConfig, PLANES, POLICY_PLANES};
use hnefi_models::Network;
use hnefi_search::{Rng, rng_for};
use hnefi_train::TrainConfig;
use hnefi_train::batch::{Batch, Row};
use hnefi_train::learner::{Learner, LearnerParams};
use rand_xoshiro::rand_core::Rng as _;

const SMALL: NetworkConfig = NetworkConfig {
    blocks: 4,
    channels: 32,
    pool_every: 3,
    head_channels: 32,
    value_hidden: 64,
    role_heads: true,
    destinations: true,
};
const LARGE: NetworkConfig = NetworkConfig { blocks: 6, channels: 64, value_hidden: 96, ..SMALL };

/// A row of noise with about as many legal moves as a game has.
fn row(size: BoardSize, rng: &mut Rng) -> Row {
    let squares = size.squares();
    let moves = 4 * size.side() + (rng.next_u64() % 20) as usize;
    let policy: Vec<(usize, f32)> =
        (0..moves).map(|place| (place * 17 % (POLICY_PLANES * squares), 1.0 / moves as f32)).collect();
    Row {
        planes: (0..PLANES * squares).map(|_| if rng.next_u64().is_multiple_of(4) { 1.0 } else { 0.0 }).collect(),
        globals: std::array::from_fn::<f32, GLOBALS, _>(|_| (rng.next_u64() % 2) as f32),
        policy_weight: 1.0,
        value: [1.0, 0.0, 0.0],
        moves_left: 3.0,
        occupancy: (0..squares).map(|_| (rng.next_u64() % 4) as u8).collect(),
        end_weight: 1.0,
        policy,
    }
}

fn batch(size: BoardSize, rows: usize, shards: usize) -> Vec<Batch> {
    let mut rng = rng_for(&[1, rows as u64]);
    (0..shards)
        .map(|_| Batch::new(size, &(0..rows / shards).map(|_| row(size, &mut rng)).collect::<Vec<_>>()))
        .collect()
}

fn steps(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("step");
    group.sample_size(10).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(4));
    for (size, config, rows, shards) in [
        (BoardSize::Seven, SMALL, 256, 1),
        (BoardSize::Seven, SMALL, 128, 2),
        (BoardSize::Seven, SMALL, 256, 2),
        (BoardSize::Eleven, SMALL, 256, 1),
        (BoardSize::Eleven, LARGE, 256, 1),
        (BoardSize::Seven, LARGE, 256, 2),
        (BoardSize::Eleven, LARGE, 256, 2),
    ] {
        let params = LearnerParams::from(&TrainConfig::default().train);
        let params = LearnerParams { shards, ..params };
        let device = Device::flex();
        let network = Network::fresh(&config, 1, &device);
        let Ok(mut learner) = Learner::new(&network, std::slice::from_ref(&device), params) else { continue };
        let batch = batch(size, rows, shards);
        let name = format!("{0}x{0} {1}x{2} batch {rows}", size.side(), config.blocks, config.channels);
        group.throughput(Throughput::Elements(rows as u64));
        group.bench_with_input(BenchmarkId::new(name, format!("{shards} shards")), &batch, |bencher, batch| {
            bencher.iter(|| black_box(learner.step(batch, 1e-4).map(|report| report.finite)));
        });
    }
    group.finish();
}

criterion_group!(benches, steps);
criterion_main!(benches);
