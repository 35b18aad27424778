//! Rules as datasets name them: a preset's name, or the options themselves for a mixture of one's own.

use hnefi_engine::Rules;
use hnefi_inference::names::ruleset;
use serde::{Deserialize, Serialize};

/// What stands in the field `rules`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum RulesText {
    /// A preset's name; its ply cap, if any, stands beside it.
    Name(String),
    /// Every option.
    Options(Box<Rules>),
}

impl RulesText {
    /// The shortest text for these rules.
    pub(crate) fn of(rules: &Rules) -> RulesText {
        match rules.preset() {
            Some(preset) => RulesText::Name(preset.name().to_owned()),
            None => RulesText::Options(Box::new(*rules)),
        }
    }

    /// The rules meant; `ply_cap` replaces the cap when it is given.
    ///
    /// # Errors
    /// When the name is no preset's; the message lists those there are.
    pub(crate) fn resolve(&self, ply_cap: Option<u16>) -> Result<Rules, String> {
        let mut rules = match self {
            RulesText::Name(name) => ruleset(name)?.rules(),
            RulesText::Options(rules) => **rules,
        };
        rules.ply_cap = ply_cap.unwrap_or(rules.ply_cap);
        Ok(rules)
    }
}
