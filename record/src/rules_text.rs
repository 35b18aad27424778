//! Rules in datasets: a name or a rules record, or all options.

use std::fmt;

use hnefi_engine::{FenError, Game, NamedRules, Rules};
use hnefi_inference::names::{BadRules, ruleset};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// The field `rules`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RulesText {
    /// The name of a published ruleset, or a rules record; the ply cap is another field.
    Name(String),
    /// All options.
    Options(Box<Rules>),
}

/// Names the option that is wrong, which serde's own untagged enums do not.
impl<'de> Deserialize<'de> for RulesText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RulesText, D::Error> {
        struct Text;

        impl<'de> Visitor<'de> for Text {
            type Value = RulesText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a ruleset, a rules record or an object with all options")
            }

            fn visit_str<E>(self, text: &str) -> Result<RulesText, E> {
                Ok(RulesText::Name(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, options: A) -> Result<RulesText, A::Error> {
                Rules::deserialize(MapAccessDeserializer::new(options)).map(|rules| RulesText::Options(Box::new(rules)))
            }
        }

        deserializer.deserialize_any(Text)
    }
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

    /// The rules.
    ///
    /// # Errors
    /// When there is no ruleset of that name, and the message lists them, or when the options cannot be played by.
    pub fn resolve(&self) -> Result<Rules, BadRules> {
        let rules = match self {
            RulesText::Name(name) => ruleset(name)?.rules(),
            RulesText::Options(rules) => **rules,
        };
        rules.faults().into_iter().next().map_or(Ok(rules), |fault| Err(BadRules(fault)))
    }

    /// A game under these rules, with `ply_cap` if it is given, that begins with a FEN or at the rules' start.
    ///
    /// # Errors
    /// When there are no such rules, or the FEN cannot stand under them.
    pub fn game(&self, ply_cap: Option<u16>, fen: Option<&str>) -> Result<Game, NoGame> {
        let rules = self.resolve()?;
        let rules = Rules { ply_cap: ply_cap.unwrap_or(rules.ply_cap), ..rules };
        Ok(fen.map_or_else(|| Ok(Game::new(&rules)), |fen| Game::from_fen(&rules, fen))?)
    }
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Preset;

    use super::*;

    #[test]
    fn an_option_that_is_wrong_is_named() {
        let options = RulesText::Options(Box::new(Preset::Tablut.rules()));
        let text = serde_json::to_string(&options).unwrap();
        assert_eq!(serde_json::from_str::<RulesText>(&text).unwrap(), options);
        let name = RulesText::Name("tablut".to_owned());
        assert_eq!(serde_json::from_str::<RulesText>("\"tablut\"").unwrap(), name);
        for (text, named) in [
            (text.replace("\"defenders_lose\"", "\"drawn\""), "`drawn`"),
            (text.replace("\"shieldwall\"", "\"shieldwal\""), "`shieldwal`"),
            ("7".to_owned(), "the name of a ruleset"),
        ] {
            let problem = serde_json::from_str::<RulesText>(&text).unwrap_err().to_string();
            assert!(problem.contains(named), "{problem}");
        }
    }
}
