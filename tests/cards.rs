//! The program on a card whose driver is emulated (`models/cuda/kernels/emulated/`).
//!
//! They need a C++ compiler: `cargo test --test cards -- --ignored`.

#![cfg(feature = "train")]

#[path = "../models/cuda/tests/driver/mod.rs"]
#[allow(dead_code, reason = "the program loads the driver itself")]
mod driver;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The program in a folder, with the emulated driver and settings of it.
fn run(folder: &Path, line: &str, settings: &[(&str, &str)]) -> Output {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| driver::compile(&[]));
    let mut command = Command::new(env!("CARGO_BIN_EXE_hnefi"));
    command.args(shlex::split(line).expect("words")).current_dir(folder);
    command.env("LD_LIBRARY_PATH", library.parent().expect("a folder"));
    command.envs(settings.iter().copied());
    command.output().expect("the program runs")
}

fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

fn succeeds(folder: &Path, line: &str) -> String {
    let output = run(folder, line, &[]);
    assert!(output.status.success(), "{line}: {}: {}", output.status, said(&output));
    said(&output)
}

const TINY: &str = r#"
[run]
device = "cuda:0"
train_device = "cuda:0"
[network]
blocks = 1
channels = 32
pool_every = 1
head_channels = 8
value_hidden = 8
[selfplay]
games_in_flight = 32
rulesets = [{ rules = "brandubh", share = 1.0 }]
ply_caps.seven = 10
[train]
batch = 32
shards = 1
plies_per_generation = 64
reuse = 0.5
[budget]
minutes = 0.0
generations = 1
playouts = [2]
[ladder]
every = 0
"#;

#[test]
#[ignore = "needs a C++ compiler"]
fn a_card_is_found_compared_played_on_and_trained_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let found = succeeds(folder, "doctor");
    assert!(found.contains("cuda:0       available: emulated"), "{found}");
    assert!(found.contains("auto           cpu for evaluations (cpu: "), "an emulated card is slow: {found}");
    let compared = succeeds(folder, "doctor --device cuda:0");
    assert!(compared.contains("cuda:0: emulated evaluates and trains as the CPU does"), "{compared}");

    std::fs::write(folder.join("tiny.toml"), TINY).expect("written");
    let trained = succeeds(folder, "train --config tiny.toml --run run --seed 3 --no-ladder --no-table");
    assert!(trained.contains("trained 1 generations"), "{trained}");
    let metrics = std::fs::read_to_string(folder.join("run/metrics/000001.json")).expect("metrics");
    let metrics: serde_json::Value = serde_json::from_str(&metrics).expect("JSON");
    let busy = metrics["selfplay"]["card_busy"].as_f64().expect("a share");
    assert!((0.5..=1.0).contains(&busy), "an emulated card is always busy: {busy}");
    let chosen = succeeds(folder, "train --config tiny.toml --run auto --device auto --no-ladder --no-table");
    assert!(
        chosen.contains("run.device: auto takes cpu (cpu: ") && chosen.contains("run.train_device: auto takes cpu")
    );
    let played = succeeds(folder, "match model:run,playouts=2 random --device cuda:0 --rules brandubh --games 2");
    assert!(played.contains("both"), "{played}");

    // The same seed on the same card makes the same network.
    succeeds(folder, "train --config tiny.toml --run again --seed 3 --no-ladder --no-table");
    let [first, again] =
        ["run", "again"].map(|run| std::fs::read(folder.join(run).join("checkpoints/000001/model.safetensors")));
    assert!(first.expect("a checkpoint") == again.expect("a checkpoint"), "a run repeats itself");
}

#[test]
#[ignore = "needs a C++ compiler"]
fn a_card_that_cannot_be_used_is_one_clear_error() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("tiny.toml"), TINY).expect("written");
    let train = "train --config tiny.toml --run run --seed 3 --no-ladder --no-table";
    for (line, settings, expected) in [
        ("doctor --device cuda:1", ("", ""), "device cuda:1: this machine has 1 such devices, counted from 0"),
        (
            "doctor --device cuda:0",
            ("HNEFI_EMULATED_CAPABILITY", "75"),
            "device cuda:0: emulated has compute capability 7.5; expected 8.0 or newer",
        ),
        (
            "doctor --device cuda:0",
            ("HNEFI_EMULATED_DRIVER", "12020"),
            "device cuda:0: its driver is for CUDA 12.2; expected 12.4 or newer",
        ),
        (train, ("HNEFI_EMULATED_MEMORY", "2000000"), "out of memory"),
        (train, ("HNEFI_EMULATED_FAIL", "40"), "its driver failed: unspecified launch failure"),
    ] {
        let settings: Vec<(&str, &str)> = [settings].into_iter().filter(|(name, _)| !name.is_empty()).collect();
        let output = run(folder.path(), line, &settings);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{line} {settings:?}: {said}");
        assert!(said.contains(expected) && !said.contains("panicked"), "{line} {settings:?}: {said}");
    }
}
