//! Opens a run: a new one, or an earlier one to resume.

use burn::tensor::Device;
use hnefi_engine::NamedRules;
use hnefi_models::Network;
use hnefi_run::store::{
    Access, FleetSave, Store, StoreError, check_checkpoint, games_key, metrics_key, state_key, tensorboard_key,
};
use hnefi_search::rng_for;
use hnefi_selfplay::{Fleet, FleetSnapshot, search_config};
use rand_xoshiro::rand_core::Rng as _;

use super::clock::{Clock, unix_seconds};
use super::command::TrainerCommand;
use super::context::Context;
use super::fence::Fence;
use super::games::{Games, load_games, load_missing, newest_games, training_plies};
use super::observer::{RunStart, TrainObserver};
use super::origin::{first_stage, learner_from, run_at, take_over_games};
use super::params::{SelfPlay, TrainerParams};
use super::parts::Trainer;
use super::publish::{NewCheckpoint, publish_checkpoint, publish_job};
use super::saved;
use super::selfplay::Players;
use super::source::{Elsewhere, GameSource, InProcess, InTurns, Saves};
use super::stage::{self, CurrentStage};
use super::state::{Counters, InFlight, RunState};
use crate::TrainError;
use crate::config::{TrainConfig, checked};
use crate::job::Job;
use crate::learner::{Learner, LearnerParams, TrainingDevice};
use crate::run_file::{self, Origin};
use crate::tensorboard::configuration_events;
use crate::worker::threads;

/// Most generations announced or of games not trained on yet: normally one, more after lost states.
const MOST_UNTRAINED: u32 = 1_000;

/// Separates the seeds of epochs from other values derived from the run's seed.
const EPOCH: u64 = 0x0065_706F_6368;

/// Separates the seeds of the workers of trainers from other values derived from the run's seed.
const OVERLAP: u64 = 0x006F_7665_726C_6170;

/// Opens or begins the run of the configuration `asked`; `whole` is the same with the choices of this machine.
pub(super) fn open<'a>(
    asked: &TrainConfig,
    whole: &'a TrainConfig,
    params: &'a TrainerParams<'a>,
    observer: &'a dyn TrainObserver,
) -> Result<Trainer<'a>, TrainError> {
    checked(whole, "of this run")?;
    if let Some(path) = params.origin.filter(|path| path.to_str().is_none()) {
        let problem = "the name is not UTF-8; expected one that run.json can hold".to_owned();
        return Err(TrainError::Origin { path: path.to_owned(), problem });
    }
    let idle = match (params.selfplay, whole.run.threads) {
        (SelfPlay::InTurns, 0) => whole.selfplay.idle_threads(whole.selfplay.threads_on(&whole.run.device)),
        _ => None,
    };
    let warnings = [whole.run.precision.warning(), whole.train.precision.warning(), idle];
    for text in warnings.into_iter().flatten() {
        observer.warning(&text);
    }
    let devices = TrainingDevice::open_all(&params.cards, &whole.run.train_device)?;
    let command = params.trainer.map(TrainerCommand::new).transpose()?;
    check_parts(whole, params, &devices, command.is_some())?;
    let store = Store::open(&params.location, Access::Write, params.retry.clone())?;
    let origin = run_file::write_or_compare(&store, asked, params.origin)?;
    let mut warn = |text: &str| observer.warning(text);
    let (fence, announced) = Fence::claim(&store, &params.machine, &mut warn)?;
    let (mut counters, learner) = open_learner(whole, &store, &devices, origin.as_ref(), command.is_some(), observer)?;
    if command.is_none() && !learner.command_state().is_empty() {
        let object = format!("{}/{}", state_key(counters.generation), saved::COMMAND_STATE);
        let problem = "the state of a trainer of its own; expected its command, by --trainer".to_owned();
        return Err(TrainError::State { object: store.name(&object), problem });
    }
    let stage = CurrentStage::new(whole, counters.stage)?;
    let config = &stage.config;
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
    let mut games = Games::new();
    // The window only moves forward, so older games are never needed.
    let window = counters.window(&config.train);
    load_missing(&mut games, window, &rulesets, &store, observer)?;
    for generation in complete + 1..=played_until {
        games.insert(generation, load_games(&rulesets, &store, generation, observer)?.unwrap_or_default());
    }
    let (fleet, newest_save, in_flight) = if store.is_exclusive() {
        open_fleet(config, &store, played_until + 1, &games, origin.as_ref(), observer)?
    } else {
        let seed = seed_of_call(whole.run.seed, EPOCH, fence.epoch, counters.parent.as_deref());
        (shared_fleet(config, &store, seed, origin.as_ref(), observer)?, 0, InFlight::default())
    };
    let saves = Saves { newest: newest_save, seconds: in_flight.selfplay_seconds };
    let spent = counters.spent.max(in_flight.spent);
    let clock = Clock::starting_from(spent, &config.budget);
    saved::remove_inflight_before(&store, FleetSave { generation: played_until + 1, save: newest_save })?;
    // The newest checkpoint exists unless the run begins or the checkpoint was removed.
    let parent = match trained.checked_sub(1) {
        None => counters.parent.clone(),
        Some(before) => check_checkpoint(&store, before)?.ok().map(|card| card.id),
    };
    let worker_seed = seed_of_call(whole.run.seed, OVERLAP, fence.epoch, counters.parent.as_deref());
    let context = Context { whole, rulesets, params, observer, store };
    let new = NewCheckpoint {
        config,
        generation: trained,
        stages: counters.first_stage..=counters.stage,
        parent,
        was_there: trained > 0,
    };
    let ids = publish_checkpoint(&context, &learner, new)?;
    let network = (trained, ids.in_store);
    let job = publish_job(&context.store, &fence, &clock, &stage, &counters, network, fleet.adaptation())?;
    // Like every object it is never changed, so it tells what the run began with.
    let settings = configuration_events(unix_seconds(), whole);
    context.store.create_once(&tensorboard_key(0), &settings)?;
    observer.begins(&RunStart {
        location: &params.location,
        generations: complete,
        games_in_flight: fleet.snapshot().games_in_flight(),
        elapsed_seconds: clock.elapsed(),
        parameters: learner.average().parameter_count(),
    });
    stage::report(&context, counters.stage, &stage);
    let finished = in_flight.finished.unwrap_or_default();
    let state = RunState { counters, games, played_until, finished, checkpoint_id: ids.averaged, job };
    // Opening the run is not charged to the budget.
    let clock = Clock::starting_from(spent, &stage.config.budget);
    let source = source(whole, params, worker_seed)?;
    Ok(Trainer { context, fence, clock, stage, learner, command, players: Players { source, fleet, saves }, state })
}

