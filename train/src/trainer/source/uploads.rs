//! Takes uploads of workers into a generation.
//!
//! A worker creates `uploads/WORKER-NUMBER.hupload`. The trainer reads new uploads and writes their games with its
//! own to `games/000011.hgames`; only then it removes the uploads. A trainer that dies in between leaves uploads whose
//! games are recorded already. The next trainer recognises these games by seed and number and skips them.

use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, Instant};

use hnefi_engine::NamedRules;
use hnefi_run::store::StoreError;
use hnefi_run::{GameKey, GameRecord, RecordError};
use hnefi_selfplay::Upload;

use crate::trainer::context::Context;
use crate::trainer::games::{Games, check_rules};

/// Uploads read at once.
const AT_ONCE: usize = 32;

/// Time between two lists of the uploads.
const EVERY: Duration = Duration::from_secs(2);

#[derive(Default)]
pub(in crate::trainer) struct Uploads {
    /// Games of the replay window and of this generation.
    known: HashSet<GameKey>,
    /// Keys already read or taken over, including damaged uploads and uploads of known games.
    seen: BTreeSet<String>,
    uploads: Vec<Upload>,
    /// Training plies and games taken in.
    pub(super) plies: u64,
    pub(super) games: u64,
    looked: Option<Instant>,
}

impl Uploads {
    /// No uploads yet, for a run with these recorded games.
    pub(in crate::trainer) fn new(recorded: &Games) -> Uploads {
        // All of them: a worker that heard no answer may send an upload again long after it was taken in.
        Uploads { known: recorded.values().flatten().map(GameRecord::key).collect(), ..Uploads::default() }
    }

    /// Reads new uploads, at most once in [`EVERY`], until there are `most` training plies: what came while no trainer
    /// was there may be more than a generation can hold. The rest waits for the next one.
    pub(super) fn look(&mut self, context: &Context<'_>, most: u64) -> Result<(), StoreError> {
        if self.looked.is_some_and(|looked| looked.elapsed() < EVERY) {
            return Ok(());
        }
        let store = &context.store;
        let mut keys = store.list("uploads/")?;
        keys.retain(|key| !self.seen.contains(key));
        for keys in keys.chunks(AT_ONCE) {
            if self.plies >= most || context.observer.should_stop() {
                break;
            }
            for (key, bytes) in keys.iter().zip(store.get_all(keys)?) {
                let read = match bytes {
                    Ok(bytes) => read(&context.rulesets, &store.name(key), &bytes).map(Some),
                    Err(StoreError::Missing { .. }) => Ok(None),
                    Err(error) => Err(error.to_string()),
                };
                match read {
                    Ok(upload) => upload.into_iter().for_each(|upload| self.take_in(upload)),
                    Err(problem) => context.observer.warning(&format!("skipped {problem}")),
                }
                self.seen.insert(key.clone());
            }
        }
        self.looked = Some(Instant::now());
        Ok(())
    }

    /// Takes in an upload, without games that are known.
    pub(super) fn take_in(&mut self, mut upload: Upload) {
        upload.games.retain(|game| self.known.insert(game.key()));
        if !upload.games.is_empty() {
            self.plies += upload.training_plies();
            self.games += upload.games.len() as u64;
            self.uploads.push(upload);
        }
    }

    /// Passes over this key, whose upload is or will be taken in.
    pub(super) fn pass_over(&mut self, key: String) {
        self.seen.insert(key);
    }

    /// The uploads, and the keys to remove once their games are recorded.
    pub(in crate::trainer) fn finish(self) -> (Vec<Upload>, Vec<String>) {
        (self.uploads, self.seen.into_iter().collect())
    }
}

/// Decodes an upload and checks that its games have rulesets of this run.
fn read(rulesets: &[NamedRules], name: &str, bytes: &[u8]) -> Result<Upload, String> {
    let upload = Upload::decode(name, bytes).map_err(|error| match error {
        error @ RecordError::Inconsistent { .. } => format!("{name}: {error}"),
        error => error.to_string(),
    })?;
    let foreign = upload.games.iter().find_map(|game| check_rules(rulesets, game).err());
    foreign.map_or(Ok(upload), |problem| Err(format!("{name}: {problem}")))
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Preset;
    use hnefi_run::config::SelfPlayConfig;
    use hnefi_search::SearchConfig;
    use hnefi_selfplay::Fleet;

    use super::*;

    #[test]
    fn an_upload_that_comes_back_after_many_generations_is_known() {
        let game = |number: u32| GameRecord::new(7, number.into(), Preset::Brandubh.rules());
        let recorded: Games = (1..=5).map(|generation| (generation, vec![game(generation)])).collect();
        let fleet = Fleet::new(&SelfPlayConfig::default(), &SearchConfig::default(), 7);
        let mut uploads = Uploads::new(&recorded);
        for (number, games) in [(1, 0), (6, 1)] {
            uploads.take_in(fleet.returned("hnefi", number, vec![game(number)]));
            assert_eq!(uploads.games, games);
        }
    }
}
