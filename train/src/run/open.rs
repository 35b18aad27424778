//! Opening a run directory: a new run, or what an earlier call left.

use std::collections::BTreeMap;

use burn::tensor::Device;
use hnefi_engine::{BoardSize, Preset};
use hnefi_inference::{Card, Encoding};
use hnefi_models::Network;
use hnefi_run::store::{
    Access, Store, StoreError, check_checkpoint, games_key, games_number, inflight_key, metrics_key, state_key,
};
use hnefi_run::{GameRecord, decode_games};
use hnefi_search::rng_for;
use hnefi_selfplay::{Fleet, FleetSnapshot, search_config};
use rand_xoshiro::rand_core::Rng as _;

use super::clock::Clock;
use super::fence::Fence;
use super::observer::{Beginning, TrainObserver};
use super::origin::{Origin, ancestor, first_stage, learner_from, take_over_games};
use super::saved::{self, Counters, InFlight};
use super::terms::Terms;
use super::{Run, RunParams, settings};
use crate::TrainError;
use crate::config::{TrainConfig, checked};
use crate::learner::{Learner, LearnerParams};
use crate::window::WindowParams;

/// Generations of games that may wait to be trained on: one as a rule, some more when states were lost.
const MOST_UNTRAINED: u32 = 1_000;

/// Tells a trainer's seed from everything else that comes from the run's.
const EPOCH: u64 = 0x0065_706F_6368;

impl<'a> Run<'a> {
    /// Opens the run that is there, or begins one.
    pub(super) fn open(
        whole: &'a TrainConfig,
        params: &'a RunParams<'a>,
        observer: &'a dyn TrainObserver,
    ) -> Result<Run<'a>, TrainError> {
        checked(whole, "of this run")?;
        for text in [whole.run.precision.warning(), whole.train.precision.warning()].into_iter().flatten() {
            observer.warning(&text);
        }
        let devices = hnefi_models::device::open_all(&whole.run.train_device)?;
        check_parts(whole, params)?;
        let store = Store::open(&params.location, Access::Write, params.patience.clone())?;
        let origin = settings::settle(&store, whole, params.origin)?;
        let mut warn = |text: &str| observer.warning(text);
        let (fence, announced) = Fence::claim(&store, &mut warn)?;
        let (mut counters, learner) = open_learner(whole, &store, &devices, origin.as_ref(), observer)?;
        let config = &whole.stage(counters.stage)?;
        let rulesets = whole.rulesets()?;
        let trained = counters.generation;
        if !store.is_exclusive() {
            skip_announced(&rulesets, &store, &mut counters, announced, observer)?;
        }
        let complete = counters.generation;
        // Games may be there that were not trained on yet: of one generation as a rule, of more when a state was lost.
        let played_until = newest_games(&store)?.max(complete);
        if played_until - complete > MOST_UNTRAINED {
            let problem = format!("expected games up to about generation {complete}; it is of another run, remove it");
            return Err(TrainError::State { object: store.name(&games_key(played_until)), problem });
        }
        let mut games = load_window(config, &rulesets, &store, &counters, observer)?;
        for generation in complete + 1..=played_until {
            games.insert(generation, load_games(&rulesets, &store, generation, observer)?.unwrap_or_default());
        }
        let (fleet, save, clock) = if store.is_exclusive() {
            open_fleet(config, &store, played_until + 1, &games, observer)?
        } else {
            (shared_fleet(config, &store, fence.epoch(), observer)?, 0, InFlight::default())
        };

        let checkpoint = learner.average().checkpoint(Card::new(config.network))?;
        let elapsed = counters.elapsed_seconds.max(clock.elapsed_seconds);
        let mut run = Run {
            whole,
            config: config.clone(),
            span: whole.stage_span(counters.stage),
            rulesets,
            params,
            observer,
            store,
            fence,
            clock: Clock::starting_from(elapsed, &config.budget),
            learner,
            fleet,
            counters,
            network: trained,
            games,
            played_until,
            finished: clock.finished.unwrap_or_default(),
            selfplay_seconds: clock.selfplay_seconds,
            save,
            published_id: checkpoint.card.id.clone(),
            checkpoint_id: checkpoint.card.id,
            finished_budget: false,
        };
        saved::remove_inflight_before(&run.store, (run.played_until + 1, run.save))?;
        // The newest checkpoint is there already unless the run begins, or somebody removed it.
        let parent = match run.network.checked_sub(1) {
            None => run.counters.parent.clone(),
            Some(before) => check_checkpoint(&run.store, before)?.ok().map(|card| card.id),
        };
        run.publish_checkpoint(run.network, parent)?;
        run.publish_terms()?;
        observer.begins(&Beginning {
            location: &params.location,
            generations: run.complete(),
            games_in_flight: run.fleet.snapshot().games_in_flight(),
            elapsed_seconds: elapsed,
            parameters: run.learner.average().parameter_count(),
        });
        run.tell_stage();
        // What came before, reading files above all, is not charged.
        run.clock = Clock::starting_from(elapsed, &config.budget);
        Ok(run)
    }
}

