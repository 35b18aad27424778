//! The loop from end to end with a tiny network: repeated, interrupted, damaged and misused.

#[path = "support/tiny.rs"]
mod tiny;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use hnefi_arena::ladder::Standings;
use hnefi_inference::{Checkpoint, DeviceList, NetworkConfig};
use hnefi_run::store::{Access, RetryPolicy, Store};
use hnefi_run::{GenerationMetrics, Run};
use hnefi_train::config::{BudgetClock, BudgetSection};
use hnefi_train::trainer::{RunStart, SelfPlay, Silent, TrainerParams, TrainingProgress, check};
use hnefi_train::worker::{WorkerObserver, WorkerParams, work};
use hnefi_train::{ConfigError, Summary, TrainConfig, TrainError, TrainObserver, train, train_at};
use tiny::tiny_config;

/// Three generations of a few short games, with these further changes.
fn changed(changes: &[&str]) -> TrainConfig {
    let few = [
        "run.threads=2",
        "run.save_seconds=1",
        "train.reuse=3.0",
        "train.window_base=200",
        "train.window_generations=1",
        "budget.playouts=[2, 4]",
    ];
    tiny_config(&[&few, changes].concat())
}

/// Three generations of a few short games.
fn config() -> TrainConfig {
    changed(&["ladder.every=2"])
}

/// Four generations in three stages: the network grows, the window and the playouts change, and the board.
fn staged() -> TrainConfig {
    let rulesets = r#"rulesets = [{ rules = "tablut", share = 1.0 }]"#;
    let network = "network = { blocks = 2, channels = 16 }, train = { window_base = 2000 }";
    let stages = [
        r#"{ name = "small", share = 1 }"#.to_owned(),
        format!(r#"{{ name = "grown", share = 2, {network}, selfplay = {{ {rulesets} }} }}"#),
        r#"{ name = "end", share = 1, train = { rate = 1e-4, rate_end = 1e-5 }, budget = { playouts = [6] } }"#
            .to_owned(),
    ];
    let stages = format!("stages=[{}]", stages.join(", "));
    changed(&["network.channels=8", "budget.generations=4", &stages])
}

/// Records all calls and stops at a given question, counted over self-play and training.
#[derive(Default)]
struct Watch {
    asked: AtomicU32,
    stop_at: u32,
    stop_after_generations: usize,
    warnings: Mutex<Vec<String>>,
    generations: Mutex<Vec<GenerationMetrics>>,
    began_at: Mutex<Vec<u32>>,
    steps: AtomicU32,
    climbed: Mutex<Vec<u32>>,
    stages: Mutex<Vec<String>>,
}

impl TrainObserver for Watch {
    fn begins(&self, start: &RunStart<'_>) {
        self.began_at.lock().unwrap().push(start.generations);
    }

    fn stage(&self, index: usize, count: usize, name: &str, config: &TrainConfig) {
        assert!(index < count && config.stages.is_empty());
        self.stages.lock().unwrap().push(name.to_owned());
    }

    fn warning(&self, text: &str) {
        self.warnings.lock().unwrap().push(text.to_owned());
    }

    fn training(&self, _generation: u32, _progress: &TrainingProgress, _run: f64) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }

    fn generation(&self, metrics: &GenerationMetrics) {
        self.generations.lock().unwrap().push(metrics.clone());
    }

    fn standings(&self, generation: u32, standings: &Standings) {
        assert_eq!(standings.checkpoints().last().map(|&(newest, _)| newest), Some(generation));
        self.climbed.lock().unwrap().push(generation);
    }

    fn should_stop(&self) -> bool {
        let enough =
            self.stop_after_generations > 0 && self.generations.lock().unwrap().len() >= self.stop_after_generations;
        enough || self.stop_at > 0 && self.asked.fetch_add(1, Ordering::Relaxed) + 1 >= self.stop_at
    }
}

impl Watch {
    fn stopping_at(stop_at: u32) -> Watch {
        Watch { stop_at, ..Watch::default() }
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.lock().unwrap().clone()
    }
}

