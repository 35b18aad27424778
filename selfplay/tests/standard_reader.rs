//! Snapshots and uploads read by our own reader of their data, as the program reads them.

#[path = "../../run/tests/standard/mod.rs"]
mod standard;

use hnefi_inference::{EvalError, Evaluator, UniformEvaluator};
use hnefi_search::SearchConfig;
use hnefi_selfplay::{Fleet, FleetSnapshot, Quota, SelfPlayConfig, Uncontrolled, Upload};

/// A fleet that has played so much.
fn fleet(quota: Quota) -> Fleet {
    let config = SelfPlayConfig { games_in_flight: 64, balance_doublings: 2.0, ..SelfPlayConfig::default() };
    let mut fleet = Fleet::new(&config, &SearchConfig::default(), 7).with_threads(1);
    let uniform = || -> Result<Box<dyn Evaluator>, EvalError> { Ok(Box::new(UniformEvaluator)) };
    fleet.play(quota, 2, "network", &uniform, &mut Uncontrolled).unwrap();
    fleet
}

/// The data in an envelope.
fn data(file: &[u8]) -> Vec<u8> {
    zstd::decode_all(&file[24..]).unwrap()
}

#[test]
fn a_snapshot_reads_the_same() {
    let snapshot = fleet(Quota::Plies(300)).snapshot();
    assert!(snapshot.games_in_flight() > 0);
    let (file, plain) = (snapshot.encode(), data(&snapshot.encode()));
    let (ours, taken) = standard::read::<FleetSnapshot>(&plain).unwrap();
    assert_eq!((&ours, taken), (&FleetSnapshot::decode("a", &file).unwrap(), plain.len()));
    assert_eq!(ours, snapshot);
}

#[test]
fn an_upload_reads_the_same() {
    let upload = fleet(Quota::Games(12)).send("hnefi", 3);
    assert!(!upload.games.is_empty());
    let (file, plain) = (upload.encode(), data(&upload.encode()));
    let (ours, taken) = standard::read::<Upload>(&plain).unwrap();
    assert_eq!((&ours, taken), (&Upload::decode("a", &file).unwrap(), plain.len()));
    assert_eq!(ours, upload);
}
