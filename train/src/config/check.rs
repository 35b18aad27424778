//! Looking for faults: key by key against the schema, and then what values must be to one another.

use hnefi_inference::{DeviceChoice, Precision, PrecisionChoice, names};
use hnefi_runs::config::{Fault, shown};
use toml::Table;

use super::TrainConfig;
use super::schema::KEYS;
use super::stages::{self, STAGES};

/// Every unknown key, wrong type and value out of range.
pub(super) fn table(table: &Table) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut sections = table.clone();
    let stages = sections.remove(STAGES);
    walk("", &sections, &mut faults);
    if let Some(stages) = stages {
        stages::table(&stages, &mut faults);
    }
    faults
}

/// The faults of one table, whose keys are under `prefix`.
pub(super) fn walk(prefix: &str, table: &Table, faults: &mut Vec<Fault>) {
    for (name, value) in table {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let within = format!("{path}.");
        let allowed = if let Some(key) = KEYS.iter().find(|key| key.path == path) {
            if key.kind.allows(value) {
                continue;
            }
            format!("{} ({}){}", key.kind.allowed(), key.unit, key.kind.meant(value))
        } else if KEYS.iter().any(|key| key.path.starts_with(&within)) {
            match value.as_table() {
                Some(table) => {
                    walk(&path, table, faults);
                    continue;
                }
                None => format!("a table with the keys {}", names_within(&within).join(", ")),
            }
        } else {
            unknown(prefix, name)
        };
        faults.push(Fault { key: path, found: shown(value), allowed });
    }
}

/// What to say about a key that does not exist: those there are, and the one that was probably meant.
fn unknown(prefix: &str, name: &str) -> String {
    let within = if prefix.is_empty() { String::new() } else { format!("{prefix}.") };
    let (known, there) = match prefix {
        "" => ("one of the sections".to_owned(), names_within("").into_iter().chain([STAGES]).collect()),
        _ => (format!("a key of [{prefix}]"), names_within(&within)),
    };
    // A slip in this name, or a key that another section has.
    let meant = names::nearest(name, there.iter().copied()).map(|meant| format!("{within}{meant}")).or_else(|| {
        let elsewhere = KEYS.iter().find(|key| key.path.rsplit('.').next() == Some(name));
        elsewhere.map(|key| key.path.to_owned())
    });
    format!("{known}: {}{}", there.join(", "), meant.map(names::asked).unwrap_or_default())
}

/// Names directly under a prefix that ends with a dot (or is empty), without repetition.
fn names_within(prefix: &str) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for key in KEYS {
        if let Some(rest) = key.path.strip_prefix(prefix) {
            let name = rest.split('.').next().unwrap_or(rest);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// What values must be to one another, and what the owners of the sections find.
pub(super) fn relations(config: &TrainConfig) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut check = |fine: bool, key: &str, found: String, allowed: String| {
        if !fine {
            faults.push(Fault { key: key.to_owned(), found, allowed });
        }
    };
    let (run, train, budget) = (&config.run, &config.train, &config.budget);
    check(
        matches!(run.precision, PrecisionChoice::Auto | PrecisionChoice::Exactly(Precision::F32))
            || run.device == DeviceChoice::Cpu.into(),
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
    for fault in config.selfplay.validate() {
        check(false, &format!("selfplay.{}", fault.key), fault.value, fault.allowed.to_owned());
    }
    faults
}
