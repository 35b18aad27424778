//! Self-play of one generation, saved as it goes.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hnefi_run::store::{Store, StoreError, arrival_key, games_key};
use hnefi_run::{GameRecord, encode_games};
use hnefi_selfplay::{FleetError, FleetObserver, FleetProgress, FleetSnapshot, Quota};

use super::clock::Clock;
use super::intake::Intake;
use super::saved::{self, FinishedSelfPlay, InFlight};
use super::terms::PROGRAM;
use super::{Run, TrainObserver, open};
use crate::TrainError;
use crate::schedule::playouts_at;

/// How often a trainer that plays no games itself looks up.
const ATTENTION: Duration = Duration::from_millis(100);

impl Run<'_> {
    /// Sees to it that the games of the next generation are on the disk and says how they were played; `None` when the
    /// observer stopped it, with everything saved.
    pub(super) fn generate(&mut self) -> Result<Option<FinishedSelfPlay>, TrainError> {
        let generation = self.complete() + 1;
        if generation > self.played_until && !self.play(generation)? {
            return Ok(None);
        }
        let games = self.games.get(&generation).map_or(&[][..], Vec::as_slice);
        self.counters.plies.push(games.iter().map(|game| game.training_plies() as u64).sum());
        let known = generation == self.played_until;
        Ok(Some(if known { std::mem::take(&mut self.finished) } else { FinishedSelfPlay::default() }))
    }

    /// Plays this generation, takes in what has arrived, and puts the games into the store; false when the observer
    /// stopped it.
    fn play(&mut self, generation: u32) -> Result<bool, TrainError> {
        self.fence.check(&self.store)?;
        let playouts = playouts_at(&self.config.budget.playouts, self.stage_progress());
        let desk = Desk {
            store: &self.store,
            observer: self.observer,
            clock: self.clock,
            generation,
            quota: self.quota(),
            before: self.selfplay_seconds,
            began: Instant::now(),
            every: Duration::from_secs(u64::from(self.config.run.save_seconds)),
            training_seconds_per_ply: self.training_seconds_per_ply(),
            state: Mutex::new(DeskState {
                save: self.save,
                due: Instant::now(),
                intake: Intake::new(&self.rulesets, &self.games),
                enough: false,
                failed: None,
            }),
        };
        desk.state().due += desk.every;
        let outcome = if self.params.selfplay {
            let weights = self.learner.average().weights()?;
            let evaluators = hnefi_inference::evaluators(&weights, &self.config.run.device, self.config.run.precision)
                .map_err(|source| FleetError::Evaluation { source })?;
            let (quota, make) = (Quota::Plies(desk.quota), || Ok(evaluators()));
            self.fleet.play(quota, playouts, &self.checkpoint_id, &make, &desk)
        } else {
            desk.wait()
        };
        match outcome {
            // Games in flight go on in the next generation; in the last one they are not needed any more.
            Err(FleetError::Stopped) if desk.state().enough => {}
            Ok(()) => {}
            Err(error) => {
                desk.save(self.fleet.snapshot());
                desk.finish()?;
                return if matches!(error, FleetError::Stopped) { Ok(false) } else { Err(error.into()) };
            }
        }
        let seconds = desk.seconds();
        let (arrivals, arrived) = desk.finish()?.finish();
        for arrival in arrivals {
            self.fleet.receive(arrival);
        }
        let finished = self.fleet.end_generation();
        let played = FinishedSelfPlay { stats: finished.stats, playouts, seconds };

        // First the games in flight, which already are the next generation's, then the finished ones: an interruption
        // between the two is seen by the missing file of games, and this generation's own saves are still there.
        let next = (generation + 1, 0);
        if self.store.is_exclusive() {
            let elapsed_seconds = self.clock.elapsed();
            let clock = InFlight { elapsed_seconds, selfplay_seconds: 0.0, finished: Some(played.clone()) };
            saved::write_inflight(&self.store, next, &clock, &self.fleet.snapshot().encode())?;
        }
        let games = self.record(generation, finished.games)?;
        self.store.remove_all(&arrived)?;
        saved::remove_inflight_before(&self.store, next)?;
        self.save = 0;
        self.selfplay_seconds = 0.0;
        self.games.insert(generation, games);
        self.played_until = generation;
        self.finished = played;
        Ok(true)
    }

    /// Writes the games of a generation and gives those that are recorded as its. These are others when a trainer that
    /// has been replaced meanwhile was faster: then ours arrive anew, for the next generation.
    fn record(&mut self, generation: u32, games: Vec<GameRecord>) -> Result<Vec<GameRecord>, TrainError> {
        let key = games_key(generation);
        match self.store.create(&key, &encode_games(&games)) {
            Ok(()) => return Ok(games),
            Err(StoreError::Exists { .. }) if !self.store.is_exclusive() => {}
            Err(error) => return Err(error.into()),
        }
        self.fence.check(&self.store)?;
        let recorded = open::load_games(&self.rulesets, &self.store, generation, self.observer)?.unwrap_or_default();
        let again = self.fleet.returned(PROGRAM, generation, games);
        self.store.create(&arrival_key(again.worker, generation), &again.encode())?;
        Ok(recorded)
    }

    /// Training plies to play in this generation. Where time is the limit, the last generation takes what is left of it
    /// instead of leaving a rest too short to use.
    fn quota(&self) -> u64 {
        let quota = self.config.train.plies_per_generation;
        if self.clock.remaining() < 1.5 * self.counters.generation_seconds { 2 * quota } else { quota }
    }

    /// Seconds of training that a new ply will cost; `None` before the first training.
    fn training_seconds_per_ply(&self) -> Option<f64> {
        let speed = self.counters.samples_per_second;
        (speed > 0.0).then(|| self.config.train.reuse / speed)
    }
}

