//! The fleet: many concurrent games of self-play, with results that do not depend on the number of threads.
//!
//! The games of a **game batch**, 32 of them, advance in lock step and are evaluated together; a thread takes a whole
//! batch. A **round** is one move in every game of a batch. Between rounds the state of a game is its record, and every
//! random number is derived from the run's seed, the number of the game, the ply and a purpose. Records therefore
//! depend only on the seed, the checkpoints and the quotas (if the evaluations are deterministic). A fleet can be saved
//! between any two rounds and resumed later with the same result, and stopping it costs at most the round being played.
//!
//! Games are not cut off at the end of a generation, which would favour short games: they go on with the next network.
//! Every move begins a new search tree.

mod balance;
mod cache;
mod chance;
mod config;
mod control;
mod error;
mod game;
mod game_batch;
mod game_slot;
mod opening;
mod recording;
mod resignation;
mod settings;
mod snapshot;
mod statistics;
mod threads;
mod upload;

use hnefi_inference::{Evaluator, Handicap};

pub use config::search_config;
pub use control::{FleetControl, FleetProgress, Uncontrolled};
pub use error::FleetError;
pub use hnefi_run::config::{BATCH_GAMES, PlyCaps, ResignConfig, RulesetShare, SelfPlayConfig};
pub use recording::{RecordingParams, RecordingSummary, record_games};
pub use settings::Quota;
pub use snapshot::FleetSnapshot;
pub use statistics::{EndCount, GenerationStats};
pub use upload::{Adaptation, Upload};

use balance::Balance;
use game_batch::GameBatch;
use resignation::Verification;
use settings::GenerationSettings;
use snapshot::GameBatchState;
use statistics::Counters;

use hnefi_run::GameRecord;
use hnefi_search::SearchConfig;

/// No batch begins more games; their numbers are far from overflowing then.
const MOST_BEGUN: u64 = 1 << 40;

/// The finished games of a generation.
#[derive(Clone, Debug, PartialEq)]
pub struct Generation {
    /// The fleet's own games by number, then those of workers upload by upload, as they were received.
    pub games: Vec<GameRecord>,
    /// Statistics of the generation.
    pub stats: GenerationStats,
}

/// Many concurrent games of self-play.
pub struct Fleet {
    config: SelfPlayConfig,
    seed: u64,
    batches: Vec<GameBatch>,
    verification: Verification,
    balance: Balance,
    limits: Handicap,
    uploads: Vec<Upload>,
    threads: usize,
    /// The batch that plays first: after a rest it is the turn of others.
    turn: usize,
}

impl Fleet {
    /// A fleet that has not begun any game. It has at least one game batch.
    pub fn new(config: &SelfPlayConfig, search: &SearchConfig, seed: u64) -> Fleet {
        Fleet::starting_at(0, config, search, seed)
    }

    /// A fleet whose first game has number `first`; earlier games are recorded already.
    pub fn starting_at(first: u64, config: &SelfPlayConfig, search: &SearchConfig, seed: u64) -> Fleet {
        let batches = config.game_batches().max(1);
        Fleet {
            config: config.clone(),
            seed,
            batches: (0..batches).map(|index| GameBatch::new(index, batches, first, search)).collect(),
            verification: Verification::default(),
            balance: Balance::default(),
            limits: config::limits(config),
            uploads: Vec::new(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            turn: 0,
        }
    }

    /// Resumes a fleet from its snapshot.
    ///
    /// # Errors
    /// When the snapshot is of a fleet with another seed or size, or its games break the rules.
    pub fn resume(
        config: &SelfPlayConfig,
        search: &SearchConfig,
        seed: u64,
        snapshot: FleetSnapshot,
    ) -> Result<Fleet, FleetError> {
        let mut fleet = Fleet::new(config, search, seed);
        if snapshot.seed != seed {
            return Err(mismatch("seed", snapshot.seed, seed));
        }
        if snapshot.batches.len() != fleet.batches.len() {
            return Err(mismatch("number of game batches", snapshot.batches.len(), fleet.batches.len()));
        }
        fleet.verification = snapshot.verification;
        fleet.balance = snapshot.balance;
        let settings = GenerationSettings {
            config: &fleet.config,
            seed,
            balance: &fleet.balance,
            playouts: 0,
            quota: Quota::Games(0),
            checkpoint: "",
            verification: &fleet.verification,
        };
        for (batch, state) in fleet.batches.iter_mut().zip(snapshot.batches) {
            if state.slots.len() != BATCH_GAMES {
                return Err(mismatch("games in a batch", state.slots.len(), BATCH_GAMES));
            }
            if state.begun > MOST_BEGUN {
                return Err(mismatch("games begun in a batch", state.begun, format!("at most {MOST_BEGUN}")));
            }
            batch.resume(state, &settings)?;
        }
        Ok(fleet)
    }

    /// Sets the number of threads; the default is one per core. Records do not depend on it.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Fleet {
        self.threads = threads.max(1);
        self
    }