/// Everything of a run that must not depend on interruptions: games and states of the learner byte by byte, and each
/// checkpoint's identity.
fn essence(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut essence = BTreeMap::new();
    let entries = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let mut files = entries(&dir.join("games"));
    files.extend(entries(&dir.join("state")).iter().flat_map(|state| entries(state)));
    // The counters hold times.
    for path in files.into_iter().filter(|path| !path.ends_with("counters.json")) {
        let name = path.strip_prefix(dir).unwrap().to_string_lossy().into_owned();
        essence.insert(name, std::fs::read(&path).unwrap());
    }
    for entry in std::fs::read_dir(dir.join("checkpoints")).unwrap() {
        let path = entry.unwrap().path();
        let card = Checkpoint::load_card(&path).unwrap();
        essence.insert(format!("checkpoint {}", card.generation), card.id.into_bytes());
    }
    essence
}

fn finished(dir: &Path) -> Summary {
    let summary = train(&config(), dir, &Silent).unwrap();
    assert!(!summary.stopped);
    summary
}

fn copied(from: &Path) -> tempfile::TempDir {
    fn copy(from: &Path, to: &Path) {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let to = to.join(entry.file_name());
            if entry.path().is_dir() {
                copy(&entry.path(), &to);
            } else {
                std::fs::copy(entry.path(), to).unwrap();
            }
        }
    }
    let to = tempfile::tempdir().unwrap();
    copy(from, to.path());
    to
}

/// Cuts a file in the middle.
fn cut(path: PathBuf) {
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
}

#[test]
fn an_interrupted_run_is_the_uninterrupted_one() {
    interrupted(&config(), 3);
}

#[test]
fn an_interrupted_run_in_stages_is_the_uninterrupted_one() {
    interrupted(&staged(), 4);
}

fn interrupted(config: &TrainConfig, generations: u32) {
    let whole = tempfile::tempdir().unwrap();
    let watch = Watch::default();
    let summary = train(config, whole.path(), &watch).unwrap();
    assert_eq!((summary.generations, summary.stopped), (generations, false));
    assert_eq!(watch.warnings(), Vec::<String>::new());
    let expected = essence(whole.path());
    assert_eq!(
        expected.len() as u32,
        generations + generations + 1 + 2 * 3,
        "files of games, checkpoints with the random start, the two newest states"
    );

    // With one question at most per call it takes many calls; later ones get further.
    for patience in [1, 5] {
        let pieces = tempfile::tempdir().unwrap();
        let mut calls = 0;
        loop {
            let watch = Watch::stopping_at(patience + 7 * calls);
            let summary = train(config, pieces.path(), &watch).unwrap();
            assert_eq!(watch.warnings(), Vec::<String>::new());
            calls += 1;
            if !summary.stopped {
                break;
            }
        }
        assert!(calls > 2, "the run was not interrupted");
        let found = essence(pieces.path());
        for (name, bytes) in &expected {
            assert!(found.get(name) == Some(bytes), "{name} differs after {calls} calls");
        }
        assert_eq!(found.len(), expected.len());
    }
}

#[test]
fn a_run_in_stages() {
    let dir = tempfile::tempdir().unwrap();
    let watch = Watch::default();
    let summary = train(&staged(), dir.path(), &watch).unwrap();
    assert_eq!(*watch.stages.lock().unwrap(), ["small", "grown", "end"]);
    let cards: Vec<_> = (0..5)
        .map(|number| Checkpoint::load_card(&dir.path().join(format!("checkpoints/{number:06}"))).unwrap())
        .collect();
    // The checkpoint that ends a stage has the shape of the next one, which it plays in.
    let shapes = cards.iter().map(|card| (card.network.blocks, card.network.channels)).collect::<Vec<_>>();
    assert_eq!(shapes, [(1, 8), (2, 16), (2, 16), (2, 16), (2, 16)]);
    assert_eq!(cards[1].rulesets, ["brandubh"]);
    assert_eq!(cards[4].rulesets, ["brandubh", "tablut"]);
    assert!(cards.windows(2).all(|pair| pair[1].parent.as_ref() == Some(&pair[0].id)));
    assert_eq!(cards[4].samples, summary.samples);

    let metrics = watch.generations.lock().unwrap();
    let of = |name: fn(&GenerationMetrics) -> String| metrics.iter().map(name).collect::<Vec<_>>();
    assert_eq!(of(|one| one.stage.clone()), ["small", "grown", "grown", "end"]);
    assert_eq!(of(|one| one.selfplay.playouts.to_string()), ["2", "2", "4", "6"], "each stage has its own playouts");
    assert!(metrics[3].training.rate < 1e-4 && metrics[2].training.rate > 1e-4);
    assert_eq!(of(|one| one.training.window_generations.to_string()), ["1", "2", "3", "4"], "the window reaches back");
    let steps: Vec<u64> = metrics.iter().map(|one| one.training.steps).collect();
    assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "steps are counted on: {steps:?}");
}

