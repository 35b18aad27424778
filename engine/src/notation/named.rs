//! Rules as people name them: a published ruleset, or a rules record.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use super::{RecordError, RulesRecord};
use crate::names::UnknownName;
use crate::{Preset, Rules};

/// The rulesets that are published beside the [presets](Preset), as records with their sources.
const LISTED: &str = include_str!("published.otr");

/// The listed rulesets by name; the records are checked by the crate's tests.
static LIST: LazyLock<Vec<(String, Rules)>> = LazyLock::new(|| {
    let lines = LISTED.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .filter_map(|line| {
            let record: RulesRecord = line.parse().ok()?;
            Some((record.name()?.to_lowercase().replace(' ', "-"), record.rules().ok()?))
        })
        .collect()
});

/// Rules with the text that names them: the name of a published ruleset, or a [rules record](RulesRecord).
///
/// ```
/// use hnefi_engine::{NamedRules, Preset};
///
/// let brandubh: NamedRules = "brandubh".parse()?;
/// assert_eq!(brandubh, NamedRules::from(Preset::Brandubh));
/// let own: NamedRules = "dim:5 esc:e start:/2t2/2T2/tTKTt/2T2/2t2/".parse()?;
/// assert_eq!(own.rules().size().side(), 5);
/// assert_eq!(own.to_string().parse(), Ok(own));
/// # Ok::<(), hnefi_engine::NamedRulesError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NamedRules(Rules);

/// A text that names no rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NamedRulesError {
    /// It looks like a name, and there is no ruleset of that name.
    #[error("unknown ruleset {found:?}: expected one of {}, or a rules record (dim:7 ...)", expected.join(", "))]
    UnknownName {
        /// What was read.
        found: String,
        /// The names there are.
        expected: Vec<String>,
    },
    /// It is a rules record that cannot be read or played.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl NamedRules {
    /// All published rulesets: the presets, then the listed ones.
    pub fn published() -> impl Iterator<Item = NamedRules> {
        let presets = Preset::ALL.into_iter().map(NamedRules::from);
        presets.chain(LIST.iter().map(|(_, rules)| NamedRules(*rules)))
    }

    /// The options.
    pub const fn rules(&self) -> Rules {
        self.0
    }

    /// Whether [`NamedRules::name`] says all of these rules, the ply cap apart; no record says some mixtures of
    /// options.
    pub fn is_said(&self) -> bool {
        self.name().parse().is_ok_and(|said: NamedRules| said.covers(&self.0))
    }

    /// Whether these rules have a name; others are named by their record.
    pub fn is_published(&self) -> bool {
        self.preset().is_some() || LIST.iter().any(|(_, rules)| self.covers(rules))
    }

    /// Whether a game under `rules` is one of these rules: they are the same, the ply cap apart.
    pub fn covers(&self, rules: &Rules) -> bool {
        Rules { ply_cap: self.0.ply_cap, ..*rules } == self.0
    }

    /// The preset these rules are, the ply cap apart.
    pub fn preset(&self) -> Option<Preset> {
        self.0.preset()
    }

    /// The name of a published ruleset, the ply cap apart; else the rules record.
    pub fn name(&self) -> String {
        if let Some(preset) = self.0.preset() {
            return preset.name().to_owned();
        }
        let listed = LIST.iter().find(|(_, rules)| self.covers(rules));
        listed.map_or_else(|| RulesRecord::of(&self.0).to_string(), |(name, _)| name.clone())
    }
}

impl From<Preset> for NamedRules {
    fn from(preset: Preset) -> NamedRules {
        NamedRules(preset.rules())
    }
}

impl PartialEq<Preset> for NamedRules {
    fn eq(&self, preset: &Preset) -> bool {
        self.0 == preset.rules()
    }
}

impl From<Rules> for NamedRules {
    fn from(rules: Rules) -> NamedRules {
        NamedRules(rules)
    }
}

impl FromStr for NamedRules {
    type Err = NamedRulesError;

    /// Reads a name or a record.
    fn from_str(text: &str) -> Result<NamedRules, NamedRulesError> {
        if RulesRecord::is_meant(text) {
            return Ok(NamedRules(text.parse::<RulesRecord>()?.rules()?));
        }
        match text.parse::<Preset>() {
            Ok(preset) => Ok(preset.into()),
            Err(UnknownName { found, expected, .. }) => {
                let listed = LIST.iter().find(|(name, _)| *name == text);
                listed.map(|(_, rules)| NamedRules(*rules)).ok_or_else(|| {
                    let names = expected.into_iter().map(str::to_owned);
                    let expected = names.chain(LIST.iter().map(|(name, _)| name.clone())).collect();
                    NamedRulesError::UnknownName { found, expected }
                })
            }
        }
    }
}

impl fmt::Display for NamedRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for NamedRules {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for NamedRules {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<NamedRules, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_record_can_be_played() {
        let lines = LISTED.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines.clone() {
            let record: RulesRecord = line.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
            record.rules().unwrap_or_else(|error| panic!("{line}: {error}"));
            assert!(record.name().is_some(), "{line}");
        }
        assert_eq!(lines.count(), LIST.len());
    }
}
