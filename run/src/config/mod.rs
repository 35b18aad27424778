//! The configuration of a run: its keys, their allowed values, and reading it from TOML.
//!
//! Every key is defined once, in `sections.rs`: name, type, default, range, unit and description. A key that a file
//! leaves out has its default. All errors (unknown keys, wrong types, values out of range) are reported together, each
//! with its key, the value found and the values allowed. The resolved
//! configuration of a run is written to its `run.json`.

mod check;
mod keys;
mod reference;
mod sections;
mod stages;

use std::fmt;
use std::path::Path;

use hnefi_inference::{NetworkConfig, file, names};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

pub use check::may_change_on_resume;
pub use keys::{Change, Key, Kind, Section, suggestion_in};
pub use reference::{reference, sections_named};
pub use sections::{
    BATCH_GAMES, BudgetClock, BudgetSection, EvaluateSection, LadderSection, NETWORK, PlyCaps, ResignConfig,
    RulesetShare, RunSection, SECTIONS, SearchSection, SelfPlayConfig, TrainSection,
};
pub use stages::{Span, Stage};

use hnefi_configs::{ANY, BUILT_IN, RULES};
use hnefi_engine::NamedRules;

use sections::STAGES;

use crate::rules_file::check_said;

/// The name of the configuration for any ruleset.
pub const ANY_NAME: &str = "any";

/// The largest file of a configuration, in bytes; the shipped ones have a few thousand.
const LARGEST: u64 = 1 << 20;

/// Everything that determines a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainConfig {
    /// The run as a whole.
    pub run: RunSection,
    /// Shape of the network.
    pub network: NetworkConfig,
    /// How games are played.
    pub selfplay: SelfPlayConfig,
    /// How self-play searches a move.
    pub search: SearchSection,
    /// Training of the network.
    pub train: TrainSection,
    /// Length of the run.
    pub budget: BudgetSection,
    /// How strength is measured over the run.
    pub ladder: LadderSection,
    /// The closing table.
    pub evaluate: EvaluateSection,
    /// The stages of the run; empty for a run of one stage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
}

impl Default for TrainConfig {
    /// The built-in configuration `quick`.
    fn default() -> TrainConfig {
        TrainConfig {
            run: RunSection::default(),
            network: sections::default_network(),
            selfplay: SelfPlayConfig::default(),
            search: SearchSection::default(),
            train: TrainSection::default(),
            budget: BudgetSection::default(),
            ladder: LadderSection::default(),
            evaluate: EvaluateSection::default(),
            stages: Vec::new(),
        }
    }
}

/// Why a configuration could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// There is no configuration with this name.
    #[error(
        "configuration {name}: {source}; expected a TOML file or one of {}{}",
        TrainConfig::names().collect::<Vec<_>>().join(", "),
        names::did_you_mean(name, TrainConfig::names())
    )]
    Missing {
        /// The name given.
        name: String,
        /// The file system's error.
        source: std::io::Error,
    },
    /// The file is no TOML.
    #[error("configuration {origin} is not TOML: {problem}")]
    NotToml {
        /// The file, or the name of a built-in configuration.
        origin: String,
        /// The parser's error, with line and column.
        problem: String,
    },
    /// Keys or values are wrong; all of them are listed.
    #[error("configuration {origin}: {}", listed(errors))]
    Keys {
        /// The file, or the name of a built-in configuration.
        origin: String,
        /// Every error.
        errors: Vec<KeyError>,
    },
    /// A command was told to change a key that it does not read.
    #[error("{key}: this command does not read it; a change of it does nothing. It reads {}", used.join(", "))]
    Unused {
        /// The key.
        key: String,
        /// The keys that the command reads; a section stands for all of its keys.
        used: Vec<&'static str>,
    },
    /// There is no key or section with this name.
    #[error(
        "{name} is no key and no section{}",
        names::did_you_mean(name, reference::names().iter().map(String::as_str))
    )]
    NoKey {
        /// The name given.
        name: String,
    },
}

fn listed(errors: &[KeyError]) -> String {
    let noun = if errors.len() == 1 { "1 error".to_owned() } else { format!("{} errors", errors.len()) };
    errors.iter().fold(noun, |text, error| format!("{text}\n  {error}"))
}

/// An error in one key of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyError {
    /// Full path of the key, such as `train.batch`.
    pub key: String,
    /// The value found, as TOML.
    pub found: String,
    /// The allowed values.
    pub allowed: String,
}

impl KeyError {
    fn of_whole(problem: &str) -> KeyError {
        KeyError { key: "configuration".into(), found: problem.into(), allowed: "keys and values as documented".into() }
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}: expected {}", self.key, self.found, self.allowed)
    }
}

