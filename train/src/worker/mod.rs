//! A worker: plays games for a run whose trainer is elsewhere.
//!
//! It keeps nothing. The newest terms in the store say which network plays and how; the games that end are brought
//! there every half minute or so, under a name of their own; what is in flight when the worker is killed is lost, and
//! nothing else. So any number of workers may come and go on any machines that reach the store, and none of them knows
//! of another.

mod pretend;
mod table;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use hnefi_inference::{DeviceList, EvalError, Evaluator};
use hnefi_run::store::{Store, arrival_key};
use hnefi_selfplay::{Fleet, FleetError, FleetObserver, FleetProgress, Quota, search_config};

use crate::config::checked;
use crate::run::{PROGRAM, Terms, configuration};
use crate::{TrainConfig, TrainError};
use pretend::PretendEvaluator;
use table::Table;

/// How often a worker that has nothing to play looks for it.
const LOOK: Duration = Duration::from_secs(2);

/// Pauses are cut into pieces of this length, to stop in time.
const ATTENTION: Duration = Duration::from_millis(100);

/// How a worker plays.
#[derive(Clone, Debug)]
pub struct WorkerParams {
    /// Names all randomness of its games and the worker itself: no two workers of a run may ever have the same.
    pub seed: u64,
    /// Device, instead of the configuration's.
    pub device: Option<DeviceList>,
    /// Threads, instead of the configuration's.
    pub threads: Option<usize>,
    /// Games played at once, instead of the configuration's; a multiple of 32.
    pub games_in_flight: Option<usize>,
    /// How often games are brought and new terms are looked for.
    pub bring_every: Duration,
    /// Whether to wait for more when the run is finished.
    pub stay: bool,
    /// Instead of a network, even chances after so long a batch, to measure everything else.
    pub pretend: Option<Duration>,
}

/// What a worker has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerSummary {
    /// Games brought.
    pub games: u64,
    /// Training plies in them.
    pub training_plies: u64,
    /// Objects they were brought in.
    pub arrivals: u32,
    /// Whether the run was finished, rather than the worker told to stop.
    pub finished: bool,
}

/// Watches a worker. All methods are called from the thread that called [`work`].
pub trait WorkerObserver: Sync {
    /// There is nothing to play by yet, or any more.
    fn waits(&self, text: &str) {
        let _ = text;
    }

    /// Plays by these terms from now on.
    fn plays(&self, terms: &Terms) {
        let _ = terms;
    }

    /// Something is not as it should be, and the worker goes on without it: terms that cannot be read, for instance.
    fn warning(&self, text: &str) {
        let _ = text;
    }

    /// Games go forward; called a few times a second, with what was done since games were brought last.
    fn progress(&self, so_far: &WorkerSummary, progress: &FleetProgress) {
        let _ = (so_far, progress);
    }

    /// Games were brought.
    fn brought(&self, so_far: &WorkerSummary) {
        let _ = so_far;
    }

    /// Whether to stop; asked several times a second. Games that have ended are brought then.
    fn should_stop(&self) -> bool {
        false
    }
}

/// Plays for the run in `store` until the run is finished or the observer says stop.
///
/// # Errors
/// When the store fails for longer than its patience, its trainer is of another version, or the network cannot be read
/// or evaluated. Games brought before are safe.
pub fn work(store: &Store, params: &WorkerParams, observer: &dyn WorkerObserver) -> Result<WorkerSummary, TrainError> {
    let mut so_far = WorkerSummary::default();
    let mut told = HashSet::new();
    let mut warn = |text: &str| {
        if told.insert(text.to_owned()) {
            observer.warning(text);
        }
    };
    let Some((mut number, terms)) = first_terms(store, observer, &mut warn)? else { return Ok(so_far) };
    let whole = settings(store, params)?;
    let mut config = whole.stage(terms.stage)?;
    let mut fleet =
        Fleet::new(&config.selfplay, &search_config(&config.search), params.seed).with_threads(threads(&config));
    let mut table = Table::set(store, &config, terms, None)?;
    observer.plays(&table.terms);
    loop {
        if let Some((newer, terms)) = Terms::newest_after(store, number, &mut warn)? {
            number = newer;
            if terms.stage != table.terms.stage {
                config = whole.stage(terms.stage)?;
                fleet = Fleet::resume(&config.selfplay, &search_config(&config.search), params.seed, fleet.snapshot())?
                    .with_threads(threads(&config));
            }
            table = Table::set(store, &config, terms, Some(table))?;
            observer.plays(&table.terms);
        }
        if table.terms.finished {
            if !params.stay {
                return Ok(WorkerSummary { finished: true, ..so_far });
            }
            observer.waits(&format!("{}: the run is finished", store.place()));
            if !pause(LOOK, observer) {
                return Ok(so_far);
            }
            continue;
        }
        let stopped = play(&mut fleet, &table, params, &so_far, observer)?;
        let arrival = fleet.send(PROGRAM, table.terms.generation);
        if !arrival.games.is_empty() {
            store.create(&arrival_key(params.seed, so_far.arrivals + 1), &arrival.encode())?;
            so_far.arrivals += 1;
            so_far.games += arrival.games.len() as u64;
            so_far.training_plies += arrival.training_plies();
            observer.brought(&so_far);
        }
        if stopped {
            return Ok(so_far);
        }
    }
}

