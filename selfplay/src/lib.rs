//! The fleet: many games of self-play at once, the same games whatever the number of threads.
//!
//! Games sit in **lanes** of 32 that are advanced in lock step and evaluated as one batch; threads take whole lanes. A
//! **round** is one move in every game of a lane. Between rounds a game is its record and nothing else, and every random
//! number comes from the run's seed, the game's number, the ply and what it is for. So records depend on the seed, the
//! checkpoints and the quotas alone (as long as the evaluator's answers do), a fleet can be put away between any two
//! rounds and goes on as if nothing had happened, and stopping costs at most the round being played.
//!
//! Games are never cut off at the end of a generation, which would keep only short ones: they go on with the next
//! network. Searches are fresh at every move, trees are not kept between moves.

mod arrival;
mod balance;
mod batches;
mod cache;
mod chance;
mod config;
mod crew;
mod game;
mod lane;
mod observer;
mod opening;
mod resignation;
mod seat;
mod snapshot;
mod statistics;

use hnefi_inference::{EvalError, Evaluator};

pub use arrival::{Adaptation, Arrival};
pub use batches::{BatchParams, BatchSummary, record_games};
pub use config::search_config;
pub use hnefi_run::config::{LANE_GAMES, PlyCaps, ResignConfig, RulesetShare, SelfPlayConfig};
pub use observer::{FleetObserver, FleetProgress, Unobserved};
pub use snapshot::FleetSnapshot;
pub use statistics::{EndCount, GenerationStats};

use balance::{Balance, Limits};
use lane::{Lane, Table};
use resignation::Verification;
use snapshot::LaneState;
use statistics::Counters;

use hnefi_run::store::StoreError;
use hnefi_run::{GameRecord, RecordError};
use hnefi_search::SearchConfig;

/// Why a fleet could not play.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// The observer asked to stop. Nothing that was played is lost: take a snapshot, or end the generation early.
    #[error("self-play was stopped")]
    Stopped,
    /// A network could not be evaluated.
    #[error("self-play: {source}")]
    Evaluation {
        /// What the evaluator said.
        source: EvalError,
    },
    /// A snapshot belongs to another fleet.
    #[error("fleet snapshot with {what} {found}; expected {expected}")]
    Mismatch {
        /// What differs.
        what: &'static str,
        /// What the snapshot has.
        found: String,
        /// What the fleet has.
        expected: String,
    },
    /// A record could not be read or continued.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Games that later ones follow from cannot be read.
    #[error("{problem}; remove it and all later files of games: they are played again, the same")]
    NeedsGames {
        /// What is wrong with them; names the file.
        problem: RecordError,
    },
    /// The run directory refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run directory belongs to another run.
    #[error("{place} holds another run: {differences}; expected the same settings or a new directory")]
    OtherRun {
        /// The directory.
        place: String,
        /// Keys that differ, with both values.
        differences: String,
    },
}

/// How much to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quota {
    /// A generation: until the games that ended in it hold this many training samples. Every lane plays its equal part.
    Plies(u64),
    /// All games with numbers below this one, to their ends.
    Games(u64),
}

/// The finished games of a generation.
#[derive(Clone, Debug, PartialEq)]
pub struct Generation {
    /// The games, by number.
    pub games: Vec<GameRecord>,
    /// What the generation did.
    pub stats: GenerationStats,
}

/// Many games of self-play at once.
pub struct Fleet {
    config: SelfPlayConfig,
    seed: u64,
    lanes: Vec<Lane>,
    verification: Verification,
    balance: Balance,
    /// The most that handicaps may come to.
    limits: Limits,
    /// What others played in this generation.
    arrivals: Vec<Arrival>,
    threads: usize,
}

impl Fleet {
    /// A fleet that has not begun any game. The number of lanes is at least one.
    pub fn new(config: &SelfPlayConfig, search: &SearchConfig, seed: u64) -> Fleet {
        Fleet::starting_at(0, config, search, seed)
    }

