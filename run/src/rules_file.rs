//! Rules by a name, a rules record or a file.

use std::path::Path;

use hnefi_engine::{NamedRules, Preset, Rules, RulesRecord};
use hnefi_inference::file;
use hnefi_inference::names::{self, BadRules};
use serde::{Deserialize, Deserializer};
use toml::{Table, Value};

const LARGEST_FILE: u64 = 1 << 20;

/// The rules that a text names: a published ruleset, a rules record, or a file. A file that ends in `.toml` holds rule
/// options by their names, and as `ruleset` the published ruleset or the record that the others are those of (without
/// it Copenhagen); any other file holds a record, and lines that begin with `#`.
///
/// # Errors
/// What was found and what was expected.
pub fn named_rules(text: &str) -> Result<NamedRules, BadRules> {
    let path = Path::new(text);
    match names::ruleset(text) {
        // No ruleset has a dot in its name.
        Err(_) if !RulesRecord::is_meant(text) && (path.is_file() || path.extension().is_some()) => {}
        // A published name is that ruleset's, whatever files lie here.
        known => return known,
    }
    let told = |problem: String| BadRules(format!("{text}: {problem}"));
    let text = file::read_text(path, LARGEST_FILE).map_err(|error| told(error.to_string()))?;
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml")) {
        return options(&text).map_err(told);
    }
    let record: String = text.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line} ")).collect();
    names::ruleset(record.trim()).map_err(|BadRules(problem)| told(problem))
}

/// The options of a TOML text over those of its ruleset.
fn options(text: &str) -> Result<NamedRules, String> {
    let mut given: Table = toml::from_str(text).map_err(|error| error.to_string())?;
    let base = match given.remove("ruleset") {
        None => Preset::Copenhagen.into(),
        Some(Value::String(name)) => names::ruleset(&name).map_err(|error| error.to_string())?,
        Some(other) => return Err(format!("ruleset = {other}: expected the name of a ruleset or a rules record")),
    };
    let mut whole = Table::try_from(base.rules()).map_err(|error| error.to_string())?;
    for (key, value) in given {
        if !whole.contains_key(&key) {
            let known = || whole.keys().map(String::as_str);
            let meant = names::did_you_mean(&key, known());
            return Err(format!(
                "{key}: no such option; expected one of {}{meant}",
                known().collect::<Vec<_>>().join(", ")
            ));
        }
        match (whole.get_mut(&key), value) {
            (Some(Value::Table(parts)), Value::Table(given)) => parts.extend(given),
            (Some(known), value) if !known.same_type(&value) => {
                return Err(format!("{key} = {value}: expected a value of type {}", known.type_str()));
            }
            (_, value) => drop(whole.insert(key, value)),
        }
    }
    // Its lines are the problem and the key; numbers have Rust's types in it.
    let told = |error: toml::de::Error| {
        let told = error.to_string().lines().collect::<Vec<_>>().join(" ");
        told.replace("expected u8", "expected 0 to 255").replace("expected u16", "expected 0 to 65535")
    };
    let rules: Rules = whole.try_into().map_err(told)?;
    match rules.faults().into_iter().next() {
        None => Ok(rules.into()),
        Some(fault) => Err(fault),
    }
}

/// As [`named_rules`], for whatever names rules by a text later on: runs, their ladders, checkpoints and workers.
///
/// # Errors
/// As [`named_rules`], and when no text says these rules.
pub fn said_rules(text: &str) -> Result<NamedRules, BadRules> {
    let rules = named_rules(text)?;
    check_said(&rules).map_err(BadRules)?;
    Ok(rules)
}

/// Whether a text says all of these rules.
///
/// # Errors
/// When none does.
pub(crate) fn check_said(rules: &NamedRules) -> Result<(), String> {
    match rules.is_said() {
        true => Ok(()),
        false => Err(format!("no rules record says these rules; the nearest is {}", rules.name())),
    }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NamedRules, D::Error> {
    said_rules(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use hnefi_engine::{Repetition, Side};

    use super::*;
    use crate::config::TrainConfig;

    #[test]
    fn rules_that_no_record_says_are_not_trained_as_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("forts.toml");
        let text = "ruleset = \"dim:9 esc:e cor: cen: afor:a4,a5,a6 \
                    start:/3ttt3/4t4/4T4/t3T3t/ttTTKTTtt/t3T3t/4T4/4t4/3ttt3/\"\n\
                    [attacker_forts]\nhostile_occupied = []\n";
        std::fs::write(&path, text).expect("a file");
        let path = path.to_str().expect("a path in UTF-8");
        let rules = named_rules(path).expect("rules that can be played");
        let any = TrainConfig::any(&rules, &[]);
        let file = format!("[selfplay]\nrulesets = [{{ rules = \"{path}\", share = 1.0 }}]\n");
        for refused in [any, TrainConfig::parse(&file, "a file")] {
            let problem = refused.expect_err("another game").to_string();
            assert!(problem.contains("no rules record says these rules; the nearest is dim:9 "), "{problem}");
        }
    }

    #[test]
    fn rules_come_from_a_name_a_record_or_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let written = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("a file");
            named_rules(path.to_str().expect("a path in UTF-8"))
        };
        assert_eq!(named_rules("tablut"), Ok(Preset::Tablut.into()));
        let record = RulesRecord::of(&Preset::Tablut.rules()).to_string();
        assert_eq!(named_rules(&record), Ok(Preset::Tablut.into()));
        assert_eq!(
            written("tablut.otr", &format!("# Tablut\n{}\n", record.replace(' ', "\n"))),
            Ok(Preset::Tablut.into())
        );
        let drawn = Rules { repetition: Repetition::Draw, first: Side::Defenders, ..Preset::Tablut.rules() };
        let text = "ruleset = \"tablut\"\nrepetition = \"draw\"\nfirst = \"defenders\"\n";
        assert_eq!(written("own.toml", text), Ok(drawn.into()));
        assert_eq!(written("usual.toml", ""), Ok(Preset::Copenhagen.into()));
        for (name, text, expected) in [
            ("a.toml", "repetiton = \"draw\"", "repetiton: no such option; expected one of "),
            ("b.toml", "repetition = \"drawn\"", "unknown variant `drawn`"),
            ("c.toml", "repetition_occurrence = 1", "repetition_occurrence = 1: expected 2 to 255"),
            ("d.toml", "ruleset = 7", "ruleset = 7: expected the name"),
            ("g.toml", "ply_cap = -1", "expected 0 to 65535"),
            ("h.toml", "first = 3", "first = 3: expected a value of type string"),
            ("i.toml", "throne = 3", "throne = 3: expected a value of type table"),
            ("e.otr", "dim:7", "rules record, start: found nothing"),
            ("f.otr", "tablot", "unknown ruleset"),
        ] {
            let problem = written(name, text).expect_err(text).to_string();
            assert!(problem.contains(name) && problem.contains(expected), "{problem}");
        }
        assert!(named_rules("no/such/file.otr").expect_err("not there").0.contains("no/such/file.otr: No such file"));
    }
}
