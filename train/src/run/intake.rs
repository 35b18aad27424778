//! Takes uploads of workers into a generation.
//!
//! A worker creates `arrivals/WORKER-NUMBER.harrival`. The trainer reads new uploads and writes their games with its
//! own to `games/000011.hgames`; only then it removes the uploads. A trainer that dies in between leaves uploads whose
//! games are recorded already. The next trainer recognises these games by seed and number and skips them.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use hnefi_engine::Preset;
use hnefi_run::store::{Store, StoreError};
use hnefi_run::{GameRecord, RecordError};
use hnefi_selfplay::Upload;

use super::observer::TrainObserver;
use super::open::check_rules;
use crate::TrainError;

/// Time between two lists of the uploads.
const EVERY: Duration = Duration::from_secs(2);

/// Number of latest generations whose uploads may not be removed yet.
const RECENT: usize = 2;

/// The uploads for the generation being played.
pub(super) struct Intake<'a> {
    rulesets: &'a [Preset],
    /// Games of the latest generations, by seed and number.
    known: HashSet<(u64, u64)>,
    /// Keys already read, including damaged uploads and uploads of known games.
    seen: HashSet<String>,
    uploads: Vec<Upload>,
    plies: u64,
    games: u64,
    looked: Option<Instant>,
}

impl Intake<'_> {
    /// An intake for a run of these rulesets with these recorded games.
    pub(super) fn new<'a>(rulesets: &'a [Preset], recorded: &BTreeMap<u32, Vec<GameRecord>>) -> Intake<'a> {
        let recent = recorded.values().rev().take(RECENT).flatten();
        Intake {
            rulesets,
            known: recent.map(identity).collect(),
            seen: HashSet::new(),
            uploads: Vec::new(),
            plies: 0,
            games: 0,
            looked: None,
        }
    }

    /// Makes the next look read new uploads, even within [`EVERY`].
    pub(super) fn look_again(&mut self) {
        self.looked = None;
    }

    /// Reads new uploads, at most once in [`EVERY`].
    pub(super) fn look(&mut self, store: &Store, observer: &dyn TrainObserver) -> Result<(), TrainError> {
        if self.looked.is_some_and(|looked| looked.elapsed() < EVERY) {
            return Ok(());
        }
        let mut keys = store.list("arrivals/")?;
        keys.retain(|key| !self.seen.contains(key));
        let found = store.get_all(&keys)?;
        for (key, bytes) in keys.into_iter().zip(found) {
            let read = match bytes {
                Ok(bytes) => self.read(&store.name(&key), &bytes).map(Some),
                Err(StoreError::Missing { .. }) => Ok(None),
                Err(error) => Err(error.to_string()),
            };
            match read {
                Ok(upload) => upload.into_iter().for_each(|upload| self.take(upload)),
                Err(problem) => observer.warning(&format!("skipped {problem}")),
            }
            self.seen.insert(key);
        }
        self.looked = Some(Instant::now());
        Ok(())
    }

    /// Decodes an upload and checks that its games have rulesets of this run.
    fn read(&self, name: &str, bytes: &[u8]) -> Result<Upload, String> {
        let upload = Upload::decode(name, bytes).map_err(|error| match error {
            error @ RecordError::Inconsistent { .. } => format!("{name}: {error}"),
            error => error.to_string(),
        })?;
        let foreign = upload.games.iter().find_map(|game| check_rules(self.rulesets, game).err());
        foreign.map_or(Ok(upload), |problem| Err(format!("{name}: {problem}")))
    }

    fn take(&mut self, mut upload: Upload) {
        upload.games.retain(|game| self.known.insert(identity(game)));
        if !upload.games.is_empty() {
            self.plies += upload.training_plies();
            self.games += upload.games.len() as u64;
            self.uploads.push(upload);
        }
    }

    /// Number of training plies uploaded.
    pub(super) fn plies(&self) -> u64 {
        self.plies
    }

    /// Number of games uploaded.
    pub(super) fn games(&self) -> u64 {
        self.games
    }

    /// The uploads, and the keys to remove once their games are recorded.
    pub(super) fn finish(self) -> (Vec<Upload>, Vec<String>) {
        let mut keys: Vec<String> = self.seen.into_iter().collect();
        keys.sort_unstable();
        (self.uploads, keys)
    }
}

fn identity(game: &GameRecord) -> (u64, u64) {
    (game.seed, game.game)
}