impl TrainConfig {
    /// Names of the built-in configurations.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|&(name, _)| name)
    }

    /// A built-in configuration; `None` for an unknown name.
    pub fn named(name: &str) -> Option<TrainConfig> {
        let (name, text) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
        // The tests read every one of them.
        Some(TrainConfig::parse(text, name).expect("a built-in configuration has no errors"))
    }

    /// A configuration by the name of a built-in one or the path of a TOML file.
    ///
    /// # Errors
    /// When neither exists, or the file has errors.
    pub fn load(name_or_path: &str) -> Result<TrainConfig, ConfigError> {
        TrainConfig::load_with(name_or_path, &[])
    }

    /// As [`TrainConfig::load`] with some keys changed: each change is a line such as `search.c_scale = 0.3`. A value
    /// that is not TOML is a text, so that `selfplay.x=name` needs no quotes.
    ///
    /// # Errors
    /// As [`TrainConfig::load`], and when a change is no `KEY=VALUE`.
    pub fn load_with(name_or_path: &str, changes: &[String]) -> Result<TrainConfig, ConfigError> {
        TrainConfig::resolve(TrainConfig::table(name_or_path, changes)?, name_or_path)
    }

    /// Whether the configuration or a change gives a value to `key`, at the beginning or in a stage.
    ///
    /// # Errors
    /// As [`TrainConfig::load_with`].
    pub fn gives(name_or_path: &str, changes: &[String], key: &str) -> Result<bool, ConfigError> {
        let whole = TrainConfig::table(name_or_path, changes)?;
        let mut stages = whole.get(STAGES).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table);
        Ok(has(&whole, key) || stages.any(|stage| has(stage, key)))
    }

    /// The values that a configuration and the changes give.
    fn table(name_or_path: &str, changes: &[String]) -> Result<Table, ConfigError> {
        let built_in = BUILT_IN.iter().find(|(known, _)| *known == name_or_path).map(|(_, text)| (*text).to_owned());
        let text = match built_in {
            Some(text) => text,
            None if name_or_path == ANY_NAME => {
                let source = std::io::Error::other("it is for the ruleset of `train --rules`");
                return Err(ConfigError::Missing { name: name_or_path.to_owned(), source });
            }
            None => file::read_text(Path::new(name_or_path), LARGEST)
                .map_err(|source| ConfigError::Missing { name: name_or_path.to_owned(), source })?,
        };
        let mut table = read(&text, name_or_path)?;
        for change in changes {
            fill(&mut table, changed(change)?);
        }
        Ok(table)
    }

    /// The built-in configuration `any` for these rules, with some keys changed as by [`TrainConfig::load_with`]:
    /// length, stages and ply caps follow from the board's size.
    ///
    /// # Errors
    /// When a change is no `KEY=VALUE`, or of no key or to no value that there is.
    pub fn any(rules: &NamedRules, changes: &[String]) -> Result<TrainConfig, ConfigError> {
        check_said(rules).map_err(|problem| ConfigError::Keys {
            origin: ANY_NAME.to_owned(),
            errors: vec![KeyError::of_whole(&problem)],
        })?;
        let side = rules.rules().size().side();
        let texts = ANY.into_iter().filter(|&(largest, _)| side <= largest).map(|(_, text)| text);
        let mut table = read(texts.take(1).collect::<String>().as_str(), ANY_NAME)?;
        let rules = rules.name();
        table.iter_mut().for_each(|(_, value)| name_rules(value, &rules));
        for change in changes {
            fill(&mut table, changed(change)?);
        }
        TrainConfig::resolve(table, ANY_NAME)
    }

    /// As [`TrainConfig::load_with`] for a command that reads only the keys and sections `used`.
    ///
    /// # Errors
    /// As [`TrainConfig::load_with`], and when a change is of another key. (A file may have all keys of a run.)
    pub fn load_part(
        name_or_path: &str,
        changes: &[String],
        used: &[&'static str],
    ) -> Result<TrainConfig, ConfigError> {
        let config = TrainConfig::load_with(name_or_path, changes)?;
        for change in changes {
            if let Some(key) = unused("", &changed(change)?, used) {
                return Err(ConfigError::Unused { key, used: used.to_vec() });
            }
        }
        Ok(config)
    }

    /// Whether a change is one of `key`.
    pub fn changes(change: &str, key: &str) -> bool {
        changed(change).is_ok_and(|table| has(&table, key))
    }

    /// Checks a change by itself: its form, its key, and its value.
    ///
    /// # Errors
    /// When it is no `KEY=VALUE`, there is no such key, or the key takes no such value.
    pub fn check_change(change: &str) -> Result<(), ConfigError> {
        let errors = key_errors(&changed(change)?);
        let origin = "the change".to_owned();
        if errors.is_empty() { Ok(()) } else { Err(ConfigError::Keys { origin, errors }) }
    }

    /// Reads a configuration from TOML; `origin` names it in errors.
    ///
    /// # Errors
    /// When the text is not TOML, or with all errors of its keys and values.
    pub fn parse(text: &str, origin: &str) -> Result<TrainConfig, ConfigError> {
        TrainConfig::resolve(read(text, origin)?, origin)
    }

    /// The configuration of a table, with defaults for missing keys.
    fn resolve(table: Table, origin: &str) -> Result<TrainConfig, ConfigError> {
        let refuse = |errors| Err(ConfigError::Keys { origin: origin.to_owned(), errors });
        let errors = key_errors(&table);
        if !errors.is_empty() {
            return refuse(errors);
        }
        let mut whole = match Table::try_from(TrainConfig::default()) {
            Ok(whole) => whole,
            Err(error) => return refuse(vec![KeyError::of_whole(&error.to_string())]),
        };
        fill(&mut whole, table);
        let config: TrainConfig = match whole.try_into() {
            Ok(config) => config,
            // No table that passes the checks is known to fail here.
            Err(error) => return refuse(vec![KeyError::of_whole(error.message())]),
        };
        config.checked(origin).map(|()| config)
    }

    /// All errors of the values, for a configuration made or changed by a program; empty for a valid one.
    pub fn validate(&self) -> Vec<KeyError> {
        let mut errors = match Table::try_from(self) {
            Ok(table) => key_errors(&table),
            Err(error) => vec![KeyError::of_whole(&error.to_string())],
        };
        for error in check::relations(self).into_iter().chain(stages::relations(self)) {
            if errors.iter().all(|known| known.key != error.key) {
                errors.push(error);
            }
        }
        errors
    }

    /// Checks the values; `origin` names the configuration.
    ///
    /// # Errors
    /// When a value is not allowed.
    pub fn checked(&self, origin: &str) -> Result<(), ConfigError> {
        let errors = self.validate();
        if errors.is_empty() { Ok(()) } else { Err(ConfigError::Keys { origin: origin.to_owned(), errors }) }
    }
}

