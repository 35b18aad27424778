//! Splitting a dataset by game.

use std::str::FromStr;

use crate::DataError;
use crate::GameId;

/// Names and shares of the parts of a dataset, such as `train=0.9,validation=0.05,test=0.05`.
///
/// A game's part depends only on its id ([`GameId::share`]), so adding games moves no other game. Changed shares move
/// few games: the first part keeps its games when it grows.
#[derive(Clone, Debug, PartialEq)]
pub struct Splits(Vec<(String, f64)>);

/// Tolerance for the sum of the shares.
const SUM_TOLERANCE: f64 = 1e-6;

impl Splits {
    /// The names, in the order given.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// The part a game belongs to, as an index into the names.
    pub fn part_of(&self, id: GameId) -> usize {
        let mut upper = 0.0;
        for (index, (_, share)) in self.0.iter().enumerate() {
            upper += share;
            if id.share() < upper {
                return index;
            }
        }
        // Rounding can leave the sum of the shares slightly below the largest number.
        self.0.len() - 1
    }
}

impl std::fmt::Display for Splits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts: Vec<_> = self.0.iter().map(|(name, share)| format!("{name}={share}")).collect();
        f.write_str(&parts.join(","))
    }
}

impl FromStr for Splits {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Splits, DataError> {
        let bad = |problem: String| DataError::BadOption {
            option: "split",
            found: text.to_owned(),
            problem: format!("{problem}; expected NAME=SHARE,... with shares that sum to 1"),
        };
        let mut parts: Vec<(String, f64)> = Vec::new();
        for part in text.split(',') {
            let (name, share) = part.split_once('=').ok_or_else(|| bad(format!("{part:?} has no share")))?;
            let named = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if !named {
                return Err(bad(format!("the name {name:?} is not made of letters, digits and '_'")));
            }
            if parts.iter().any(|(known, _)| known == name) {
                return Err(bad(format!("{name:?} is there twice")));
            }
            let share = share.parse().ok().filter(|share| (0.0..=1.0).contains(share));
            parts.push((
                name.to_owned(),
                share.ok_or_else(|| bad(format!("the share in {part:?} is not from 0 to 1")))?,
            ));
        }
        let sum: f64 = parts.iter().map(|(_, share)| share).sum();
        if (sum - 1.0).abs() > SUM_TOLERANCE {
            return Err(bad(format!("the shares sum to {sum}")));
        }
        Ok(Splits(parts))
    }
}
