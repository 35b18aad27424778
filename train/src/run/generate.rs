//! Self-play of one generation, saved as it goes.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hnefi_run::store::{Store, StoreError, games_key, upload_key};
use hnefi_run::{GameRecord, encode_games};
use hnefi_selfplay::{FleetError, FleetObserver, FleetProgress, FleetSnapshot, Quota};

use super::clock::Clock;
use super::intake::Intake;
use super::job::PROGRAM;
use super::overlap::Link;
use super::saved::{self, FinishedSelfPlay, InFlight};
use super::{Run, SelfPlay, TrainObserver, open};
use crate::TrainError;
use crate::schedule::playouts_at;

/// Time between two looks at the store of a trainer that plays no games itself.
const ATTENTION: Duration = Duration::from_millis(20);

impl Run<'_> {
    /// Plays the next generation unless its games are in the store, and returns its statistics; `None` if the observer
    /// stopped it, with the games in flight saved.
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

    /// Plays this generation, takes in uploads, and writes the games to the store. Returns false if the observer
    /// stopped it.
    fn play(&mut self, generation: u32) -> Result<bool, TrainError> {
        self.fence.check(&self.store)?;
        let playouts = playouts_at(&self.config.budget.playouts, self.stage_progress());
        let watched = GenerationObserver {
            store: &self.store,
            observer: self.observer,
            link: self.link,
            clock: self.clock,
            generation,
            quota: self.quota(),
            ahead: self.config.train.plies_per_generation,
            before: self.selfplay_seconds,
            began: Instant::now(),
            every: Duration::from_secs(u64::from(self.config.run.save_seconds)),
            training_seconds_per_ply: self.training_seconds_per_ply(),
            state: Mutex::new(GenerationState {
                save: self.save,
                due: Instant::now(),
                intake: Intake::new(&self.rulesets, &self.games),
                enough: false,
                failed: None,
            }),
        };
        watched.state().due += watched.every;
        let outcome = if self.params.selfplay == SelfPlay::InTurns {
            let weights = self.learner.average().weights()?;
            let evaluators = hnefi_inference::evaluators(&weights, &self.config.run.device, self.config.run.precision)
                .map_err(|source| FleetError::Evaluation { source })?;
            let (quota, make) = (Quota::Plies(watched.quota), || Ok(evaluators()));
            self.fleet.play(quota, playouts, &self.checkpoint_id, &make, &watched)
        } else {
            watched.wait()
        };
        match outcome {
            // Games in flight go on in the next generation, and are dropped after the last one.
            Err(FleetError::Stopped) if watched.state().enough => {}
            Ok(()) => {}
            Err(error) => {
                watched.save(self.fleet.snapshot());
                watched.finish()?;
                return if matches!(error, FleetError::Stopped) { Ok(false) } else { Err(error.into()) };
            }
        }
        let seconds = self.link.map_or(watched.seconds(), Link::lap);
        let (uploads, uploaded) = watched.finish()?.finish();
        for upload in uploads {
            self.fleet.receive(upload);
        }
        let finished = self.fleet.end_generation();
        let played = FinishedSelfPlay { stats: finished.stats, playouts, seconds };

        // First write the games in flight, which belong to the next generation, then the finished games. After an
        // interruption in between, the game file is missing and this generation's own saves still exist.
        let next = (generation + 1, 0);
        if self.store.is_exclusive() {
            let spent = self.clock.spent();
            let clock = InFlight { spent, selfplay_seconds: 0.0, finished: Some(played.clone()) };
            saved::write_inflight(&self.store, next, &clock, &self.fleet.snapshot().encode())?;
        }
        let games = self.record(generation, finished.games)?;
        self.store.remove_all(&uploaded)?;
        saved::remove_inflight_before(&self.store, next)?;
        self.save = 0;
        self.selfplay_seconds = 0.0;
        self.games.insert(generation, games);
        self.played_until = generation;
        self.finished = played;
        Ok(true)
    }

    /// Writes the games of a generation and returns its recorded games. If a replaced trainer has written other games
    /// under this number, this trainer's games become an upload for the next generation.
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
        self.store.create(&upload_key(again.worker, generation), &again.encode())?;
        Ok(recorded)
    }

    /// Training plies to play in this generation. With a time limit, the last generation is extended instead of leaving
    /// a remainder too short to use.
    fn quota(&self) -> u64 {
        let quota = self.config.train.plies_per_generation;
        if self.clock.remaining() < 1.5 * self.counters.generation_seconds { 2 * quota } else { quota }
    }

    /// Expected seconds of training per new ply; `None` before the first training.
    fn training_seconds_per_ply(&self) -> Option<f64> {
        let speed = self.counters.samples_per_second;
        (speed > 0.0).then(|| self.config.train.reuse / speed)
    }
}

