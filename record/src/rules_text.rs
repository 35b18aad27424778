//! Rules in datasets: a preset's name, or all options for other rules.

use hnefi_engine::Rules;
use hnefi_inference::names::ruleset;
use serde::{Deserialize, Serialize};

/// The field `rules`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RulesText {
    /// A preset's name; the ply cap is another field.
    Name(String),
    /// All options.
    Options(Box<Rules>),
}

impl RulesText {
    /// The shortest text for these rules.
    pub fn of(rules: &Rules) -> RulesText {
        match rules.preset() {
            Some(preset) => RulesText::Name(preset.name().to_owned()),
            None => RulesText::Options(Box::new(*rules)),
        }
    }

    /// The rules, with `ply_cap` if it is given.
    ///
    /// # Errors
    /// When the name is not a preset, and the message lists the presets, or when nobody could play by the options.
    pub fn resolve(&self, ply_cap: Option<u16>) -> Result<Rules, String> {
        let mut rules = match self {
            RulesText::Name(name) => ruleset(name)?.rules(),
            RulesText::Options(rules) => **rules,
        };
        rules.ply_cap = ply_cap.unwrap_or(rules.ply_cap);
        rules.faults().into_iter().next().map_or(Ok(rules), Err)
    }
}
