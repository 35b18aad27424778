//! Games in flight, and games that a worker brings.

use hnefi_engine::Preset;
use hnefi_inference::{Evaluator, UniformEvaluator};
use hnefi_run::codec::{SNAPSHOT, UPLOAD};
use hnefi_run::config::{RulesetShare, SelfPlayConfig};
use hnefi_run::store::StoreError;
use hnefi_search::SearchConfig;
use hnefi_selfplay::{Fleet, FleetControl, FleetProgress, FleetSnapshot, Quota, Upload};

use crate::games::allowed;
use crate::{envelope, games, within};

const SEED: u64 = 7;

fn config() -> SelfPlayConfig {
    let rulesets = vec![RulesetShare { rules: Preset::Brandubh.into(), share: 1.0 }];
    SelfPlayConfig { games_in_flight: 32, rulesets, ..SelfPlayConfig::default() }
}

fn uniform() -> Box<dyn Evaluator> {
    Box::new(UniformEvaluator)
}

/// Lets a fleet play until it has reported once.
struct Once;

impl FleetControl for Once {
    fn go_on(&mut self, _: &FleetProgress) -> Result<bool, StoreError> {
        Ok(false)
    }
}

/// A snapshot: what is read is written and read as the same, and a fleet that takes it over plays on.
pub fn snapshot(input: &[u8]) {
    let Some((file, data)) = envelope::file(SNAPSHOT, input) else { return };
    let Ok(snapshot) = within(allowed(data), || FleetSnapshot::decode("a file", &file)) else { return };
    let written = snapshot.encode();
    let read = FleetSnapshot::decode("its copy", &written).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read.encode(), written);
    let _ = snapshot.games_in_flight();
    let Ok(fleet) = Fleet::resume(&config(), &SearchConfig::default(), SEED, snapshot) else { return };
    let mut fleet = fleet.with_threads(1);
    let _ = fleet.games_begun();
    let _ = fleet.play(Quota::Games(32), 2, "network", &uniform, &mut Once);
    let played = fleet.snapshot().encode();
    FleetSnapshot::decode("played on", &played).unwrap_or_else(|error| panic!("{error}"));
    fleet.end_generation().games.iter().take(4).for_each(games::texts);
}

/// A worker's games: what is read is written and read as the same, every game keeps the rules, and a fleet takes them
/// in.
pub fn upload(input: &[u8]) {
    let Some((file, data)) = envelope::file(UPLOAD, input) else { return };
    let Ok(upload) = within(allowed(data), || Upload::decode("a file", &file)) else { return };
    let written = upload.encode();
    let read = Upload::decode("its copy", &written).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read.encode(), written);
    upload.games.iter().take(8).for_each(games::texts);
    let mut fleet = Fleet::new(&config(), &SearchConfig::default(), SEED);
    let count = upload.games.len();
    fleet.receive(upload);
    fleet.receive(read);
    let generation = fleet.end_generation();
    assert_eq!(generation.games.len(), 2 * count);
    let _ = generation.stats.ends.len();
}

fn played(quota: Quota) -> Fleet {
    let mut fleet = Fleet::new(&config(), &SearchConfig::default(), SEED).with_threads(1);
    // Enough for a few games to end.
    let _ = fleet.play(quota, 2, "network", &uniform, &mut Once);
    fleet
}

pub fn snapshot_seeds() -> Vec<Vec<u8>> {
    let fleets = [Fleet::new(&config(), &SearchConfig::default(), SEED), played(Quota::Games(2))];
    fleets.iter().flat_map(|fleet| envelope::seeds(fleet.snapshot().encode())).collect()
}

pub fn upload_seeds() -> Vec<Vec<u8>> {
    let finished = crate::sample::games().into_iter().filter(hnefi_record::GameRecord::is_finished).collect();
    let full = played(Quota::Games(0)).returned("hnefi 1", 3, finished);
    let empty = played(Quota::Games(0)).send("hnefi 1", 3);
    [full, empty].iter().flat_map(|upload| envelope::seeds(upload.encode())).collect()
}
