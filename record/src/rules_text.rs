//! Rules in datasets: a name or a rules record, or all options.

use hnefi_engine::{FenError, Game, NamedRules, Rules};
use hnefi_inference::names::{BadRules, ruleset};
use serde::{Deserialize, Serialize};

/// The field `rules`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RulesText {
    /// The name of a published ruleset, or a rules record; the ply cap is another field.
    Name(String),
    /// All options.
    Options(Box<Rules>),
}

/// Why there is no game under the rules of a text.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum NoGame {
    /// There are no such rules.
    Rules(#[from] BadRules),
    /// It cannot begin with the FEN.
    Fen(#[from] FenError),
}

impl RulesText {
    /// The shortest text for these rules.
    pub fn of(rules: &Rules) -> RulesText {
        let named = NamedRules::from(*rules);
        if named.is_published() { RulesText::Name(named.name()) } else { RulesText::Options(Box::new(*rules)) }
    }

    /// The name or the record; `own` for options.
    pub fn name(&self) -> &str {
        match self {
            RulesText::Name(name) => name,
            RulesText::Options(_) => "own",
        }
    }

    /// The rules, with `ply_cap` if it is given.
    ///
    /// # Errors
    /// When there is no ruleset of that name, and the message lists them, or when the options cannot be played by.
    pub fn resolve(&self, ply_cap: Option<u16>) -> Result<Rules, BadRules> {
        let mut rules = match self {
            RulesText::Name(name) => ruleset(name)?.rules(),
            RulesText::Options(rules) => **rules,
        };
        rules.ply_cap = ply_cap.unwrap_or(rules.ply_cap);
        rules.faults().into_iter().next().map_or(Ok(rules), |fault| Err(BadRules(fault)))
    }

    /// A game under these rules, as of [`RulesText::resolve`], that begins with a FEN or at the rules' start.
    ///
    /// # Errors
    /// When there are no such rules, or the FEN cannot stand under them.
    pub fn game(&self, ply_cap: Option<u16>, fen: Option<&str>) -> Result<Game, NoGame> {
        let rules = self.resolve(ply_cap)?;
        Ok(fen.map_or_else(|| Ok(Game::new(&rules)), |fen| Game::from_fen(&rules, fen))?)
    }
}
