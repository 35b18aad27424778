//! Checkpoints by path or name, each loaded once however many players use it.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hnefi_inference::names::did_you_mean;
use hnefi_inference::{CARD_FILE, Checkpoint, Devices, Evaluator, PrecisionChoice, pretrained, pretrained_names};

use crate::players::PlayerError;
use hnefi_run::Run;
use hnefi_run::store::{Location, RetryPolicy, checkpoint_key};
use hnefi_search::SearchConfig;

/// The folder of a run that holds its checkpoints, numbered by generation.
const CHECKPOINTS: &str = "checkpoints";

/// Loaded checkpoints, and how the players built from them evaluate and search.
#[derive(Debug)]
pub struct ModelCache {
    devices: Devices,
    search: SearchConfig,
    loaded: HashMap<PathBuf, Checkpoint>,
    /// The devices of each network in each precision, and what to tell of what was left to the machine.
    settled: HashMap<(PathBuf, PrecisionChoice), (Devices, Option<String>)>,
}

impl ModelCache {
    /// An empty cache. Players evaluate on `devices` and search by `search`, except for what their specs say
    /// otherwise and the kind of root.
    pub fn new(devices: Devices, search: SearchConfig) -> ModelCache {
        ModelCache { devices, search, loaded: HashMap::new(), settled: HashMap::new() }
    }

    /// How players search that do not say otherwise.
    pub fn search(&self) -> &SearchConfig {
        &self.search
    }

    /// The checkpoint that `path` means: the name of a shipped checkpoint (`./NAME` is a folder of that name), a
    /// checkpoint folder, a run directory (its newest checkpoint at the time of the first call), or a run in a bucket
    /// such as `s3://BUCKET/runs/first` (the same).
    ///
    /// # Errors
    /// When there is none, or it is damaged or of another encoding, or the device or the bucket is not there.
    pub fn checkpoint(&mut self, path: &Path) -> Result<&Checkpoint, PlayerError> {
        if !self.loaded.contains_key(path) {
            let checkpoint = CheckpointSource::of(path)?.load()?;
            self.loaded.insert(path.to_owned(), checkpoint);
        }
        Ok(&self.loaded[path])
    }

    /// Where that network evaluates, tried out once, and what to tell of what was left to the machine.
    ///
    /// # Errors
    /// As [`ModelCache::evaluators`].
    pub fn settled(
        &mut self,
        path: &Path,
        precision: PrecisionChoice,
    ) -> Result<&(Devices, Option<String>), PlayerError> {
        let key = (path.to_owned(), precision);
        if !self.settled.contains_key(&key) {
            let devices = self.devices.clone();
            let found = devices.settled(&self.checkpoint(path)?.weights, precision)?;
            self.settled.insert(key.clone(), found);
        }
        Ok(&self.settled[&key])
    }

    /// New evaluators of the checkpoint that `path` means, in that precision, one per thread.
    ///
    /// # Errors
    /// As [`ModelCache::checkpoint`], and when the device does not compute in that precision.
    pub fn evaluators(
        &mut self,
        path: &Path,
        precision: PrecisionChoice,
        threads: u32,
    ) -> Result<Vec<Box<dyn Evaluator>>, PlayerError> {
        let devices = self.settled(path, precision)?.0.clone();
        let make = devices.evaluators(&self.checkpoint(path)?.weights, precision)?;
        Ok((0..threads).map(|_| make()).collect())
    }
}

/// Where a checkpoint lies. Displays as the folder, the object or the name.
#[derive(Clone, Debug)]
pub enum CheckpointSource {
    /// A checkpoint folder.
    Folder(PathBuf),
    /// A generation of a run.
    Run(Arc<Run>, u32),
    /// Shipped with the toolkit, by name.
    Shipped(String),
}

impl CheckpointSource {
    /// What `path` means, see [`ModelCache::checkpoint`].
    ///
    /// # Errors
    /// When there is nothing of the kind, or the bucket is not there.
    pub fn of(path: &Path) -> Result<CheckpointSource, PlayerError> {
        let names = pretrained_names();
        // As text: paths that are equal may be written in several ways, of which one is a name.
        if let Some(name) = path.to_str().filter(|name| names.contains(name)) {
            return Ok(CheckpointSource::Shipped(name.to_owned()));
        }
        let missing = |problem| Err(PlayerError::NoModel { path: path.display().to_string(), problem });
        let location = Location::from(path);
        let path = match &location {
            Location::Directory(folder) => folder.as_path(),
            Location::Bucket(_) => path,
        };
        if path.join(CARD_FILE).is_file() {
            return Ok(CheckpointSource::Folder(path.to_owned()));
        }
        if matches!(location, Location::Bucket(_)) || path.join(CHECKPOINTS).is_dir() {
            let run = Run::open(&location, RetryPolicy::interactive())?;
            return match run.checkpoints()?.pop() {
                Some(newest) => Ok(CheckpointSource::Run(run.into(), newest)),
                None => missing("there is no run, or it has no checkpoint yet".to_owned()),
            };
        }
        let found = if path.exists() {
            format!("it has neither {CARD_FILE} (a checkpoint) nor {CHECKPOINTS} (a run)")
        } else {
            "there is no such folder".to_owned()
        };
        let shipped = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let meant = path.to_str().map(|text| did_you_mean(text, names.iter().copied())).unwrap_or_default();
        missing(format!("{found}, and no shipped checkpoint of that name; shipped: {shipped}{meant}"))
    }

    /// Reads the checkpoint.
    ///
    /// # Errors
    /// When it is not there, damaged or of another encoding.
    pub fn load(&self) -> Result<Checkpoint, PlayerError> {
        let missing = |path: &str, problem| PlayerError::NoModel { path: path.to_owned(), problem };
        match self {
            CheckpointSource::Folder(folder) => Ok(Checkpoint::load(folder)?),
            CheckpointSource::Run(run, generation) => {
                let folder = run.store().name("");
                run.checkpoint(*generation)
                    .map_err(|problem| missing(folder.trim_end_matches('/'), problem.to_string()))
            }
            CheckpointSource::Shipped(name) => {
                Ok(pretrained(name).ok_or_else(|| missing(name, format!("no shipped model {name:?}")))??)
            }
        }
    }
}

impl fmt::Display for CheckpointSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckpointSource::Folder(folder) => folder.display().fmt(f),
            CheckpointSource::Run(run, generation) => f.write_str(&run.store().name(&checkpoint_key(*generation))),
            CheckpointSource::Shipped(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::players::{Limit, ModelSpec, PlayerSpec};

    #[test]
    fn what_is_no_checkpoint_says_what_it_lacks() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [empty, run] = ["empty", "run"].map(|name| folder.path().join(name));
        std::fs::create_dir(&empty).expect("a new folder");
        std::fs::create_dir_all(run.join(CHECKPOINTS).join("000001")).expect("a new folder");
        let mut models = ModelCache::new(Devices::cpu(), SearchConfig::default());
        for (path, expected) in [
            ("no/such/run".into(), "model no/such/run: there is no such folder, and no shipped"),
            ("brandub".into(), "; did you mean brandubh?"),
            (empty, "it has neither card.json (a checkpoint) nor checkpoints (a run)"),
            (format!("file:{}", run.display()).into(), "it has no checkpoint yet"),
            (run, "it has no checkpoint yet"),
        ] {
            let player = PlayerSpec::Model(ModelSpec::new(path, Limit::Playouts(8)));
            let found = player.build(&mut models).err().expect("refused").to_string();
            assert!(found.contains(expected), "{found}");
        }
    }
}