/// With the larger budget the run stands in the first stage again by its progress, and goes on in the last.
#[test]
fn a_run_in_stages_whose_budget_grows_knows_its_rulesets() {
    let dir = tempfile::tempdir().unwrap();
    train(&staged(), dir.path(), &Silent).unwrap();
    let mut longer = staged();
    longer.budget.generations = 40;
    train(&longer, dir.path(), &Watch { stop_after_generations: 1, ..Watch::default() }).unwrap();
    let card = Checkpoint::load_card(&dir.path().join("checkpoints/000005")).unwrap();
    assert_eq!(card.rulesets, ["brandubh", "tablut"]);
}

/// A network that is too large for the first stage, or knows the rules of a later one, begins there.
#[test]
fn a_run_in_stages_from_other_weights() {
    let first = tempfile::tempdir().unwrap();
    let one = TrainConfig { stages: Vec::new(), ..staged() };
    let other = staged().stage(1).unwrap();
    let other_board = TrainConfig { selfplay: other.selfplay.clone(), ..one.clone() };
    let larger = TrainConfig { network: other.network, ..one.clone() };
    let cases = [
        (one, vec!["small", "grown", "end"]),
        (other, vec!["grown", "end"]),
        (other_board, vec!["grown", "end"]),
        (larger, vec!["grown", "end"]),
    ];
    for (number, (config, stages)) in cases.into_iter().enumerate() {
        let origin = first.path().join(number.to_string());
        train(&config, &origin, &Silent).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let watch = Watch::default();
        let params = TrainerParams { origin: Some(&origin), ..TrainerParams::new(dir.path()) };
        train_at(&staged(), &params, &watch).unwrap();
        assert_eq!(*watch.stages.lock().unwrap(), stages);
        let card = Checkpoint::load_card(&dir.path().join("checkpoints/000004")).unwrap();
        let played: &[&str] = if stages.len() == 3 { &["brandubh", "tablut"] } else { &["tablut"] };
        assert_eq!(card.rulesets, played, "a stage that was left out is not in the card");
    }
}

