//! A worker plays games for a trainer elsewhere.
//!
//! The newest job in the store names the checkpoint and the settings. The worker uploads its finished games about every
//! half minute, under unique names. A killed worker loses only its games in flight. Any number of workers may start and
//! stop on any machines that reach the store; they do not know of each other.

mod player;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use hnefi_cuda::Cards;
use hnefi_inference::{DeviceList, Precision, PrecisionChoice, Weights};
use hnefi_run::store::{Store, StoreError, read_checkpoint, upload_key};
use hnefi_selfplay::{FleetControl, FleetProgress};

use crate::config::checked;
use crate::devices::choose_for_play;
use crate::job::Job;
use crate::run_file::{configuration, unreadable};
use crate::{TrainConfig, TrainError};

pub(crate) use player::{Player, busy_games, threads};

/// Time between two looks for a job.
const LOOK: Duration = Duration::from_secs(2);

/// Time between two questions to the observer during a pause.
const ATTENTION: Duration = Duration::from_millis(100);

/// Training plies after which games are uploaded in any case: far fewer than the largest upload has.
pub(crate) const MOST_PLIES: u64 = 1 << 19;

/// How a worker plays.
#[derive(Clone, Debug)]
pub struct WorkerParams {
    /// Seed of all randomness of its games, which also names the worker: it must be unique within the run.
    pub seed: u64,
    /// The cards that evaluate.
    pub cards: Cards,
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
        WorkerParams {
            seed,
            cards: Cards::default(),
            device: None,
            threads: None,
            games_in_flight: None,
            upload_every,
            stay: false,
        }
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
    /// Whether the worker ended because the run is finished.
    pub finished: bool,
}

/// Observes a worker. All methods are called on the thread that called [`work`].
pub trait WorkerObserver: Sync {
    /// There is no job to play yet, or the run is finished.
    fn waits(&self, _text: &str) {}

    /// The worker plays by this job from now on.
    fn plays(&self, _job: &Job) {}

    /// Devices were chosen by trying.
    fn chose(&self, _text: &str) {}

    /// A problem that does not stop the worker, such as a damaged job.
    fn warning(&self, _text: &str) {}

    /// Progress of self-play since the last upload; called a few times a second.
    fn progress(&self, _so_far: &WorkerSummary, _progress: &FleetProgress) {}

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
    let mut so_far = WorkerSummary::default();
    let mut told = HashSet::new();
    let mut warn = |text: &str| {
        if told.insert(text.to_owned()) {
            observer.warning(text);
        }
    };
    let (mut number, job) = loop {
        if let Some(found) = Job::newest_after(store, 0, &mut warn)? {
            break found;
        }
        observer.waits(&format!("{}: no trainer has begun yet", store.place()));
        if !pause(LOOK, observer) {
            return Ok(so_far);
        }
    };
    let (whole, weights) = (settings(store, params, observer)?, network(store, &job)?);
    let mut player = Player::new(whole, params.cards.clone(), params.seed, job, &weights)?;
    observer.plays(&player.job);
    loop {
        if let Some((newer, job)) = Job::newest_after(store, number, &mut warn)? {
            number = newer;
            player.take_up(job, |job| network(store, job))?;
            observer.plays(&player.job);
        }
        if player.job.finished {
            if !params.stay {
                return Ok(WorkerSummary { finished: true, ..so_far });
            }
            observer.waits(&format!("{}: the run is finished", store.place()));
            if !pause(LOOK, observer) {
                return Ok(so_far);
            }
            continue;
        }
        let mut timer = UploadTimer { until: Instant::now() + params.upload_every, so_far, observer, stopped: false };
        let upload = player.play(&mut timer)?;
        let stopped = timer.stopped;
        if !upload.games.is_empty() {
            store.create(&upload_key(params.seed, so_far.uploads + 1), &upload.encode())?;
            so_far.uploads += 1;
            so_far.games += upload.games.len() as u64;
            so_far.training_plies += upload.training_plies();
        }
        if stopped {
            return Ok(so_far);
        }
    }
}

fn network(store: &Store, job: &Job) -> Result<Weights, TrainError> {
    let checkpoint = read_checkpoint(store, job.generation)?;
    if checkpoint.card.id == job.checkpoint {
        return Ok(checkpoint.weights);
    }
    let problem = format!("its id is {}; the trainer announced {}", checkpoint.card.id, job.checkpoint);
    Err(TrainError::State { object: format!("checkpoint {} of {}", job.generation, store.place()), problem })
}

fn settings(store: &Store, params: &WorkerParams, observer: &dyn WorkerObserver) -> Result<TrainConfig, TrainError> {
    let missing = || unreadable(store, "not found".to_owned());
    let mut config = configuration(store)?.ok_or_else(missing)?;
    if let Some(device) = &params.device {
        config.run.device = device.clone();
    }
    // The precision was chosen for the trainer's device. A card refuses int8, and must not lose the trial by it.
    let precision = config.run.precision;
    if precision == Precision::Int8.into() {
        config.run.precision = PrecisionChoice::Auto;
    }
    // The number of threads was chosen for the trainer's machine.
    config.run.threads = params.threads.unwrap_or(0);
    config.selfplay.games_in_flight = params.games_in_flight.unwrap_or(config.selfplay.games_in_flight);
    checked(&config, "of this worker")?;
    choose_for_play(&mut config, &params.cards, &|text| observer.chose(text))?;
    if !config.run.device.has_gpu() {
        config.run.precision = precision;
    }
    if params.games_in_flight.is_none() {
        config.selfplay.games_in_flight = busy_games(&config);
    }
    Ok(config)
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

/// Lets the fleet rest when it is time to upload games.
struct UploadTimer<'a> {
    until: Instant,
    so_far: WorkerSummary,
    observer: &'a dyn WorkerObserver,
    stopped: bool,
}

impl FleetControl for UploadTimer<'_> {
    fn go_on(&mut self, progress: &FleetProgress) -> Result<bool, StoreError> {
        self.observer.progress(&self.so_far, progress);
        self.stopped = self.observer.should_stop();
        Ok(!self.stopped)
    }

    fn rests(&mut self, progress: &FleetProgress) -> bool {
        Instant::now() >= self.until || progress.training_plies >= MOST_PLIES
    }
}
