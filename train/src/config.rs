//! The configuration of a run ([`hnefi_run::config`]), and the check of its players.

use hnefi_arena::players::PlayerSpec;
use hnefi_engine::NamedRules;
pub use hnefi_run::config::ANY_NAME;
pub use hnefi_run::config::reference;
pub use hnefi_run::config::{
    BudgetClock, BudgetSection, ConfigError, EvaluateSection, KeyError, LadderSection, RunSection, SearchSection,
    SelfPlayConfig, Span, Stage, TrainConfig, TrainSection,
};
use hnefi_run::config::{Kind, sections_named, shown, suggestion_in};
use toml::Value;

/// Loads a configuration as [`TrainConfig::load_with`] does, and checks that its opponents are players.
///
/// # Errors
/// When there is no such configuration, or with all errors of its keys and values.
pub fn load(name_or_path: &str, changes: &[String]) -> Result<TrainConfig, ConfigError> {
    let config = TrainConfig::load_with(name_or_path, changes)?;
    checked(&config, name_or_path).map(|()| config)
}

/// The configuration of any ruleset, as [`TrainConfig::any`], with the same check.
///
/// # Errors
/// With all errors of the changes.
pub fn any(rules: &NamedRules, changes: &[String]) -> Result<TrainConfig, ConfigError> {
    let config = TrainConfig::any(rules, changes)?;
    checked(&config, ANY_NAME).map(|()| config)
}

/// Checks the values; `origin` names the configuration.
///
/// # Errors
/// When a value is not allowed.
pub fn checked(config: &TrainConfig, origin: &str) -> Result<(), ConfigError> {
    let mut errors = config.validate();
    errors.extend(
        [("ladder.opponents", &config.ladder.opponents), ("evaluate.opponents", &config.evaluate.opponents)]
            .into_iter()
            .filter_map(|(key, opponents)| no_player(key, opponents)),
    );
    if errors.is_empty() { Ok(()) } else { Err(ConfigError::Keys { origin: origin.to_owned(), errors }) }
}

/// The error of a list of opponents, if one of them is not a player's spec.
fn no_player(key: &str, opponents: &[String]) -> Option<KeyError> {
    let problem = opponents.iter().find_map(|text| text.parse::<PlayerSpec>().err())?.to_string();
    let unit = sections_named(Some(key)).ok()?.first()?.1.first()?.unit;
    let found = shown(&Value::Array(opponents.iter().map(|text| Value::from(text.as_str())).collect()));
    let allowed = format!("{} ({unit}){}", Kind::Players.allowed(), suggestion_in(&problem));
    Some(KeyError { key: key.to_owned(), found, allowed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opponents_are_players() {
        let changed = |change: &str| load("quick", &[change.to_owned()]).map_err(|error| error.to_string());
        assert!(changed("ladder.opponents=[]").is_ok() && changed("evaluate.opponents=[\"alphabeta:3\"]").is_ok());
        let message = changed("ladder.opponents=[\"random\", \"alphabta:2\"]").unwrap_err();
        assert_eq!(
            message,
            "configuration quick: 1 error\n  ladder.opponents = [\"random\", \"alphabta:2\"]: expected list of texts such as \
             \"random\", \"alphabeta:2\" or \"rollout:200\" (players as on the command line); did you mean alphabeta:2?"
        );
        assert!(
            changed("evaluate.opponents=[\"deepblue\"]").unwrap_err().contains("evaluate.opponents = [\"deepblue\"]")
        );
    }
}
