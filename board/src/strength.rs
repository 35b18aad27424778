//! How strongly a model plays: so many playouts, so much time, or a level from 1 to 8 made of playouts and chance.

use std::time::Duration;

use hnefi_engine::Move;
use hnefi_search::{Limit, Rng, SearchReport};
use rand::RngExt;
use serde::{Deserialize, Serialize};

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

/// A rung of the ladder from beginner to all it can.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Level {
    pub(super) level: u8,
    pub(super) name: &'static str,
    pub(super) playouts: u32,
    /// The move is drawn from the search's policy sharpened by 1/temperature; 0 takes the best.
    pub(super) temperature: f32,
}

/// The levels, weakest first.
pub(super) const LEVELS: [Level; 8] = [
    Level { level: 1, name: "Thrall", playouts: 0, temperature: 2.0 },
    Level { level: 2, name: "Farmhand", playouts: 0, temperature: 1.0 },
    Level { level: 3, name: "Fisher", playouts: 0, temperature: 0.5 },
    Level { level: 4, name: "Rower", playouts: 16, temperature: 0.5 },
    Level { level: 5, name: "Raider", playouts: 64, temperature: 0.25 },
    Level { level: 6, name: "Huscarl", playouts: 200, temperature: 0.0 },
    Level { level: 7, name: "Jarl", playouts: 800, temperature: 0.0 },
    Level { level: 8, name: "King", playouts: 3_200, temperature: 0.0 },
];

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
    /// When it is not; the message says what is.
    pub fn checked(self) -> Result<Strength, String> {
        match self {
            Strength::Playouts(1..=MOST_PLAYOUTS) | Strength::Level(1..=8) => Ok(self),
            Strength::Seconds(seconds) if (0.05..=MOST_SECONDS).contains(&seconds) => Ok(self),
            Strength::Playouts(found) => Err(format!("{found} playouts: expected 1 to {MOST_PLAYOUTS}")),
            Strength::Seconds(found) => Err(format!("{found} seconds: expected 0.05 to {MOST_SECONDS}")),
            Strength::Level(found) => Err(format!("level {found}: expected 1 to 8")),
        }
    }

    /// How long the search goes on; an infinite time has no end.
    pub(super) fn limit(self) -> Limit {
        match self {
            Strength::Playouts(playouts) => Limit::Playouts(playouts),
            Strength::Seconds(seconds) => Limit::Time(Duration::try_from_secs_f32(seconds).unwrap_or(Duration::MAX)),
            Strength::Level(level) => Limit::Playouts(LEVELS[usize::from(level.clamp(1, 8)) - 1].playouts),
        }
    }

    /// The move to play after a search.
    pub(super) fn choose(self, report: &SearchReport, rng: &mut Rng) -> Move {
        let temperature = match self {
            Strength::Level(level) => LEVELS[usize::from(level.clamp(1, 8)) - 1].temperature,
            _ => 0.0,
        };
        if temperature <= 0.0 || report.proven.is_some() {
            return report.best;
        }
        let powers: Vec<f32> = report.policy_target.iter().map(|(_, weight)| weight.powf(1.0 / temperature)).collect();
        let mut pick = rng.random_range(0.0..1.0) * powers.iter().sum::<f32>();
        for (&(mv, _), power) in report.policy_target.iter().zip(powers) {
            pick -= power;
            if pick < 0.0 {
                return mv;
            }
        }
        report.best
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

    #[test]
    fn levels_are_numbered_and_rise() {
        for (index, level) in LEVELS.iter().enumerate() {
            assert_eq!(usize::from(level.level), index + 1);
        }
        assert!(LEVELS.windows(2).all(|pair| pair[0].playouts <= pair[1].playouts));
        assert!(LEVELS.windows(2).all(|pair| pair[0].temperature >= pair[1].temperature));
    }
}
