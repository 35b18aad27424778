//! Keys of earlier versions that no longer exist.
//!
//! Old configurations and the `run.json` of old runs contain them. A removed key is ignored at the value at which it
//! had no effect; at any other value it is an error, because it changed the run.

use toml::{Table, Value};

use super::{KeyError, real, shown};

/// A removed key.
struct Retired {
    /// Full path, such as `train.batch`.
    path: &'static str,
    /// The value at which it had no effect.
    neutral: Neutral,
    /// Why it was removed, and what to do instead.
    advice: &'static str,
}

enum Neutral {
    /// Every value: another key decides whether this one has an effect.
    Any,
    Number(f64),
    Name(&'static str),
    True,
}

impl Neutral {
    fn is(&self, value: &Value) -> bool {
        match self {
            Neutral::Any => true,
            // A number written as `f32` and read as `f64` is slightly different.
            Neutral::Number(number) => real(value).is_some_and(|found| (found - number).abs() <= 1e-6 * number.abs()),
            Neutral::Name(name) => value.as_str() == Some(name),
            Neutral::True => value.as_bool() == Some(true),
        }
    }
}

const NO_EFFECT: &str = "left out: measurements showed no effect of it (docs/EXPERIMENTS.md, Removed again)";
const NOT_MEASURED: &str = "left out: no configuration used it";
const STAGED: &str = "left out: a stage without handicaps does the same ([[stages]] with \
     selfplay.balance_doublings = 0 and selfplay.blunder_share = 0)";
const PUCT: &str = "left out: self-play searches from a Gumbel root, which was better in measurements \
     (docs/EXPERIMENTS.md, Removed again)";
const PLAYERS: &str =
    "left out: it is for players that search by PUCT (model:NAME,search.KEY=VALUE), not for self-play";
const FIXED: &str = "left out: it is a constant now";

const fn retired(path: &'static str, neutral: Neutral, advice: &'static str) -> Retired {
    Retired { path, neutral, advice }
}

const RETIRED: &[Retired] = &[
    retired("selfplay.balance_until", Neutral::Number(1.0), STAGED),
    retired("selfplay.fast_share", Neutral::Number(0.0), NOT_MEASURED),
    retired("selfplay.fast_playouts", Neutral::Any, NOT_MEASURED),
    retired("selfplay.puct_sampled_plies", Neutral::Number(20.0), PUCT),
    retired("selfplay.past_share", Neutral::Number(0.0), NO_EFFECT),
    retired("selfplay.past_checkpoints", Neutral::Any, NO_EFFECT),
    retired("selfplay.restart_share", Neutral::Number(0.0), NO_EFFECT),
    retired("selfplay.fork_share", Neutral::Number(0.0), NO_EFFECT),
    retired("search.root", Neutral::Name("gumbel"), PUCT),
    retired("search.c_puct", Neutral::Number(0.9), PLAYERS),
    retired("search.c_puct_base", Neutral::Number(19_652.0), PLAYERS),
    retired("search.c_puct_factor", Neutral::Number(0.5), PLAYERS),
    retired("search.fpu_reduction", Neutral::Number(0.15), PLAYERS),
    retired("search.prior_temperature", Neutral::Number(1.0), PLAYERS),
    retired("search.moves_left_weight", Neutral::Number(0.0), PLAYERS),
    retired("search.moves_left_plies", Neutral::Number(20.0), PLAYERS),
    retired("search.dirichlet_alpha_total", Neutral::Number(10.0), PUCT),
    retired("search.dirichlet_fraction", Neutral::Number(0.25), PUCT),
    retired("search.virtual_loss", Neutral::Number(1.0), PLAYERS),
    retired("search.max_nodes", Neutral::Number(200_000.0), PLAYERS),
    retired("train.rate_decay", Neutral::Name("cosine"), "left out: the rate falls along a cosine; stages make steps"),
    retired("train.clip_norm", Neutral::Number(1.0), FIXED),
    retired("train.bad_steps", Neutral::Number(10.0), FIXED),
    retired("train.window_exponent", Neutral::Number(0.75), "left out: window_base sets the size of the window"),
    retired("train.window_scale", Neutral::Number(0.4), "left out: window_base sets the size of the window"),
    retired("train.policy_weight", Neutral::Number(1.0), "left out: the other weights are relative to it"),
    retired("train.reply_weight", Neutral::Number(0.0), NO_EFFECT),
    retired("train.soft_policy_weight", Neutral::Number(0.0), NO_EFFECT),
    retired("train.short_value_weight", Neutral::Number(0.0), NO_EFFECT),
    retired("train.short_value_horizons", Neutral::Any, NO_EFFECT),
    retired("train.captured_weight", Neutral::Number(0.0), NO_EFFECT),
    retired("train.captured_plies", Neutral::Any, NO_EFFECT),
    retired("train.ending_weight", Neutral::Number(0.0), NO_EFFECT),
    retired("train.surprise_weight", Neutral::Number(0.0), NOT_MEASURED),
    retired(
        "train.feature_inputs",
        Neutral::True,
        "left out: networks were weaker without these planes (docs/EXPERIMENTS.md, Removed again)",
    ),
];

/// Removes the removed keys from a configuration, stages included, and returns an error for each one that had an
/// effect.
pub fn forget(config: &mut Table) -> Vec<KeyError> {
    let mut errors = Vec::new();
    sections("", config, &mut errors);
    for (index, stage) in config.get_mut("stages").and_then(Value::as_array_mut).into_iter().flatten().enumerate() {
        let Some(stage) = stage.as_table_mut() else { continue };
        let name = stage.get("name").and_then(Value::as_str).map_or_else(|| index.to_string(), str::to_owned);
        sections(&format!("stages.{name}."), stage, &mut errors);
    }
    errors
}

fn sections(prefix: &str, config: &mut Table, errors: &mut Vec<KeyError>) {
    let mut refuse = |key: &str, found: &Value, allowed: &str| {
        errors.push(KeyError {
            key: format!("{prefix}{key}"),
            found: shown(found),
            allowed: format!("it to be {allowed}"),
        });
    };
    for Retired { path, neutral, advice } in RETIRED {
        let Some((section, key)) = path.split_once('.') else { continue };
        let Some(found) = config.get_mut(section).and_then(|section| section.as_table_mut()?.remove(key)) else {
            continue;
        };
        if !neutral.is(&found) {
            refuse(path, &found, advice);
        }
    }
    let rulesets = config.get_mut("selfplay").and_then(|section| section.get_mut("rulesets"));
    for ruleset in rulesets.and_then(Value::as_array_mut).into_iter().flatten() {
        let Some(ruleset) = ruleset.as_table_mut() else { continue };
        for (key, neutral) in [("from", 0.0), ("until", 1.0)] {
            if let Some(found) = ruleset.remove(key)
                && !Neutral::Number(neutral).is(&found)
            {
                let advice =
                    "left out: a stage for each part of the run does the same ([[stages]] with selfplay.rulesets)";
                refuse(&format!("selfplay.rulesets.{key}"), &found, advice);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forgotten(text: &str) -> (Table, Vec<String>) {
        let mut table: Table = text.parse().unwrap();
        let errors = forget(&mut table).iter().map(KeyError::to_string).collect();
        (table, errors)
    }

    #[test]
    fn keys_that_did_nothing_are_passed_over() {
        let (table, errors) = forgotten(
            r#"
            search = { root = "gumbel", c_scale = 3.0, c_puct = 0.8999999761581421, max_nodes = 200000 }
            train = { fast = 1, feature_inputs = true, captured_plies = 3, captured_weight = 0 }
            selfplay = { rulesets = [{ rules = "brandubh", share = 1, from = 0.0, until = 1 }] }
            [[stages]]
            name = "one"
            selfplay = { past_share = 0.0, blunder_share = 0.5 }
            "#,
        );
        let expected = r#"
            search = { c_scale = 3.0 }
            train = { fast = 1 }
            selfplay = { rulesets = [{ rules = "brandubh", share = 1 }] }
            [[stages]]
            name = "one"
            selfplay = { blunder_share = 0.5 }
        "#;
        assert_eq!((table, errors), (expected.parse().unwrap(), Vec::new()));
    }

    #[test]
    fn keys_that_did_something_are_named_with_what_to_do() {
        let (table, errors) = forgotten(
            r#"
            search = { root = "puct" }
            train = { feature_inputs = false }
            selfplay = { rulesets = [{ rules = "brandubh", share = 1, until = 0.5 }] }
            [[stages]]
            name = "one"
            selfplay = { fork_share = 0.1 }
            "#,
        );
        for (error, expected) in errors.iter().zip([
            "search.root = \"puct\": expected it to be left out: self-play searches from a Gumbel root",
            "train.feature_inputs = false: expected it to be left out: networks were weaker",
            "selfplay.rulesets.until = 0.5: expected it to be left out: a stage for each part",
            "stages.one.selfplay.fork_share = 0.1: expected it to be left out: measurements showed no effect",
        ]) {
            assert!(error.starts_with(expected), "{error}");
        }
        assert_eq!(errors.len(), 4, "{errors:?}");
        assert!(table["search"].as_table().unwrap().is_empty());
    }
}
