//! A run with all that its games may take from its past: past checkpoints, earlier positions, a curriculum. It is the
//! same through any interruption, and its records and cards say what was played.

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use hnefi_engine::{Preset, Symmetry};
use hnefi_inference::Checkpoint;
use hnefi_selfplay::{GameRecord, decode_games};
use hnefi_train::run::Silent;
use hnefi_train::sample::{Targets, ValueTarget, row};
use hnefi_train::{TrainConfig, TrainError, TrainObserver, run};

use support::random_game;

/// Five generations of short games: on 7x7 at first, on 9x9 too from the third on, on 9x9 alone in the last.
fn config() -> TrainConfig {
    let text = r#"
        [run]
        device = "flex"
        threads = 2
        save_seconds = 1
        [network]
        blocks = 1
        channels = 16
        pool_every = 1
        head_channels = 4
        value_hidden = 8
        [selfplay]
        games_in_flight = 32
        ply_caps = { seven = 12, nine = 14 }
        rulesets = [{ rules = "brandubh", share = 1, until = 0.75 }, { rules = "tablut", share = 1, from = 0.375 }]
        past_share = 0.4
        past_checkpoints = 2
        restart_share = 0.2
        fork_share = 0.2
        [train]
        plies_per_generation = 300
        batch = 32
        reuse = 1.0
        window_base = 200
        window_generations = 2
        warmup_steps = 4
        average_steps = 5
        [ladder]
        every = 0
        [budget]
        minutes = 0
        generations = 5
        playouts = [4]
    "#;
    TrainConfig::parse(text, "varied").unwrap()
}

/// Stops at a given question.
struct Patience {
    asked: AtomicU32,
    questions: u32,
}

impl TrainObserver for Patience {
    fn warning(&self, text: &str) {
        panic!("{text}");
    }

    fn should_stop(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) + 1 >= self.questions
    }
}

/// Games byte by byte, and each checkpoint's identity.
fn essence(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut essence = BTreeMap::new();
    for entry in std::fs::read_dir(dir.join("games")).unwrap() {
        let path = entry.unwrap().path();
        essence.insert(path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap());
    }
    for generation in 0..=5 {
        essence.insert(format!("checkpoint {generation}"), checkpoint(dir, generation).id.into_bytes());
    }
    essence
}

fn checkpoint(dir: &Path, generation: u32) -> hnefi_inference::Card {
    Checkpoint::load_card(&dir.join(format!("checkpoints/{generation:06}"))).unwrap()
}

