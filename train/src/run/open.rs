//! Opens a run: a new one, or an earlier one to resume.

use std::collections::BTreeMap;

use burn::tensor::Device;
use hnefi_engine::Preset;
use hnefi_inference::Card;
use hnefi_models::Network;
use hnefi_run::store::{
    Access, Store, StoreError, check_checkpoint, games_key, games_number, inflight_key, metrics_key, state_key,
    tensorboard_key,
};
use hnefi_run::{GameRecord, decode_games};
use hnefi_search::rng_for;
use hnefi_selfplay::{Fleet, FleetSnapshot, search_config};
use rand_xoshiro::rand_core::Rng as _;

use super::clock::{Clock, unix_seconds};
use super::fence::Fence;
use super::job::Job;
use super::observer::{RunStart, TrainObserver};
use super::origin::{Origin, ancestor, first_stage, learner_from, take_over_games};
use super::saved::{self, Counters, InFlight};
use super::{Run, RunParams, SelfPlay, settings};
use crate::TrainError;
use crate::config::{TrainConfig, checked};
use crate::learner::{Learner, LearnerParams};
use crate::tensorboard::configuration_events;
use crate::window::WindowParams;

/// Most generations announced or of games not trained on yet: normally one, more after lost states.
const MOST_UNTRAINED: u32 = 1_000;

/// Separates the seeds of epochs from other values derived from the run's seed.
const EPOCH: u64 = 0x0065_706F_6368;

impl<'a> Run<'a> {
    /// Opens an existing run, or begins a new one.
    pub(super) fn open(
        whole: &'a TrainConfig,
        params: &'a RunParams<'a>,
        observer: &'a dyn TrainObserver,
    ) -> Result<Run<'a>, TrainError> {
        checked(whole, "of this run")?;
        let idle = match (params.selfplay, whole.run.threads) {
            (SelfPlay::InTurns, 0) => whole.selfplay.idle_threads(whole.selfplay.threads_on(&whole.run.device)),
            _ => None,
        };
        let warnings = [whole.run.precision.warning(), whole.train.precision.warning(), idle];
        for text in warnings.into_iter().flatten() {
            observer.warning(&text);
        }
        let devices = hnefi_models::device::open_all(&whole.run.train_device)?;
        check_parts(whole, params)?;
        let store = Store::open(&params.location, Access::Write, params.retry.clone())?;
        let origin = settings::settle(&store, whole, params.origin)?;
        let mut warn = |text: &str| observer.warning(text);
        let (fence, announced) = Fence::claim(&store, &params.machine, &mut warn)?;
        let (mut counters, learner) = open_learner(whole, &store, &devices, origin.as_ref(), observer)?;
        let config = &whole.stage(counters.stage)?;
        let rulesets = whole.rulesets()?;
        let trained = counters.generation;
        if !store.is_exclusive() {
            skip_announced(&rulesets, &store, &mut counters, announced, observer)?;
        }
        let complete = counters.generation;
        // There may be games that were not trained on yet: of one generation normally, of more after a lost state.
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
            open_fleet(config, &store, played_until + 1, &games, origin.as_ref(), observer)?
        } else {
            (shared_fleet(config, &store, fence.epoch(), origin.as_ref(), observer)?, 0, InFlight::default())
        };

        let checkpoint = learner.average().checkpoint(Card::new(config.network))?;
        let spent = counters.spent.max(clock.spent);
        let mut run = Run {
            whole,
            config: config.clone(),
            span: whole.stage_span(counters.stage),
            rulesets,
            params,
            observer,
            link: None,
            store,
            fence,
            clock: Clock::starting_from(spent, &config.budget),
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
        // The newest checkpoint exists unless the run begins or the checkpoint was removed.
        let parent = match run.network.checked_sub(1) {
            None => run.counters.parent.clone(),
            Some(before) => check_checkpoint(&run.store, before)?.ok().map(|card| card.id),
        };
        run.publish_checkpoint(run.network, run.counters.stage, parent)?;
        run.publish_job()?;
        // Like every object it is never changed, so it tells what the run began with.
        let settings = configuration_events(unix_seconds(), whole);
        run.store.create_once(&tensorboard_key(0), &settings)?;
        observer.begins(&RunStart {
            location: &params.location,
            generations: run.complete(),
            games_in_flight: run.fleet.snapshot().games_in_flight(),
            elapsed_seconds: run.clock.elapsed(),
            parameters: run.learner.average().parameter_count(),
        });
        run.tell_stage();
        // Opening the run is not charged to the budget.
        run.clock = Clock::starting_from(spent, &config.budget);
        Ok(run)
    }
}