    /// A fleet whose first game has number `first`, because those before it are on the disk.
    pub fn starting_at(first: u64, config: &SelfPlayConfig, search: &SearchConfig, seed: u64) -> Fleet {
        let lanes = config.lanes().max(1);
        Fleet {
            config: config.clone(),
            seed,
            lanes: (0..lanes).map(|index| Lane::new(index, lanes, first, search)).collect(),
            verification: Verification::default(),
            balance: Balance::default(),
            limits: config::limits(config),
            arrivals: Vec::new(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// The fleet that `snapshot` was taken of.
    ///
    /// # Errors
    /// When it was taken of a fleet with another seed or size, or its games do not follow the rules.
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
        if snapshot.lanes.len() != fleet.lanes.len() {
            return Err(mismatch("number of lanes", snapshot.lanes.len(), fleet.lanes.len()));
        }
        fleet.verification = snapshot.verification;
        fleet.balance = snapshot.balance;
        let table = Table {
            config: &fleet.config,
            seed,
            balance: &fleet.balance,
            playouts: 0,
            quota: Quota::Games(0),
            checkpoint: "",
            resign_active: [false; 2],
        };
        for (lane, state) in fleet.lanes.iter_mut().zip(snapshot.lanes) {
            if state.seats.len() != LANE_GAMES {
                return Err(mismatch("games in a lane", state.seats.len(), LANE_GAMES));
            }
            lane.resume(state, &table)?;
        }
        Ok(fleet)
    }

    /// Sets how many threads play; by default one per core. Records do not depend on it.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Fleet {
        self.threads = threads.max(1);
        self
    }

    /// Plays until the quota is reached and returns the games that ended; unfinished ones stay for the next call, which
    /// may bring another network. After an interruption, call it again with the same arguments to go on.
    ///
    /// # Errors
    /// As [`Fleet::play`].
    pub fn run(
        &mut self,
        quota: Quota,
        playouts: u32,
        checkpoint_id: &str,
        make_evaluator: &(dyn Fn() -> Result<Box<dyn Evaluator>, EvalError> + Sync),
        observer: &dyn FleetObserver,
    ) -> Result<Generation, FleetError> {
        self.play(quota, playouts, checkpoint_id, make_evaluator, observer)?;
        Ok(self.end_generation())
    }

    /// Plays until the quota is reached. The finished games are kept for [`Fleet::end_generation`].
    ///
    /// `playouts` is the budget of a full search (`balance_doublings` may shift it between
    /// the sides), `checkpoint_id` what the records name as the player, and
    /// `make_evaluator` is called once on each thread.
    ///
    /// # Errors
    /// When the observer asks to stop or an evaluator fails. Everything played up to the last round is still there.
    pub fn play(
        &mut self,
        quota: Quota,
        playouts: u32,
        checkpoint_id: &str,
        make_evaluator: &(dyn Fn() -> Result<Box<dyn Evaluator>, EvalError> + Sync),
        observer: &dyn FleetObserver,
    ) -> Result<(), FleetError> {
        // A stage of the run may have lowered them.
        self.balance.restrict(self.limits);
        let table = Table {
            config: &self.config,
            seed: self.seed,
            balance: &self.balance,
            playouts,
            quota,
            checkpoint: checkpoint_id,
            resign_active: self.verification.summary(&self.config.resign).active,
        };
        let (seed, verification, balance) = (self.seed, &self.verification, &self.balance);
        let mut save = |lanes: Vec<LaneState>| {
            observer.save(FleetSnapshot { seed, verification: verification.clone(), balance: balance.clone(), lanes });
        };
        crew::play(&mut self.lanes, &table, self.threads, make_evaluator, observer, &mut save)
    }

    /// Hands over the games finished so far, fewer than the quota when [`Fleet::play`] was stopped, and those received,
    /// and begins the next generation.
    pub fn end_generation(&mut self) -> Generation {
        let (mut games, mut counters) = self.finished();
        for arrival in self.arrivals.drain(..) {
            games.extend(arrival.games);
            counters.push(arrival.counters);
        }
        self.verification.observe(&games, &self.config.resign);
        let resign = self.verification.summary(&self.config.resign);
        let counters = Counters::total(&counters);
        let stats =
            GenerationStats { handicaps: self.balance.all(), ..GenerationStats::new(&games, &counters, resign) };
        self.balance.observe(&games, self.limits);
        Generation { games, stats }
    }

    /// The games finished in all lanes, by number, and what was counted.
    fn finished(&mut self) -> (Vec<GameRecord>, Vec<Counters>) {
        let (mut games, mut counters) = (Vec::new(), Vec::new());
        for lane in &mut self.lanes {
            let (finished, counted) = lane.end_generation();
            games.extend(finished);
            counters.push(counted);
        }
        games.sort_unstable_by_key(|record| record.game);
        (games, counters)
    }

    /// The fleet as it is between two rounds: games in flight and games finished in the present generation.
    pub fn snapshot(&self) -> FleetSnapshot {
        FleetSnapshot {
            seed: self.seed,
            verification: self.verification.clone(),
            balance: self.balance.clone(),
            lanes: self.lanes.iter().map(Lane::state).collect(),
        }
    }

    /// What names all randomness of the games.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// One more than the highest number of a game begun.
    pub fn games_begun(&self) -> u64 {
        self.lanes.iter().map(Lane::games_begun).max().unwrap_or(0)
    }

    /// Takes in games that an earlier process verified, so that resignation goes on where it was.
    pub(crate) fn observe_earlier(&mut self, games: &[GameRecord]) {
        self.verification.observe(games, &self.config.resign);
    }
}

fn mismatch(what: &'static str, found: impl ToString, expected: impl ToString) -> FleetError {
    FleetError::Mismatch { what, found: found.to_string(), expected: expected.to_string() }
}
