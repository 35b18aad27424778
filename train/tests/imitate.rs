//! Learning from recorded games: a player with one habit is learned by heart, and self-play begins with what was
//! learned.

#[path = "support/tiny.rs"]
mod tiny;

use std::path::Path;

use hnefi_engine::{MoveList, Position, Preset, Rules};
use hnefi_inference::{Devices, EvalRequest, Evaluations, Handicap, Precision, Wdl};
use hnefi_run::{GameRecord, PlyRecord};
use hnefi_train::learner::TrainingDevice;
use hnefi_train::trainer::Silent;
use hnefi_train::{TrainConfig, TrainError, TrainerParams, imitate, train_at};
use tiny::tiny_config;

fn config() -> TrainConfig {
    tiny_config(&[
        "network.head_channels=8",
        "selfplay.ply_caps={ seven = 12 }",
        "train.rate=0.005",
        "train.warmup_steps=10",
        "train.average_steps=20",
        "budget.generations=1",
    ])
}

/// A game in which both sides always play the legal move whose squares come last, after some moves that tell the games
/// apart.
fn habitual(number: usize) -> GameRecord {
    let rules = Rules { ply_cap: 40, ..Preset::Brandubh.rules() };
    let mut position = Position::start(&rules);
    let (mut plies, mut legal) = (Vec::new(), MoveList::new());
    while position.outcome().is_none() {
        position.legal_moves(&mut legal);
        let habit = *legal.iter().max_by_key(|mv| (mv.from(), mv.to())).unwrap();
        let opening = plies.len() < 2;
        let mv = if opening { legal[(number * 7 + plies.len() * 3) % legal.len()] } else { habit };
        let (raw, searched) = (Wdl::DRAW, Wdl::DRAW);
        plies.push(PlyRecord { policy: vec![(mv, 1.0)], raw, searched, trains: !opening, ..PlyRecord::unsearched(mv) });
        position.play_unchecked(mv);
    }
    GameRecord { plies, outcome: position.outcome(), ..GameRecord::new(1, number as u64, rules) }
}

#[test]
fn a_habit_is_learned_and_self_play_begins_with_it() {
    let games: Vec<GameRecord> = (0..20).map(habitual).collect();
    let mut steps = Vec::new();
    let learned = imitate(&config(), &[TrainingDevice::Cpu], &games, 20.0, None, &mut |progress| {
        steps.push((progress.step, progress.losses.policy));
        true
    })
    .unwrap();
    let expected: usize = games.iter().map(GameRecord::training_plies).sum();
    assert_eq!(learned.plies, expected);
    assert_eq!(steps.len(), (expected * 20).div_ceil(32));
    assert!(learned.losses.policy < 0.5 * steps[0].1, "{} after {}", learned.losses.policy, steps[0].1);
    assert_eq!(learned.entropy, 0.0, "every target is one move");
    assert_eq!(
        (learned.checkpoint.card.rulesets.clone(), learned.checkpoint.card.generation),
        (vec!["brandubh".into()], 0)
    );

    // In a game that it has not seen it does as they did, mostly.
    let mut judge = Devices::cpu().evaluator(&learned.checkpoint.weights, Precision::F32.into()).unwrap();
    let unseen = habitual(31);
    let mut replay = unseen.replay().unwrap();
    let (mut agreed, mut asked, mut legal, mut out) = (0, 0, MoveList::new(), Evaluations::new());
    loop {
        let position = replay.position().clone();
        let Some(ply) = replay.step().unwrap() else { break };
        position.legal_moves(&mut legal);
        judge
            .evaluate(
                &[EvalRequest { position: &position, moves: &legal, handicap: Handicap::NONE, auxiliary: false }],
                &mut out,
            )
            .unwrap();
        let priors = out.priors(0);
        let first = (0..legal.len()).max_by(|&a, &b| priors[a].total_cmp(&priors[b])).unwrap();
        if ply.trains {
            asked += 1;
            agreed += usize::from(legal[first] == ply.mv);
        }
    }
    assert!(asked > 10 && 2 * agreed > asked, "{agreed} of {asked}");

    let folder = tempfile::tempdir().unwrap();
    let (checkpoint, run) = (folder.path().join("habit"), folder.path().join("run"));
    learned.checkpoint.save(&checkpoint).unwrap();
    let params = TrainerParams { origin: Some(&checkpoint), ..TrainerParams::new(&run) };
    assert_eq!(train_at(&config(), &params, &Silent).unwrap().generations, 1);
    let card = hnefi_inference::Checkpoint::load_card(&run.join("checkpoints/000000")).unwrap();
    assert_eq!(card.id, learned.checkpoint.card.id, "its weights play first");

    let again = imitate(&config(), &[TrainingDevice::Cpu], &games, 1.0, Some(&checkpoint), &mut |_| true).unwrap();
    assert_eq!((learned.checkpoint.card.parent, again.checkpoint.card.parent), (None, Some(card.id)));
}

/// Here every search was sure to win for either side to move, which the results cannot say.
#[test]
fn searched_values_are_learned_for_their_share() {
    let mut games: Vec<GameRecord> = (0..20).map(habitual).collect();
    for ply in games.iter_mut().flat_map(|game| &mut game.plies) {
        (ply.playouts, ply.searched) = (16, Wdl { win: 0.9, draw: 0.05, loss: 0.05 });
    }
    let wins = |lambda: f32| {
        let mut config = config();
        config.train.value_lambda = lambda;
        let learned = imitate(&config, &[TrainingDevice::Cpu], &games, 8.0, None, &mut |_| true).unwrap();
        let mut judge = Devices::cpu().evaluator(&learned.checkpoint.weights, Precision::F32.into()).unwrap();
        let (mut legal, mut out, mut sum) = (MoveList::new(), Evaluations::new(), 0.0);
        let mut replay = games[0].replay().unwrap();
        while replay.ply().is_some() {
            replay.position().legal_moves(&mut legal);
            let request =
                EvalRequest { position: replay.position(), moves: &legal, handicap: Handicap::NONE, auxiliary: false };
            judge.evaluate(&[request], &mut out).unwrap();
            sum += out.get(0).wdl.win;
            replay.step().unwrap();
        }
        sum / games[0].plies.len() as f32
    };
    let (without, with) = (wins(1.0), wins(0.0));
    assert!(without < 0.65 && with > 0.75, "{without} without, {with} with");
}

#[test]
fn what_cannot_be_learned_from_is_told() {
    let mut game = habitual(1);
    game.plies.truncate(5);
    game.outcome = None;
    let mut go_on = |_: &_| true;
    let message = imitate(&config(), &[TrainingDevice::Cpu], &[game], 1.0, None, &mut go_on).unwrap_err().to_string();
    assert_eq!(message, "1 games, none with a result and a ply to learn from; expected finished games");
    let games = [habitual(1)];
    let message = imitate(&config(), &[TrainingDevice::Cpu], &games, 1.0, Some(Path::new("no/such")), &mut go_on)
        .unwrap_err()
        .to_string();
    assert!(message.starts_with("beginning with the weights of no/such: "), "{message}");
    let stopped = imitate(&config(), &[TrainingDevice::Cpu], &games, 50.0, None, &mut |progress| progress.step < 3);
    assert!(matches!(stopped, Err(TrainError::Interrupted)));
    let told_at_the_end =
        imitate(&config(), &[TrainingDevice::Cpu], &games, 1.0, None, &mut |progress| progress.step < progress.steps);
    assert!(told_at_the_end.is_ok(), "all steps were taken");
}
