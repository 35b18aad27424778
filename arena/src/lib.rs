//! Players, matches between them and what these measure.
//!
//! [`play_match`] seats two players for many games at once and returns a [`MatchResult`]: counts per side, Elo with
//! intervals from the spread of the pairs, and how the games ended. [`SprtParams`] let it stop when its question is
//! answered. [`Ratings`] fits one strength per player and side to the games of any number of players. [`solve`] sets
//! players puzzles with proven answers. [`Tuning`] seeks better settings of a player's search.

mod duel;
mod game;
pub mod ladder;
mod opening;
pub mod players;
mod ratings;
mod result;
mod score;
mod solve;
mod sprt;
mod tuning;

use hnefi_engine::Side;

pub use duel::{MatchObserver, MatchParams, play_match, play_match_as, play_match_with};
pub use game::{Forfeit, GameParams, PlayedGame, play_game};
pub use opening::random_opening;
pub use ratings::{Encounter, Rating, RatingParams, Ratings};
pub use result::MatchResult;
pub use score::{EloInterval, PairScores, Tally, score_of_elo};
pub use solve::solve;
pub use sprt::{SprtParams, SprtReport, Verdict};
pub use tuning::{TunedKey, Tuning, TuningError};

use crate::players::PlayerError;

/// Why a match could not be played to its end.
#[derive(Debug, thiserror::Error)]
pub enum MatchError {
    /// The match asked for cannot be.
    #[error("match: {problem}")]
    Params {
        /// What was found and what was expected.
        problem: String,
    },
    /// A player could not be made.
    #[error(transparent)]
    Build(#[from] PlayerError),
    /// A player failed or played an illegal move.
    #[error("game {game}, ply {ply}: {player} ({side}): {problem}")]
    Player {
        /// The player's spec.
        player: String,
        /// The side it had.
        side: Side,
        /// Number of the game, from 0.
        game: u64,
        /// Plies played before.
        ply: u32,
        /// What went wrong.
        problem: String,
    },
    /// An opening with a move that the rules forbid.
    #[error("game {game}: the opening: {problem}")]
    Opening {
        /// Number of the game, from 0.
        game: u64,
        /// The move and why it is illegal.
        problem: String,
    },
}