#[test]
fn what_a_run_leaves() {
    let dir = tempfile::tempdir().unwrap();
    let watch = Watch::default();
    let summary = train(&config(), dir.path(), &watch).unwrap();
    assert_eq!(Path::new(&summary.checkpoint), dir.path().join("checkpoints/000003"));
    let card = Checkpoint::load_card(Path::new(&summary.checkpoint)).unwrap();
    assert_eq!(card.generation, summary.checkpoint_generation);
    assert_eq!((card.id, card.steps, card.samples), (summary.checkpoint_id, summary.steps, summary.samples));
    assert_eq!(card.rulesets, ["brandubh"]);
    let parent = Checkpoint::load_card(&dir.path().join("checkpoints/000002")).unwrap();
    assert_eq!(card.parent, Some(parent.id));

    let reported = watch.generations.lock().unwrap();
    assert_eq!(reported.len(), 3);
    for (index, metrics) in reported.iter().enumerate() {
        let number = index + 1;
        let line = std::fs::read_to_string(dir.path().join(format!("metrics/{number:06}.json"))).unwrap();
        assert_eq!(serde_json::from_str::<GenerationMetrics>(&line).unwrap(), *metrics);
        assert!(dir.path().join(format!("tensorboard/events.out.tfevents.{number:06}.hnefi")).exists());
        assert!(metrics.selfplay.training_plies >= 150, "{metrics:?}");
        let steps = (metrics.selfplay.training_plies as f64 * 3.0 / 32.0).ceil() as u64;
        assert_eq!(metrics.training.generation_steps, steps);
        assert!(metrics.training.losses.total > 0.0 && metrics.training.gradient_norm > 0.0);
        assert_eq!(metrics.progress, number as f64 / 3.0);
    }
    // Two stages share three generations: the second begins in the middle of the second.
    let playouts: Vec<u32> = reported.iter().map(|metrics| metrics.selfplay.playouts).collect();
    assert_eq!(playouts, [2, 2, 4]);
    assert!(dir.path().join("run.json").exists());
    // The random start and the second generation are due, the last one always is; each meets one before it and
    // `random`.
    let ladder = std::fs::read_dir(dir.path().join("ladder")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut ladder: Vec<String> = ladder.map(|name| name.to_string_lossy()[..13].to_owned()).collect();
    ladder.sort_unstable();
    assert_eq!(ladder, ["000000-random", "000002-000000", "000002-random", "000003-000002", "000003-random"]);
    assert_eq!(*watch.climbed.lock().unwrap(), [0, 2, 3]);
    let states: Vec<_> = std::fs::read_dir(dir.path().join("state")).unwrap().collect();
    assert_eq!(states.len(), 2, "the newest two");
}

#[test]
fn a_finished_run_has_nothing_to_do_until_its_budget_grows() {
    let dir = tempfile::tempdir().unwrap();
    let first = finished(dir.path());
    let again = Watch::default();
    let second = train(&config(), dir.path(), &again).unwrap();
    assert_eq!(first.checkpoint_id, second.checkpoint_id);
    assert_eq!(again.steps.load(Ordering::Relaxed), 0);
    assert_eq!(*again.began_at.lock().unwrap(), [3]);
    let mut longer = config();
    longer.budget.generations = 4;
    assert_eq!(train(&longer, dir.path(), &Silent).unwrap().generations, 4);
}

#[test]
fn handicaps_outlive_the_games_in_flight() {
    let dir = tempfile::tempdir().unwrap();
    finished(dir.path());
    std::fs::remove_dir_all(dir.path().join("inflight")).unwrap();
    let mut longer = config();
    longer.budget.generations = 4;
    let watch = Watch::default();
    train(&longer, dir.path(), &watch).unwrap();
    let metrics = watch.generations.lock().unwrap();
    assert_ne!(metrics[0].selfplay.handicaps["brandubh"].blunders, 0.0, "one side won more of the games before");
}

#[test]
fn damaged_states_are_named_and_left_out() {
    let whole = tempfile::tempdir().unwrap();
    finished(whole.path());

    // The newest state: the generation is trained again from the one before, with the same result.
    let dir = copied(whole.path());
    cut(dir.path().join("state/000003/optimiser.bpk"));
    let watch = Watch::default();
    train(&config(), dir.path(), &watch).unwrap();
    let warnings = watch.warnings();
    assert_eq!((warnings.len(), watch.began_at.lock().unwrap()[0]), (1, 2), "{warnings:?}");
    assert!(warnings[0].starts_with("skipped state/000003/optimiser.bpk: "), "{warnings:?}");
    assert!(essence(dir.path()) == essence(whole.path()), "the same games and weights");

    // Every state there is.
    let dir = copied(whole.path());
    cut(dir.path().join("state/000002/counters.json"));
    cut(dir.path().join("state/000003/counters.json"));
    let mut longer = config();
    longer.budget.generations = 4;
    let message = train(&longer, dir.path(), &Silent).unwrap_err().to_string();
    assert!(message.contains("no readable training state for any generation (state/000003"), "{message}");
}

#[test]
fn two_generations_are_trained_again_when_a_state_is_lost_late() {
    let mut longer = config();
    longer.budget.generations = 4;
    let three = tempfile::tempdir().unwrap();
    let watch = Watch { stop_after_generations: 3, ..Watch::default() };
    assert_eq!(train(&longer, three.path(), &watch).unwrap().generations, 3);
    let expected = copied(three.path());
    train(&longer, expected.path(), &Silent).unwrap();

    // As if the process had died in the training of generation 4 and the state of generation 3 had been damaged since.
    let dir = copied(expected.path());
    std::fs::remove_dir_all(dir.path().join("state")).unwrap();
    std::fs::rename(three.path().join("state"), dir.path().join("state")).unwrap();
    cut(dir.path().join("state/000003/weights.bpk"));
    std::fs::remove_dir_all(dir.path().join("checkpoints/000004")).unwrap();
    std::fs::remove_file(dir.path().join("metrics/000004.json")).unwrap();
    let watch = Watch::default();
    train(&longer, dir.path(), &watch).unwrap();
    assert_eq!(*watch.began_at.lock().unwrap(), [2]);
    assert_eq!(watch.warnings().len(), 1, "{:?}", watch.warnings());
    assert_eq!(watch.generations.lock().unwrap().len(), 2);
    assert!(essence(dir.path()) == essence(expected.path()), "the same games and weights");
}

#[test]
fn a_directory_of_another_run() {
    let dir = tempfile::tempdir().unwrap();
    let watch = Watch::stopping_at(1);
    assert!(train(&config(), dir.path(), &watch).unwrap().stopped);
    let mut other = config();
    other.run.seed = 2;
    other.train.reuse = 1.0;
    let message = train(&other, dir.path(), &Silent).unwrap_err().to_string();
    assert!(message.contains("run.seed is 1 there and 2 here, train.reuse is 3.0 there and 1.0 here"), "{message}");
}

#[test]
fn errors_come_before_any_file() {
    let dir = tempfile::tempdir().unwrap();
    let mut broken = config();
    broken.train.batch = 1;
    broken.budget.generations = 0;
    let error = train(&broken, &dir.path().join("new"), &Silent).unwrap_err();
    assert!(matches!(&error, TrainError::Config(ConfigError::Keys { errors, .. }) if errors.len() == 2), "{error}");
    assert!(!dir.path().join("new").exists());
}

#[test]
fn time_ends_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut timed = config();
    timed.budget.minutes = 0.02;
    timed.budget.generations = 0;
    let summary = train(&timed, dir.path(), &Silent).unwrap();
    assert!(!summary.stopped);
    assert!(summary.generations >= 1, "{summary:?}");
    assert!(summary.elapsed_seconds > 1.0, "the budget was used: {summary:?}");
}

