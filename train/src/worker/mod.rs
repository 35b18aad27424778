//! A worker plays games for a trainer elsewhere.
//!
//! The newest job in the store names the checkpoint and the settings. The worker uploads its finished games about every
//! half minute, under unique names. A killed worker loses only its games in flight. Any number of workers may start and
//! stop on any machines that reach the store; they do not know of each other.

mod loaded_job;

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hnefi_inference::{DeviceList, EvalError, Evaluator};
use hnefi_run::store::{Store, upload_key};
use hnefi_selfplay::{Fleet, FleetError, FleetObserver, FleetProgress, Quota, search_config};

use crate::config::checked;
use crate::run::{Job, PROGRAM, configuration};
use crate::{TrainConfig, TrainError};
use loaded_job::LoadedJob;

/// Time between two looks for a job.
const LOOK: Duration = Duration::from_secs(2);

/// Time between two questions to the observer during a pause.
const ATTENTION: Duration = Duration::from_millis(100);

/// Training plies after which games are uploaded in any case: far fewer than the largest upload has.
const MOST_PLIES: u64 = 1 << 19;

/// Time between two questions to the observer whether to rest.
const REST: Duration = Duration::from_millis(10);

/// How a worker plays.
#[derive(Clone, Debug)]
pub struct WorkerParams {
    /// Seed of all randomness of its games, which also names the worker: it must be unique within the run.
    pub seed: u64,
    /// Device, instead of the configuration's.
    pub device: Option<DeviceList>,
    /// Threads, instead of the configuration's.
    pub threads: Option<usize>,
    /// Games played at once, instead of the configuration's; a multiple of 32.
    pub games_in_flight: Option<usize>,
    /// Time between two uploads, and between two looks for a new job.
    pub upload_every: Duration,
    /// Whether to wait for a new job when the run is finished.
    pub stay: bool,
}

impl WorkerParams {
    /// Everything as in the run's configuration, with uploads every half minute, to the end of the run.
    pub fn new(seed: u64) -> WorkerParams {
        let upload_every = Duration::from_secs(30);
        WorkerParams { seed, device: None, threads: None, games_in_flight: None, upload_every, stay: false }
    }
}

/// The work of a worker so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerSummary {
    /// Games uploaded.
    pub games: u64,
    /// Training plies in them.
    pub training_plies: u64,
    /// Number of uploads.
    pub uploads: u32,
    /// Time of self-play.
    pub played: Duration,
    /// Whether the worker ended because the run is finished.
    pub finished: bool,
}

/// Observes a worker. All methods are called on the thread that called [`work`].
pub trait WorkerObserver: Sync {
    /// There is no job to play yet, or the run is finished.
    fn waits(&self, text: &str) {
        let _ = text;
    }

    /// The worker plays by this job from now on.
    fn plays(&self, job: &Job) {
        let _ = job;
    }

    /// A problem that does not stop the worker, such as a damaged job.
    fn warning(&self, text: &str) {
        let _ = text;
    }

    /// Progress of self-play since the last upload; called a few times a second.
    fn progress(&self, so_far: &WorkerSummary, progress: &FleetProgress) {
        let _ = (so_far, progress);
    }

    /// Games were uploaded.
    fn uploaded(&self, so_far: &WorkerSummary) {
        let _ = so_far;
    }

    /// Whether to upload and to look for a new job before it is time; `plies` are the training plies not uploaded yet.
    fn wants_upload(&self, plies: u64) -> bool {
        let _ = plies;
        false
    }

    /// Whether to play nothing for now; asked after every upload, and then until it says no.
    fn must_rest(&self) -> bool {
        false
    }

    /// Whether to stop; called several times a second. Finished games are uploaded before the worker ends.
    fn should_stop(&self) -> bool {
        false
    }
}

/// Plays for the run in `store` until the run is finished or the observer stops it.
///
/// # Errors
/// When the store fails for longer than its retry limit, the trainer has another protocol version, or the network
/// cannot be read or evaluated. Uploaded games are safe.
pub fn work(store: &Store, params: &WorkerParams, observer: &dyn WorkerObserver) -> Result<WorkerSummary, TrainError> {
    play_for(store, || settings(store, params), params, observer)
}