fn games(dir: &Path, generation: u32) -> Vec<GameRecord> {
    let path = dir.join(format!("games/{generation:06}.hgames"));
    decode_games("games", &std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn an_interrupted_run_is_the_uninterrupted_one_and_says_what_was_played() {
    let whole = tempfile::tempdir().unwrap();
    run(&config(), whole.path(), &Silent).unwrap();
    let expected = essence(whole.path());

    let pieces = tempfile::tempdir().unwrap();
    let mut calls = 0;
    loop {
        let patience = Patience { asked: AtomicU32::new(0), questions: 2 + 5 * calls };
        // Threads change from call to call, which changes nothing either.
        let mut config = config();
        config.run.threads = 1 + calls as usize % 3;
        calls += 1;
        if !run(&config, pieces.path(), &patience).unwrap().stopped {
            break;
        }
    }
    assert!(calls > 2, "the run was not interrupted");
    assert!(essence(pieces.path()) == expected, "after {calls} calls");

    let ids: Vec<String> = (0..=5).map(|generation| checkpoint(whole.path(), generation).id).collect();
    let (mut against, mut elsewhere, mut met) = (0, 0, Vec::new());
    for generation in 1..=5_usize {
        for game in games(whole.path(), generation as u32) {
            game.check().unwrap();
            let (newest, past) = (&ids[generation - 1], &ids[..generation - 1]);
            let other = game.players.iter().find(|player| *player != newest);
            assert!(game.players.contains(newest), "{:?} in generation {generation}", game.players);
            if let Some(other) = other {
                let place = past.iter().position(|id| id == other).expect("an earlier checkpoint of the run");
                assert!(generation - 1 - place <= 2, "one of the newest two");
                met.push((generation, place));
                against += 1;
            }
            elsewhere += usize::from(game.start.is_some());
        }
    }
    met.dedup();
    assert_eq!(met.len(), 4, "one opponent for each generation but the first: {met:?}");
    assert!(against > 20 && elsewhere > 20, "{against} against others, {elsewhere} from elsewhere");

    let rulesets = |generation| checkpoint(whole.path(), generation).rulesets;
    assert_eq!([rulesets(0), rulesets(2)], [["brandubh"], ["brandubh"]]);
    assert_eq!([rulesets(3), rulesets(5)], [["brandubh", "tablut"], ["brandubh", "tablut"]]);
    let begun_last = games(whole.path(), 5).into_iter().max_by_key(|game| game.game).unwrap();
    assert_eq!(begun_last.rules.preset(), Some(Preset::Tablut));
}

#[test]
fn an_opponent_that_cannot_be_read_is_named_and_another_one_met() {
    struct Warnings(std::sync::Mutex<Vec<String>>);
    impl TrainObserver for Warnings {
        fn warning(&self, text: &str) {
            self.0.lock().unwrap().push(text.to_owned());
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let mut config = config();
    config.budget.generations = 3;
    // The curriculum follows the budget, which is to grow.
    config.selfplay.rulesets.truncate(1);
    config.selfplay.rulesets[0].until = 1.0;
    run(&config, dir.path(), &Silent).unwrap();
    for generation in [1, 2] {
        let weights = dir.path().join(format!("checkpoints/{generation:06}/model.safetensors"));
        std::fs::write(&weights, b"torn").unwrap();
    }
    config.budget.generations = 4;
    let warnings = Warnings(std::sync::Mutex::default());
    assert_eq!(run(&config, dir.path(), &warnings).unwrap().generations, 4);
    let warnings = warnings.0.into_inner().unwrap();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(
        warnings.iter().all(|text| text.starts_with("skipped ") && text.ends_with(" as an opponent")),
        "{warnings:?}"
    );
    let newest = checkpoint(dir.path(), 3).id;
    assert!(games(dir.path(), 4).iter().all(|game| game.players == [newest.clone(), newest.clone()]));
}

#[test]
fn a_run_from_before_these_keys_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let mut plain = config();
    plain.selfplay.past_share = 0.0;
    plain.selfplay.past_checkpoints = 10;
    plain.selfplay.restart_share = 0.0;
    plain.selfplay.fork_share = 0.0;
    plain.budget.generations = 1;
    run(&plain, dir.path(), &Silent).unwrap();
    let file = dir.path().join("run.json");
    let mut text: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    for key in ["past_share", "past_checkpoints", "restart_share", "fork_share"] {
        assert!(text["config"]["selfplay"].as_object_mut().unwrap().remove(key).is_some());
    }
    assert!(text.as_object_mut().unwrap().remove("crc32c").is_some(), "an edited object has no checksum");
    std::fs::write(&file, text.to_string()).unwrap();
    plain.budget.generations = 2;
    assert_eq!(run(&plain, dir.path(), &Silent).unwrap().generations, 2);
    plain.selfplay.fork_share = 0.25;
    let error = run(&plain, dir.path(), &Silent).unwrap_err();
    assert!(matches!(error, TrainError::OtherRun { .. }), "{error}");
    assert!(error.to_string().contains("selfplay.fork_share is 0.0 there and 0.25 here"), "{error}");
}

/// The end of a game, recorded as a game of its own, trains like the same plies of the whole game: everything but the
/// clocks, which begin anew, and the last move, which nobody made before the first ply, is the same.
#[test]
fn a_game_from_elsewhere_trains_like_the_end_of_a_whole_one() {
    let target = Targets::from(ValueTarget { search_mix: 0.25, fade: 0.01 });
    let mut compared = 0;
    for (preset, number) in [(Preset::Brandubh, 1), (Preset::Brandubh, 2), (Preset::Tablut, 3)] {
        let whole = random_game(preset, number);
        for cut in [1, 4, 9] {
            let mut replay = whole.replay().unwrap();
            for _ in 0..cut {
                replay.step().unwrap();
            }
            let mut rest = GameRecord { start: Some(replay.position().fen()), ..whole.clone() };
            rest.plies.drain(..cut);
            // What ended the whole game might not end the rest, by the count of repetitions; the record says how it
            // ended.
            for index in (0..rest.plies.len()).step_by(3) {
                let symmetry = Symmetry::ALL[index % 8];
                let expected = row(&whole, cut + index, symmetry, &target).unwrap();
                let found = row(&rest, index, symmetry, &target).unwrap();
                // Two planes show the last move, which the first position of a game does not have.
                assert!(index == 0 || found.planes == expected.planes, "game {number} cut at {cut}, ply {index}");
                assert_eq!((&found.policy, found.policy_weight), (&expected.policy, expected.policy_weight));
                assert_eq!((found.value, found.moves_left), (expected.value, expected.moves_left));
                assert_eq!((found.occupancy, found.end_weight), (expected.occupancy, expected.end_weight));
                assert_eq!(found.globals.len(), expected.globals.len());
                compared += 1;
            }
        }
    }
    assert!(compared > 60, "{compared}");
}
