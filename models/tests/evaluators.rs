//! Evaluators: well-formed answers in order, independent of the batch, and the network's own opinion.

#[path = "../inference/tests/random_play/mod.rs"]
mod random_play;

use burn::tensor::activation::softmax;
use burn::tensor::{Device, Tensor, TensorData};
use hnefi_engine::{MoveList, Position, Preset};
use hnefi_inference::{
    DeviceChoice, EvalRequest, Evaluations, Evaluator, Features, GLOBALS, Handicap, HashEvaluator, NetworkConfig,
    PLANES, PolicyIndex, UniformEvaluator, Wdl,
};
use hnefi_models::{BurnEvaluator, Network};
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

fn all() -> Vec<Box<dyn Evaluator>> {
    let network = Network::fresh(&SMALL, 1, &Device::flex());
    vec![Box::new(UniformEvaluator), Box::new(HashEvaluator::new(5)), Box::new(BurnEvaluator::new(&network))]
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
fn burn_says_what_the_network_says() {
    let device = Device::flex();
    let network = Network::fresh(&SMALL, 2, &device);
    let positions = mixed();
    let answers = run(&mut BurnEvaluator::new(&network), &requests(&positions, true));
    for (index, (position, moves)) in positions.iter().enumerate() {
        let (side, squares) = (position.size().side(), position.size().squares());
        let features = Features::of(position, Handicap::NONE);
        let mut planes = vec![0.0; PLANES * squares];
        features.write_planes(squares, &mut planes);
        let heads = network.forward(
            Tensor::from_data(TensorData::new(planes, [1, PLANES, side, side]), &device),
            Tensor::from_data(TensorData::new(features.globals.to_vec(), [1, GLOBALS]), &device),
        );
        let answer = answers.get(index);
        let wdl: Vec<f32> = softmax(heads.wdl, 1).into_data().try_into_vec().unwrap();
        chances(answer.wdl).iter().zip(wdl).for_each(|(a, b)| assert_close(*a, b));
        assert_close((1.0 + answer.moves_left).ln(), heads.moves_left.into_scalar::<f32>().max(0.0));

        let logits: Vec<f32> = heads.policy.into_data().try_into_vec().unwrap();
        let weights: Vec<f32> =
            moves.iter().map(|mv| logits[PolicyIndex::of(*mv, position.size()).flat(position.size())].exp()).collect();
        let total: f32 = weights.iter().sum();
        answers.priors(index).iter().zip(&weights).for_each(|(prior, weight)| assert_close(*prior, weight / total));

        let contents: Vec<f32> = softmax(heads.occupancy, 1).into_data().try_into_vec().unwrap();
        for (square, content) in answer.occupancy.as_ref().unwrap().iter().enumerate() {
            (0..4).for_each(|kind| assert_close(content[kind], contents[kind * squares + square]));
        }
    }
}

#[test]
fn a_network_that_broke_is_an_error_and_not_a_number() {
    let device = Device::flex();
    let mut network = Network::fresh(&SMALL, 0, &device);
    network.occupancy.bias = network.occupancy.bias.map(|bias| bias.map(|bias| bias.mul_scalar(f32::NAN)));
    let positions = mixed();
    let mut evaluator = BurnEvaluator::new(&network);
    let error = evaluator.evaluate(&requests(&positions, true), &mut Evaluations::new()).unwrap_err();
    assert!(error.to_string().contains("not a finite number"), "{error}");
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

#[test]
fn devices_are_read_and_named_alike() {
    for name in ["cpu", "cuda:0", "cuda:3"] {
        assert_eq!(name.parse::<DeviceChoice>().unwrap().to_string(), name);
    }
    for name in ["", "gpu", "cuda", "cuda:", "cuda:x", "cuda:-1", "cpu:0", "CPU"] {
        let message = name.parse::<DeviceChoice>().unwrap_err().to_string();
        let expected = format!("device {name:?}: expected cpu or cuda:N, N counting from 0");
        assert!(message.starts_with(&expected), "{message}");
    }
    for (name, meant) in [("cuda", "cuda:0"), ("CPU", "cpu"), ("cpu:0", "cpu"), ("cdua:1", "cuda:1")] {
        let message = name.parse::<DeviceChoice>().unwrap_err().to_string();
        assert!(message.ends_with(&format!("; did you mean {meant}?")), "{message}");
    }
    assert!(!"gpu".parse::<DeviceChoice>().unwrap_err().to_string().contains("did you mean"));
    let read: DeviceChoice = serde_json::from_str("\"cuda:0\"").unwrap();
    assert_eq!(read, DeviceChoice::Cuda(0));
    assert_eq!(serde_json::to_string(&read).unwrap(), "\"cuda:0\"");
}
