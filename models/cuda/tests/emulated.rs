//! Evaluation on a card, whose driver is emulated (`kernels/emulated/`), beside the CPU evaluator.
//!
//! They need a C++ compiler: `cargo test --test emulated -- --ignored`.

mod driver;

use hnefi_cuda::Cards;
use hnefi_engine::{BoardSize, MoveList, NamedRules, Position, Preset};
use hnefi_inference::{
    Backend, DeviceChoice, DeviceList, Devices, EvalRequest, Evaluations, Evaluator, Handicap, NetworkConfig,
    Precision, PrecisionChoice, Weights, pretrained,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const DEVICE: DeviceChoice = DeviceChoice::Cuda(0);

/// Positions of random games by these rules.
fn positions(presets: &[Preset], each: usize) -> Vec<(Position, MoveList)> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut found = Vec::new();
    for preset in presets {
        let mut position = Position::start(&preset.rules());
        for _ in 0..each {
            let mut moves = MoveList::new();
            position.legal_moves(&mut moves);
            let chosen = moves[rng.random_range(0..moves.len())];
            found.push((position.clone(), moves));
            position.play_unchecked(chosen);
        }
    }
    found
}

fn evaluate(evaluator: &mut dyn Evaluator, positions: &[(Position, MoveList)]) -> Evaluations {
    let requests: Vec<EvalRequest<'_>> = positions
        .iter()
        .map(|(position, moves)| EvalRequest { position, moves, handicap: Handicap::NONE, auxiliary: true })
        .collect();
    let mut out = Evaluations::new();
    evaluator.evaluate(&requests, &mut out).unwrap();
    out
}

/// The largest difference of any number between the card and the CPU in single precision.
fn largest_difference(weights: &Weights, positions: &[(Position, MoveList)]) -> f32 {
    let exact = PrecisionChoice::Exactly(Precision::F32);
    let expected = evaluate(&mut *Devices::cpu().evaluator(weights, exact).unwrap(), positions);
    let cards = Cards::default();
    let found = evaluate(&mut *cards.evaluators(weights, DEVICE).unwrap()(), positions);
    let mut largest: f32 = 0.0;
    for at in 0..positions.len() {
        let (expected_one, found_one) = (expected.get(at), found.get(at));
        let wdl = |one: &hnefi_inference::Evaluation| [one.wdl.win, one.wdl.draw, one.wdl.loss];
        let mut pairs: Vec<(f32, f32)> = wdl(expected_one).into_iter().zip(wdl(found_one)).collect();
        pairs.push(((1.0 + expected_one.moves_left).ln(), (1.0 + found_one.moves_left).ln()));
        pairs.extend(expected.priors(at).iter().copied().zip(found.priors(at).iter().copied()));
        let occupancies = [expected_one, found_one].map(|one| one.occupancy.as_ref().unwrap().as_flattened());
        pairs.extend(occupancies[0].iter().copied().zip(occupancies[1].iter().copied()));
        // Unlike `f32::max` this takes what is no number for the largest.
        let apart = pairs.iter().map(|(a, b)| (a - b).abs());
        largest = apart.chain([largest]).max_by(f32::total_cmp).unwrap_or_default();
    }
    largest
}

#[test]
#[ignore = "needs a C++ compiler"]
fn a_shipped_network_says_what_it_says_on_the_cpu() {
    driver::use_emulated(&[]);
    let shipped = pretrained("copenhagen").unwrap().unwrap().weights;
    let difference = largest_difference(&shipped, &positions(&Preset::ALL, 2));
    assert!(difference < 0.01, "{difference}");
}

