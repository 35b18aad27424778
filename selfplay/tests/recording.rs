//! Self-play into a run directory: files of games, resumed without a trace.

mod support;

use std::path::Path;
use std::time::Duration;

use hnefi_inference::Evaluator;
use hnefi_run::store::Store;
use hnefi_run::{GameRecord, PlyCaps, Run};
use hnefi_search::SearchConfig;
use hnefi_selfplay::{FleetError, RecordingParams, RecordingSummary, SelfPlayConfig, Uncontrolled, record_games};
use support::{failing_after, opinions};

fn config() -> SelfPlayConfig {
    support::config(30)
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

/// Records games until the evaluators have evaluated `batches` batches.
fn record_for(batches: i64, dir: &Path, params: &RecordingParams<'_>) -> Result<RecordingSummary, FleetError> {
    let store = Store::open_or_create(dir).unwrap();
    let search = SearchConfig::default();
    record_games(&store, &config(), &search, params, &failing_after(batches, 1), &mut Uncontrolled)
}

fn record(dir: &Path, params: &RecordingParams<'_>) -> Result<RecordingSummary, FleetError> {
    record_for(i64::MAX, dir, params)
}

/// All files of a run but the lock, with their contents.
fn contents(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let store = Store::open_to_read(dir).unwrap();
    store.list("").unwrap().into_iter().map(|key| (key.clone(), store.get(&key).unwrap())).collect()
}

fn games(dir: &Path) -> Vec<GameRecord> {
    let run = Run::open_directory(dir).unwrap();
    run.generations().unwrap().into_iter().flat_map(|file| run.games(file).unwrap()).collect()
}

#[test]
fn files_hold_all_games_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let summary = record(dir.path(), &PARAMS).unwrap();
    assert_eq!(summary.games, 100);
    let names: Vec<_> = contents(dir.path()).into_iter().map(|(key, _)| key).collect();
    assert_eq!(names, ["games/000001.hgames", "games/000002.hgames", "games/000003.hgames", "run.json"]);
    let numbers: Vec<u64> = games(dir.path()).iter().map(|game| game.game).collect();
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
        record_games(&store, config, &SearchConfig::default(), &PARAMS, &opinions(1), &mut Uncontrolled).unwrap();
        games(dir.path())
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
    let none = || -> Box<dyn Evaluator> { unreachable!("nothing is played") };
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
