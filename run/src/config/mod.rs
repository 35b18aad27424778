//! The configuration of a run: its keys, what they may be, and how a TOML file becomes one.
//!
//! Every key is defined once, in `sections.rs`: name, type, default, range, unit and what it does. A key that a file
//! leaves out has its default. Everything else that is not as it should be (unknown keys, wrong types, impossible
//! values) is reported at once, each with its key, what was found and what is allowed. Keys of earlier versions are in
//! `retired.rs`. What a run resolved its configuration to is written to its `run.json`.

mod check;
mod keys;
mod reference;
mod retired;
mod sections;
mod stages;

use std::fmt;
use std::path::Path;

use hnefi_inference::{NetworkConfig, names};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

pub use keys::{Key, Kind, Section, meant};
pub use reference::{reference, sections_named};
pub use retired::forget;
pub use sections::{
    BudgetClock, BudgetSection, EvaluateSection, LANE_GAMES, LadderSection, NETWORK, PlyCaps, ResignConfig,
    RulesetShare, RunSection, SECTIONS, SearchSection, SelfPlayConfig, TrainSection,
};
pub use stages::{Span, Stage};

/// The configurations that are built in, by name. The first one is all defaults.
const BUILT_IN: [(&str, &str); 5] = [
    ("quick", include_str!("../../configs/quick.toml")),
    ("brandubh", include_str!("../../configs/brandubh.toml")),
    ("copenhagen", include_str!("../../configs/copenhagen.toml")),
    ("copenhagen-gpu", include_str!("../../configs/copenhagen-gpu.toml")),
    ("all-boards", include_str!("../../configs/all-boards.toml")),
];

/// Everything a run is determined by.
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
    /// How the network learns from the games.
    pub train: TrainSection,
    /// How long the run goes on.
    pub budget: BudgetSection,
    /// How strength is measured over the run.
    pub ladder: LadderSection,
    /// What the finished network is measured against.
    pub evaluate: EvaluateSection,
    /// What changes from one part of the run to the next; none for a run of one stage.
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

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// There is no configuration of that name.
    #[error(
        "configuration {name}: {source}; expected a TOML file or one of {}{}",
        TrainConfig::names().collect::<Vec<_>>().join(", "),
        names::did_you_mean(name, TrainConfig::names())
    )]
    Missing {
        /// What was asked for.
        name: String,
        /// What the file system said.
        source: std::io::Error,
    },
    /// The file is no TOML.
    #[error("configuration {origin} is not TOML: {problem}")]
    NotToml {
        /// The file, or the name of a built-in configuration.
        origin: String,
        /// What the parser said, with line and column.
        problem: String,
    },
    /// Keys or values are wrong; all of them are listed.
    #[error("configuration {origin}: {}", listed(faults))]
    Faults {
        /// The file, or the name of a built-in configuration.
        origin: String,
        /// Every fault.
        faults: Vec<Fault>,
    },
    /// There is no key or section of that name.
    #[error(
        "{name} is no key and no section{}",
        names::did_you_mean(name, reference::names().iter().map(String::as_str))
    )]
    NoKey {
        /// What was asked for.
        name: String,
    },
}

/// One line for each fault.
fn listed(faults: &[Fault]) -> String {
    let noun = if faults.len() == 1 { "1 fault".to_owned() } else { format!("{} faults", faults.len()) };
    faults.iter().fold(noun, |text, fault| format!("{text}\n  {fault}"))
}

/// One thing that is wrong with a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Full path of the key, such as `train.batch`.
    pub key: String,
    /// What was found, as TOML would write it.
    pub found: String,
    /// What is allowed.
    pub allowed: String,
}

impl Fault {
    /// A fault that no key can be named for.
    fn of_whole(problem: &str) -> Fault {
        Fault { key: "configuration".into(), found: problem.into(), allowed: "keys and values as documented".into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}: expected {}", self.key, self.found, self.allowed)
    }
}

