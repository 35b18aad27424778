//! Self-play into a run directory: files of games, resumed without a trace.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use hnefi_inference::{EvalError, EvalRequest, Evaluations, Evaluator, HashEvaluator};
use hnefi_run::PlyCaps;
use hnefi_run::store::{Store, read_run_games};
use hnefi_search::SearchConfig;
use hnefi_selfplay::{FleetError, RecordingParams, RecordingSummary, SelfPlayConfig, Uncontrolled, record_games};

fn config() -> SelfPlayConfig {
    SelfPlayConfig {
        games_in_flight: 64,
        ply_caps: PlyCaps { seven: 30, nine: 30, eleven: 30 },
        ..SelfPlayConfig::default().without_handicaps()
    }
}

const PARAMS: RecordingParams<'static> = RecordingParams {
    games: 100,
    seed: 5,
    playouts: 4,
    checkpoint_id: "none",
    games_per_file: 40,
    save_every: Duration::from_secs(3600),
    threads: 2,
};

/// Takes a little time, as a network does, and fails once it has been asked often enough.
struct Failing {
    inner: HashEvaluator,
    batches_left: Arc<AtomicI64>,
}

impl Evaluator for Failing {
    fn evaluate(&mut self, requests: &[EvalRequest<'_>], out: &mut Evaluations) -> Result<(), EvalError> {
        if self.batches_left.fetch_sub(1, Ordering::Relaxed) <= 0 {
            let problem = "unplugged".to_string();
            return Err(EvalError::Device { count: requests.len(), device: "test".to_string(), problem });
        }
        std::thread::sleep(Duration::from_micros(200));
        self.inner.evaluate(requests, out)
    }
}

/// Records games until the evaluators have evaluated `batches` batches.
fn record_for(batches: i64, dir: &Path, params: &RecordingParams<'_>) -> Result<RecordingSummary, FleetError> {
    let store = Store::open_or_create(dir).unwrap();
    let batches_left = Arc::new(AtomicI64::new(batches));
    let failing = || -> Result<Box<dyn Evaluator>, EvalError> {
        Ok(Box::new(Failing { inner: HashEvaluator { seed: 1 }, batches_left: batches_left.clone() }))
    };
    record_games(&store, &config(), &SearchConfig::default(), params, &failing, &mut Uncontrolled)
}

fn record(dir: &Path, params: &RecordingParams<'_>) -> Result<RecordingSummary, FleetError> {
    record_for(i64::MAX, dir, params)
}

/// All files of a run but the lock, with their contents.
fn contents(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let store = Store::open_to_read(dir).unwrap();
    store.list("").unwrap().into_iter().map(|key| (key.clone(), store.get(&key).unwrap())).collect()
}

#[test]
fn files_hold_all_games_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let summary = record(dir.path(), &PARAMS).unwrap();
    assert_eq!(summary.games, 100);
    let names: Vec<_> = contents(dir.path()).into_iter().map(|(key, _)| key).collect();
    assert_eq!(names, ["games/000001.hgames", "games/000002.hgames", "games/000003.hgames", "run.json"]);
    let (read, skipped) = read_run_games(&Store::open_to_read(dir.path()).unwrap()).unwrap();
    assert!(skipped.is_empty());
    let numbers: Vec<u64> = read.iter().flat_map(|(_, games)| games).map(|game| game.game).collect();
    assert_eq!(numbers, (0..100).collect::<Vec<_>>());
    assert_eq!(record(dir.path(), &PARAMS).unwrap(), RecordingSummary { games: 100, files: vec![] });
}

