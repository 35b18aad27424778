//! Beginning a run with the weights of another run.
//!
//! A run gives the weights in training, the averaged weights and the optimiser's moments of its newest generation, the
//! games of its replay window, which become generation 0 of the new run, and its handicaps and resignation rule. A
//! checkpoint gives only its weights, and the optimiser begins anew. In both cases steps, samples and generations count
//! from zero. A network smaller than the configured one is grown, from its averaged weights and with a new optimiser.

use std::path::Path;
use std::sync::Arc;

use burn::tensor::Device;
use hnefi_arena::players::{CheckpointSource, ModelCache, PlayerError};
use hnefi_engine::NamedRules;
use hnefi_inference::{Checkpoint, Devices};
use hnefi_models::Network;
use hnefi_run::store::{Store, checkpoint_key, games_key, games_number};
use hnefi_run::{GameRecord, Run, decode_games, encode_games};
use hnefi_search::SearchConfig;

use super::games::{check_game, load_games, training_plies};
use super::observer::TrainObserver;
use super::saved;
use crate::TrainError;
use crate::config::TrainConfig;
use crate::learner::{Learner, LearnerParams, TrainingDevice};
use crate::window;

/// A learner with the weights of `path` for a run with `config`, and the id of their checkpoint. `has_command` is
/// whether a program of the user's trains it.
pub(super) fn learner_from(
    path: &Path,
    config: &TrainConfig,
    devices: &[TrainingDevice],
    params: LearnerParams,
    has_command: bool,
) -> Result<(Learner, String), TrainError> {
    let Ancestor { network, id, same_shape } = ancestor(path, config)?;
    // Only a run has a state, and its optimiser's moments do not fit a grown network.
    if same_shape
        && let Some(run) = run_at(path)
        && let store = run.store()
        && let Some(&generation) = saved::states(store)?.first()
        // A copy may lack the newest state: an older one has the weights of an older generation.
        && store.checkpoints()?.last().is_none_or(|&newest| newest <= generation)
    {
        let refuse = |error: TrainError| TrainError::Origin {
            path: path.to_owned(),
            problem: format!("{error}; its checkpoint alone will do ({})", store.name(&checkpoint_key(generation))),
        };
        let (_, mut state) = saved::read_state(store, generation).map_err(refuse)?;
        // Without the command that made it the state says nothing, and the moments are older than the weights.
        if state.command.is_empty() || has_command {
            state.counts = state.counts.of_a_new_run();
            let object = format!("state/{generation:06} of {}", path.display());
            return Ok((Learner::load(state, &config.network, devices, params, &object).map_err(refuse)?, id));
        }
    }
    Ok((Learner::new(&network, devices, params)?, id))
}

/// Copies the games that the replay window of `config` would hold in the run at `path` into generation 0 of `store`,
/// and returns the number of their training plies; 0 if `path` is not a run. Games of other rulesets than `rulesets`
/// are left out. Existing games of an interrupted attempt are kept.
pub(super) fn take_over_games(
    path: &Path,
    config: &TrainConfig,
    rulesets: &[NamedRules],
    store: &Store,
    observer: &dyn TrainObserver,
) -> Result<u64, TrainError> {
    let key = games_key(0);
    let mut games = Vec::new();
    if store.exists(&key)? {
        games = load_games(rulesets, store, 0, observer)?.unwrap_or_default();
    } else if let Some(run) = run_at(path) {
        let origin = run.store();
        let read = |generation: u32| -> Result<Vec<GameRecord>, TrainError> {
            let key = games_key(generation);
            let mut found = decode_games(&origin.name(&key), &origin.get(&key)?)?;
            found.retain(|game| check_game(rulesets, game).is_ok());
            Ok(found)
        };
        // How far the window reaches back is known when all plies are counted; two readings hold one window in memory.
        let mut counted: Vec<(u32, u64)> = Vec::new();
        for generation in origin.numbers("games/", games_number)? {
            match read(generation) {
                Ok(found) => counted.push((generation, training_plies(&found))),
                Err(error) => observer.warning(&format!("{error}; it is not taken over")),
            }
        }
        let plies: Vec<u64> = counted.iter().map(|&(_, plies)| plies).collect();
        for &(generation, _) in &counted[window::range(&config.train, &plies)] {
            games.extend(read(generation)?);
        }
        if !games.is_empty() {
            store.create(&key, &encode_games(&games))?;
        }
    }
    Ok(training_plies(&games))
}

/// The stage in which a run begins with the network of `path`: the first stage whose network it grows to and that
/// shares a ruleset with it, or else the first stage whose network it grows to. A run that begins in a later stage
/// stays there until the budget reaches the next stage.
pub(super) fn first_stage(path: &Path, whole: &TrainConfig) -> Result<usize, TrainError> {
    if whole.stages.is_empty() {
        return Ok(0);
    }
    let card = checkpoint(path)?.card;
    let stages = (0..whole.stage_count()).map(|index| whole.stage(index)).collect::<Result<Vec<_>, _>>()?;
    let fits = |stage: &TrainConfig| card.network.grows_to(&stage.network).is_ok();
    let knows = |stage: &TrainConfig| {
        stage.selfplay.rulesets_played().iter().any(|rules| card.rulesets.contains(&rules.name()))
    };
    let first = stages.iter().position(|stage| fits(stage) && knows(stage)).or_else(|| stages.iter().position(fits));
    // If none fits, growth to the last stage's network reports the problem.
    Ok(first.unwrap_or(stages.len() - 1))
}

/// The run that `path` means: a shipped network's name or a checkpoint's folder is none.
pub(super) fn run_at(path: &Path) -> Option<Arc<Run>> {
    match CheckpointSource::of(path) {
        Ok(CheckpointSource::Run(run, _)) => Some(run),
        _ => None,
    }
}

fn checkpoint(path: &Path) -> Result<Checkpoint, TrainError> {
    let mut models = ModelCache::new(Devices::cpu(), SearchConfig::default());
    let refuse = |problem: String| TrainError::Origin { path: path.to_owned(), problem };
    models.checkpoint(path).cloned().map_err(|error| match error {
        PlayerError::NoModel { problem, .. } => refuse(problem),
        error => refuse(error.to_string()),
    })
}

/// The network that a new run or training begins with.
pub(crate) struct Ancestor {
    /// The network, of the configuration's shape.
    pub(crate) network: Network,
    pub(crate) id: String,
    /// Whether it had that shape without growth.
    same_shape: bool,
}

/// Loads the network of `path`: a run's newest checkpoint, a checkpoint folder, or the name of a shipped checkpoint. A
/// network smaller than the configured one is grown.
pub(crate) fn ancestor(path: &Path, config: &TrainConfig) -> Result<Ancestor, TrainError> {
    let refuse = |problem: String| TrainError::Origin { path: path.to_owned(), problem };
    let checkpoint = checkpoint(path)?;
    let (there, here) = (checkpoint.card.network, config.network);
    let id = checkpoint.card.id.clone();
    let network = Network::load(&checkpoint.weights, &Device::flex())?;
    if there == here {
        return Ok(Ancestor { network, id, same_shape: true });
    }
    let network = network.grown(&there, &here, config.run.seed).map_err(|reason| {
        refuse(format!(
            "its network is {there:?}; expected that of the configuration, {here:?}, or one that grows to it, but \
             {reason}"
        ))
    })?;
    Ok(Ancestor { network, id, same_shape: false })
}
