//! Speed of the learner.
use burn::tensor::Device;
use hnefi_engine::BoardSize;
use hnefi_models::NetworkConfig;
use hnefi_train::{Batch, Learner, Row};
use std::time::Instant;

fn row(k: u64, size: BoardSize) -> Row {
    let n = size.squares();
    let mut s = k.wrapping_mul(0x9E3779B97F4A7C15) | 1;
    let mut r = || {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        s
    };
    let l = 30 + (r() % 20) as usize;
    Row {
        planes: (0..16 * n).map(|_| (r() % 4 == 0) as u8 as f32).collect(),
        globals: std::array::from_fn(|i| if i == 0 { (k % 2) as f32 } else { 0.5 }),
        policy: (0..l).map(|i| (i * 17 % (40 * n), 1.0 / l as f32)).collect(),
        policy_weight: 1.0,
        value: [1.0, 0.0, 0.0],
        moves_left: 2.0,
        occupancy: (0..n).map(|_| (r() % 4) as u8).collect(),
        end_weight: 1.0,
    }
}

fn main() {
    for (batch, shards, threads) in [(128, 1, 1), (128, 1, 2), (128, 2, 1), (256, 1, 2), (256, 2, 1)] {
        let device = Device::flex();
        device.seed(1);
        let config = NetworkConfig {
            blocks: 4,
            channels: 32,
            pool_every: 3,
            head_channels: 32,
            value_hidden: 64,
            role_heads: true,
        };
        let mut learner = Learner::new(config.init(&device), &device, shards, threads);
        let batches: Vec<Batch> = (0..shards)
            .map(|s| {
                Batch::new(
                    BoardSize::Seven,
                    &(0..batch / shards).map(|k| row((k * 7 + s) as u64 + 3, BoardSize::Seven)).collect::<Vec<_>>(),
                )
            })
            .collect();
        let first = learner.step(&batches, 1e-3);
        let begin = Instant::now();
        let mut n = 0;
        let mut last = first;
        while begin.elapsed().as_secs_f64() < 5.0 {
            last = learner.step(&batches, 1e-3);
            n += 1;
        }
        println!(
            "batch {batch} shards {shards} threads {threads}: {:.0} samples/s  {first:?} -> {last:?}",
            (n * batch) as f64 / begin.elapsed().as_secs_f64()
        );
    }
}
