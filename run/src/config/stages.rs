//! The stages of a run, which change its configuration from one part of the budget to the next.
//!
//! A stage changes keys of the configuration. Games, replay window, weights, optimiser moments and counts continue. The
//! changes hold to the end of the run, unless a later stage changes the same keys. Schedules (learning rate, playouts,
//! value horizon) follow the progress of the stage instead of the progress of the budget. A run without stages is one
//! stage.

use hnefi_engine::NamedRules;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::keys::{Change, Section};
use super::sections::{SECTIONS, STAGES};
use super::{ConfigError, KeyError, TrainConfig, check, fill, real, shown};

/// The sections that a stage may change, with inner sections.
fn sections() -> Vec<&'static str> {
    let changes = |section: &&&Section| section.keys.iter().any(|key| key.change == Change::InStages);
    SECTIONS.iter().filter(changes).map(|section| section.name).filter(|name| !name.contains('.')).collect()
}

/// A part of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// A name for messages and metrics.
    pub name: String,
    /// Its share of the budget, relative to the other stages' shares.
    pub share: f64,
    /// The keys it changes, in tables `network`, `selfplay`, `search`, `train` and `budget`.
    #[serde(flatten)]
    pub changes: Table,
}

/// A stage's part of the budget; both ends are from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub until: f64,
}

impl Span {
    /// Progress of the stage, 0 to 1, at this progress of the budget.
    pub fn within(self, progress: f64) -> f64 {
        // A share may be too small to lie between two numbers.
        ((progress - self.from) / (self.until - self.from).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
    }
}

impl TrainConfig {
    /// Number of stages; a run without any is one stage.
    pub fn stage_count(&self) -> usize {
        self.stages.len().max(1)
    }

    /// The name of a stage; empty for a run without stages.
    pub fn stage_name(&self, index: usize) -> &str {
        self.stages.get(index).map_or("", |stage| &stage.name)
    }

    /// A stage's part of the budget.
    pub fn stage_span(&self, index: usize) -> Span {
        let total: f64 = self.stages.iter().map(|stage| stage.share).sum();
        let until = |count: usize| match self.stages.get(..count) {
            Some(stages) if count < self.stages.len() => stages.iter().map(|stage| stage.share).sum::<f64>() / total,
            _ => 1.0,
        };
        Span { from: if index == 0 { 0.0 } else { until(index) }, until: until(index + 1) }
    }

    /// Index of the stage at this progress of the budget.
    pub fn stage_at(&self, progress: f64) -> usize {
        (0..self.stage_count()).rev().find(|&index| self.stage_span(index).from <= progress).unwrap_or(0)
    }

    /// The configuration in one stage, without further stages; for a run without stages, the configuration itself.
    ///
    /// # Errors
    /// When a change does not fit the configuration, which [`TrainConfig::validate`] reports too.
    pub fn stage(&self, index: usize) -> Result<TrainConfig, ConfigError> {
        let Some(stages) = self.stages.get(..=index) else { return Ok(self.clone()) };
        let refuse = |error: &dyn std::fmt::Display| ConfigError::Keys {
            origin: format!("of stage {:?}", self.stage_name(index)),
            errors: vec![KeyError::of_whole(&error.to_string())],
        };
        let mut whole = Table::try_from(self).map_err(|error| refuse(&error))?;
        whole.remove(STAGES);
        for stage in stages {
            fill(&mut whole, stage.changes.clone());
        }
        whole.try_into().map_err(|error: toml::de::Error| refuse(&error.message()))
    }

    /// The rulesets with a share in some of these stages, without duplicates, in the order of the stages.
    ///
    /// # Errors
    /// As [`TrainConfig::stage`].
    pub fn rulesets_of(&self, stages: impl IntoIterator<Item = usize>) -> Result<Vec<NamedRules>, ConfigError> {
        let mut rulesets = Vec::new();
        for index in stages {
            for ruleset in self.stage(index)?.selfplay.rulesets_played() {
                if !rulesets.contains(&ruleset) {
                    rulesets.push(ruleset);
                }
            }
        }
        Ok(rulesets)
    }

    /// The rulesets of all stages.
    ///
    /// # Errors
    /// As [`TrainConfig::stage`].
    pub fn rulesets(&self) -> Result<Vec<NamedRules>, ConfigError> {
        self.rulesets_of(0..self.stage_count())
    }