impl TrainConfig {
    /// Names of the configurations that are built in.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|&(name, _)| name)
    }

    /// A configuration that is built in; `None` when there is none of that name.
    pub fn named(name: &str) -> Option<TrainConfig> {
        let (name, text) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
        // The tests read every one of them.
        Some(TrainConfig::parse(text, name).expect("a built-in configuration has no faults"))
    }

    /// A configuration by the name of a built-in one or the path of a TOML file.
    ///
    /// # Errors
    /// When there is neither, or the file has faults.
    pub fn load(name_or_path: &str) -> Result<TrainConfig, ConfigError> {
        TrainConfig::load_with(name_or_path, &[])
    }

    /// As [`TrainConfig::load`] with some keys changed: each change is a line such as `search.c_scale = 0.3`. A value
    /// that is not TOML is a text, so that `selfplay.x=name` needs no quotes.
    ///
    /// # Errors
    /// As [`TrainConfig::load`], and when a change is no `KEY=VALUE`.
    pub fn load_with(name_or_path: &str, changes: &[String]) -> Result<TrainConfig, ConfigError> {
        let built_in = BUILT_IN.iter().find(|(known, _)| *known == name_or_path).map(|(_, text)| (*text).to_owned());
        let text = match built_in {
            Some(text) => text,
            None => std::fs::read_to_string(Path::new(name_or_path))
                .map_err(|source| ConfigError::Missing { name: name_or_path.to_owned(), source })?,
        };
        let mut table = read(&text, name_or_path)?;
        for change in changes {
            fill(&mut table, changed(change)?);
        }
        TrainConfig::resolve(table, name_or_path)
    }

    /// Reads a configuration from TOML; `origin` names it in errors.
    ///
    /// # Errors
    /// When the text is no TOML, or with every fault of its keys and values.
    pub fn parse(text: &str, origin: &str) -> Result<TrainConfig, ConfigError> {
        TrainConfig::resolve(read(text, origin)?, origin)
    }

    /// The configuration that a table means, with what it leaves out.
    fn resolve(mut table: Table, origin: &str) -> Result<TrainConfig, ConfigError> {
        let refuse = |faults| Err(ConfigError::Faults { origin: origin.to_owned(), faults });
        let mut faults = forget(&mut table);
        faults.extend(check::table(&table));
        if !faults.is_empty() {
            return refuse(faults);
        }
        let mut whole = match Table::try_from(TrainConfig::default()) {
            Ok(whole) => whole,
            Err(error) => return refuse(vec![Fault::of_whole(&error.to_string())]),
        };
        fill(&mut whole, table);
        let config: TrainConfig = match whole.try_into() {
            Ok(config) => config,
            // Nothing that passes the check is known to end here; if something does, it is still a fault with a name.
            Err(error) => return refuse(vec![Fault::of_whole(error.message())]),
        };
        config.checked(origin).map(|()| config)
    }

    /// Every fault of the values, for a configuration made or changed by a program; empty when it can be used.
    pub fn validate(&self) -> Vec<Fault> {
        let mut faults = match Table::try_from(self) {
            Ok(table) => check::table(&table),
            Err(error) => vec![Fault::of_whole(&error.to_string())],
        };
        for fault in check::relations(self).into_iter().chain(stages::relations(self)) {
            if faults.iter().all(|known| known.key != fault.key) {
                faults.push(fault);
            }
        }
        faults
    }

    /// An error of every fault of the values, unless there is none; `origin` names the configuration.
    ///
    /// # Errors
    /// When there is a fault.
    pub fn checked(&self, origin: &str) -> Result<(), ConfigError> {
        let faults = self.validate();
        if faults.is_empty() { Ok(()) } else { Err(ConfigError::Faults { origin: origin.to_owned(), faults }) }
    }
}

/// The table that a text holds.
fn read(text: &str, origin: &str) -> Result<Table, ConfigError> {
    text.parse().map_err(|error: toml::de::Error| ConfigError::NotToml {
        origin: origin.to_owned(),
        problem: error.to_string().trim_end().to_owned(),
    })
}

/// The table that a change such as `search.c_scale = 0.3` means.
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

/// Puts the values of `given` over those of `whole`, table by table.
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

/// A value as people write it, shortened when it is long.
pub fn shown(value: &Value) -> String {
    let text = reference::written(value);
    match text.char_indices().nth(60) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text,
    }
}

/// A number, whether it was written with a point or without.
fn real(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|n| n as f64))
}
