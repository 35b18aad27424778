//! The fast evaluator against burn's, on positions of random games on every board.

use std::sync::Arc;

use burn::tensor::Device;
use hnefi_engine::{MoveList, Position, Preset};
use hnefi_models::{
    BurnEvaluator, CpuEvaluator, CpuNetwork, EvalRequest, Evaluation, Evaluations, Evaluator, NetworkConfig,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const TOLERANCE: f32 = 1e-4;

/// Positions of random games of several rulesets, so that sizes and sides alternate.
fn positions(count: usize) -> Vec<(Position, MoveList)> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let presets = [Preset::Brandubh, Preset::Copenhagen, Preset::Tablut, Preset::Copenhagen];
    let mut positions = Vec::new();
    while positions.len() < count {
        let mut position = Position::start(&presets[positions.len() / 3 % presets.len()].rules());
        for _ in 0..rng.random_range(0..50) {
            match position.random_move(|count| rng.random_range(0..count)) {
                Some(mv) => _ = position.play_unchecked(mv),
                None => break,
            }
        }
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        if !moves.is_empty() {
            positions.push((position, moves));
        }
    }
    positions
}

fn evaluate(evaluator: &mut dyn Evaluator, requests: &[EvalRequest<'_>]) -> Vec<(Evaluation, Vec<f32>)> {
    let mut out = Evaluations::new();
    evaluator.evaluate(requests, &mut out).unwrap();
    assert_eq!(out.len(), requests.len());
    (0..out.len()).map(|index| (out.get(index).clone(), out.priors(index).to_vec())).collect()
}

/// What an answer consists of, as one row of numbers.
fn numbers((evaluation, priors): &(Evaluation, Vec<f32>)) -> Vec<f32> {
    let wdl = evaluation.wdl;
    let mut row = vec![wdl.win, wdl.draw, wdl.loss, evaluation.moves_left];
    row.extend(priors);
    row.extend(evaluation.occupancy.iter().flatten().flatten());
    row
}

#[test]
fn answers_are_those_of_burn_whatever_the_batch() {
    let device = Device::flex();
    device.seed(11);
    let config =
        NetworkConfig { blocks: 3, channels: 32, pool_every: 2, head_channels: 16, value_hidden: 32, role_heads: true };
    let network = config.init(&device);
    let positions = positions(48);
    let requests: Vec<EvalRequest<'_>> = positions
        .iter()
        .enumerate()
        .map(|(index, (position, moves))| EvalRequest { position, moves, auxiliary: index % 4 == 0 })
        .collect();

    let mut fast = CpuEvaluator::new(Arc::new(CpuNetwork::new(&network).unwrap()));
    let found = evaluate(&mut fast, &requests);
    let expected = evaluate(&mut BurnEvaluator::new(&network, &device), &requests);
    for ((found, expected), request) in found.iter().zip(&expected).zip(&requests) {
        let (found, expected) = (numbers(found), numbers(expected));
        assert_eq!(found.len(), expected.len());
        let difference = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(difference <= TOLERANCE, "{}: {difference:e} apart", request.position.fen());
    }
    for (request, expected) in requests.iter().zip(&found) {
        let alone = evaluate(&mut fast, std::slice::from_ref(request));
        assert_eq!(numbers(&alone[0]), numbers(expected), "bit by bit, {}", request.position.fen());
    }
}
