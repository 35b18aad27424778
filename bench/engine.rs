//! Speed of the rules: `cargo bench -p hnefi-benches --bench engine`. Throughput is moves made, positions counted or
//! plies played.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hnefi_engine::{Bitboard, MoveList, Position, Preset, Side, perft, perft_made};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Rng;

const PRESETS: [Preset; 4] = [Preset::Copenhagen, Preset::CopenhagenHnefataflOrg, Preset::Tablut, Preset::Brandubh];

fn trees(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tree");
    group.sample_size(10);
    for preset in PRESETS {
        let mut position = Position::start(&preset.rules());
        group.throughput(Throughput::Elements(perft_made(&mut position, 3)));
        group.bench_function(format!("perft 3 made, {preset}"), |bencher| {
            bencher.iter(|| perft_made(&mut position, 3));
        });
    }
    let mut position = Position::start(&Preset::Copenhagen.rules());
    group.throughput(Throughput::Elements(perft(&mut position, 4)));
    group.bench_function("perft 4 counted, copenhagen", |bencher| bencher.iter(|| perft(&mut position, 4)));
}

fn games(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("random plies");
    for preset in PRESETS {
        let start = Position::start(&preset.rules());
        let mut position = start.clone();
        let mut play = |seed: u64| {
            let mut rng = Rng::seed_from_u64(seed);
            let mut plies = 0;
            for _ in 0..200 {
                position.clone_from(&start);
                while let Some(mv) = position.random_move(|count| rng.random_range(0..count)) {
                    position.advance(mv);
                }
                plies += u64::from(position.ply());
            }
            plies
        };
        group.sample_size(10).throughput(Throughput::Elements(play(1)));
        group.bench_function(format!("{preset}"), |bencher| bencher.iter(|| play(1)));
    }
}

/// What one position costs, in a sample of positions from random games.
fn positions(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("position");
    group.measurement_time(Duration::from_secs(2));
    let sample = sample(Preset::Copenhagen);
    let mut scratch = sample[0].clone();
    let mut moves = MoveList::new();
    let mut rng = Rng::seed_from_u64(3);
    group.throughput(Throughput::Elements(sample.len() as u64));
    group.bench_function("legal_moves", |bencher| {
        bencher.iter(|| {
            for position in &sample {
                position.legal_moves(&mut moves);
                black_box(moves.len());
            }
        });
    });
    let mut each = |name: &str, work: &mut dyn FnMut(&Position)| {
        group.bench_function(name, |bencher| bencher.iter(|| sample.iter().for_each(&mut *work)));
    };
    each("count_legal_moves", &mut |position| _ = black_box(position.count_legal_moves()));
    each("random_move", &mut |position| _ = black_box(position.random_move(|count| rng.random_range(0..count))));
    each("clone_from", &mut |position| scratch.clone_from(black_box(position)));
    each("state_key", &mut |position| _ = black_box(position.state_key()));
    each("edge_flood", &mut |position| _ = black_box(position.edge_flood()));
    each("king_destinations", &mut |position| {
        let king = position.board().king().map_or(Bitboard::EMPTY, Bitboard::of);
        _ = black_box(position.king_destinations(king));
    });
    each("capture_threats", &mut |position| _ = black_box(position.capture_threats(Side::Attackers)));
}

/// Every seventh position of some random games.
fn sample(preset: Preset) -> Vec<Position> {
    let mut rng = Rng::seed_from_u64(2);
    let mut sample = Vec::new();
    while sample.len() < 500 {
        let mut position = Position::start(&preset.rules());
        while let Some(mv) = position.random_move(|count| rng.random_range(0..count)) {
            position.advance(mv);
            if position.ply().is_multiple_of(7) && position.outcome().is_none() {
                sample.push(position.clone());
            }
        }
    }
    sample
}

criterion_group!(benches, trees, games, positions);
criterion_main!(benches);