#[test]
fn time_that_ends_before_a_game_does_leaves_one_generation() {
    let dir = tempfile::tempdir().unwrap();
    let mut timed = config();
    timed.budget = BudgetSection { minutes: 0.03, generations: 0, playouts: vec![100_000], ..timed.budget };
    let summary = train(&timed, dir.path(), &Silent).unwrap();
    assert_eq!(summary.generations, 1, "{summary:?}");
}

/// A run whose self-play does not wait for training.
fn overlapping(config: &TrainConfig, dir: &Path, watch: &Watch) -> Summary {
    let params = TrainerParams { selfplay: SelfPlay::Overlapping, ..TrainerParams::new(dir) };
    train_at(config, &params, watch).unwrap()
}

/// Checks that nothing of a run is damaged and no game recorded twice, and returns the number of games.
fn assert_whole(dir: &Path) -> usize {
    let store = Store::open_to_read(dir).unwrap();
    let damage: Vec<String> = check(&store).unwrap().into_iter().flat_map(|kind| kind.damage).collect();
    assert_eq!(damage, [""; 0]);
    let run = Run::open_directory(dir).unwrap();
    let games = run.generations().unwrap().into_iter().flat_map(|generation| run.games(generation).unwrap());
    let games: Vec<_> = games.map(|game| game.key()).collect();
    assert_eq!(games.len(), games.iter().collect::<BTreeSet<_>>().len(), "a game is recorded twice");
    games.len()
}

#[test]
fn self_play_beside_training_keeps_the_reuse() {
    for (config, generations) in [(config(), 3), (staged(), 4)] {
        let dir = tempfile::tempdir().unwrap();
        let watch = Watch::default();
        let summary = overlapping(&config, dir.path(), &watch);
        assert_eq!((summary.generations, summary.stopped), (generations, false));
        assert_eq!(watch.warnings(), Vec::<String>::new());
        assert!(assert_whole(dir.path()) > 0);
        for metrics in watch.generations.lock().unwrap().iter() {
            assert!(metrics.selfplay.training_plies >= 150, "{metrics:?}");
            assert!(metrics.selfplay.plies_per_second > 0.0, "{metrics:?}");
            let steps = (metrics.selfplay.training_plies.min(600) as f64 * 3.0 / 32.0).ceil() as u64;
            assert_eq!(metrics.training.generation_steps, steps);
        }
    }
}

