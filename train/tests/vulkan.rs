//! Evaluation, self-play and training on `vulkan:0`, compared with the CPU. The device may be a software driver:
//!
//! ```sh
//! VK_DRIVER_FILES=/usr/lib/chromium/vk_swiftshader_icd.json \
//!     cargo test --profile trial -p hnefi-train --features vulkan --test vulkan
//! ```
//!
//! Where there is no device the tests say so and pass, unless `VK_DRIVER_FILES` names a driver.

mod support;

use std::sync::{Mutex, MutexGuard, PoisonError};

use burn::tensor::Device;
use hnefi_engine::{MoveList, Position, Preset};
use hnefi_inference::{
    DeviceChoice, EvalRequest, Evaluations, Handicap, Precision, PrecisionChoice, TrainPrecision, Weights, pretrained,
};
use hnefi_models::Network;
use hnefi_models::device::BurnDevices;
use hnefi_run::PlyCaps;
use hnefi_run::sample::{Sampler, ValueTarget};
use hnefi_search::SearchConfig;
use hnefi_selfplay::{Fleet, Quota, SelfPlayConfig, Uncontrolled};
use hnefi_train::learner::{Learner, LearnerParams};
use hnefi_train::loss::LossWeights;

use support::random_game;

const DEVICE: DeviceChoice = DeviceChoice::Vulkan(0);

/// How far a value or a probability may be from the CPU's.
const NEAR: f32 = 1e-3;

/// One test at a time on the device.
static TURN: Mutex<()> = Mutex::new(());

/// The device.
fn device() -> (Device, MutexGuard<'static, ()>) {
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    (BurnDevices::default().open(DEVICE).expect("a driver of Vulkan"), turn)
}

fn shipped() -> Weights {
    pretrained("brandubh").expect("a shipped checkpoint").unwrap().weights
}

/// Values and priors of the positions by a device.
fn answers(device: DeviceChoice, positions: &[(Position, MoveList)]) -> Evaluations {
    let mut evaluator = BurnDevices::default()
        .evaluating(device)
        .evaluator(&shipped(), PrecisionChoice::Exactly(Precision::F32))
        .unwrap();
    let requests: Vec<EvalRequest<'_>> = positions
        .iter()
        .map(|(position, moves)| EvalRequest { position, moves, handicap: Handicap::NONE, auxiliary: false })
        .collect();
    let mut out = Evaluations::new();
    evaluator.evaluate(&requests, &mut out).unwrap();
    out
}

/// `count` positions of games of random moves, each from another game.
fn positions(preset: Preset, count: u64) -> Vec<(Position, MoveList)> {
    let position = |number: u64| {
        let game = random_game(preset, number);
        let mut position = Position::start(&game.rules);
        for ply in game.plies.iter().take(number as usize % game.plies.len()) {
            position.play_unchecked(ply.mv);
        }
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        (position, moves)
    };
    (0..count).map(position).collect()
}

#[test]
fn it_evaluates_as_the_cpu_does() {
    let (_, _turn) = device();
    let counts = [(Preset::Brandubh, 40), (Preset::Tablut, 30), (Preset::Copenhagen, 30)];
    let positions: Vec<_> = counts.into_iter().flat_map(|(preset, count)| positions(preset, count)).collect();
    let (expected, found) = (answers(DeviceChoice::Cpu, &positions), answers(DEVICE, &positions));
    assert_eq!((expected.len(), found.len()), (100, 100));
    for index in 0..positions.len() {
        let (expected_value, found_value) = (expected.get(index).wdl, found.get(index).wdl);
        let difference = (expected_value.score() - found_value.score()).abs();
        assert!(difference < NEAR, "position {index}: {found_value:?}, expected {expected_value:?}");
        let pairs = expected.priors(index).iter().zip(found.priors(index));
        let distance = pairs.map(|(a, b)| (a - b).abs()).sum::<f32>() / 2.0;
        assert!(distance < NEAR, "position {index}: priors {distance} apart");
    }
}

#[test]
fn it_plays_games_with_its_own_values() {
    let (_, _turn) = device();
    let config = SelfPlayConfig {
        games_in_flight: 32,
        ply_caps: PlyCaps { seven: 30, nine: 30, eleven: 30 },
        ..SelfPlayConfig::default().without_handicaps()
    };
    let make = BurnDevices::default().evaluating(DEVICE).evaluators(&shipped(), PrecisionChoice::Auto).unwrap();
    let mut fleet = Fleet::new(&config, &SearchConfig::default(), 5);
    let generation = fleet.run(Quota::Games(4), 2, "shipped", &|| Ok(make()), &mut Uncontrolled).unwrap();
    assert!(generation.games.len() >= 4, "{} games", generation.games.len());
    for game in &generation.games[..4] {
        game.check().unwrap();
        let mut position = Position::start(&game.rules);
        let mut seen = Vec::new();
        for ply in &game.plies {
            let mut moves = MoveList::new();
            position.legal_moves(&mut moves);
            seen.push((position.clone(), moves));
            position.play_unchecked(ply.mv);
        }
        let expected = answers(DeviceChoice::Cpu, &seen);
        // A root from which a move ends the game, by the ply cap too, is proven without the network.
        for (index, ply) in game.plies.iter().enumerate().take(game.plies.len().saturating_sub(2)) {
            let (expected, found) = (expected.get(index).wdl.score(), ply.raw.score());
            assert!((expected - found).abs() < NEAR, "game {}, ply {index}: {found}, expected {expected}", game.game);
        }
    }
}

#[test]
fn it_takes_the_steps_that_the_cpu_takes() {
    let (device, _turn) = device();
    let params = LearnerParams {
        precision: TrainPrecision::F32,
        shards: 1,
        threads: 1,
        weight_decay: 1e-4,
        clip_norm: 1.0,
        average_steps: 10,
        bad_steps: 3,
        weights: LossWeights { policy: 1.0, value: 1.0, moves_left: 0.1, occupancy: 0.1 },
    };
    let games: Vec<_> = (0..4).map(|number| random_game(Preset::Brandubh, number)).collect();
    let sampler = Sampler::new(&games, 3, ValueTarget { search_mix: 0.0, fade: 0.0 });
    let learn = |device: Device| {
        let mut learner =
            Learner::new(&Network::load(&shipped(), &Device::flex()).unwrap(), &[device], params).unwrap();
        // The losses of the second step tell what the first one did to the weights.
        [0, 1].map(|step| learner.step(&sampler.batch(step, 32, 1).unwrap(), 1e-3).unwrap())
    };
    let (expected, found) = (learn(Device::flex()), learn(device));
    for (expected, found) in expected.iter().zip(&found) {
        let numbers = |report: &hnefi_train::learner::StepReport| {
            let losses = report.losses;
            [losses.policy, losses.value, losses.moves_left, losses.occupancy, report.gradient_norm]
        };
        for (expected, found) in numbers(expected).into_iter().zip(numbers(found)) {
            assert!((expected - found).abs() <= 5e-3 * expected.abs(), "{found}, expected {expected}");
        }
    }
}