/// Finds out what cannot be used before anything is created: the device of self-play, and what a new run is to begin
/// with.
fn check_parts(whole: &TrainConfig, params: &RunParams<'_>) -> Result<(), TrainError> {
    if params.selfplay || params.ladder {
        hnefi_models::device::open_all(&whole.run.device)?;
    }
    let Some(path) = params.origin else { return Ok(()) };
    let has_begun = match Store::open(&params.location, Access::Read, params.patience.clone()) {
        Ok(store) => settings::exist(&store)?,
        Err(StoreError::NoDirectory { .. }) => false,
        Err(error) => return Err(error.into()),
    };
    // A run that has begun does not need its origin any more.
    if has_begun { Ok(()) } else { ancestor(path, &whole.stage(first_stage(path, whole)?)?).map(|_| ()) }
}

/// Passes over the generations that an earlier trainer announced and did not complete: it may still be writing them.
/// Their games are there and are trained on with those of the next generation.
fn skip_announced(
    rulesets: &[Preset],
    store: &Store,
    counters: &mut Counters,
    announced: u32,
    observer: &dyn TrainObserver,
) -> Result<(), TrainError> {
    while counters.generation < announced {
        counters.generation += 1;
        let games = load_games(rulesets, store, counters.generation, observer)?.unwrap_or_default();
        counters.plies.push(games.iter().map(|game| game.training_plies() as u64).sum());
    }
    Ok(())
}

/// The fleet of a trainer on a store that it cannot lock. Games in flight are not kept there, and another trainer may
/// have begun games of the same numbers: so it begins anew, under a seed of this epoch. What was learned about playing
/// is in the terms.
fn shared_fleet(
    config: &TrainConfig,
    store: &Store,
    epoch: u32,
    observer: &dyn TrainObserver,
) -> Result<Fleet, TrainError> {
    let seed = rng_for(&[config.run.seed, EPOCH, u64::from(epoch)]).next_u64();
    let mut fleet = Fleet::new(&config.selfplay, &search_config(&config.search), seed);
    if let Some((_, terms)) = Terms::newest_after(store, 0, &mut |text| observer.warning(text))? {
        fleet.adapt(&terms.adaptation);
    }
    Ok(with_threads(fleet, config))
}

/// The newest state that can be read with its learner, or that of a fresh learner for a run without generations.
fn open_learner(
    whole: &TrainConfig,
    store: &Store,
    devices: &[Device],
    origin: Option<&Origin>,
    observer: &dyn TrainObserver,
) -> Result<(Counters, Learner), TrainError> {
    let mut problems = Vec::new();
    for generation in saved::states(store)? {
        let object = format!("state/{generation:06}");
        let read = saved::read_state(store, generation).and_then(|(counters, mut state)| {
            if let Encoding::V1 { ply_caps } = &mut state.encoding {
                *ply_caps = BoardSize::ALL.map(|size| whole.selfplay.ply_caps.of(size));
            }
            let config = whole.stage(counters.stage)?;
            let params = LearnerParams::from(&config.train);
            Ok((counters, Learner::load(state, &config.network, devices, params, &object)?))
        });
        match read {
            Ok(found) => {
                // A generation that was measured had a state.
                if problems.is_empty() && store.exists(&metrics_key(generation + 1))? {
                    let key = format!("{}/counters.json", state_key(generation + 1));
                    observer.warning(&format!("skipped {}: not found; going back one generation", store.name(&key)));
                }
                return Ok(found);
            }
            // What a later version wrote is not damaged, and must not be replaced.
            Err(error @ TrainError::Newer { .. }) => return Err(error),
            Err(error) => {
                observer.warning(&format!("skipped {error}; going back one generation"));
                problems.push(error.to_string());
            }
        }
    }
    // Without a state, the run can begin anew only if no generation was completed.
    if store.checkpoints()?.iter().any(|&generation| generation > 0) {
        let problems = if problems.is_empty() { "none is there".to_owned() } else { problems.join("; ") };
        return Err(TrainError::NoState { place: store.place(), problems });
    }
    let stage = origin.map_or(Ok(0), |origin| first_stage(&origin.path, whole))?;
    let config = whole.stage(stage)?;
    let (learner, parent) = first_learner(&config, devices, origin, LearnerParams::from(&config.train))?;
    let mut counters = Counters::fresh(parent);
    if let Some(origin) = origin {
        counters.plies_taken_over = take_over_games(&origin.path, &config, &whole.rulesets()?, store, observer)?;
    }
    (counters.first_stage, counters.stage) = (stage, stage);
    // From here on the run does not need its origin any more, which may move or go on; and the first generation can be
    // trained again, should this process die between its checkpoint and its state.
    saved::write_state(store, &counters, &learner.save()?)?;
    Ok((counters, learner))
}

/// The learner that a run begins with, and the id of the checkpoint that its weights are from.
fn first_learner(
    config: &TrainConfig,
    devices: &[Device],
    origin: Option<&Origin>,
    params: LearnerParams,
) -> Result<(Learner, Option<String>), TrainError> {
    if let Some(Origin { path }) = origin {
        let (learner, parent) = learner_from(path, config, devices, params)?;
        return Ok((learner, Some(parent)));
    }
    let network = Network::fresh(&config.network, config.run.seed, &Device::flex());
    Ok((Learner::new(&network, devices, params)?, None))
}

