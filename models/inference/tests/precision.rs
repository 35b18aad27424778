//! Int8 against single precision, on the trained weights of the shipped checkpoint.

mod random_play;

use std::sync::Arc;
use std::time::Instant;

use hnefi_engine::{MoveList, Position, Preset};
use hnefi_inference::{
    CpuEvaluator, CpuNetwork, DeviceChoice, Devices, EvalRequest, Evaluations, Evaluator, Handicap, NetworkConfig,
    Precision, Weights, pretrained,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use random_play::{legal, positions};

const SMALL: NetworkConfig =
    NetworkConfig { blocks: 3, channels: 24, pool_every: 2, head_channels: 16, value_hidden: 32 };

fn shipped() -> Weights {
    pretrained("brandubh").expect("a shipped checkpoint").unwrap().weights
}

fn evaluate(weights: &Weights, precision: Precision, positions: &[(Position, MoveList)]) -> Evaluations {
    let mut evaluator = CpuEvaluator::new(Arc::new(CpuNetwork::with_precision(weights, precision).unwrap()));
    let requests: Vec<EvalRequest<'_>> = positions
        .iter()
        .map(|(position, moves)| EvalRequest { position, moves, handicap: Handicap::NONE, auxiliary: false })
        .collect();
    let mut out = Evaluations::new();
    evaluator.evaluate(&requests, &mut out).unwrap();
    out
}

/// How far answers are from answers in single precision.
#[derive(Debug)]
struct Distance {
    /// Largest and mean difference of the expected score.
    score: (f32, f32),
    /// Largest and mean half sum of the differences of the priors, from 0 to 1.
    priors: (f32, f32),
    /// Share of the positions whose most probable move is the same.
    same_move: f32,
}

fn distance(found: &Evaluations, exact: &Evaluations) -> Distance {
    let count = exact.len();
    let summary = |of: &dyn Fn(usize) -> f32| {
        let all = (0..count).map(of);
        (all.clone().fold(0.0, f32::max), all.sum::<f32>() / count as f32)
    };
    let favourite = |answers: &Evaluations, index: usize| {
        let priors = answers.priors(index).iter().enumerate();
        priors.max_by(|a, b| a.1.total_cmp(b.1)).map(|(at, _)| at)
    };
    let same = (0..count).filter(|&index| favourite(found, index) == favourite(exact, index)).count();
    Distance {
        score: summary(&|index| (found.get(index).wdl.score() - exact.get(index).wdl.score()).abs()),
        priors: summary(&|index| {
            let pairs = found.priors(index).iter().zip(exact.priors(index));
            pairs.map(|(a, b)| (a - b).abs()).sum::<f32>() / 2.0
        }),
        same_move: same as f32 / count as f32,
    }
}

#[test]
fn trained_weights_keep_their_opinions() {
    let network = shipped();
    let positions: Vec<_> =
        positions(&Preset::Brandubh.rules(), 400, 3).into_iter().map(|p| (p.clone(), legal(&p))).collect();
    let exact = evaluate(&network, Precision::F32, &positions);
    let int8 = distance(&evaluate(&network, Precision::Int8, &positions), &exact);
    println!("int8 {int8:?}");
    // About twice what was measured when the checkpoint was shipped.
    assert!(int8.score.0 < 0.14 && int8.score.1 < 0.004, "{int8:?}");
    assert!(int8.priors.0 < 0.42 && int8.priors.1 < 0.027, "{int8:?}");
    assert!(int8.same_move > 0.95, "{int8:?}");
}

/// Positions of games that the network's own policy plays on 11x11, one in four moves at random.
fn played(weights: &Weights, count: usize) -> Vec<(Position, MoveList)> {
    let mut evaluator = CpuEvaluator::new(Arc::new(CpuNetwork::new(weights).unwrap()));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let (mut out, mut found) = (Evaluations::new(), Vec::new());
    let start = Position::start(&Preset::Copenhagen.rules());
    let mut position = start.clone();
    while found.len() < count {
        let moves = legal(&position);
        let request = EvalRequest { position: &position, moves: &moves, handicap: Handicap::NONE, auxiliary: false };
        evaluator.evaluate(&[request], &mut out).unwrap();
        let mut left = rng.random::<f32>();
        let by_policy = out.priors(0).iter().position(|prior| {
            left -= prior;
            left < 0.0
        });
        let at_random = rng.random_range(0..moves.len());
        let index = if rng.random_bool(0.25) { at_random } else { by_policy.unwrap_or(0) };
        let mv = moves[index];
        found.push((position.clone(), moves));
        position.play_unchecked(mv);
        if position.outcome().is_some() || position.ply() > 120 {
            position = start.clone();
        }
    }
    found
}

/// Eight-bit steps must reach as far as play does: what lies beyond is cut off.
#[test]
fn eight_bits_are_near_single_precision_in_positions_of_play() {
    let network = pretrained("copenhagen").expect("a shipped checkpoint").unwrap().weights;
    for precision in [Precision::F32, Precision::Int8] {
        let began = Instant::now();
        CpuNetwork::with_precision(&network, precision).unwrap();
        println!("loaded for {precision} in {:?}", began.elapsed());
    }
    let positions = played(&network, 400);
    let found =
        distance(&evaluate(&network, Precision::Int8, &positions), &evaluate(&network, Precision::F32, &positions));
    println!("int8 {found:?}");
    // Measured on games of random moves, as they were once, the priors are up to 0.63 apart.
    assert!(found.score.0 < 0.07 && found.score.1 < 0.012, "{found:?}");
    assert!(found.priors.0 < 0.2 && found.priors.1 < 0.022, "{found:?}");
    assert!(found.same_move > 0.93, "{found:?}");
}

#[test]
fn answers_are_well_formed_on_every_board_and_do_not_depend_on_the_batch() {
    let network = Weights::fresh(&SMALL, 3);
    let of = |preset: Preset| positions(&preset.rules(), 5, 4);
    let all = [Preset::Copenhagen, Preset::Brandubh, Preset::Tablut].map(of).concat();
    let positions: Vec<_> = all.into_iter().map(|position| (position.clone(), legal(&position))).collect();
    let exact = evaluate(&network, Precision::F32, &positions);
    let together = evaluate(&network, Precision::Int8, &positions);
    let found = distance(&together, &exact);
    assert!(found.score.0 < 0.05 && found.priors.0 < 0.05, "{found:?}");
    for (index, position) in positions.iter().enumerate() {
        let alone = evaluate(&network, Precision::Int8, std::slice::from_ref(position));
        assert_eq!(alone.get(0).wdl, together.get(index).wdl, "bit by bit");
        assert_eq!(alone.priors(0), together.priors(index), "bit by bit");
    }
}

#[test]
fn only_the_cpu_has_lower_precisions() {
    let network = Weights::fresh(&SMALL, 5);
    for precision in Precision::ALL {
        assert!(Devices::cpu().evaluator(&network, precision.into()).is_ok(), "{precision}");
    }
    let Err(error) = Devices::cpu().named(DeviceChoice::Cuda(0)).evaluator(&network, Precision::Int8.into()) else {
        panic!("a card has no int8")
    };
    assert_eq!(error.to_string(), "device cuda:0: precision int8 is for the device cpu alone; expected auto or f32");
}