/// Checks the device of self-play and the origin of a new run before anything is created.
fn check_parts(whole: &TrainConfig, params: &RunParams<'_>) -> Result<(), TrainError> {
    if params.selfplay != SelfPlay::Elsewhere || params.ladder {
        hnefi_models::device::open_all(&whole.run.device)?;
    }
    let Some(path) = params.origin else { return Ok(()) };
    let has_begun = match Store::open(&params.location, Access::Read, params.retry.clone()) {
        Ok(store) => settings::exist(&store)?,
        Err(StoreError::NoDirectory { .. }) => false,
        Err(error) => return Err(error.into()),
    };
    // An existing run does not need its origin.
    if has_begun { Ok(()) } else { ancestor(path, &whole.stage(first_stage(path, whole)?)?).map(|_| ()) }
}

/// Skips the generations that an earlier trainer announced and did not complete, because it may still be writing them.
/// Their games are trained on with the next generation.
fn skip_announced(
    rulesets: &[Preset],
    store: &Store,
    counters: &mut Counters,
    announced: u32,
    observer: &dyn TrainObserver,
) -> Result<(), TrainError> {
    let ahead = announced.saturating_sub(counters.generation);
    if ahead > MOST_UNTRAINED {
        let problem = format!("generation {announced} is announced; expected about {}", counters.generation + 1);
        return Err(TrainError::State { object: format!("trainer/ in {}", store.place()), problem });
    }
    while counters.generation < announced {
        counters.generation += 1;
        let games = load_games(rulesets, store, counters.generation, observer)?.unwrap_or_default();
        counters.plies.push(games.iter().map(|game| game.training_plies() as u64).sum());
    }
    Ok(())
}

/// The fleet of a trainer on a store without a lock. Games in flight are not saved there, and another trainer may have
/// begun games with the same numbers, so the fleet begins anew with a seed of this epoch. The newest job holds its
/// handicaps and resignation rule.
fn shared_fleet(
    config: &TrainConfig,
    store: &Store,
    epoch: u32,
    origin: Option<&Origin>,
    observer: &dyn TrainObserver,
) -> Result<Fleet, TrainError> {
    let seed = rng_for(&[config.run.seed, EPOCH, u64::from(epoch)]).next_u64();
    let mut fleet = Fleet::new(&config.selfplay, &search_config(&config.search), seed);
    adapt_first(&mut fleet, store, origin, observer)?;
    Ok(with_threads(fleet, config))
}

/// Gives a fleet without games the handicaps and the resignation rule of the run's newest job or, in a run that begins,
/// of its origin's.
fn adapt_first(
    fleet: &mut Fleet,
    store: &Store,
    origin: Option<&Origin>,
    observer: &dyn TrainObserver,
) -> Result<(), TrainError> {
    let newest = |store: &Store| Job::newest_after(store, 0, &mut |text| observer.warning(text));
    let job = match newest(store)? {
        Some(own) => Some(own),
        // A checkpoint has no job, and the job of another protocol does not matter here.
        None => origin
            .and_then(|origin| Store::open_to_read(&origin.path).ok())
            .and_then(|store| newest(&store).ok().flatten()),
    };
    if let Some((_, job)) = job {
        fleet.adapt(&job.adaptation);
    }
    Ok(())
}

/// The newest readable state with its learner, or a new state for a run without generations.
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
        let read = saved::read_state(store, generation).and_then(|(counters, state)| {
            let config = whole.stage(counters.stage)?;
            let params = LearnerParams::from(&config.train);
            Ok((counters, Learner::load(state, &config.network, devices, params, &object)?))
        });
        match read {
            Ok(found) => {
                // Every generation with metrics had a state.
                if problems.is_empty() && store.exists(&metrics_key(generation + 1))? {
                    let key = format!("{}/counters.json", state_key(generation + 1));
                    observer.warning(&format!("skipped {}: not found; going back one generation", store.name(&key)));
                }
                return Ok(found);
            }
            // A state of a later version is not damaged and must not be replaced.
            Err(error @ TrainError::Newer { .. }) => return Err(error),
            Err(error) => {
                observer.warning(&format!("skipped {error}; going back one generation"));
                problems.push(error.to_string());
            }
        }
    }
    // Without a state, the run may begin again only if no generation is complete.
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
    // From here on the run does not need its origin. If this process dies between the first checkpoint and its state,
    // the first generation is trained again from this state.
    saved::write_state(store, &counters, &learner.save()?)?;
    Ok((counters, learner))
}

/// The learner that a run begins with, and the id of its origin's checkpoint.
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

