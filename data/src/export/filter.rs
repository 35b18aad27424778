//! Which games of a run go into a dataset.

use std::str::FromStr;

use hnefi_engine::{Preset, Side};
use hnefi_inference::names::did_you_mean;
use hnefi_run::GameRecord;

use super::{GameId, SourceGame};
use crate::DataError;

/// What a game must be to be exported. The default takes every game.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// Rulesets, the ply cap apart; `None` stands for a mixture of options of one's own. Empty for all.
    pub rules: Vec<Option<Preset>>,
    /// Generations of the run; games whose generation nobody knows pass only where there is no bound.
    pub generations: Bounds,
    /// Plies of the game.
    pub plies: Bounds,
    /// Results; empty for all.
    pub results: Vec<GameResult>,
    /// Share of the games to keep, in 0..=1, drawn by their identity.
    pub sample: f64,
    /// Seed of that draw.
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

impl Filter {
    /// Whether this game passes.
    pub fn accepts(&self, game: &SourceGame) -> bool {
        let record = &game.record;
        (self.rules.is_empty() || self.rules.contains(&record.rules.preset()))
            && game
                .generation
                .map_or(self.generations == Bounds::default(), |number| self.generations.hold(number.into()))
            && self.plies.hold(record.plies.len() as u64)
            && (self.results.is_empty() || self.results.contains(&GameResult::of(record)))
            && (self.sample >= 1.0 || GameId::of(record).share_of(self.sample_seed) < self.sample)
    }

    /// The filter in words, one line a condition; empty for one that takes every game.
    pub(super) fn describe(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut list = |what: &str, names: Vec<&str>| {
            if !names.is_empty() {
                lines.push(format!("{what}: {}", names.join(", ")));
            }
        };
        list("rules", self.rules.iter().map(|rules| rules.map_or("own", Preset::name)).collect());
        list("results", self.results.iter().map(|result| result.as_str()).collect());
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

/// A range of whole numbers, both ends included; an end that is not given is open. Reads from `3-7`, `3-`, `-7` and
/// `3`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The least number.
    pub low: Option<u64>,
    /// The greatest number.
    pub high: Option<u64>,
}

impl Bounds {
    /// Whether the number lies within.
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

/// How a game ended, for choosing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameResult {
    /// The attackers won, on the board or because the defenders resigned.
    Attackers,
    /// The defenders won.
    Defenders,
    /// A draw.
    Draw,
    /// The record has no end.
    Ongoing,
}

impl GameResult {
    /// All of them.
    pub const ALL: [GameResult; 4] =
        [GameResult::Attackers, GameResult::Defenders, GameResult::Draw, GameResult::Ongoing];

    /// How this game ended.
    pub fn of(game: &GameRecord) -> GameResult {
        match (game.winner(), game.is_finished()) {
            (Some(Side::Attackers), _) => GameResult::Attackers,
            (Some(Side::Defenders), _) => GameResult::Defenders,
            (None, true) => GameResult::Draw,
            (None, false) => GameResult::Ongoing,
        }
    }

    /// The word that datasets have for it in `status`.
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
        GameResult::ALL.into_iter().find(|result| result.as_str() == text).ok_or_else(|| DataError::BadOption {
            option: "result",
            found: text.to_owned(),
            problem: format!(
                "expected attackers, defenders, draw or ongoing{}",
                did_you_mean(text, GameResult::ALL.map(GameResult::as_str))
            ),
        })
    }
}
