//! What a training run has measured, read from its directory while it may still be written to.
//!
//! The files are handed on as they are, but for those that do not name their own generation: who draws them knows the names of the numbers and leaves out what is not there, so runs of
//! other versions can be watched too.

use std::path::Path;

use serde_json::Value;

/// Generations that are given out at once.
const AT_ONCE: usize = 2_000;

/// The largest file of metrics that is read, in bytes; a real one has some thousand.
const LARGEST: u64 = 1 << 20;

/// The metrics of the generations after `after`, rising. A damaged file is passed over, one that names another generation
/// than its own among them: whoever asks for what follows would be given it again and again.
pub fn metrics(run: &Path, after: u32) -> Vec<Value> {
    let mut numbers: Vec<u32> = numbers(run).into_iter().filter(|&number| number > after).collect();
    numbers.truncate(AT_ONCE);
    let read = |number: u32| {
        let path = run.join(hnefi_selfplay::store::metrics_key(number));
        let small = std::fs::metadata(&path).ok()?.len() <= LARGEST;
        let text = small.then(|| std::fs::read(&path).ok()).flatten()?;
        let value: Value = serde_json::from_slice(&text).ok()?;
        (value["generation"].as_u64() == Some(number.into())).then_some(value)
    };
    numbers.into_iter().filter_map(read).collect()
}

/// The number of the newest generation with metrics, 0 before the first.
pub fn newest(run: &Path) -> u32 {
    numbers(run).last().copied().unwrap_or(0)
}

/// The generations with metrics, rising.
fn numbers(run: &Path) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir(run.join("metrics")) else { return Vec::new() };
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
            ("000004.json", r#"{"generation":1}"#),
            ("000005.json", r#"[]"#),
            ("notes", ""),
        ] {
            std::fs::write(run.path().join("metrics").join(name), text).expect("a file");
        }
        let found = |after| -> Vec<u64> {
            metrics(run.path(), after).iter().filter_map(|value| value["generation"].as_u64()).collect()
        };
        assert_eq!((found(0), found(1), newest(run.path())), (vec![1, 2], vec![2], 5));
    }
}
