//! The filter of games for a dataset.

use std::str::FromStr;

use hnefi_engine::{NamedRules, Rules, Side};
use hnefi_run::GameRecord;

use super::SourceGame;
use super::params::one_of;
use crate::DataError;
use crate::GameId;

/// Conditions on games. The default takes every game.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// Rulesets, with any ply cap; `None` stands for rules that are not a preset. Empty for all.
    pub rules: Vec<Option<NamedRules>>,
    /// Generations of the run; games without a known generation pass only without a bound.
    pub generations: Bounds,
    /// Plies of the game.
    pub plies: Bounds,
    /// Results; empty for all.
    pub results: Vec<GameResult>,
    /// Share of the games to keep, 0 to 1, chosen by their ids.
    pub sample: f64,
    /// Seed of the choice.
    pub sample_seed: u64,
}

impl Default for Filter {
    fn default() -> Filter {
        Filter {
            rules: Vec::new(),
            generations: Bounds::default(),
            plies: Bounds::default(),
            results: Vec::new(),
            sample: 1.0,
            sample_seed: 0,
        }
    }
}

/// Whether `rules` takes a game by `played`.
fn takes(rules: Option<NamedRules>, played: &Rules) -> bool {
    rules.map_or_else(|| !NamedRules::from(*played).is_published(), |rules| rules.covers(played))
}

impl Filter {
    /// Whether the filter takes this game.
    pub fn accepts(&self, game: &SourceGame) -> bool {
        let record = &game.record;
        (self.rules.is_empty() || self.rules.iter().any(|rules| takes(*rules, &record.rules)))
            && game
                .generation
                .map_or(self.generations == Bounds::default(), |number| self.generations.hold(number.into()))
            && self.plies.hold(record.plies.len() as u64)
            && (self.results.is_empty() || self.results.contains(&GameResult::of(record)))
            && (self.sample >= 1.0 || GameId::of(record).share_of(self.sample_seed) < self.sample)
    }

    /// Describes the filter, one line per condition; empty for the default.
    pub(super) fn describe(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut list = |what: &str, names: Vec<String>| {
            if !names.is_empty() {
                lines.push(format!("{what}: {}", names.join(", ")));
            }
        };
        list("rules", self.rules.iter().map(|rules| rules.map_or("own".to_owned(), |rules| rules.name())).collect());
        list("results", self.results.iter().map(|result| result.as_str().to_owned()).collect());
        for (what, bounds) in [("generations", self.generations), ("plies", self.plies)] {
            if bounds != Bounds::default() {
                lines.push(format!("{what}: {bounds}"));
            }
        }
        if self.sample < 1.0 {
            lines.push(format!("a share of {} of the games, drawn with seed {}", self.sample, self.sample_seed));
        }
        lines
    }
}

/// A range of whole numbers, both ends included; a missing end is open. Parses `3-7`, `3-`, `-7` and `3`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The least number.
    pub low: Option<u64>,
    /// The greatest number.
    pub high: Option<u64>,
}

impl Bounds {
    /// Whether the range contains the number.
    pub fn hold(self, number: u64) -> bool {
        self.low.is_none_or(|low| low <= number) && self.high.is_none_or(|high| number <= high)
    }
}

impl std::fmt::Display for Bounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = |end: Option<u64>| end.map(|end| end.to_string()).unwrap_or_default();
        write!(f, "{}-{}", text(self.low), text(self.high))
    }
}

impl FromStr for Bounds {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Bounds, DataError> {
        let bad = || DataError::BadOption {
            option: "range",
            found: text.to_owned(),
            problem: "expected 3-7, 3-, -7 or 3".to_owned(),
        };
        let number = |text: &str| text.parse::<u64>().map_err(|_| bad());
        let bounds = match text.split_once('-') {
            None => Bounds { low: Some(number(text)?), high: Some(number(text)?) },
            Some(("", high)) => Bounds { low: None, high: Some(number(high)?) },
            Some((low, "")) => Bounds { low: Some(number(low)?), high: None },
            Some((low, high)) => Bounds { low: Some(number(low)?), high: Some(number(high)?) },
        };
        match bounds {
            Bounds { low: Some(low), high: Some(high) } if low > high => Err(bad()),
            bounds => Ok(bounds),
        }
    }
}

/// The result of a game, to filter by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameResult {
    /// The attackers won, on the board or by resignation.
    Attackers,
    /// The defenders won.
    Defenders,
    /// A draw.
    Draw,
    /// The record has no end.
    Ongoing,
}

impl GameResult {
    /// All results.
    pub const ALL: [GameResult; 4] =
        [GameResult::Attackers, GameResult::Defenders, GameResult::Draw, GameResult::Ongoing];

    /// The result of a game.
    pub fn of(game: &GameRecord) -> GameResult {
        match (game.winner(), game.is_finished()) {
            (Some(Side::Attackers), _) => GameResult::Attackers,
            (Some(Side::Defenders), _) => GameResult::Defenders,
            (None, true) => GameResult::Draw,
            (None, false) => GameResult::Ongoing,
        }
    }

    /// Its word in the field `status`.
    pub const fn as_str(self) -> &'static str {
        match self {
            GameResult::Attackers => "attackers",
            GameResult::Defenders => "defenders",
            GameResult::Draw => "draw",
            GameResult::Ongoing => "ongoing",
        }
    }
}

impl FromStr for GameResult {
    type Err = DataError;

    fn from_str(text: &str) -> Result<GameResult, DataError> {
        one_of("result", text, &GameResult::ALL.map(|result| (result.as_str(), result)))
    }
}
