//! A lane: games advanced in lock step by whichever thread holds it.
//!
//! A **round** is one move in every game. Within it the searches run side by side: each step collects one leaf from
//! every search that still needs one, and the evaluator answers them as one batch. Only when all have decided do the
//! plies enter the records, so between rounds a lane is nothing but its records, and an abandoned round leaves no
//! trace. Lanes share nothing, so it matters to no game which thread plays it when.

use std::sync::atomic::{AtomicBool, Ordering};

use hnefi_inference::{EvalError, Evaluations, Evaluator};

use super::Quota;
use super::balance::Balance;
use super::cache::EvaluationCache;
use super::observer::FleetProgress;
use super::seat::{Ask, Seat};
use super::snapshot::LaneState;
use super::statistics::Counters;
use hnefi_run::config::{LANE_GAMES, SelfPlayConfig};
use hnefi_run::{GameRecord, RecordError};
use hnefi_search::SearchConfig;

/// What all lanes share while they play: settings that do not change before the generation ends.
pub(super) struct Table<'a> {
    pub(super) config: &'a SelfPlayConfig,
    pub(super) seed: u64,
    pub(super) balance: &'a Balance,
    /// Playouts of a search at even terms.
    pub(super) playouts: u32,
    pub(super) quota: Quota,
    /// Who plays: the checkpoint's id.
    pub(super) checkpoint: &'a str,
    /// Per side: whether it may resign.
    pub(super) resign_active: [bool; 2],
}

/// Evaluations kept for each game: those of some searches of the usual sizes.
const CACHED_PER_GAME: usize = 128;

/// A lane of games.
pub(super) struct Lane {
    index: usize,
    lanes: usize,
    begun: u64,
    seats: Vec<Seat>,
    finished: Vec<GameRecord>,
    /// Training samples in `finished`.
    finished_samples: u64,
    counters: Counters,
    evaluations: Evaluations,
    /// What the seats ask in one step, each with the key of its position.
    asked: Vec<(usize, Ask, u64)>,
    /// The answers given before.
    cache: EvaluationCache,
}

impl Lane {
    /// An empty lane whose games have numbers from `first` on that leave remainder `index` when divided by `lanes`.
    pub(super) fn new(index: usize, lanes: usize, first: u64, search: &SearchConfig) -> Lane {
        Lane {
            index,
            lanes,
            begun: first.saturating_sub(index as u64).div_ceil(lanes as u64),
            seats: (0..LANE_GAMES).map(|_| Seat::new(search)).collect(),
            finished: Vec::new(),
            finished_samples: 0,
            counters: Counters::default(),
            evaluations: Evaluations::new(),
            asked: Vec::new(),
            cache: EvaluationCache::new(CACHED_PER_GAME * LANE_GAMES),
        }
    }

    /// Takes up where a saved lane was; `self` must be new.
    pub(super) fn resume(&mut self, state: LaneState, table: &Table<'_>) -> Result<(), RecordError> {
        for (seat, record) in self.seats.iter_mut().zip(state.seats) {
            if let Some(record) = record {
                seat.resume_game(record, table)?;
            }
        }
        self.begun = state.begun;
        self.finished_samples = state.finished.iter().map(|game| game.training_plies() as u64).sum();
        self.finished = state.finished;
        self.counters = state.counters;
        Ok(())
    }

    /// The lane as it is between two rounds.
    pub(super) fn state(&self) -> LaneState {
        LaneState {
            begun: self.begun,
            seats: self.seats.iter().map(|seat| seat.record().cloned()).collect(),
            finished: self.finished.clone(),
            counters: self.counters,
        }
    }

    /// Hands over the finished games and the counts of a generation and begins the next.
    pub(super) fn end_generation(&mut self) -> (Vec<GameRecord>, Counters) {
        self.finished_samples = 0;
        (std::mem::take(&mut self.finished), std::mem::take(&mut self.counters))
    }

