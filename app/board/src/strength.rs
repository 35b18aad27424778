//! How strongly a model plays: a number of playouts, a time, or a level from 1 to 8.

use std::time::Duration;

use hnefi_engine::Move;
use hnefi_search::{Limit, Rng, SearchReport};
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::players::{DEEPEST, PlayerId};

/// The most playouts a move may be given.
const MOST_PLAYOUTS: u32 = 20_000;

/// The most seconds.
const MOST_SECONDS: f32 = 60.0;

/// What a page asks for, as `{"playouts": 200}`, `{"seconds": 2}` or `{"level": 4}`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strength {
    /// This many playouts a move.
    Playouts(u32),
    /// This many seconds a move.
    Seconds(f32),
    /// A level, 1 to 8.
    Level(u8),
}

/// A seat of a new game.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeatRequest {
    /// Who plays; none for a person.
    #[serde(default)]
    pub player: Option<PlayerId>,
    /// How strongly it plays; 200 playouts by default.
    #[serde(default)]
    pub strength: Option<Strength>,
}

/// How a level plays: its playouts, and its move drawn from the search's policy sharpened by 1/temperature, among the
/// moves that have a share of the best one's weight. So a low level plays what looks natural and sees little, and never
/// throws in a move that the network finds absurd. The first one does, with every other move, so that somebody who has
/// never seen the game can win. The last levels take the best move.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Level {
    /// Playouts of every move.
    pub playouts: u32,
    #[serde(skip)]
    temperature: f32,
    #[serde(skip)]
    share: f32,
    /// The share of its moves that are any of the legal ones.
    #[serde(skip)]
    any: f32,
}

const fn level(playouts: u32, temperature: f32, share: f32) -> Level {
    Level { playouts, temperature, share, any: 0.0 }
}

/// The levels, weakest first.
pub const LEVELS: [Level; 8] = [
    Level { any: 0.5, ..level(0, 2.5, 0.015) },
    level(0, 1.3, 0.04),
    level(0, 0.8, 0.07),
    level(0, 0.4, 0.15),
    level(16, 0.5, 0.2),
    level(64, 0.0, 1.0),
    level(300, 0.0, 1.0),
    level(1_500, 0.0, 1.0),
];

/// The levels where no network knows the board: the plies that alpha-beta looks ahead, and the share of its moves that
/// are any of the legal ones.
const ALPHA_BETA: [(u32, f32); 8] =
    [(1, 0.5), (1, 0.25), (1, 0.1), (1, 0.0), (2, 0.1), (2, 0.0), (3, 0.0), (DEEPEST, 0.0)];

/// The plies that alpha-beta looks ahead at a level.
pub(super) fn depth(level: u8) -> u32 {
    ALPHA_BETA[usize::from(level.clamp(1, 8)) - 1].0
}

/// A strength that no board offers.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum StrengthError {
    /// Too few or too many playouts.
    #[error("{0} playouts: expected 1 to {MOST_PLAYOUTS}")]
    Playouts(u32),
    /// Too little or too much time, in seconds.
    #[error("{0} seconds: expected 0.05 to {MOST_SECONDS}")]
    Seconds(f32),
    /// There is no such level.
    #[error("level {0}: expected 1 to 8")]
    Level(u8),
}

impl From<Limit> for Strength {
    fn from(limit: Limit) -> Strength {
        match limit {
            Limit::Playouts(playouts) => Strength::Playouts(playouts),
            Limit::Time(time) => Strength::Seconds(time.as_secs_f32()),
        }
    }
}

impl Strength {
    /// The strength, if it is within what boards offer.
    ///
    /// # Errors
    /// When it is not; the error says what is.
    pub fn checked(self) -> Result<Strength, StrengthError> {
        match self {
            Strength::Playouts(1..=MOST_PLAYOUTS) | Strength::Level(1..=8) => Ok(self),
            Strength::Seconds(seconds) if (0.05..=MOST_SECONDS).contains(&seconds) => Ok(self),
            Strength::Playouts(found) => Err(StrengthError::Playouts(found)),
            Strength::Seconds(found) => Err(StrengthError::Seconds(found)),
            Strength::Level(found) => Err(StrengthError::Level(found)),
        }
    }