    /// The configuration in the last stage.
    ///
    /// # Errors
    /// As [`TrainConfig::stage`].
    pub fn last_stage(&self) -> Result<TrainConfig, ConfigError> {
        self.stage(self.stage_count() - 1)
    }
}

/// Adds the errors in the stages' keys: unknown keys, wrong types, values out of range.
pub(super) fn table(stages: &Value, errors: &mut Vec<KeyError>) {
    let mut refuse = |key: String, found: &Value, allowed: String| {
        errors.push(KeyError { key, found: shown(found), allowed });
    };
    let Some(list) = stages.as_array() else {
        return refuse(STAGES.to_owned(), stages, "a list of tables, written [[stages]]".to_owned());
    };
    let mut names: Vec<&str> = Vec::new();
    let mut inner = Vec::new();
    for (index, stage) in list.iter().enumerate() {
        let Some(stage_table) = stage.as_table() else {
            refuse(format!("{STAGES}[{index}]"), stage, "a table".to_owned());
            continue;
        };
        let name = stage_table.get("name").and_then(Value::as_str).unwrap_or_default();
        if name.is_empty() || names.contains(&name) {
            let found = stage_table.get("name").cloned().unwrap_or_else(|| Value::String(String::new()));
            refuse(format!("{STAGES}[{index}].name"), &found, "a name that no other stage has".to_owned());
        }
        names.push(name);
        let path = if name.is_empty() { format!("{STAGES}[{index}]") } else { format!("{STAGES}.{name}") };
        let share = stage_table.get("share").cloned().unwrap_or(Value::Integer(0));
        if !real(&share).is_some_and(|share| share > 0.0 && share <= 1e6) {
            refuse(
                format!("{path}.share"),
                &share,
                "a number above 0, at most 1000000 (share of the budget)".to_owned(),
            );
        }
        for (key, value) in stage_table.iter().filter(|(key, _)| !["name", "share"].contains(&key.as_str())) {
            match value.as_table() {
                Some(changes) if sections().contains(&key.as_str()) => {
                    let mut found = Vec::new();
                    check::walk(key, changes, &mut found);
                    for name in changes.keys().map(|name| format!("{key}.{name}")) {
                        if check::key(&name).is_some_and(|key| key.change != Change::InStages) {
                            let allowed = "no change, since it belongs to the whole run".to_owned();
                            found.push(KeyError { key: name, found: "a value of its own".to_owned(), allowed });
                        }
                    }
                    inner.extend(
                        found.into_iter().map(|error| KeyError { key: format!("{path}.{}", error.key), ..error }),
                    );
                }
                _ => refuse(
                    format!("{path}.{key}"),
                    value,
                    format!("name, share, or a table of {}", sections().join(", ")),
                ),
            }
        }
    }
    errors.extend(inner);
}

/// Errors in relations between values in each stage, and between successive networks.
pub(super) fn relations(config: &TrainConfig) -> Vec<KeyError> {
    let mut errors = Vec::new();
    // An error that a stage has from the configuration, or from the stage before, is reported there.
    let mut known = check::relations(config);
    let mut before: Option<TrainConfig> = None;
    for index in 0..config.stages.len() {
        let path = format!("{STAGES}.{}", config.stage_name(index));
        let stage = match config.stage(index) {
            Ok(stage) => stage,
            Err(error) => {
                errors.push(KeyError { key: path, found: error.to_string(), allowed: "changes that fit".to_owned() });
                continue;
            }
        };
        let within = check::relations(&stage);
        let new = within.iter().filter(|error| !known.contains(error)).cloned();
        errors.extend(new.map(|error| KeyError { key: format!("{path}.{}", error.key), ..error }));
        known = within;
        if let Some(before) = &before
            && let Err(problem) = before.network.grows_to(&stage.network)
        {
            let allowed = format!("a network that the stage before grows to, but {problem}");
            errors.push(KeyError { key: format!("{path}.network"), found: format!("{:?}", stage.network), allowed });
        }
        before = Some(stage);
    }
    errors
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Preset;

    use super::*;

    fn parse(text: &str) -> Result<TrainConfig, ConfigError> {
        TrainConfig::parse(text, "stages")
    }

    #[test]
    fn a_stage_of_no_length_has_a_progress() {
        let [begun, done] = [(1.0, 1.0), (0.5, 0.75)].map(|(at, now)| Span { from: at, until: at }.within(now));
        assert_eq!([begun, done], [0.0, 1.0]);
    }

    const THREE: &str = r#"
        [network]
        blocks = 2
        [[stages]]
        name = "small"
        share = 1
        selfplay = { rulesets = [{ rules = "brandubh", share = 1.0 }] }
        [[stages]]
        name = "large"
        share = 2
        [stages.network]
        blocks = 4
        [stages.selfplay]
        rulesets = [{ rules = "copenhagen", share = 1.0 }]
        [stages.budget]
        playouts = [64]
        [[stages]]
        name = "cool"
        share = 1.0
        train = { rate = 1e-5, rate_end = 1e-6 }
    "#;

    #[test]
    fn a_stage_keeps_what_the_stages_before_changed() {
        let config = parse(THREE).unwrap();
        let stages: Vec<TrainConfig> = (0..3).map(|index| config.stage(index).unwrap()).collect();
        assert_eq!(stages.iter().map(|stage| stage.network.blocks).collect::<Vec<_>>(), [2, 4, 4]);
        let rules = |stage: &TrainConfig| stage.selfplay.rulesets[0].rules.name().to_owned();
        assert_eq!(stages.iter().map(rules).collect::<Vec<_>>(), ["brandubh", "copenhagen", "copenhagen"]);
        assert_eq!(stages[0].budget.playouts, TrainConfig::default().budget.playouts);
        assert_eq!((&stages[1].budget.playouts, &stages[2].budget.playouts), (&vec![64], &vec![64]));
        assert_eq!((stages[1].train.rate, stages[2].train.rate), (config.train.rate, 1e-5));
        assert!(stages.iter().all(|stage| stage.stages.is_empty() && stage.validate().is_empty()));
        assert_eq!(config.last_stage().unwrap(), stages[2]);
        assert_eq!(config.rulesets().unwrap(), [Preset::Brandubh, Preset::Copenhagen]);
    }

    #[test]
    fn shares_are_parts_of_the_budget() {
        let config = parse(THREE).unwrap();
        assert_eq!(config.stage_span(1), Span { from: 0.25, until: 0.75 });
        assert_eq!(config.stage_span(2), Span { from: 0.75, until: 1.0 });
        let at = [0.0, 0.2499, 0.25, 0.7499, 0.75, 1.0, 1.5].map(|progress| config.stage_at(progress));
        assert_eq!(at, [0, 0, 1, 1, 2, 2, 2]);
        let within = [0.0, 0.25, 0.5, 0.75, 1.0].map(|progress| config.stage_span(1).within(progress));
        assert_eq!(within, [0.0, 0.0, 0.5, 1.0, 1.0]);
    }

    #[test]
    fn a_configuration_without_stages_is_one_stage() {
        let config = TrainConfig::default();
        assert_eq!((config.stage_count(), config.stage_at(0.7)), (1, 0));
        assert_eq!(config.stage_span(0), Span { from: 0.0, until: 1.0 });
        assert_eq!(config.last_stage().unwrap(), config);
    }

    #[test]
    fn it_survives_json() {
        let config = parse(THREE).unwrap();
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<TrainConfig>(&text).unwrap(), config);
    }

