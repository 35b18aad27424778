//! Checks a configuration: each key against its definition, then relations between values.

use hnefi_inference::{DeviceChoice, Precision, PrecisionChoice, names};
use toml::Table;

use super::keys::Change;
use super::sections::{SECTIONS, STAGES};
use super::{Key, KeyError, TrainConfig, shown};

pub(super) fn key(path: &str) -> Option<&'static Key> {
    let (section, name) = path.rsplit_once('.')?;
    let section = SECTIONS.iter().find(|known| known.name == section)?;
    section.keys.iter().find(|key| key.name == name)
}

/// Whether the key with this path may change when a run resumes.
pub fn may_change_on_resume(path: &str) -> bool {
    key(path).is_some_and(|key| key.change == Change::OnResume)
}

fn paths() -> impl Iterator<Item = String> {
    SECTIONS.iter().flat_map(|section| section.keys.iter().map(|key| format!("{}.{}", section.name, key.name)))
}

/// Adds the errors of one table, whose keys are under `prefix`.
pub(super) fn walk(prefix: &str, table: &Table, errors: &mut Vec<KeyError>) {
    for (name, value) in table {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let allowed = if let Some(key) = key(&path) {
            if key.kind.allows(value) {
                continue;
            }
            key.kind.expected(key.unit, value)
        } else if SECTIONS.iter().any(|section| section.name == path) {
            match value.as_table() {
                Some(table) => {
                    walk(&path, table, errors);
                    continue;
                }
                None => format!("a table with the keys {}", names_within(&path).join(", ")),
            }
        } else {
            unknown(prefix, name)
        };
        errors.push(KeyError { key: path, found: shown(value), allowed });
    }
}

/// The error text for an unknown key: the known keys, and the one that was probably meant.
fn unknown(prefix: &str, name: &str) -> String {
    let (known, there) = match prefix {
        "" => ("one of the sections".to_owned(), names_within("").into_iter().chain([STAGES]).collect()),
        _ => (format!("a key of [{prefix}]"), names_within(prefix)),
    };
    let full = |meant: &str| if prefix.is_empty() { meant.to_owned() } else { format!("{prefix}.{meant}") };
    // A misspelt name, or a key of another section.
    let meant = names::nearest(name, there.iter().copied())
        .map(full)
        .or_else(|| paths().find(|path| path.rsplit('.').next() == Some(name)));
    format!("{known}: {}{}", there.join(", "), meant.map(names::suggestion).unwrap_or_default())
}

/// Names of the keys and of the sections directly within `section`; names of all sections for an empty name.
fn names_within(section: &str) -> Vec<&'static str> {
    let keys = SECTIONS.iter().filter(|known| known.name == section).flat_map(|known| known.keys);
    let inner = SECTIONS.iter().filter_map(|known| match known.name.rsplit_once('.') {
        Some((outer, name)) => (outer == section).then_some(name),
        None => section.is_empty().then_some(known.name),
    });
    keys.map(|key| key.name).chain(inner).collect()
}

pub(super) fn relations(config: &TrainConfig) -> Vec<KeyError> {
    let mut errors = Vec::new();
    let mut check = |fine: bool, key: &str, found: String, allowed: String| {
        if !fine {
            errors.push(KeyError { key: key.to_owned(), found, allowed });
        }
    };
    let (run, train, budget) = (&config.run, &config.train, &config.budget);
    check(
        matches!(run.precision, PrecisionChoice::Auto | PrecisionChoice::Exactly(Precision::F32))
            || run.device == DeviceChoice::Cpu.into()
            // Of the devices that a trial compares only the CPU has these precisions.
            || run.device.is_auto(),
        "run.precision",
        format!("\"{}\" with run.device = \"{}\"", run.precision, run.device),
        "\"auto\" or \"f32\", since only the device \"cpu\" has the others".to_owned(),
    );
    check(
        budget.minutes > 0.0 || budget.generations > 0,
        "budget.minutes",
        format!("{} and budget.generations = {}", budget.minutes, budget.generations),
        "one of the two above 0, or the run would never end".to_owned(),
    );
    check(
        train.shards >= 1 && train.batch >= 2 * train.shards && train.batch % train.shards == 0,
        "train.batch",
        format!("{} with train.shards = {}", train.batch, train.shards),
        "a multiple of train.shards, at least 2 samples a shard".to_owned(),
    );
    let devices = run.train_device.choices().len();
    check(
        train.shards >= devices,
        "train.shards",
        format!("{} with {devices} devices in run.train_device", train.shards),
        "at least one part of a batch for each device".to_owned(),
    );
    check(
        train.rate_end <= train.rate,
        "train.rate_end",
        train.rate_end.to_string(),
        format!("no more than train.rate, which is {}", train.rate),
    );
    let shares: Vec<f32> = config.selfplay.rulesets.iter().map(|ruleset| ruleset.share).collect();
    check(
        shares.iter().any(|&share| share > 0.0),
        "selfplay.rulesets",
        format!("shares {shares:?}"),
        "at least one ruleset, shares 0 or more and one above 0".to_owned(),
    );
    errors
}