/// Observes the fleet during a generation: saves games in flight, reads uploads, keeps to the budget, and reports
/// progress.
struct GenerationObserver<'a> {
    store: &'a Store,
    observer: &'a dyn TrainObserver,
    link: Option<&'a Link>,
    clock: Clock,
    generation: u32,
    /// Training plies of the generation.
    quota: u64,
    /// Training plies that the worker of this process may play ahead, during the training on this generation.
    ahead: u64,
    /// Seconds that earlier processes spent on self-play of this generation.
    before: f64,
    began: Instant,
    every: Duration,
    training_seconds_per_ply: Option<f64>,
    state: Mutex<GenerationState<'a>>,
}

struct GenerationState<'a> {
    /// Number of the newest save.
    save: u32,
    due: Instant,
    /// Uploads of workers.
    intake: Intake<'a>,
    /// Whether to end the generation: it has its plies, or only the time to train on them is left.
    enough: bool,
    failed: Option<TrainError>,
}

impl<'a> GenerationObserver<'a> {
    fn state(&self) -> MutexGuard<'_, GenerationState<'a>> {
        // No code panics while it holds this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Seconds of self-play in this generation.
    fn seconds(&self) -> f64 {
        self.before + self.began.elapsed().as_secs_f64()
    }

    /// Whether the remaining time is only enough to train on `plies` plies. Before the first training, training is
    /// assumed to take as long as self-play.
    fn time_is_up(&self, plies: u64) -> bool {
        let training = match self.training_seconds_per_ply {
            Some(seconds) => seconds * plies as f64,
            // There is nothing to train on yet: the first game may still come to its end.
            None if plies == 0 => 0.0,
            None => self.clock.elapsed(),
        };
        self.clock.remaining() <= training
    }

    /// Waits for workers to play the generation.
    fn wait(&self) -> Result<(), FleetError> {
        loop {
            self.progress(&FleetProgress::default());
            if self.should_stop() || self.link.is_some_and(Link::has_ended) {
                return Err(FleetError::Stopped);
            }
            std::thread::sleep(ATTENTION);
        }
    }

    /// The uploads, or the error of a failed save or intake.
    fn finish(self) -> Result<Intake<'a>, TrainError> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.failed.map_or(Ok(state.intake), Err)
    }
}

impl FleetObserver for GenerationObserver<'_> {
    fn progress(&self, progress: &FleetProgress) {
        let mut state = self.state();
        // Count the worker's games before looking, finished ones first, so that the look finds all that it uploads.
        let finished = self.link.map_or(0, Link::finished_plies);
        let there = self.link.map_or(0, Link::uploaded_plies);
        if self.link.is_some_and(|link| link.waiting() > 0) {
            state.intake.look_again();
        }
        if let Err(error) = state.intake.look(self.store, self.observer) {
            state.failed.get_or_insert(error);
        }
        let plies = progress.training_plies + state.intake.plies();
        let uploaded = state.intake.plies() as f64 / self.quota.max(1) as f64;
        let progress = FleetProgress {
            done: (progress.done + uploaded).min(1.0),
            games: progress.games + state.intake.games(),
            training_plies: plies,
            ..*progress
        };
        // When only the time to train on them is left, the finished games of the worker are uploaded first.
        let is_up = self.time_is_up(plies + finished);
        if (is_up && finished == 0) || (state.intake.plies() > 0 && plies >= self.quota) {
            state.enough = true;
        }
        if let Some(link) = self.link {
            link.look_at(there);
            let is_last = is_up || (state.enough && !self.clock.has_room(self.generation));
            link.want(match state.enough {
                _ if is_last => 0,
                true => self.ahead,
                false => self.quota.saturating_sub(plies),
            });
        }
        drop(state);
        let run = self.clock.progress(self.generation - 1, 0.5 * progress.done);
        self.observer.generating(self.generation, &progress, run);
    }

    /// After a failed save the games could probably not be written either, so stop.
    fn should_stop(&self) -> bool {
        let state = self.state();
        state.enough || state.failed.is_some() || self.observer.should_stop()
    }

    /// Games in flight are not saved to a bucket, where another trainer may save its own.
    fn save_due(&self) -> bool {
        self.store.is_exclusive() && Instant::now() >= self.state().due
    }

    fn save(&self, snapshot: FleetSnapshot) {
        if !self.store.is_exclusive() {
            return;
        }
        let clock = InFlight { spent: self.clock.spent(), selfplay_seconds: self.seconds(), finished: None };
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