/// As [`work`], with this configuration, which is asked for when there is a job.
pub(crate) fn play_for(
    store: &Store,
    settings: impl FnOnce() -> Result<TrainConfig, TrainError>,
    params: &WorkerParams,
    observer: &dyn WorkerObserver,
) -> Result<WorkerSummary, TrainError> {
    let mut so_far = WorkerSummary::default();
    let mut told = HashSet::new();
    let mut warn = |text: &str| {
        if told.insert(text.to_owned()) {
            observer.warning(text);
        }
    };
    let Some((mut number, job)) = first_job(store, observer, &mut warn)? else { return Ok(so_far) };
    let whole = settings()?;
    let mut config = whole.stage(job.stage)?;
    let mut fleet =
        Fleet::new(&config.selfplay, &search_config(&config.search), params.seed).with_threads(threads(&config));
    let mut loaded = LoadedJob::load(store, &config, job, None)?;
    observer.plays(&loaded.job);
    loop {
        while observer.must_rest() {
            if observer.should_stop() {
                return Ok(so_far);
            }
            std::thread::sleep(REST);
        }
        if let Some((newer, job)) = Job::newest_after(store, number, &mut warn)? {
            number = newer;
            if job.stage != loaded.job.stage {
                config = whole.stage(job.stage)?;
                fleet = Fleet::resume(&config.selfplay, &search_config(&config.search), params.seed, fleet.snapshot())?
                    .with_threads(threads(&config));
            }
            loaded = LoadedJob::load(store, &config, job, Some(loaded))?;
            observer.plays(&loaded.job);
        }
        if loaded.job.finished {
            if !params.stay {
                return Ok(WorkerSummary { finished: true, ..so_far });
            }
            observer.waits(&format!("{}: the run is finished", store.place()));
            if !pause(LOOK, observer) {
                return Ok(so_far);
            }
            continue;
        }
        let began = Instant::now();
        let stopped = play(&mut fleet, &loaded, params, &so_far, observer)?;
        so_far.played += began.elapsed();
        let upload = fleet.send(PROGRAM, loaded.job.generation);
        if !upload.games.is_empty() {
            store.create(&upload_key(params.seed, so_far.uploads + 1), &upload.encode())?;
            so_far.uploads += 1;
            so_far.games += upload.games.len() as u64;
            so_far.training_plies += upload.training_plies();
            observer.uploaded(&so_far);
        }
        if stopped {
            return Ok(so_far);
        }
    }
}

/// Plays until it is time to upload games. Returns true if the observer stopped it.
fn play(
    fleet: &mut Fleet,
    loaded: &LoadedJob,
    params: &WorkerParams,
    so_far: &WorkerSummary,
    observer: &dyn WorkerObserver,
) -> Result<bool, TrainError> {
    let job = &loaded.job;
    fleet.adapt(&job.adaptation);
    let until = Instant::now() + params.upload_every;
    let timer = UploadTimer { until, so_far, observer, plies: AtomicU64::new(0) };
    let make = || -> Result<Box<dyn Evaluator>, EvalError> { Ok((loaded.make_evaluator)()) };
    match fleet.play(Quota::Plies(u64::MAX), job.playouts, &job.checkpoint, &make, &timer) {
        Ok(()) => Ok(false),
        Err(FleetError::Stopped) => Ok(observer.should_stop()),
        Err(error) => Err(error.into()),
    }
}

/// Waits for the first job of a run; `None` if the observer stopped it.
fn first_job(
    store: &Store,
    observer: &dyn WorkerObserver,
    warn: &mut dyn FnMut(&str),
) -> Result<Option<(u32, Job)>, TrainError> {
    loop {
        if let Some(found) = Job::newest_after(store, 0, warn)? {
            return Ok(Some(found));
        }
        observer.waits(&format!("{}: no trainer has begun yet", store.place()));
        if !pause(LOOK, observer) {
            return Ok(None);
        }
    }
}

/// The run's configuration with this worker's own settings.
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

/// Threads of self-play by this configuration.
pub(crate) fn threads(config: &TrainConfig) -> usize {
    match config.run.threads {
        0 => config.selfplay.threads_on(&config.run.device),
        threads => threads,
    }
}

/// Pauses. Returns false if the observer stopped it.
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

/// Stops the fleet when it is time to upload games.
struct UploadTimer<'a> {
    until: Instant,
    so_far: &'a WorkerSummary,
    observer: &'a dyn WorkerObserver,
    /// Training plies since the last upload.
    plies: AtomicU64,
}

impl FleetObserver for UploadTimer<'_> {
    fn progress(&self, progress: &FleetProgress) {
        self.plies.store(progress.training_plies, Ordering::Relaxed);
        self.observer.progress(self.so_far, progress);
    }

    fn should_stop(&self) -> bool {
        let plies = self.plies.load(Ordering::Relaxed);
        let is_time = Instant::now() >= self.until || plies >= MOST_PLIES;
        is_time || self.observer.wants_upload(plies) || self.observer.should_stop()
    }
}