    /// How long the search goes on; an infinite time has no end.
    pub fn limit(self) -> Limit {
        match self {
            Strength::Playouts(playouts) => Limit::Playouts(playouts),
            Strength::Seconds(seconds) => Limit::Time(Duration::try_from_secs_f32(seconds).unwrap_or(Duration::MAX)),
            Strength::Level(number) => Limit::Playouts(numbered(number).playouts),
        }
    }

    /// The move to play after a search.
    pub fn choose(self, report: &SearchReport, rng: &mut Rng) -> Move {
        let level = match self {
            Strength::Level(number) => numbered(number),
            _ => return report.best,
        };
        let all = &report.policy_target;
        if level.any > 0.0 && !all.is_empty() && rng.random_range(0.0..1.0) < level.any {
            return all[rng.random_range(0..all.len())].0;
        }
        if level.temperature <= 0.0 || report.proven.is_some() {
            return report.best;
        }
        let most = report.policy_target.iter().map(|&(_, weight)| weight).fold(0.0, f32::max);
        let drawn = report.policy_target.iter().filter(|&&(_, weight)| weight >= level.share * most);
        let drawn: Vec<(Move, f32)> = drawn.map(|&(mv, weight)| (mv, weight.powf(1.0 / level.temperature))).collect();
        let mut pick = rng.random_range(0.0..1.0) * drawn.iter().map(|(_, weight)| weight).sum::<f32>();
        for (mv, weight) in drawn {
            pick -= weight;
            if pick < 0.0 {
                return mv;
            }
        }
        report.best
    }

    /// The strength that a page shows: a network plays at a strength, alpha-beta at a level or at a depth, others have
    /// none.
    pub(super) fn shown_of(self, id: &PlayerId) -> Option<Strength> {
        let has_strength = match id {
            PlayerId::Model(_) => true,
            PlayerId::AlphaBeta(_) => matches!(self, Strength::Level(_)),
            PlayerId::Random | PlayerId::External => false,
        };
        has_strength.then_some(self)
    }

    /// The share of its moves that alpha-beta draws from all legal ones.
    pub(super) fn drawn(self) -> f32 {
        match self {
            Strength::Level(number) => ALPHA_BETA[usize::from(number.clamp(1, 8)) - 1].1,
            Strength::Playouts(_) | Strength::Seconds(_) => 0.0,
        }
    }

    /// In words, such as `level 4` or `200 playouts`.
    pub(super) fn words(self) -> String {
        match self {
            Strength::Playouts(1) => "1 playout".to_owned(),
            Strength::Playouts(playouts) => format!("{playouts} playouts"),
            Strength::Seconds(seconds) => format!("{seconds} s a move"),
            Strength::Level(level) => format!("level {level}"),
        }
    }
}

/// The level of a number from 1 to 8.
fn numbered(number: u8) -> Level {
    LEVELS[usize::from(number.clamp(1, 8)) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strengths_are_bounded() {
        let read = |text: &str| serde_json::from_str::<Strength>(text).expect(text);
        for good in [r#"{"playouts":1}"#, r#"{"playouts":20000}"#, r#"{"seconds":0.5}"#, r#"{"level":8}"#] {
            assert!(read(good).checked().is_ok(), "{good}");
        }
        for bad in [r#"{"playouts":0}"#, r#"{"playouts":20001}"#, r#"{"seconds":1e9}"#, r#"{"level":9}"#] {
            assert!(read(bad).checked().is_err(), "{bad}");
        }
        assert!(Strength::Seconds(f32::NAN).checked().is_err());
    }
}