/// Watches the fleet on behalf of a run: saves on time, keeps to the budget, passes progress on.
struct Desk<'a> {
    store: &'a Store,
    observer: &'a dyn TrainObserver,
    clock: Clock,
    generation: u32,
    /// Training plies of the generation.
    quota: u64,
    /// Seconds of self-play that earlier processes spent on this generation.
    before: f64,
    began: Instant,
    every: Duration,
    training_seconds_per_ply: Option<f64>,
    state: Mutex<DeskState<'a>>,
}

struct DeskState<'a> {
    /// Number of the newest save.
    save: u32,
    due: Instant,
    /// What workers brought.
    intake: Intake<'a>,
    /// Whether the generation is to end now: it has its plies, or only the time to train on them is left.
    enough: bool,
    failed: Option<TrainError>,
}

impl<'a> Desk<'a> {
    fn state(&self) -> MutexGuard<'_, DeskState<'a>> {
        // Nothing that panics happens while the lock is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Seconds of self-play in this generation.
    fn seconds(&self) -> f64 {
        self.before + self.began.elapsed().as_secs_f64()
    }

    /// Whether the time left is just what training on these plies will take. Before anything is known about training it
    /// is taken to cost as much as the self-play did.
    fn time_is_up(&self, plies: u64) -> bool {
        let training = match self.training_seconds_per_ply {
            Some(seconds) => seconds * plies as f64,
            None => self.clock.elapsed(),
        };
        self.clock.remaining() <= training
    }

    /// Waits for workers to play the generation.
    fn wait(&self) -> Result<(), FleetError> {
        loop {
            self.progress(&FleetProgress::default());
            if self.should_stop() {
                return Err(FleetError::Stopped);
            }
            std::thread::sleep(ATTENTION);
        }
    }

    /// What has arrived, unless a save or the intake failed.
    fn finish(self) -> Result<Intake<'a>, TrainError> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.failed.map_or(Ok(state.intake), Err)
    }
}

impl FleetObserver for Desk<'_> {
    fn progress(&self, progress: &FleetProgress) {
        let mut state = self.state();
        if let Err(error) = state.intake.look(self.store, self.observer) {
            state.failed.get_or_insert(error);
        }
        let plies = progress.training_plies + state.intake.plies();
        let arrived = state.intake.plies() as f64 / self.quota.max(1) as f64;
        let progress = FleetProgress {
            done: (progress.done + arrived).min(1.0),
            games: progress.games + state.intake.games(),
            training_plies: plies,
            ..*progress
        };
        if self.time_is_up(plies) || (state.intake.plies() > 0 && plies >= self.quota) {
            state.enough = true;
        }
        drop(state);
        let run = self.clock.progress(self.generation - 1, 0.5 * progress.done);
        self.observer.generating(self.generation, &progress, run);
    }

    /// A disk that takes no save will not take the games either: stop then, rather than play for nothing.
    fn should_stop(&self) -> bool {
        let state = self.state();
        state.enough || state.failed.is_some() || self.observer.should_stop()
    }

    /// A bucket is not asked to keep games in flight: another trainer may be saving its own there.
    fn save_due(&self) -> bool {
        self.store.is_exclusive() && Instant::now() >= self.state().due
    }

    fn save(&self, snapshot: FleetSnapshot) {
        if !self.store.is_exclusive() {
            return;
        }
        let clock =
            InFlight { elapsed_seconds: self.clock.elapsed(), selfplay_seconds: self.seconds(), finished: None };
        let mut state = self.state();
        let number = (self.generation, state.save + 1);
        let saved = saved::write_inflight(self.store, number, &clock, &snapshot.encode())
            .and_then(|()| saved::remove_inflight_before(self.store, number));
        match saved {
            Ok(()) => state.save += 1,
            Err(error) => {
                state.failed.get_or_insert(error);
            }
        }
        state.due = Instant::now() + self.every;
    }
}
