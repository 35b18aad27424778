//! What a training run has measured, read from its directory while it may still be written to.
//!
//! The files are handed on as they are: who draws them knows the names of the numbers and leaves out what is not there,
//! so runs of other versions can be watched too.

use std::path::Path;

use hnefi_runs::store::{metrics_key, terms_key};
use serde_json::Value;

/// Generations that are given out at once.
const AT_ONCE: usize = 2_000;

/// The largest file of metrics that is read, in bytes; a real one has some thousand.
const LARGEST: u64 = 1 << 20;

/// The metrics of the generations after `after`, rising. A damaged file is passed over, and so is one that says it is
/// of another generation than its name: whoever asks for what comes after the last answer is never told the same twice.
pub fn metrics(run: &Path, after: u32) -> Vec<Value> {
    let numbers = numbers(&run.join("metrics")).into_iter().filter(|&number| number > after);
    let read = |number: u32| {
        let value = json(&run.join(metrics_key(number)))?;
        (value["generation"].as_u64() == Some(u64::from(number))).then_some(value)
    };
    numbers.filter_map(read).take(AT_ONCE).collect()
}

/// Whether the run's trainer has said that its budget is used up.
pub fn finished(run: &Path) -> bool {
    let newest = numbers(&run.join("terms")).pop();
    newest.and_then(|number| json(&run.join(terms_key(number)))).is_some_and(|terms| terms["finished"] == true)
}

/// What a file of sensible size holds, if it is JSON.
fn json(path: &Path) -> Option<Value> {
    let small = std::fs::metadata(path).ok()?.len() <= LARGEST;
    let text = small.then(|| std::fs::read(path).ok()).flatten()?;
    hnefi_inference::json::from_slice(&text).ok()
}

/// The number of the newest generation with metrics, 0 before the first.
pub fn newest(run: &Path) -> u32 {
    numbers(&run.join("metrics")).pop().unwrap_or(0)
}

/// The numbers of the JSON files in a folder, rising.
fn numbers(folder: &Path) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut numbers: Vec<u32> =
        entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".json")?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_come_in_order_and_damaged_files_are_passed_over() {
        let run = tempfile::tempdir().expect("a folder");
        assert_eq!((metrics(run.path(), 0).len(), newest(run.path())), (0, 0));
        std::fs::create_dir(run.path().join("metrics")).expect("a folder");
        for (name, text) in [
            ("000002.json", r#"{"generation":2}"#),
            ("000001.json", r#"{"generation":1}"#),
            ("000003.json", "{"),
            ("000004.json", r#"{"generation":2}"#),
            ("000005.json", r#"{"generation":4000000000}"#),
            ("000006.json", "{}"),
            ("notes", ""),
        ] {
            std::fs::write(run.path().join("metrics").join(name), text).expect("a file");
        }
        let found = |after| -> Vec<u64> {
            metrics(run.path(), after).iter().filter_map(|value| value["generation"].as_u64()).collect()
        };
        assert_eq!((found(0), found(1), newest(run.path())), (vec![1, 2], vec![2], 6));
        assert_eq!(found(2), [0; 0], "what was told last is not followed by itself");
    }

    #[test]
    fn a_run_is_finished_when_its_newest_terms_say_so() {
        let run = tempfile::tempdir().expect("a folder");
        assert!(!finished(run.path()));
        std::fs::create_dir(run.path().join("terms")).expect("a folder");
        for (name, text, over) in [
            ("000001.json", r#"{"finished":false}"#, false),
            ("000002.json", r#"{"finished":true}"#, true),
            ("000010.json", r#"{"finished":false}"#, false),
            ("000011.json", r#"{"finished":true}"#, true),
            ("000012.json", "{", false),
        ] {
            std::fs::write(run.path().join("terms").join(name), text).expect("a file");
            assert_eq!(finished(run.path()), over, "{name}");
        }
    }
}