    #[test]
    fn every_fault_names_the_stage() {
        let message = parse(
            r#"
            [[stages]]
            name = "one"
            share = 0
            train = { rat = 1.0 }
            [[stages]]
            name = "one"
            share = 1
            selfplay = { games_in_flight = 64 }
            ladder = { every = 3 }
            budget = { minutes = 3.0 }
            "#,
        )
        .unwrap_err()
        .to_string();
        for part in [
            "stages.one.share = 0: expected a number above 0",
            "stages.one.train.rat = 1.0: expected a key of [train]: ",
            "did you mean train.rate?",
            "stages[1].name = \"one\": expected a name that no other stage has",
            "stages.one.selfplay.games_in_flight = a value of its own: expected no change",
            "stages.one.ladder",
            "stages.one.budget.minutes",
        ] {
            assert!(message.contains(part), "{part:?} is not in {message}");
        }
        let message = parse(
            r#"
            [[stages]]
            name = "one"
            share = 1
            [[stages]]
            name = "two"
            share = 1
            network = { blocks = 2 }
            train = { batch = 7 }
            "#,
        )
        .unwrap_err()
        .to_string();
        assert!(
            message.contains("stages.two.network") && message.contains("blocks would shrink from 4 to 2"),
            "{message}"
        );
        assert!(message.contains("stages.two.train.batch = 7"), "{message}");
    }
}