/// The newest generation with recorded games; 0 for none.
fn newest_games(store: &Store) -> Result<u32, TrainError> {
    Ok(store.list("games/")?.iter().filter_map(|key| games_number(key)).max().unwrap_or(0))
}

/// The games of the replay window.
fn load_window(
    config: &TrainConfig,
    rulesets: &[Preset],
    store: &Store,
    counters: &Counters,
    observer: &dyn TrainObserver,
) -> Result<BTreeMap<u32, Vec<GameRecord>>, TrainError> {
    let mut games = BTreeMap::new();
    // The window only moves forward, so older games are never needed.
    for generation in counters.window(WindowParams::from(&config.train)) {
        if let Some(found) = load_games(rulesets, store, generation, observer)? {
            games.insert(generation, found);
        }
    }
    Ok(games)
}

/// The games of one generation; `None`, with a warning, if the file is missing or damaged. Games that break the rules
/// or have rulesets of another run are left out, with a warning.
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
        Err(error @ StoreError::Unfit { .. }) => {
            observer.warning(&format!("skipped {error}"));
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

/// Checks that a game has one of these rulesets and follows its rules.
pub(super) fn check_game(rulesets: &[Preset], game: &GameRecord) -> Result<(), String> {
    check_rules(rulesets, game)?;
    game.check().map_err(|error| error.to_string())
}

/// Checks that a game has one of these rulesets, with any ply cap.
pub(super) fn check_rules(rulesets: &[Preset], game: &GameRecord) -> Result<(), String> {
    let found = game.rules.preset();
    if found.is_some_and(|preset| rulesets.contains(&preset)) {
        return Ok(());
    }
    let found = found.map_or("of its own", |preset| preset.name());
    let own: Vec<&str> = rulesets.iter().map(|preset| preset.name()).collect();
    Err(format!("game {}: its rules are {found}; expected {}", game.game, own.join(", ")))
}

/// The fleet from the newest readable save of generation `playing`, with the number of the newest save and the clock; a
/// new fleet if no save can be read.
fn open_fleet(
    config: &TrainConfig,
    store: &Store,
    playing: u32,
    games: &BTreeMap<u32, Vec<GameRecord>>,
    origin: Option<&Origin>,
    observer: &dyn TrainObserver,
) -> Result<(Fleet, u32, InFlight), TrainError> {
    let (selfplay, search, seed) = (&config.selfplay, &search_config(&config.search), config.run.seed);
    let saves = saved::inflight_saves(store, playing)?;
    let newest = saves.first().copied();
    for save in saves {
        let key = inflight_key(playing, save);
        let name = store.name(&key);
        let read = match store.get(&key) {
            Ok(bytes) => FleetSnapshot::decode(&name, &bytes).map_err(|error| error.to_string()),
            Err(error @ StoreError::Unfit { .. }) => Err(error.to_string()),
            Err(error) => return Err(error.into()),
        };
        let read = read.and_then(|snapshot| {
            Fleet::resume(selfplay, search, seed, snapshot).map_err(|error| format!("{name}: {error}"))
        });
        match read {
            Ok(fleet) => {
                let clock = saved::read_clock(store, playing, save).unwrap_or_else(|error| {
                    observer.warning(&format!("skipped {error}; what this generation has cost so far is not known"));
                    InFlight::default()
                });
                return Ok((with_threads(fleet, config), newest.unwrap_or(0), clock));
            }
            Err(error) => observer.warning(&format!("skipped {error}; its games in flight are played again")),
        }
    }
    // Every generation ends with a save for the next one.
    if newest.is_none() && playing > 1 {
        let name = store.name(&inflight_key(playing, 0));
        let lost = "the games in flight are lost, and what follows differs from a run that has them";
        observer
            .warning(&format!("skipped {name}: neither it nor a later save of generation {playing} is there; {lost}"));
    }
    let newest = newest.unwrap_or(0);
    // Games of workers have other seeds.
    let own = games.values().flatten().filter(|game| game.seed == seed);
    let first = own.map(|game| game.game + 1).max().unwrap_or(0);
    let mut fleet = Fleet::starting_at(first, selfplay, search, seed);
    adapt_first(&mut fleet, store, origin, observer)?;
    Ok((with_threads(fleet, config), newest, InFlight::default()))
}

/// The fleet with the configured number of threads, or for 0 the default of the device.
pub(super) fn with_threads(fleet: Fleet, config: &TrainConfig) -> Fleet {
    match config.run.threads {
        0 => fleet.with_threads(config.selfplay.threads_on(&config.run.device)),
        threads => fleet.with_threads(threads),
    }
}
