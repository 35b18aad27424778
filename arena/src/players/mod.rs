//! Players that matches and boards can seat.
//!
//! A [`Player`] answers a game with a [`Choice`]. Players are named by a [`PlayerSpec`] such as `alphabeta:3`,
//! which also builds them; those with a network share one [`ModelCache`]. Four are baselines that need no network, so
//! that a network's strength means something: uniformly random moves, Monte Carlo playouts, and an alpha-beta search
//! with a hand-made evaluation. External programs play by the text protocol of `hnefi uci`.
//!
//! A player that does not look at the clock chooses the same move whenever it is given the same games so far and the
//! same random numbers: nothing carries over [`Player::new_game`].

mod alphabeta;
mod model;
mod random;
mod rollout;
mod spec;
mod uci;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hnefi_engine::{Game, Move};
use hnefi_inference::{CheckpointError, EvalError, Wdl};
use serde::{Deserialize, Serialize};

pub use alphabeta::AlphaBeta;
pub use hnefi_search::Limit;
pub use model::{CheckpointSource, DEFAULT_PLAYOUTS, ModelCache, ModelPlayer, ModelSpec};
pub use random::RandomPlayer;
pub use rollout::Rollout;
pub use spec::PlayerSpec;
pub use uci::{Process, UciPlayer, UciSpec};

use hnefi_run::store::StoreError;
use hnefi_search::Rng;

/// Chooses moves.
pub trait Player: Send {
    /// Its spec, such as `alphabeta:3`.
    fn name(&self) -> &str;

    /// Forgets everything about the game so far.
    fn new_game(&mut self) {}

    /// Has [`Player::choose`] end soon, by [`PlayerError::Stopped`], once the flag is true; players that think long do.
    fn stop_by(&mut self, flag: &Arc<AtomicBool>) {
        let _ = flag;
    }

    /// Chooses a legal move for the side to move. Whatever the player leaves to chance it draws from `rng`. Between two
    /// calls of [`Player::new_game`] moves may have been taken back.
    ///
    /// # Errors
    /// When the game is over, or the player's network or program fails.
    fn choose(&mut self, game: &Game, rng: &mut Rng) -> Result<Choice, PlayerError>;
}

/// A move and what the player thought of the position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The move.
    pub mv: Move,
    /// Chances from the mover's view, where the player has an opinion on them.
    pub wdl: Option<Wdl>,
    /// Playouts made; 0 for players that make none.
    pub playouts: u32,
    /// Positions evaluated: by the network, or by the hand-made evaluation.
    pub evaluations: u64,
}

/// How an external program broke off a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramErrorKind {
    /// It did not answer in time.
    Timeout,
    /// It ended, or closed its output.
    Crash,
    /// It played an illegal move, or none while the game goes on.
    IllegalMove,
}

impl ProgramErrorKind {
    /// `timeout`, `crash` or `illegal_move`.
    pub const fn as_str(self) -> &'static str {
        match self {
            ProgramErrorKind::Timeout => "timeout",
            ProgramErrorKind::Crash => "crash",
            ProgramErrorKind::IllegalMove => "illegal_move",
        }
    }
}

/// How an external program broke off a game, and what was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramError {
    /// Of what kind it was.
    pub kind: ProgramErrorKind,
    /// What was seen and what was expected.
    pub problem: String,
}

impl ProgramError {
    fn new(kind: ProgramErrorKind, problem: String) -> ProgramError {
        ProgramError { kind, problem }
    }
}

/// Why a player could not be made or could not move.
#[derive(Debug, thiserror::Error)]
pub enum PlayerError {
    /// The spec names no known kind of player.
    #[error("unknown player {found:?}: expected {}{}", spec::ACCEPTED, spec::suggestion(found))]
    Unknown {
        /// The spec.
        found: String,
    },
    /// The spec is of a known kind but wrong in itself.
    #[error("player {spec:?}: {problem}")]
    Spec {
        /// The spec.
        spec: String,
        /// What was found and what was expected.
        problem: String,
    },
    /// No checkpoint there, and no shipped one of that name.
    #[error("model {path}: {problem}")]
    NoModel {
        /// What was looked for.
        path: String,
        /// What was found instead.
        problem: String,
    },
    /// A checkpoint that cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The run of a checkpoint that cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The network or its device failed.
    #[error(transparent)]
    Evaluation(#[from] EvalError),
    /// An external program broke off, for which a match counts its game as lost.
    #[error("player {player}: {}", error.problem)]
    Program {
        /// The player.
        player: String,
        /// What it did.
        error: ProgramError,
    },
    /// Told to stop while it was thinking.
    #[error("player {player}: stopped")]
    Stopped {
        /// The player.
        player: String,
    },
    /// Asked for a move in a finished game.
    #[error("player {player}: asked for a move, but the game is over ({fen})")]
    GameOver {
        /// The player.
        player: String,
        /// The final position.
        fen: String,
    },
}

impl PlayerError {
    fn game_over(player: &str, game: &Game) -> PlayerError {
        PlayerError::GameOver { player: player.to_owned(), fen: game.position().fen() }
    }
}