/// Whether a table has a value for a key such as `selfplay.rulesets`.
fn has(table: &Table, key: &str) -> bool {
    let mut names = key.split('.');
    let first = names.next().and_then(|name| table.get(name));
    first.and_then(|first| names.try_fold(first, |value, name| value.get(name))).is_some()
}

/// An error for every unknown key, wrong type and value out of range.
fn key_errors(table: &Table) -> Vec<KeyError> {
    let mut errors = Vec::new();
    let mut sections = table.clone();
    let stages = sections.remove(STAGES);
    check::walk("", &sections, &mut errors);
    if let Some(stages) = stages {
        stages::table(&stages, &mut errors);
    }
    errors
}

fn read(text: &str, origin: &str) -> Result<Table, ConfigError> {
    text.parse().map_err(|error: toml::de::Error| ConfigError::NotToml {
        origin: origin.to_owned(),
        problem: error.to_string().trim_end().to_owned(),
    })
}

/// Writes the name of a ruleset where a text stands for it.
fn name_rules(value: &mut Value, rules: &str) {
    match value {
        Value::String(text) if text == RULES => rules.clone_into(text),
        Value::Table(table) => table.iter_mut().for_each(|(_, value)| name_rules(value, rules)),
        Value::Array(values) => values.iter_mut().for_each(|value| name_rules(value, rules)),
        _ => {}
    }
}

fn changed(change: &str) -> Result<Table, ConfigError> {
    let refuse = || ConfigError::NotToml {
        origin: format!("change {change:?}"),
        problem: "expected KEY=VALUE such as search.c_scale=0.3".to_owned(),
    };
    let (key, value) = change.split_once('=').ok_or_else(refuse)?;
    let text = Value::String(value.trim().to_owned());
    let line = format!("{key} = {value}");
    line.parse().or_else(|_| format!("{key} = {text}").parse()).map_err(|_| refuse())
}

/// The first key of a table, whose keys are under `prefix`, that is neither in `used` nor in a section there.
fn unused(prefix: &str, table: &Table, used: &[&str]) -> Option<String> {
    table.iter().find_map(|(name, value)| {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            _ if used.contains(&path.as_str()) => None,
            Value::Table(inner) => unused(&path, inner, used),
            _ => Some(path),
        }
    })
}

/// Overwrites values of `whole` by values of `given`, table by table.
fn fill(whole: &mut Table, given: Table) {
    for (name, value) in given {
        match (whole.get_mut(&name), value) {
            (Some(Value::Table(inner)), Value::Table(value)) => fill(inner, value),
            (_, value) => {
                whole.insert(name, value);
            }
        }
    }
}

/// A value as TOML, shortened to 60 characters.
pub fn shown(value: &Value) -> String {
    let text = reference::written(value);
    match text.char_indices().nth(60) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text,
    }
}

/// A number, written with or without a decimal point.
fn real(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|n| n as f64))
}
