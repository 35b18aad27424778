//! A game batch: games that one thread at a time advances in lock step.
//!
//! A **round** is one move in every game. In each step of a round, every unfinished search selects a leaf, and the
//! evaluator evaluates all leaves together. The plies are recorded when all searches have finished, so between rounds
//! the state of a batch is its records, and an abandoned round changes nothing. Batches are independent, so the games
//! do not depend on which thread plays a round.

use std::sync::atomic::{AtomicBool, Ordering};

use hnefi_inference::{EvalError, Evaluations, Evaluator};

use super::cache::EvaluationCache;
use super::control::FleetProgress;
use super::game_slot::{GameSlot, Query};
use super::settings::{GenerationSettings, Quota};
use super::snapshot::GameBatchState;
use super::statistics::Counters;
use hnefi_run::config::BATCH_GAMES;
use hnefi_run::{GameRecord, RecordError};
use hnefi_search::SearchConfig;

/// Cached evaluations per game, enough for several searches of usual sizes.
const CACHED_PER_GAME: usize = 128;

pub(super) struct GameBatch {
    /// Its place in the fleet.
    pub(super) index: usize,
    batches: usize,
    begun: u64,
    slots: Vec<GameSlot>,
    finished: Vec<GameRecord>,
    finished_samples: u64,
    counters: Counters,
    evaluations: Evaluations,
    /// The queries of one step: slot, query, and key of its position.
    queries: Vec<(usize, Query, u64)>,
    cache: EvaluationCache,
}

impl GameBatch {
    /// An empty batch. Its games have the numbers from `first` on that are `index` modulo `batches`.
    pub(super) fn new(index: usize, batches: usize, first: u64, search: &SearchConfig) -> GameBatch {
        GameBatch {
            index,
            batches,
            begun: first.saturating_sub(index as u64).div_ceil(batches as u64),
            slots: (0..BATCH_GAMES).map(|_| GameSlot::new(search)).collect(),
            finished: Vec::new(),
            finished_samples: 0,
            counters: Counters::default(),
            evaluations: Evaluations::new(),
            queries: Vec::new(),
            cache: EvaluationCache::new(CACHED_PER_GAME * BATCH_GAMES),
        }
    }

    /// Resumes from a saved state; `self` must be new.
    pub(super) fn resume(
        &mut self,
        state: GameBatchState,
        settings: &GenerationSettings<'_>,
    ) -> Result<(), RecordError> {
        state.finished.iter().try_for_each(GameRecord::check)?;
        for (slot, record) in self.slots.iter_mut().zip(state.slots) {
            if let Some(record) = record {
                slot.resume_game(record, settings)?;
            }
        }
        self.begun = state.begun;
        self.finished_samples = state.finished.iter().map(|game| game.training_plies() as u64).sum();
        self.finished = state.finished;
        self.counters = state.counters;
        Ok(())
    }

    pub(super) fn state(&self) -> GameBatchState {
        GameBatchState {
            begun: self.begun,
            slots: self.slots.iter().map(|slot| slot.record().cloned()).collect(),
            finished: self.finished.clone(),
            counters: self.counters,
        }
    }

    /// Takes out the finished games and the counts, and begins the next generation.
    pub(super) fn end_generation(&mut self) -> (Vec<GameRecord>, Counters) {
        self.finished_samples = 0;
        (std::mem::take(&mut self.finished), std::mem::take(&mut self.counters))
    }

    pub(super) fn is_done(&self, settings: &GenerationSettings<'_>) -> bool {
        match settings.quota {
            Quota::Plies(_) => self.finished_samples >= self.share(settings),
            Quota::Games(games) => self.next_game() >= games && self.slots.iter().all(|slot| slot.record().is_none()),
        }
    }

    /// Progress of the batch; `done` counts training plies or games, as the quota does.
    pub(super) fn progress(&self, settings: &GenerationSettings<'_>) -> FleetProgress {
        let done = match settings.quota {
            Quota::Plies(_) => self.finished_samples.min(self.share(settings)),
            Quota::Games(_) => self.begun - self.games_in_flight(),
        };
        FleetProgress {
            done: done as f64,
            games: self.finished.len() as u64,
            games_in_flight: self.games_in_flight(),
            training_plies: self.finished_samples,
            plies: self.counters.plies,
            playouts: self.counters.playouts,
            evaluations: self.counters.evaluations,
        }
    }

    fn games_in_flight(&self) -> u64 {
        self.slots.iter().filter(|slot| slot.record().is_some()).count() as u64
    }

    /// The batch's part of the quota: an equal share, with the remainder spread over the first batches.
    fn share(&self, settings: &GenerationSettings<'_>) -> u64 {
        let (Quota::Plies(total) | Quota::Games(total)) = settings.quota;
        let (index, batches) = (self.index as u64, self.batches as u64);
        total / batches + u64::from(index < total % batches)
    }

    /// One more than the highest number of a game begun in this batch; 0 before the first game.
    pub(super) fn games_begun(&self) -> u64 {
        if self.begun == 0 { 0 } else { self.next_game() - self.batches as u64 + 1 }
    }

    fn next_game(&self) -> u64 {
        self.begun * self.batches as u64 + self.index as u64
    }

    /// Begins new games in empty slots while the quota asks for more.
    fn fill_slots(&mut self, settings: &GenerationSettings<'_>) {
        for place in 0..self.slots.len() {
            let number = self.next_game();
            let wanted = match settings.quota {
                Quota::Plies(_) => true,
                Quota::Games(games) => number < games,
            };
            if wanted && self.slots[place].record().is_none() {
                self.slots[place].begin_game(number, settings);
                self.begun += 1;
            }
        }
    }

    /// Plays a round. Returns `false` if `stop` was set and the round abandoned; an evaluator that fails abandons it
    /// too.
    pub(super) fn play_round(
        &mut self,
        settings: &GenerationSettings<'_>,
        evaluator: &mut dyn Evaluator,
        stop: &AtomicBool,
    ) -> Result<bool, EvalError> {
        self.fill_slots(settings);
        for slot in &mut self.slots {
            slot.begin_turn(settings);
        }
        self.cache.serve(settings.checkpoint);
        let (mut evaluated, mut hits) = (0, 0);
        loop {
            if stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            self.queries.clear();
            for (place, slot) in self.slots.iter_mut().enumerate() {
                while let Some(query) = slot.next_query() {
                    let request = slot.request(&query);
                    let key = request.position.state_key() ^ request.handicap.key();
                    let Some((evaluation, priors)) = self.cache.get(key, request.moves.len()) else {
                        self.queries.push((place, query, key));
                        break;
                    };
                    hits += 1;
                    slot.answer(&query, evaluation, priors, settings);
                }
            }
            if self.queries.is_empty() {
                break;
            }
            let request = |(place, query, _): &(usize, Query, u64)| self.slots[*place].request(query);
            let requests: Vec<_> = self.queries.iter().map(request).collect();
            evaluator.evaluate(&requests, &mut self.evaluations)?;
            evaluated += self.queries.len() as u64;
            for (number, (place, query, key)) in self.queries.iter().enumerate() {
                let (evaluation, priors) = (self.evaluations.get(number), self.evaluations.priors(number));
                self.cache.put(*key, evaluation, priors);
                self.slots[*place].answer(query, evaluation, priors, settings);
            }
        }
        self.counters.evaluations += evaluated;
        self.counters.cache_hits += hits;
        for slot in &mut self.slots {
            if let Some(game) = slot.end_turn(settings, &mut self.counters) {
                self.finished_samples += game.training_plies() as u64;
                self.finished.push(game);
            }
        }
        Ok(true)
    }
}
