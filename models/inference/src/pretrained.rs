//! Checkpoints that travel inside the program.
//!
//! The build script embeds every folder under `pretrained/`; a clone without any builds all the same.

use std::path::Path;

use hnefi_engine::NamedRules;

use crate::{Card, Checkpoint, CheckpointError};

/// Who plays where no network is shipped for the rules.
pub const WITHOUT_NETWORK: &str = "alphabeta:2";

/// No network is shipped for these rules or a game like theirs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no network is shipped for {0} or a game like it")]
pub struct NotShipped(pub Box<NamedRules>);

/// The card of an embedded checkpoint.
struct Embedded {
    name: &'static str,
    card: &'static str,
}

// `static EMBEDDED: &[Embedded]`, sorted by name, and `static WEIGHTS: &[&[u8]]` in the same order: a program that asks
// for cards alone has no weights in it.
include!(concat!(env!("OUT_DIR"), "/pretrained.rs"));

/// Names of the embedded checkpoints, sorted.
pub fn pretrained_names() -> Vec<&'static str> {
    EMBEDDED.iter().map(|embedded| embedded.name).collect()
}

/// The embedded checkpoint of that name, `None` if there is none.
///
/// # Errors
/// When it was made with another encoding or network, which the tests rule out for a released program.
pub fn pretrained(name: &str) -> Option<Result<Checkpoint, CheckpointError>> {
    let weights = WEIGHTS[EMBEDDED.iter().position(|embedded| embedded.name == name)?];
    let source = Path::new("pretrained").join(name).join("model.safetensors");
    Some(pretrained_card(name)?.and_then(|card| Checkpoint::from_parts(card, weights, &source)))
}

/// The card of the embedded checkpoint of that name, `None` if there is none.
///
/// # Errors
/// As [`pretrained`], but for the weights.
pub fn pretrained_card(name: &str) -> Option<Result<Card, CheckpointError>> {
    let embedded = EMBEDDED.iter().find(|embedded| embedded.name == name)?;
    let source = Path::new("pretrained").join(embedded.name).join("card.json");
    Some(Card::from_json(embedded.card.as_bytes(), &source))
}

/// The name of the embedded checkpoint that plays by `rules` by default: one that was trained on them, by
/// preference the one of the same name; failing that one of a game that [resembles](hnefi_engine::Rules::resembles)
/// theirs.
///
/// # Errors
/// When there is none.
pub fn pretrained_for(rules: impl Into<NamedRules>) -> Result<&'static str, NotShipped> {
    let rules = rules.into();
    let name = rules.name();
    let trained_on = |embedded: &Embedded| -> Vec<NamedRules> {
        let card = Card::from_json(embedded.card.as_bytes(), Path::new(embedded.name));
        let rulesets = card.map(|card| card.rulesets).unwrap_or_default();
        rulesets.iter().filter_map(|name| name.parse().ok()).collect()
    };
    let fitness = |embedded: &Embedded| {
        let known = trained_on(embedded);
        let alike = known.iter().any(|known| known.rules().resembles(&rules.rules()));
        (known.contains(&rules), embedded.name == name, alike)
    };
    let none = || NotShipped(Box::new(rules));
    // The first by name of several that fit equally well.
    let best = EMBEDDED.iter().rev().max_by_key(|embedded| fitness(embedded)).ok_or_else(none)?;
    if fitness(best) == (false, false, false) { Err(none()) } else { Ok(best.name) }
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Preset;

    use super::*;

    #[test]
    fn every_embedded_checkpoint_loads() {
        for name in pretrained_names() {
            let checkpoint = pretrained(name).expect("a listed name").unwrap_or_else(|error| panic!("{error}"));
            assert!(!checkpoint.card.rulesets.is_empty(), "{name}: the card names no ruleset");
        }
    }

    #[test]
    fn a_ruleset_is_played_by_a_network_that_knows_it_or_a_game_like_it() {
        assert_eq!(pretrained_for(Preset::Brandubh), Ok("brandubh"));
        assert_eq!(pretrained_for(Preset::Fetlar), Ok("copenhagen"));
        assert_eq!(pretrained_for(Preset::Tablut), Ok("copenhagen"));
        for preset in Preset::ALL {
            let name = pretrained_for(preset).unwrap_or_else(|error| panic!("{error}"));
            let card = pretrained(name).expect("listed").expect("loads").card;
            assert!(card.rulesets.iter().any(|known| known == preset.name()), "{preset} by {name}");
        }
    }

    #[test]
    fn every_published_ruleset_up_to_13x13_has_a_network() {
        for named in NamedRules::published() {
            let found = pretrained_for(named);
            assert_eq!(found.is_ok(), named.rules().size().side() <= 13, "{named}: {found:?}");
        }
        assert_eq!(pretrained_for("magpie".parse::<NamedRules>().expect("a ruleset")), Ok("tafl"));
    }

    #[test]
    fn an_unknown_name_is_none() {
        assert!(pretrained("no such checkpoint").is_none());
    }
}
