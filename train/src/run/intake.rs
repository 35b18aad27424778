//! Games that workers bring, taken into a generation.
//!
//! A worker creates `arrivals/WORKER-NUMBER.harrival` and forgets it. The trainer reads what is new, joins it to its
//! own games in `games/000011.hgames`, and only when that object is there removes the arrivals. A trainer that dies in
//! between leaves arrivals whose games are recorded already; the next one knows them by seed and number and takes none
//! twice.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use hnefi_engine::Preset;
use hnefi_run::store::Store;
use hnefi_run::{GameRecord, RecordError};
use hnefi_selfplay::Arrival;

use super::observer::TrainObserver;
use super::open::check_rules;
use crate::TrainError;

/// How often the store is asked for arrivals.
const EVERY: Duration = Duration::from_secs(2);

/// Generations whose games may have come from arrivals that are still there.
const RECENT: usize = 2;

/// What has arrived for the generation being played.
pub(super) struct Intake<'a> {
    rulesets: &'a [Preset],
    /// Games recorded lately, by seed and number.
    known: HashSet<(u64, u64)>,
    /// Keys seen, those of damaged objects and of known games among them.
    seen: HashSet<String>,
    arrivals: Vec<Arrival>,
    plies: u64,
    games: u64,
    looked: Option<Instant>,
}

impl Intake<'_> {
    /// An intake of a run of these rulesets that knows the games recorded lately.
    pub(super) fn new<'a>(rulesets: &'a [Preset], recorded: &BTreeMap<u32, Vec<GameRecord>>) -> Intake<'a> {
        let recent = recorded.values().rev().take(RECENT).flatten();
        Intake {
            rulesets,
            known: recent.map(identity).collect(),
            seen: HashSet::new(),
            arrivals: Vec::new(),
            plies: 0,
            games: 0,
            looked: None,
        }
    }

    /// Takes in what is new, if it is time to look again.
    pub(super) fn look(&mut self, store: &Store, observer: &dyn TrainObserver) -> Result<(), TrainError> {
        if self.looked.is_some_and(|looked| looked.elapsed() < EVERY) {
            return Ok(());
        }
        let mut keys = store.list("arrivals/")?;
        keys.retain(|key| !self.seen.contains(key));
        let found = store.get_all(&keys)?;
        for (key, bytes) in keys.into_iter().zip(found) {
            if let Some(bytes) = bytes {
                match self.read(&store.name(&key), &bytes) {
                    Ok(arrival) => self.take(arrival),
                    Err(problem) => observer.warning(&format!("skipped {problem}")),
                }
            }
            self.seen.insert(key);
        }
        self.looked = Some(Instant::now());
        Ok(())
    }

    /// Reads an arrival. One with games that do not belong into this run is of another, or of a worker gone astray.
    fn read(&self, name: &str, bytes: &[u8]) -> Result<Arrival, String> {
        let arrival = Arrival::decode(name, bytes).map_err(|error| match error {
            error @ RecordError::Inconsistent { .. } => format!("{name}: {error}"),
            error => error.to_string(),
        })?;
        let foreign = arrival.games.iter().find_map(|game| check_rules(self.rulesets, game).err());
        foreign.map_or(Ok(arrival), |problem| Err(format!("{name}: {problem}")))
    }

    fn take(&mut self, mut arrival: Arrival) {
        arrival.games.retain(|game| self.known.insert(identity(game)));
        if !arrival.games.is_empty() {
            self.plies += arrival.training_plies();
            self.games += arrival.games.len() as u64;
            self.arrivals.push(arrival);
        }
    }

    /// Training plies that have arrived.
    pub(super) fn plies(&self) -> u64 {
        self.plies
    }

    /// Games that have arrived.
    pub(super) fn games(&self) -> u64 {
        self.games
    }

    /// The arrivals, and the keys to be removed when their games are recorded.
    pub(super) fn finish(self) -> (Vec<Arrival>, Vec<String>) {
        let mut keys: Vec<String> = self.seen.into_iter().collect();
        keys.sort_unstable();
        (self.arrivals, keys)
    }
}

fn identity(game: &GameRecord) -> (u64, u64) {
    (game.seed, game.game)
}