/// Every board, and channels and units that are no whole groups of 32.
#[test]
#[ignore = "needs a C++ compiler"]
fn networks_of_any_size_say_on_any_board_what_they_say_on_the_cpu() {
    driver::use_emulated(&[]);
    let base = NetworkConfig { blocks: 2, channels: 32, pool_every: 2, head_channels: 16, value_hidden: 24 };
    let sizes = [
        base,
        NetworkConfig { blocks: 0, pool_every: 0, ..base },
        NetworkConfig { channels: 16, head_channels: 3, value_hidden: 5, ..base },
        NetworkConfig { channels: 80, head_channels: 40, ..base },
        NetworkConfig { channels: 128, head_channels: 48, value_hidden: 128, ..base },
        NetworkConfig { blocks: 1, channels: 256, pool_every: 1, ..base },
    ];
    let boards: Vec<(Position, MoveList)> = BoardSize::ALL.into_iter().flat_map(on_board).collect();
    for (number, config) in sizes.iter().enumerate() {
        // A third of the boards each: the emulated card is slow.
        let boards: Vec<_> = boards.iter().skip(number % 3).step_by(3).cloned().collect();
        let difference = largest_difference(&Weights::fresh(config, 3), &boards);
        assert!(difference < 0.005, "{config:?}: {difference}");
    }
}

/// Two positions of a game on a board of this size: a king, a man and four attackers.
fn on_board(size: BoardSize) -> Vec<(Position, MoveList)> {
    let (side, middle) = (size.side(), size.side() / 2);
    let mut rows = vec![vec![' '; side]; side];
    for (rank, file) in [(0, middle), (side - 1, middle - 1), (middle, 0), (1, 1)] {
        rows[rank][file] = 't';
    }
    (rows[middle][middle], rows[middle][middle + 1]) = ('K', 'T');
    let written = |row: &Vec<char>| -> String {
        let runs = row.chunk_by(|a, b| *a == ' ' && *b == ' ');
        runs.map(|run| if run[0] == ' ' { run.len().to_string() } else { run[0].to_string() }).collect()
    };
    let rows: Vec<String> = rows.iter().map(written).collect();
    let record = format!("dim:{side} esc:e ks:w cor: cen: start:/{}/", rows.join("/"));
    let rules: NamedRules = record.parse().unwrap();
    let mut position = Position::start(&rules.rules());
    let mut found = Vec::new();
    for _ in 0..2 {
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        let mv = moves[moves.len() / 2];
        found.push((position.clone(), moves));
        position.play_unchecked(mv);
    }
    found
}

#[test]
#[ignore = "needs a C++ compiler"]
fn evaluators_take_turns_on_the_devices() {
    driver::use_emulated(&[]);
    let weights =
        Weights::fresh(&NetworkConfig { blocks: 1, ..*pretrained("brandubh").unwrap().unwrap().weights.config() }, 1);
    let devices = Cards::default().evaluating("cpu,cuda:0".parse::<DeviceList>().unwrap());
    let make = devices.evaluators(&weights, PrecisionChoice::Auto).unwrap();
    let start = &positions(&[Preset::Brandubh], 1);
    let [cpu, card, again, other] = [(); 4].map(|()| evaluate(&mut *make(), start).get(0).wdl.win);
    // Two devices round in their own ways, which tells them apart; each repeats itself.
    assert_eq!((cpu, card), (again, other));
    assert!(cpu != card && (cpu - card).abs() < 1e-2, "{cpu} and {card}");
}

/// What a thread gets is its own, however the card's threads put questions together.
#[test]
#[ignore = "needs a C++ compiler"]
fn many_threads_get_what_each_would_have_got_alone() {
    driver::use_emulated(&[]);
    let config = NetworkConfig { blocks: 1, channels: 32, pool_every: 1, head_channels: 8, value_hidden: 8 };
    let weights = Weights::fresh(&config, 2);
    let make = Cards::default().evaluators(&weights, DEVICE).unwrap();
    let presets = [Preset::Brandubh, Preset::Tablut];
    let all = positions(&presets, 4);
    let alone: Vec<f32> =
        all.iter().map(|one| evaluate(&mut *make(), std::slice::from_ref(one)).get(0).wdl.win).collect();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (make, all, alone) = (&make, &all, &alone);
            scope.spawn(move || {
                let mut evaluator = make();
                for at in (thread..all.len()).chain(0..thread) {
                    let own = [all[at].clone(), all[(at + 3) % all.len()].clone()];
                    let found = evaluate(&mut *evaluator, &own);
                    assert_eq!(found.get(0).wdl.win, alone[at]);
                    assert_eq!(found.get(1).wdl.win, alone[(at + 3) % all.len()]);
                }
            });
        }
    });
}