fn source(whole: &TrainConfig, params: &TrainerParams<'_>, seed: u64) -> Result<Box<dyn GameSource>, TrainError> {
    Ok(match params.selfplay {
        SelfPlay::InTurns => Box::new(InTurns),
        SelfPlay::Elsewhere => Box::new(Elsewhere),
        SelfPlay::Overlapping => Box::new(InProcess::start(whole.clone(), params.cards.clone(), seed)?),
    })
}

/// A seed of games for one call of a run, because it begins its games anew. The origin's games may be in the window, and
/// it may have had the same seed.
fn seed_of_call(run: u64, use_of_it: u64, epoch: u32, parent: Option<&str>) -> u64 {
    let path = [run, use_of_it, u64::from(epoch)].into_iter();
    rng_for(&path.chain(parent.into_iter().flat_map(str::bytes).map(u64::from)).collect::<Vec<_>>()).next_u64()
}

/// Checks the device of self-play and the origin of a new run before anything is created.
fn check_parts(
    whole: &TrainConfig,
    params: &TrainerParams<'_>,
    devices: &[TrainingDevice],
    has_command: bool,
) -> Result<(), TrainError> {
    if params.selfplay != SelfPlay::Elsewhere || params.ladder {
        params.cards.check(&whole.run.device)?;
    }
    let Some(path) = params.origin else { return Ok(()) };
    let has_begun = match Store::open(&params.location, Access::Read, params.retry.clone()) {
        Ok(store) => store.exists(run_file::KEY)?,
        Err(StoreError::NoDirectory { .. }) => false,
        Err(error) => return Err(error.into()),
    };
    // An existing run does not need its origin.
    if has_begun {
        return Ok(());
    }
    let config = whole.stage(first_stage(path, whole)?)?;
    learner_from(path, &config, devices, LearnerParams::from(&config.train), has_command).map(drop)
}

/// Skips the generations that an earlier trainer announced and did not complete, because it may still be writing them.
/// Their games are trained on with the next generation.
fn skip_announced(
    rulesets: &[NamedRules],
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
        counters.plies.push(training_plies(&games));
    }
    Ok(())
}

/// The fleet of a trainer on a store without a lock. Games in flight are not saved there, and another trainer may have
/// begun games with the same numbers, so the fleet begins anew with a seed of this epoch. The newest job holds its
/// handicaps and resignation rule.
fn shared_fleet(
    config: &TrainConfig,
    store: &Store,
    seed: u64,
    origin: Option<&Origin>,
    observer: &dyn TrainObserver,
) -> Result<Fleet, TrainError> {
    let mut fleet = Fleet::new(&config.selfplay, &search_config(&config.search), seed);
    adapt_first(&mut fleet, store, origin, observer)?;
    Ok(fleet.with_threads(threads(config)))
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
        None => origin.and_then(|origin| run_at(&origin.path)).and_then(|run| newest(run.store()).ok().flatten()),
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
    devices: &[TrainingDevice],
    origin: Option<&Origin>,
    has_command: bool,
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
                    observer.warning(&format!(
                        "skipped {}: not found; going back to generation {generation}",
                        store.name(&key)
                    ));
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
    let params = LearnerParams::from(&config.train);
    let (learner, parent) = match origin {
        Some(Origin { path }) => {
            let (learner, parent) = learner_from(path, &config, devices, params, has_command)?;
            (learner, Some(parent))
        }
        None => {
            let network = Network::fresh(&config.network, config.run.seed, &Device::flex());
            (Learner::new(&network, devices, params)?, None)
        }
    };
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

/// The fleet from the newest readable save of generation `playing`, with the number of the newest save and the clock; a
/// new fleet if no save can be read.
fn open_fleet(
    config: &TrainConfig,
    store: &Store,
    playing: u32,
    games: &Games,
    origin: Option<&Origin>,
    observer: &dyn TrainObserver,
) -> Result<(Fleet, u32, InFlight), TrainError> {
    let (selfplay, search, seed) = (&config.selfplay, &search_config(&config.search), config.run.seed);
    let saves = saved::inflight_saves(store, playing)?;
    let newest = saves.first().map(|save| save.save);
    for save in saves {
        let key = save.key();
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
                let clock = saved::read_clock(store, save).unwrap_or_else(|error| {
                    observer.warning(&format!("skipped {error}; what this generation has cost so far is not known"));
                    InFlight::default()
                });
                return Ok((fleet.with_threads(threads(config)), newest.unwrap_or(0), clock));
            }
            Err(error) => observer.warning(&format!("skipped {error}; its games in flight are played again")),
        }
    }
    // Every generation ends with a save for the next one.
    if newest.is_none() && playing > 1 {
        let name = store.name(&FleetSave { generation: playing, save: 0 }.key());
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
    Ok((fleet.with_threads(threads(config)), newest, InFlight::default()))
}