/// Games that were finished before an interruption are trained on after it.
#[test]
fn an_interrupted_run_with_self_play_beside_training_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let mut calls = 0;
    loop {
        let watch = Watch::stopping_at(3 + 11 * calls);
        let summary = overlapping(&config(), dir.path(), &watch);
        assert_eq!(watch.warnings(), Vec::<String>::new());
        assert_whole(dir.path());
        calls += 1;
        if !summary.stopped {
            break;
        }
    }
    assert!(calls > 2, "the run was not interrupted");
    // In turns it goes on as well, and back.
    let mut longer = config();
    longer.budget.generations = 4;
    assert_eq!(train(&longer, dir.path(), &Silent).unwrap().generations, 4);
    longer.budget.generations = 5;
    assert_eq!(overlapping(&longer, dir.path(), &Watch::default()).generations, 5);
    assert_whole(dir.path());
}

#[test]
fn time_ends_a_run_with_self_play_beside_training() {
    let dir = tempfile::tempdir().unwrap();
    let mut timed = config();
    timed.budget = BudgetSection { minutes: 0.03, generations: 0, ..timed.budget };
    for clock in [BudgetClock::Wall, BudgetClock::Processor] {
        timed.budget.clock = clock;
        timed.budget.minutes += 0.03;
        let summary = overlapping(&timed, dir.path(), &Watch::default());
        assert!(!summary.stopped && summary.generations >= 1, "{summary:?}");
        let seconds = 60.0 * timed.budget.minutes;
        assert!(summary.elapsed_seconds > 0.9 * seconds && summary.elapsed_seconds < 2.0 * seconds, "{summary:?}");
    }
    assert_whole(dir.path());
}

fn from(config: &TrainConfig, dir: &Path, origin: &Path) -> Result<Summary, TrainError> {
    train_at(config, &TrainerParams { origin: Some(origin), ..TrainerParams::new(dir) }, &Silent)
}