    /// Position among the lanes.
    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// Whether the lane has played its part of the quota.
    pub(super) fn is_done(&self, table: &Table<'_>) -> bool {
        match table.quota {
            Quota::Plies(_) => self.finished_samples >= self.share(table),
            Quota::Games(games) => self.next_game() >= games && self.seats.iter().all(|seat| seat.record().is_none()),
        }
    }

    /// How far the lane is; `done` counts samples or games.
    pub(super) fn progress(&self, table: &Table<'_>) -> FleetProgress {
        let done = match table.quota {
            Quota::Plies(_) => self.finished_samples.min(self.share(table)),
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
        self.seats.iter().filter(|seat| seat.record().is_some()).count() as u64
    }

    /// The lane's part of a quota of samples: an equal share, the first lanes taking what is left over.
    fn share(&self, table: &Table<'_>) -> u64 {
        let (Quota::Plies(total) | Quota::Games(total)) = table.quota;
        let (index, lanes) = (self.index as u64, self.lanes as u64);
        total / lanes + u64::from(index < total % lanes)
    }

    /// One more than the highest number of a game begun here; 0 before the first.
    pub(super) fn games_begun(&self) -> u64 {
        if self.begun == 0 { 0 } else { self.next_game() - self.lanes as u64 + 1 }
    }

    fn next_game(&self) -> u64 {
        self.begun * self.lanes as u64 + self.index as u64
    }

    /// Seats new games where there is room and the quota wants more.
    fn fill_seats(&mut self, table: &Table<'_>) {
        for place in 0..self.seats.len() {
            let number = self.next_game();
            let wanted = match table.quota {
                Quota::Plies(_) => true,
                Quota::Games(games) => number < games,
            };
            if wanted && self.seats[place].record().is_none() {
                self.seats[place].begin_game(number, table);
                self.begun += 1;
            }
        }
    }

    /// Plays a round; `false` when `stop` was raised and the round abandoned.
    ///
    /// # Errors
    /// When the evaluator fails; the round is abandoned then.
    pub(super) fn play_round(
        &mut self,
        table: &Table<'_>,
        evaluator: &mut dyn Evaluator,
        stop: &AtomicBool,
    ) -> Result<bool, EvalError> {
        self.fill_seats(table);
        for seat in &mut self.seats {
            seat.begin_turn(table);
        }
        self.cache.serve(table.checkpoint);
        let (mut evaluated, mut hits) = (0, 0);
        loop {
            if stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            self.asked.clear();
            for (place, seat) in self.seats.iter_mut().enumerate() {
                while let Some(ask) = seat.think() {
                    let request = seat.request(&ask);
                    let key = request.position.state_key();
                    let Some((evaluation, priors)) = self.cache.get(key, request.moves.len()) else {
                        self.asked.push((place, ask, key));
                        break;
                    };
                    hits += 1;
                    seat.answer(&ask, evaluation, priors, table);
                }
            }
            if self.asked.is_empty() {
                break;
            }
            let request = |(place, ask, _): &(usize, Ask, u64)| self.seats[*place].request(ask);
            let requests: Vec<_> = self.asked.iter().map(request).collect();
            evaluator.evaluate(&requests, &mut self.evaluations)?;
            evaluated += self.asked.len() as u64;
            for (number, (place, ask, key)) in self.asked.iter().enumerate() {
                let (evaluation, priors) = (self.evaluations.get(number), self.evaluations.priors(number));
                self.cache.put(*key, evaluation, priors);
                self.seats[*place].answer(ask, evaluation, priors, table);
            }
        }
        self.counters.evaluations += evaluated;
        self.counters.cache_hits += hits;
        for seat in &mut self.seats {
            if let Some(game) = seat.end_turn(table, &mut self.counters) {
                self.finished_samples += game.training_plies() as u64;
                self.finished.push(game);
            }
        }
        Ok(true)
    }
}