    /// Plays until the quota is reached and returns the finished games. Unfinished games stay for the next call,
    /// possibly with another network. After an interruption, the same call resumes.
    ///
    /// # Errors
    /// As [`Fleet::play`].
    pub fn run(
        &mut self,
        quota: Quota,
        playouts: u32,
        checkpoint_id: &str,
        make_evaluator: &(dyn Fn() -> Box<dyn Evaluator> + Sync),
        control: &mut dyn FleetControl,
    ) -> Result<Generation, FleetError> {
        self.play(quota, playouts, checkpoint_id, make_evaluator, control)?;
        Ok(self.end_generation())
    }

    /// Plays until the quota is reached and keeps the finished games for [`Fleet::end_generation`].
    ///
    /// `playouts` is the budget of a search, which handicaps may shift between the sides. `checkpoint_id` names the
    /// player in the records. `make_evaluator` is called once on each thread.
    ///
    /// # Errors
    /// When `control` stops it or fails, or an evaluator fails. All complete rounds are kept.
    pub fn play(
        &mut self,
        quota: Quota,
        playouts: u32,
        checkpoint_id: &str,
        make_evaluator: &(dyn Fn() -> Box<dyn Evaluator> + Sync),
        control: &mut dyn FleetControl,
    ) -> Result<(), FleetError> {
        // A stage of the run may have lowered the limits.
        self.balance.restrict(self.limits);
        let settings = GenerationSettings {
            config: &self.config,
            seed: self.seed,
            balance: &self.balance,
            playouts,
            quota,
            checkpoint: checkpoint_id,
            verification: &self.verification,
        };
        let (seed, verification, balance) = (self.seed, &self.verification, &self.balance);
        let snapshot = |batches: Vec<GameBatchState>| FleetSnapshot {
            seed,
            verification: verification.clone(),
            balance: balance.clone(),
            batches,
        };
        let turn = self.turn;
        self.turn = (turn + self.threads) % self.batches.len();
        threads::play(&mut self.batches, turn, &settings, self.threads, make_evaluator, control, &snapshot)
    }

    /// Ends the generation: returns the games finished so far (fewer than the quota if [`Fleet::play`] was stopped) and
    /// the games received from workers, and adapts handicaps and resignation to them.
    pub fn end_generation(&mut self) -> Generation {
        let (mut games, mut counters) = self.finished();
        for upload in self.uploads.drain(..) {
            games.extend(upload.games);
            counters.push(upload.counters);
        }
        self.verification.observe(&games, &self.config.resign);
        let resign = self.verification.summary(&self.config.resign);
        let counters = Counters::total(&counters);
        let stats =
            GenerationStats { handicaps: self.balance.all(), ..GenerationStats::new(&games, &counters, resign) };
        self.balance.observe(&games, self.limits);
        Generation { games, stats }
    }

    /// Takes out the finished games of all batches, by number, and the counts of each batch.
    fn finished(&mut self) -> (Vec<GameRecord>, Vec<Counters>) {
        let (mut games, mut counters) = (Vec::new(), Vec::new());
        for batch in &mut self.batches {
            let (finished, counted) = batch.end_generation();
            games.extend(finished);
            counters.push(counted);
        }
        games.sort_unstable_by_key(|record| record.game);
        (games, counters)
    }

    /// A snapshot of the fleet between two rounds: games in flight and games finished in the present generation.
    pub fn snapshot(&self) -> FleetSnapshot {
        FleetSnapshot {
            seed: self.seed,
            verification: self.verification.clone(),
            balance: self.balance.clone(),
            batches: self.batches.iter().map(GameBatch::state).collect(),
        }
    }

    /// The seed of all randomness of the games.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// One more than the highest number of a game begun; 0 before the first game.
    pub fn games_begun(&self) -> u64 {
        self.batches.iter().map(GameBatch::games_begun).max().unwrap_or(0)
    }

    /// Adds verified games of earlier processes to the state of the resignation rule.
    pub(crate) fn observe_earlier(&mut self, games: &[GameRecord]) {
        self.verification.observe(games, &self.config.resign);
    }
}

fn mismatch(what: &'static str, found: impl ToString, expected: impl ToString) -> FleetError {
    FleetError::Mismatch { what, found: found.to_string(), expected: expected.to_string() }
}