#[test]
fn a_run_begins_with_the_weights_of_another_and_goes_on_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new, bare) = (folder.path().join("old"), folder.path().join("new"), folder.path().join("bare"));
    let finished = train(&config(), &old, &Silent).unwrap();
    let mut config = config();
    config.run.seed = 2;
    config.budget.generations = 1;
    from(&config, &new, &old).unwrap();
    let weights = |run: &Path, generation: u32| {
        let folder = run.join(format!("checkpoints/{generation:06}"));
        Checkpoint::load_card(&folder).unwrap().id
    };
    assert_eq!(weights(&new, 0), finished.checkpoint_id, "the average of the old run plays first");
    let first = Checkpoint::load_card(&new.join("checkpoints/000000")).unwrap();
    assert_eq!(first.parent, None, "nothing is its own parent");
    assert_ne!(weights(&new, 1), finished.checkpoint_id);
    // The window reaches back into the games of the old run, of which it holds what the old run's window would.
    let metrics = |run: &Path, generation: u32| -> GenerationMetrics {
        serde_json::from_slice(&std::fs::read(run.join(format!("metrics/{generation:06}.json"))).unwrap()).unwrap()
    };
    let (before, after) = (metrics(&old, 3), metrics(&new, 1));
    assert_eq!(after.training.window_generations, 2);
    assert_eq!(after.training.window_plies, before.training.window_plies + after.selfplay.training_plies);
    // The handicaps go on where the old run left them.
    let jobs = std::fs::read_dir(old.join("jobs")).unwrap().map(|entry| entry.unwrap().path());
    let job: serde_json::Value = serde_json::from_slice(&std::fs::read(jobs.max().unwrap()).unwrap()).unwrap();
    let left = &job["adaptation"]["balance"][0][1];
    assert_ne!(left["blunders"], 0.0, "one side won more of the old run's games");
    let goes_on = serde_json::to_value(after.selfplay.handicaps["brandubh"]).unwrap();
    for key in ["doublings", "blunders"] {
        let (goes_on, left) = (goes_on[key].as_f64().unwrap(), left[key].as_f64().unwrap());
        assert!((goes_on - left).abs() < 1e-6, "{key}: {goes_on} instead of {left}");
    }

    // The new run stands on its own: the old one may go, and the same call without it goes on.
    let checkpoint = folder.path().join("kept");
    std::fs::rename(&finished.checkpoint, &checkpoint).unwrap();
    std::fs::remove_dir_all(&old).unwrap();
    config.budget.generations = 2;
    assert_eq!(train(&config, &new, &Silent).unwrap().generations, 2);

    // A checkpoint alone gives weights without an optimiser.
    config.budget.generations = 1;
    from(&config, &bare, &checkpoint).unwrap();
    assert_eq!(weights(&bare, 0), finished.checkpoint_id);
    assert_eq!(metrics(&bare, 1).training.window_generations, 1);

    // A larger network grows out of it, a smaller one does not.
    let shape = config.network;
    config.network.channels = 32;
    let wider = folder.path().join("wider");
    assert_eq!(from(&config, &wider, &checkpoint).unwrap().generations, 1);
    let grown = Checkpoint::load_card(&wider.join("checkpoints/000000")).unwrap();
    assert_eq!(grown.parent.as_deref(), Some(finished.checkpoint_id.as_str()));
    config.network = NetworkConfig { value_hidden: shape.value_hidden - 1, ..shape };
    let message = from(&config, &folder.path().join("smaller"), &checkpoint).unwrap_err().to_string();
    assert!(message.contains("its network is") && message.contains("value_hidden would shrink"), "{message}");
    config.network = shape;
    let message = from(&config, &folder.path().join("none"), Path::new("no/such")).unwrap_err().to_string();
    assert!(message.starts_with("beginning with the weights of no/such: there is no such folder"), "{message}");
}

#[test]
fn a_run_begins_with_the_newest_network_of_a_copy_without_its_state() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old"), folder.path().join("new"));
    let finished = train(&config(), &old, &Silent).unwrap();
    std::fs::remove_dir_all(old.join("state/000003")).unwrap();
    let mut config = config();
    (config.run.seed, config.budget.generations) = (2, 1);
    from(&config, &new, &old).unwrap();
    assert_eq!(Checkpoint::load_card(&new.join("checkpoints/000000")).unwrap().id, finished.checkpoint_id);
}

#[test]
fn a_damaged_origin_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old"), folder.path().join("new"));
    train(&config(), &old, &Silent).unwrap();
    cut(old.join("state/000003/optimiser.bpk"));
    let message = from(&config(), &new, &old).unwrap_err().to_string();
    assert!(message.contains("its checkpoint alone will do"), "{message}");
    assert!(!new.exists());
    from(&config(), &new, &old.join("checkpoints/000003")).unwrap();
}

#[test]
fn a_device_that_was_left_open_stays_open_for_workers() {
    struct Joins;
    impl WorkerObserver for Joins {}
    let dir = tempfile::tempdir().unwrap();
    // A precision that the CPU alone has.
    let open = changed(&["run.device=\"auto\"", "run.precision=int8", "budget.generations=1"]);
    train(&open, dir.path(), &Silent).unwrap();
    let kept = hnefi_train::configuration(&Store::open_to_read(dir.path()).unwrap()).unwrap().unwrap();
    assert!(kept.run.device.is_auto());
    // Where only workers play, nobody chooses.
    let elsewhere = TrainerParams { selfplay: SelfPlay::Elsewhere, ..TrainerParams::new(dir.path()) };
    assert!(!train_at(&open, &elsewhere, &Silent).unwrap().stopped);
    let store = Store::open(&dir.path().into(), Access::Add, RetryPolicy::default()).unwrap();
    for device in [None, Some(DeviceList::AUTO)] {
        let params = WorkerParams { device, threads: Some(1), ..WorkerParams::new(5) };
        assert!(work(&store, &params, &Joins).unwrap().finished);
    }
}
