//! Evaluators: well-formed answers in order, independent of the batch.

mod random_play;

use std::sync::Arc;

use hnefi_engine::{MoveList, Position, Preset};
use hnefi_inference::{
    CpuEvaluator, CpuNetwork, EvalRequest, Evaluations, Evaluator, Handicap, HashEvaluator, NetworkConfig,
    UniformEvaluator, Wdl, Weights,
};
use random_play::{legal, positions};

const SMALL: NetworkConfig =
    NetworkConfig { blocks: 3, channels: 16, pool_every: 3, head_channels: 16, value_hidden: 32 };

/// Positions of all board sizes, mixed, with their moves.
fn mixed() -> Vec<(Position, MoveList)> {
    let of = |preset: Preset, seed| positions(&preset.rules(), 4, seed);
    let (a, b, c) = (of(Preset::Copenhagen, 1), of(Preset::Brandubh, 2), of(Preset::TablutLinnaeus, 3));
    let mixed = a.into_iter().zip(b).zip(c).flat_map(|((a, b), c)| [a, b, c]);
    mixed.map(|position| (position.clone(), legal(&position))).collect()
}

fn requests(positions: &[(Position, MoveList)], auxiliary: bool) -> Vec<EvalRequest<'_>> {
    positions
        .iter()
        .map(|(position, moves)| EvalRequest { position, moves, handicap: Handicap::NONE, auxiliary })
        .collect()
}

fn run(evaluator: &mut dyn Evaluator, requests: &[EvalRequest<'_>]) -> Evaluations {
    let mut out = Evaluations::new();
    evaluator.evaluate(requests, &mut out).unwrap();
    out
}

fn all() -> [Box<dyn Evaluator>; 3] {
    let network = CpuNetwork::new(&Weights::fresh(&SMALL, 1)).unwrap();
    [Box::new(UniformEvaluator), Box::new(HashEvaluator::new(5)), Box::new(CpuEvaluator::new(Arc::new(network)))]
}

fn assert_close(a: f32, b: f32) {
    assert!((a - b).abs() < 1e-4, "{a} and {b}");
}

fn chances(wdl: Wdl) -> [f32; 3] {
    [wdl.win, wdl.draw, wdl.loss]
}

#[test]
fn answers_are_well_formed() {
    let positions = mixed();
    for mut evaluator in all() {
        let answers = run(&mut *evaluator, &requests(&positions, true));
        assert_eq!(answers.len(), positions.len());
        for (index, (position, moves)) in positions.iter().enumerate() {
            let answer = answers.get(index);
            assert_close(chances(answer.wdl).iter().sum(), 1.0);
            assert!(chances(answer.wdl).iter().all(|chance| (0.0..=1.0).contains(chance)));
            assert!(answer.moves_left >= 0.0);
            assert_eq!(answers.priors(index).len(), moves.len());
            assert_close(answers.priors(index).iter().sum(), 1.0);
            let occupancy = answer.occupancy.as_ref().unwrap();
            assert_eq!(occupancy.len(), position.size().squares());
            occupancy.iter().for_each(|content| assert_close(content.iter().sum(), 1.0));
        }
        let plain = run(&mut *evaluator, &requests(&positions, false));
        assert!((0..plain.len()).all(|index| plain.get(index).occupancy.is_none()));
    }
}

#[test]
fn an_answer_does_not_depend_on_the_rest_of_the_batch() {
    let positions = mixed();
    for mut evaluator in all() {
        let together = run(&mut *evaluator, &requests(&positions, true));
        for (index, request) in requests(&positions, true).into_iter().enumerate() {
            let alone = run(&mut *evaluator, &[request]);
            let (a, b) = (together.get(index), alone.get(0));
            chances(a.wdl).iter().zip(chances(b.wdl)).for_each(|(a, b)| assert_close(*a, b));
            together.priors(index).iter().zip(alone.priors(0)).for_each(|(a, b)| assert_close(*a, *b));
        }
        assert_eq!(run(&mut *evaluator, &[]).len(), 0);
    }
}

#[test]
fn a_network_that_overflows_is_an_error_and_not_a_number() {
    for layers in [&["roles.0.value_out", "roles.1.value_out"][..], &["occupancy"]] {
        let mut tensors = Weights::fresh(&SMALL, 0).tensors().clone();
        for layer in layers {
            for part in ["bias", "weight"] {
                tensors.get_mut(&format!("{layer}.{part}")).unwrap().values.fill(f32::MAX);
            }
        }
        let weights = Weights::new(&SMALL, tensors).unwrap();
        let mut evaluator = CpuEvaluator::new(Arc::new(CpuNetwork::new(&weights).unwrap()));
        let error = evaluator.evaluate(&requests(&mixed(), true), &mut Evaluations::new()).unwrap_err();
        assert!(error.to_string().contains("not a finite number"), "{error}");
    }
}

#[test]
fn hashed_opinions_depend_on_seed_position_and_move() {
    let positions = mixed();
    let priors = |seed| {
        let answers = run(&mut HashEvaluator::new(seed), &requests(&positions, false));
        (0..answers.len()).map(|index| answers.priors(index).to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(priors(1), priors(1));
    assert_ne!(priors(1), priors(2));
    for priors in priors(1) {
        let largest = priors.iter().copied().fold(0.0, f32::max);
        let smallest = priors.iter().copied().fold(1.0, f32::min);
        assert!(largest > 1.5 * smallest && largest < 60.0 * smallest, "{smallest} to {largest}");
    }
}