#[test]
fn an_interrupted_run_writes_the_same_files() {
    let straight = tempfile::tempdir().unwrap();
    record(straight.path(), &PARAMS).unwrap();
    let interrupted = tempfile::tempdir().unwrap();
    let params = RecordingParams { save_every: Duration::ZERO, ..PARAMS };
    let mut calls = 1;
    while let Err(error) = record_for(70, interrupted.path(), &params) {
        assert!(matches!(error, FleetError::Evaluation { .. }), "{error}");
        let store = Store::open_to_read(interrupted.path()).unwrap();
        assert_eq!(store.list("inflight/").unwrap().len(), 1, "one snapshot is kept");
        calls += 1;
    }
    assert!(calls > 3, "{calls} calls");
    assert!(!interrupted.path().join("inflight").exists(), "snapshots go when the games are written");
    assert!(contents(straight.path()) == contents(interrupted.path()));
}

#[test]
fn a_damaged_snapshot_costs_time_only() {
    let straight = tempfile::tempdir().unwrap();
    record(straight.path(), &PARAMS).unwrap();
    let damaged = tempfile::tempdir().unwrap();
    record_for(100, damaged.path(), &PARAMS).unwrap_err();
    let store = Store::open_to_read(damaged.path()).unwrap();
    let key = store.list("inflight/").unwrap().pop().unwrap();
    std::fs::write(store.name(&key), b"HNEFIFLT and then nothing of use").unwrap();
    record(damaged.path(), &PARAMS).unwrap();
    assert!(contents(straight.path()) == contents(damaged.path()));
}

#[test]
fn more_games_can_be_asked_for_later() {
    let dir = tempfile::tempdir().unwrap();
    record(dir.path(), &RecordingParams { games: 40, ..PARAMS }).unwrap();
    record(dir.path(), &RecordingParams { games: 80, ..PARAMS }).unwrap();
    record(dir.path(), &PARAMS).unwrap();
    let straight = tempfile::tempdir().unwrap();
    record(straight.path(), &PARAMS).unwrap();
    assert!(contents(straight.path()) == contents(dir.path()));
}

#[test]
fn what_belongs_to_training_changes_nothing() {
    let play = |config: &SelfPlayConfig| {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(dir.path()).unwrap();
        let opinions = || -> Result<Box<dyn Evaluator>, EvalError> { Ok(Box::new(HashEvaluator { seed: 1 })) };
        record_games(&store, config, &SearchConfig::default(), &PARAMS, &opinions, &mut Uncontrolled).unwrap();
        read_run_games(&store).unwrap().0.into_iter().map(|(_, games)| games).collect::<Vec<_>>()
    };
    let varied = SelfPlayConfig { balance_doublings: 2.0, blunder_share: 0.8, ..config() };
    assert_eq!(play(&varied), play(&config()));
}

#[test]
fn a_directory_of_another_run_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    record(dir.path(), &RecordingParams { games: 4, ..PARAMS }).unwrap();
    let other = RecordingParams { games: 4, seed: 6, playouts: 8, ..PARAMS };
    let message = record(dir.path(), &other).unwrap_err().to_string();
    assert!(message.contains("playouts is 4 there and 8 here, seed is 5 there and 6 here"), "{message}");
    let store = Store::open_or_create(dir.path()).unwrap();
    let longer = SelfPlayConfig { ply_caps: PlyCaps { seven: 31, ..config().ply_caps }, ..config() };
    let none = || -> Result<Box<dyn Evaluator>, EvalError> { unreachable!("nothing is played") };
    let error = record_games(&store, &longer, &SearchConfig::default(), &PARAMS, &none, &mut Uncontrolled).unwrap_err();
    assert!(error.to_string().contains("selfplay.ply_caps.seven is 30 there and 31 here"), "{error}");
}

#[test]
fn a_damaged_file_of_games_is_named() {
    let dir = tempfile::tempdir().unwrap();
    record(dir.path(), &RecordingParams { games: 40, ..PARAMS }).unwrap();
    std::fs::write(dir.path().join("games/000001.hgames"), b"HNEFIGAM").unwrap();
    let message = record(dir.path(), &PARAMS).unwrap_err().to_string();
    assert!(message.contains("games/000001.hgames: 8 bytes of a game record file; expected 24"), "{message}");
}