/// The newest generation whose games are in the directory; 0 when there are none.
fn newest_games(store: &Store) -> Result<u32, TrainError> {
    Ok(store.list("games/")?.iter().filter_map(|key| games_number(key)).max().unwrap_or(0))
}

/// The games of all generations that the next training may draw from.
fn load_window(
    config: &TrainConfig,
    rulesets: &[Preset],
    store: &Store,
    counters: &Counters,
    observer: &dyn TrainObserver,
) -> Result<BTreeMap<u32, Vec<GameRecord>>, TrainError> {
    let mut games = BTreeMap::new();
    // The window slides forward only, so what it holds now is all it will ever need of the past.
    for generation in counters.window(WindowParams::from(&config.train)) {
        if let Some(found) = load_games(rulesets, store, generation, observer)? {
            games.insert(generation, found);
        }
    }
    Ok(games)
}

/// The games of one generation; `None`, with a warning, when the file is missing or damaged. Games that contradict the
/// rules or are of rulesets that the run does not play are left out in the same way.
pub(super) fn load_games(
    rulesets: &[Preset],
    store: &Store,
    generation: u32,
    observer: &dyn TrainObserver,
) -> Result<Option<Vec<GameRecord>>, TrainError> {
    let key = games_key(generation);
    let bytes = match store.get(&key) {
        Err(StoreError::Missing { .. }) => {
            observer.warning(&format!("skipped {key}: not found"));
            return Ok(None);
        }
        other => other?,
    };
    match decode_games(&store.name(&key), &bytes) {
        Ok(mut games) => {
            games.retain(|game| match check_game(rulesets, game) {
                Ok(()) => true,
                Err(problem) => {
                    observer.warning(&format!("{key}: skipped {problem}"));
                    false
                }
            });
            Ok(Some(games))
        }
        Err(error) => {
            observer.warning(&format!("skipped {error}"));
            Ok(None)
        }
    }
}

/// Whether a game has one of these rulesets, which the run plays, and follows it.
pub(super) fn check_game(rulesets: &[Preset], game: &GameRecord) -> Result<(), String> {
    check_rules(rulesets, game)?;
    game.check().map_err(|error| error.to_string())
}

/// Whether a game has one of these rulesets, which the run plays. Ply caps do not matter.
pub(super) fn check_rules(rulesets: &[Preset], game: &GameRecord) -> Result<(), String> {
    let found = game.rules.preset();
    if found.is_some_and(|preset| rulesets.contains(&preset)) {
        return Ok(());
    }
    let found = found.map_or("of its own", |preset| preset.name());
    let own: Vec<&str> = rulesets.iter().map(|preset| preset.name()).collect();
    Err(format!("game {}: its rules are {found}; expected {}", game.game, own.join(", ")))
}

/// The fleet as it was saved last while generation `playing` was played, with the number of the save and its clock; a
/// fresh fleet when there is no save that can be read.
fn open_fleet(
    config: &TrainConfig,
    store: &Store,
    playing: u32,
    games: &BTreeMap<u32, Vec<GameRecord>>,
    observer: &dyn TrainObserver,
) -> Result<(Fleet, u32, InFlight), TrainError> {
    let (selfplay, search, seed) = (&config.selfplay, &search_config(&config.search), config.run.seed);
    let saves = saved::inflight_saves(store, playing)?;
    let newest = saves.first().copied().unwrap_or(0);
    for save in saves {
        let key = inflight_key(playing, save);
        let name = store.name(&key);
        let read =
            FleetSnapshot::decode(&name, &store.get(&key)?).map_err(|error| error.to_string()).and_then(|snapshot| {
                Fleet::resume(selfplay, search, seed, snapshot).map_err(|error| format!("{name}: {error}"))
            });
        match read {
            Ok(fleet) => {
                let clock = saved::read_clock(store, playing, save).unwrap_or_else(|error| {
                    observer.warning(&format!("skipped {error}; what this generation has cost so far is not known"));
                    InFlight::default()
                });
                return Ok((with_threads(fleet, config), newest, clock));
            }
            Err(error) => observer.warning(&format!("skipped {error}; its games in flight are played again")),
        }
    }
    // Workers number their games themselves, under seeds of their own.
    let own = games.values().flatten().filter(|game| game.seed == seed);
    let first = own.map(|game| game.game + 1).max().unwrap_or(0);
    let fleet = Fleet::starting_at(first, selfplay, search, seed);
    Ok((with_threads(fleet, config), newest, InFlight::default()))
}

/// The fleet with the configured number of threads; 0 means what suits the device.
pub(super) fn with_threads(fleet: Fleet, config: &TrainConfig) -> Fleet {
    match config.run.threads {
        0 => fleet.with_threads(config.selfplay.threads_on(&config.run.device)),
        threads => fleet.with_threads(threads),
    }
}
