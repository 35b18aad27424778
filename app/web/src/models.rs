//! The networks a page may choose: shipped checkpoints, and checkpoints of the runs and folders named on the command
//! line. Beside them the opponent that was named there.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hnefi_arena::ladder::evenly_spaced;
use hnefi_arena::players::{self, CheckpointSource};
use hnefi_board::{ExternalPlayer, Offer, PlayerError, PlayerId, Players};
use hnefi_inference::{Card, Checkpoint, Devices, Evaluator, PrecisionChoice, pretrained_card, pretrained_names};
use hnefi_run::Run;

use crate::opponent::{CommandLineOpponent, last_part};

/// Networks kept in memory at once; the one used longest ago goes.
const LOADED: usize = 6;

/// Checkpoints of one run that are offered, the newest among them.
const PER_RUN: usize = 9;

/// Something that makes evaluators of one network, one for each thread.
type Factory = Arc<dyn Fn() -> Box<dyn Evaluator> + Send + Sync>;

/// The models, and which of them are loaded.
pub(crate) struct Models {
    devices: Devices,
    runs: Vec<Arc<Run>>,
    checkpoints: Vec<PathBuf>,
    /// The shipped models by name, with their cards.
    shipped: Vec<(&'static str, Card)>,
    named: Option<CommandLineOpponent>,
    /// By key, the one used last at the end.
    loaded: Mutex<Vec<(String, Factory)>>,
}

impl Models {
    /// Models of these runs and checkpoint folders, and the shipped ones; beside them the opponent that was
    /// named.
    pub(crate) fn new(
        devices: Devices,
        runs: Vec<Arc<Run>>,
        checkpoints: Vec<PathBuf>,
        named: Option<CommandLineOpponent>,
    ) -> Models {
        let card = |name| Some((name, pretrained_card(name)?.ok()?));
        let shipped = pretrained_names().into_iter().filter_map(card).collect();
        Models { devices, runs, checkpoints, shipped, named, loaded: Mutex::new(Vec::new()) }
    }

    /// Makes evaluators of a network, which is loaded if it is not.
    ///
    /// # Errors
    /// When there is no such model or it cannot be loaded.
    fn factory(&self, key: &str) -> Result<Factory, PlayerError> {
        let (source, name, resolved) = self.place(key)?;
        if let Some(found) = self.loaded_before(&resolved) {
            return Ok(found);
        }
        let checkpoint = source.load().map_err(|error| {
            let problem = match error {
                players::PlayerError::NoModel { problem, .. } => problem,
                other => other.to_string(),
            };
            // Errors name files; where they lie on this machine is nobody's business.
            PlayerError::Unusable(problem.replace(&source.to_string(), &name))
        })?;
        let made: Factory = self
            .devices
            .evaluators(&checkpoint.weights, PrecisionChoice::Auto)
            .map_err(|error| PlayerError::Unusable(error.to_string()))?
            .into();
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.push((resolved, made.clone()));
        if loaded.len() > LOADED {
            loaded.remove(0);
        }
        Ok(made)
    }

    fn loaded_before(&self, resolved: &str) -> Option<Factory> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let index = loaded.iter().position(|(key, _)| key == resolved)?;
        let entry = loaded.remove(index);
        let factory = entry.1.clone();
        loaded.push(entry);
        Some(factory)
    }

    /// Where a key leads, the model's name, and its lasting identity.
    fn place(&self, key: &str) -> Result<(CheckpointSource, String, String), PlayerError> {
        let unknown = || PlayerError::NoModel(key.to_owned());
        let parts: Vec<&str> = key.split('/').collect();
        match parts[..] {
            ["shipped", name] if self.shipped.iter().any(|(known, _)| *known == name) => {
                Ok((CheckpointSource::Shipped(name.to_owned()), name.to_owned(), key.to_owned()))
            }
            ["given", index] => {
                let index: usize = index.parse().map_err(|_| unknown())?;
                let folder = self.checkpoints.get(index).ok_or_else(unknown)?;
                Ok((CheckpointSource::Folder(folder.clone()), last_part(folder), key.to_owned()))
            }
            ["run", index] | ["run", index, _] => {
                let index: usize = index.parse().map_err(|_| unknown())?;
                let run = self.runs.get(index).ok_or_else(unknown)?;
                let generation: u32 = match parts.get(2) {
                    Some(number) => number.parse().map_err(|_| unknown())?,
                    None => *newest_first(run)
                        .first()
                        .ok_or_else(|| PlayerError::Unusable("the run has no checkpoint yet".to_owned()))?,
                };
                if run.card(generation).is_none() {
                    return Err(unknown());
                }
                let name = format!("{} {generation}", run.name());
                Ok((CheckpointSource::Run(run.clone(), generation), name, format!("run/{index}/{generation}")))
            }
            _ => Err(unknown()),
        }
    }
}