/// Plays until it is time to bring games; true when the observer said stop.
fn play(
    fleet: &mut Fleet,
    table: &Table,
    params: &WorkerParams,
    so_far: &WorkerSummary,
    observer: &dyn WorkerObserver,
) -> Result<bool, TrainError> {
    let terms = &table.terms;
    fleet.adapt(&terms.adaptation);
    let desk = Desk { until: Instant::now() + params.bring_every, so_far, observer };
    let make = || -> Result<Box<dyn Evaluator>, EvalError> {
        Ok(match params.pretend {
            Some(delay) => Box::new(PretendEvaluator::new(delay)),
            None => (table.make_evaluator)(),
        })
    };
    match fleet.play(Quota::Plies(u64::MAX), terms.playouts, &terms.checkpoint, &make, &desk) {
        Ok(()) => Ok(false),
        Err(FleetError::Stopped) => Ok(observer.should_stop()),
        Err(error) => Err(error.into()),
    }
}

/// Waits for the first terms of a run; `None` when the observer says stop.
fn first_terms(
    store: &Store,
    observer: &dyn WorkerObserver,
    warn: &mut dyn FnMut(&str),
) -> Result<Option<(u32, Terms)>, TrainError> {
    loop {
        if let Some(found) = Terms::newest_after(store, 0, warn)? {
            return Ok(Some(found));
        }
        observer.waits(&format!("{}: no trainer has begun yet", store.place()));
        if !pause(LOOK, observer) {
            return Ok(None);
        }
    }
}

/// The run's configuration with what this worker does otherwise.
fn settings(store: &Store, params: &WorkerParams) -> Result<TrainConfig, TrainError> {
    let missing = || TrainError::RunFile { file: store.name("run.json"), problem: "not found".to_owned() };
    let mut config = configuration(store)?.ok_or_else(missing)?;
    if let Some(device) = &params.device {
        config.run.device = device.clone();
    }
    if let Some(threads) = params.threads {
        config.run.threads = threads;
    }
    if let Some(games) = params.games_in_flight {
        config.selfplay.games_in_flight = games;
    }
    checked(&config, "of this worker")?;
    Ok(config)
}

fn threads(config: &TrainConfig) -> usize {
    match config.run.threads {
        0 => config.selfplay.threads_on(&config.run.device),
        threads => threads,
    }
}

/// Pauses; false when the observer says stop.
fn pause(length: Duration, observer: &dyn WorkerObserver) -> bool {
    let until = Instant::now() + length;
    while Instant::now() < until {
        if observer.should_stop() {
            return false;
        }
        std::thread::sleep(ATTENTION);
    }
    true
}

/// Stops the fleet when it is time to bring games.
struct Desk<'a> {
    until: Instant,
    so_far: &'a WorkerSummary,
    observer: &'a dyn WorkerObserver,
}

impl FleetObserver for Desk<'_> {
    fn progress(&self, progress: &FleetProgress) {
        self.observer.progress(self.so_far, progress);
    }

    fn should_stop(&self) -> bool {
        Instant::now() >= self.until || self.observer.should_stop()
    }
}
