//! What tells runs apart: their names, their configurations, and which of them differ in the seed alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hnefi_inference::printable;
use hnefi_run::{Run, flat};
use serde::Serialize;
use serde_json::Value;

/// The key of the seed.
const SEED: &str = "run.seed";

/// The longest value of a key that is shown.
const LONGEST: usize = 200;

/// What is known of a run before it is looked at.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct About {
    /// Its name, which no run of another path has.
    pub name: String,
    /// Place of the first run that differs from it in the seed alone.
    pub group: usize,
    /// The seed, if the configuration can be read.
    pub seed: Option<u64>,
    /// Name and version of the program that began it.
    pub program: String,
    /// The hardware that its newest trainer runs on; empty where it did not say.
    pub machine: String,
    /// The values of its configuration by key, and with `from` what it began with.
    pub settings: BTreeMap<String, String>,
}

/// A key that is not the same in all runs, with the value of each; empty where a run does not have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The key.
    pub key: String,
    /// The values, in the order of the runs.
    pub values: Vec<String>,
}

/// What is known of these runs.
pub fn about(runs: &[Arc<Run>]) -> Vec<About> {
    let mut found: Vec<About> = Vec::new();
    for (place, (run, name)) in runs.iter().zip(names(runs)).enumerate() {
        let configuration = run.configuration().unwrap_or_default();
        let mut settings: BTreeMap<String, String> =
            flat(&configuration["config"]).into_iter().map(|(key, value)| (cut(&key), written(&value))).collect();
        // Without a configuration there is one value without a key.
        settings.remove("");
        if let Some(from) = configuration["from"]["path"].as_str() {
            settings.insert("from".to_owned(), cut(from));
        }
        let mut one = About {
            name,
            group: place,
            seed: configuration["config"]["run"]["seed"].as_u64(),
            program: cut(configuration["program"].as_str().unwrap_or_default()),
            machine: run.machine().ok().flatten().map(|machine| cut(&machine)).unwrap_or_default(),
            settings,
        };
        if let Some(like) = found.iter().find(|like| one.seed.is_some() && same_but_seed(like, &one)) {
            one.group = like.group;
        }
        found.push(one);
    }
    found
}

fn same_but_seed(one: &About, other: &About) -> bool {
    let without = |about: &About| about.settings.iter().filter(|(key, _)| *key != SEED).count();
    let same = |(key, value): (&String, &String)| key == SEED || other.settings.get(key) == Some(value);
    one.program == other.program && without(one) == without(other) && one.settings.iter().all(same)
}

/// The keys of the configurations that differ, in alphabetical order.
pub fn differences(runs: &[About]) -> Vec<Difference> {
    let keys: BTreeSet<&String> = runs.iter().flat_map(|run| run.settings.keys()).collect();
    let values = |key: &String| runs.iter().map(|run| run.settings.get(key).cloned().unwrap_or_default()).collect();
    let all = keys.into_iter().map(|key| Difference { key: key.clone(), values: values(key) });
    all.filter(|difference| difference.values.iter().any(|value| *value != difference.values[0])).collect()
}

/// A value as a configuration file has it, but for the quotes of a text.
fn written(value: &Value) -> String {
    cut(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

fn cut(text: &str) -> String {
    printable(&text.chars().take(LONGEST).collect::<String>()).into_owned()
}

/// Names of runs: the last parts of their paths, as many as tell them apart.
pub fn names(runs: &[Arc<Run>]) -> Vec<String> {
    let paths: Vec<String> = runs.iter().map(|run| run.store().name("").replace('\\', "/")).collect();
    let parts: Vec<Vec<&str>> =
        paths.iter().map(|path| path.split('/').filter(|part| !part.is_empty()).collect()).collect();
    let named = |count: usize| -> Vec<String> {
        parts.iter().map(|parts| parts[parts.len().saturating_sub(count)..].join("/")).collect()
    };
    let most = parts.iter().map(Vec::len).max().unwrap_or(0);
    let different = |texts: &[String]| texts.iter().collect::<BTreeSet<_>>().len();
    // A run may be named twice.
    let distinct = |names: &Vec<String>| different(names) == different(&paths);
    (1..=most).map(named).find(distinct).unwrap_or_else(|| runs.iter().map(|run| run.name().to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs with these folders and configurations.
    fn runs(made: &[(&str, Value)]) -> (tempfile::TempDir, Vec<Arc<Run>>) {
        let folder = tempfile::tempdir().expect("a folder");
        let run = |(name, config): &(&str, Value)| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(&path).expect("a folder");
            let text = serde_json::json!({ "program": "hnefi 0.1.0", "config": config }).to_string();
            std::fs::write(path.join("run.json"), text).expect("a file");
            Arc::new(Run::open_directory(&path).expect("there"))
        };
        let runs = made.iter().map(run).collect();
        (folder, runs)
    }

    #[test]
    fn runs_that_differ_in_the_seed_alone_are_one_group() {
        let config = |seed: u64, rate: f64| serde_json::json!({ "run": { "seed": seed }, "train": { "rate": rate } });
        let more = serde_json::json!({ "run": { "seed": 5 }, "train": { "rate": 0.1, "batch": 64 } });
        let (folder, mut made) = runs(&[
            ("a/quick", config(1, 0.1)),
            ("a/other", config(1, 0.2)),
            ("b/quick", config(2, 0.1)),
            ("b/other", more),
        ]);
        std::fs::create_dir(folder.path().join("none")).expect("a folder");
        made.push(Arc::new(Run::open_directory(&folder.path().join("none")).expect("there")));
        let found = about(&made);
        let groups: Vec<usize> = found.iter().map(|one| one.group).collect();
        assert_eq!(groups, [0, 1, 0, 3, 4]);
        assert_eq!(names(&[0, 2, 0].map(|place| made[place].clone())), ["a/quick", "b/quick", "a/quick"]);
        let last = found[4].name.clone();
        assert!(last.ends_with("/none"), "{last}");
        let names: Vec<&str> = found.iter().take(4).map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["a/quick", "a/other", "b/quick", "b/other"]);
        let keys: Vec<(String, Vec<String>)> =
            differences(&found[..4]).into_iter().map(|one| (one.key, one.values)).collect();
        let texts = |values: [&str; 4]| values.map(str::to_owned).to_vec();
        assert_eq!(
            keys,
            [
                ("run.seed".to_owned(), texts(["1", "1", "2", "5"])),
                ("train.batch".to_owned(), texts(["", "", "", "64"])),
                ("train.rate".to_owned(), texts(["0.1", "0.2", "0.1", "0.1"])),
            ]
        );
    }
}