impl Players for Models {
    fn networks(&self) -> Vec<Offer> {
        let mut offers = Vec::new();
        let mut add = |key: String, name: String, rulesets: Vec<String>| {
            offers.push(Offer { id: PlayerId::Model(key), name, rulesets, is_model: true });
        };
        for (index, run) in self.runs.iter().enumerate() {
            let name = run.name();
            let generations = evenly_spaced(&newest_first(run), PER_RUN);
            for (place, &generation) in generations.iter().enumerate() {
                let Some(card) = run.card(generation) else { continue };
                let newest = place == 0;
                let key = if newest { format!("run/{index}") } else { format!("run/{index}/{generation}") };
                let note = if newest { ", newest" } else { "" };
                add(key, format!("{name}, generation {generation}{note}"), card.rulesets);
            }
        }
        for (index, folder) in self.checkpoints.iter().enumerate() {
            if let Ok(card) = Checkpoint::load_card(folder) {
                add(format!("given/{index}"), last_part(folder), card.rulesets);
            }
        }
        for (name, card) in &self.shipped {
            add(format!("shipped/{name}"), format!("{name}, shipped"), card.rulesets.clone());
        }
        offers
    }

    fn name(&self, key: &str) -> Result<String, PlayerError> {
        self.place(key).map(|(_, name, _)| name)
    }

    fn resolve(&self, key: &str) -> Result<String, PlayerError> {
        self.place(key).map(|(_, _, resolved)| resolved)
    }

    fn evaluator(&self, key: &str) -> Result<Option<Box<dyn Evaluator>>, PlayerError> {
        Ok(Some(self.factory(key)?()))
    }

    fn identities(&self) -> HashMap<String, String> {
        let mut names = HashMap::new();
        for (name, card) in &self.shipped {
            names.insert(card.id.clone(), (*name).to_owned());
        }
        for folder in &self.checkpoints {
            if let Ok(card) = Checkpoint::load_card(folder) {
                names.insert(card.id, last_part(folder));
            }
        }
        for run in &self.runs {
            for generation in newest_first(run) {
                if let Some(card) = run.card(generation) {
                    names.insert(card.id, format!("{} {generation}", run.name()));
                }
            }
        }
        names
    }

    fn external(&self) -> Option<&dyn ExternalPlayer> {
        self.named.as_ref().map(|named| named as &dyn ExternalPlayer)
    }
}

/// Whether the folder holds a checkpoint, by its card.
pub(crate) fn is_checkpoint(folder: &Path) -> bool {
    Checkpoint::load_card(folder).is_ok_and(|card: Card| !card.id.is_empty())
}

/// The generations of a run that have a checkpoint, newest first.
fn newest_first(run: &Run) -> Vec<u32> {
    let mut found = run.checkpoints().unwrap_or_default();
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use hnefi_board::{Fit, adviser};
    use hnefi_engine::{Preset, Rules};

    use super::*;

    #[test]
    fn keys_lead_to_listed_places_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let empty = Run::open_directory(folder.path()).expect("it is there");
        let models = Models::new(Devices::cpu(), vec![empty.into()], Vec::new(), None);
        for key in ["", "/etc", "run/0", "run/1", "run/0/../..", "given/0", "shipped/..", "shipped/nobody", "run/0/7"] {
            assert!(models.factory(key).is_err(), "{key}");
        }
    }

    #[test]
    fn a_network_of_the_board_advises_where_none_knows_the_rules() {
        let models = Models::new(Devices::cpu(), Vec::new(), Vec::new(), None);
        for preset in Preset::ALL {
            let shipped =
                hnefi_inference::pretrained_for(preset).map(|name| PlayerId::Model(format!("shipped/{name}")));
            assert_eq!(adviser(&models.networks(), &preset.rules()).map(|(id, _)| id), shipped.ok(), "{preset}");
        }
        let played_on = Rules { repetition: hnefi_engine::Repetition::Ignore, ..Preset::Copenhagen.rules() };
        assert_eq!(played_on.preset(), None);
        let (id, fit) = adviser(&models.networks(), &played_on).expect("the network of the board");
        assert_eq!((String::from(id).as_str(), fit), ("model:shipped/copenhagen", Fit::Board));
    }

    #[test]
    fn errors_of_damaged_checkpoints_name_no_folder_of_this_machine() {
        let folder = tempfile::tempdir().expect("a folder");
        let card = serde_json::to_string(&pretrained_card("brandubh").expect("shipped").expect("sound")).expect("JSON");
        std::fs::write(folder.path().join("card.json"), card).expect("a file");
        let models = Models::new(Devices::cpu(), Vec::new(), vec![folder.path().to_owned()], None);
        let Err(problem) = models.factory("given/0") else { panic!("there are no weights") };
        assert!(!problem.to_string().contains(&folder.path().display().to_string()), "{problem}");
        assert!(problem.to_string().contains("model.safetensors"), "{problem}");
    }
}
