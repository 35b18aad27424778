//! Training survives being killed: the real process, killed at random moments, ends with the same weights and games as
//! one that was left alone.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A run small enough for a test: three generations, a tiny network, no time budget.
const CONFIG: &str = include_str!("data/tiny.toml");

fn train(config: &Path, run: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_hnefi"))
        .args(["train", "--no-table", "--config"])
        .arg(config)
        .arg("--run")
        .arg(run)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts")
}

fn finish(child: Child) {
    let output = child.wait_with_output().expect("the process ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What a run has produced: every games file and every checkpoint's weights, by name.
fn products(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(run.join("games")).expect("games") {
        let path = entry.expect("an entry").path();
        found.insert(
            format!("games/{}", path.file_name().expect("a name").to_string_lossy()),
            std::fs::read(&path).expect("readable"),
        );
    }
    for entry in std::fs::read_dir(run.join("checkpoints")).expect("checkpoints") {
        let path = entry.expect("an entry").path();
        let name = format!("checkpoints/{}", path.file_name().expect("a name").to_string_lossy());
        found.insert(name, std::fs::read(path.join("model.safetensors")).expect("readable"));
    }
    found
}

#[test]
fn a_killed_run_ends_like_one_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("tiny.toml");
    std::fs::write(&config, CONFIG).expect("written");

    let whole = folder.path().join("whole");
    let begun = std::time::Instant::now();
    finish(train(&config, &whole));
    let duration = begun.elapsed();

    // Moments drawn over the length of the undisturbed run; a fixed sequence, so that a failure can be repeated.
    let broken = folder.path().join("broken");
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    for round in 0..8 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let mut child = train(&config, &broken);
        std::thread::sleep(duration.mul_f64((state % 1000) as f64 / 1000.0 * 0.6) + Duration::from_millis(20));
        child.kill().expect("killed");
        let output = child.wait_with_output().expect("ends");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!message.contains("error:"), "round {round}: {message}");
    }
    finish(train(&config, &broken));

    let (expected, found) = (products(&whole), products(&broken));
    assert_eq!(expected.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>());
    for (name, bytes) in &expected {
        assert!(bytes == &found[name], "{name} differs between the killed run and the one left alone");
    }
}

#[test]
fn a_run_of_another_config_is_refused_and_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("tiny.toml");
    std::fs::write(&config, CONFIG).expect("written");
    let run = folder.path().join("run");
    finish(train(&config, &run));
    let before = products(&run);

    std::fs::write(&config, CONFIG.replacen("channels = 16", "channels = 32", 1)).expect("written");
    let output = train(&config, &run).wait_with_output().expect("ends");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(message.contains("network.channels") && message.contains("16") && message.contains("32"), "{message}");
    assert_eq!(before, products(&run));
}
