//! Training survives being killed: the real process, killed at random moments, ends with the same weights and games as
//! one that was left alone.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use super::{Ended, TINY, Workspace};

/// What a run has produced: every games file and every checkpoint's weights, by name.
fn products(workspace: &Workspace, run: &str) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for (folder, within) in [("games", ""), ("checkpoints", "/model.safetensors")] {
        for entry in fs::read_dir(workspace.at(run).join(folder)).expect("a folder") {
            let name = format!("{folder}/{}{within}", entry.expect("an entry").file_name().display());
            let bytes = workspace.read(&format!("{run}/{name}"));
            found.insert(name, bytes);
        }
    }
    found
}

#[test]
fn a_killed_run_ends_like_one_left_alone() {
    let workspace = Workspace::new();
    let begun = Instant::now();
    workspace.succeeds("train --no-table --config tiny.toml --run whole");
    let duration = begun.elapsed();

    // Moments drawn over the length of the undisturbed run; a fixed sequence, so that a failure can be repeated.
    let broken = "train --no-table --config tiny.toml --run broken";
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    for round in 0..8 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let mut child = workspace.command(broken).spawn().expect("starts");
        std::thread::sleep(duration.mul_f64((state % 1000) as f64 / 1000.0 * 0.6) + Duration::from_millis(20));
        child.kill().expect("killed");
        let message = Ended::from(child.wait_with_output().expect("ends")).error;
        assert!(!message.contains("error:"), "round {round}: {message}");
    }
    workspace.succeeds(broken);

    let (expected, found) = (products(&workspace, "whole"), products(&workspace, "broken"));
    assert_eq!(expected.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>());
    for (name, bytes) in &expected {
        assert!(bytes == &found[name], "{name} differs between the killed run and the one left alone");
    }
}

#[test]
fn another_run_is_neither_copied_into_nor_taken_for_this_one() {
    let workspace = Workspace::new();
    workspace.succeeds("train --no-table --config tiny.toml --run run");
    workspace.succeeds("train --no-table --config tiny.toml --run other --seed 9");
    let games = "selfplay --config tiny.toml --games 1 --out games";
    workspace.succeeds(games);
    let before = products(&workspace, "run");
    for line in ["fetch other --run run --all", "fetch games --run run"] {
        assert!(workspace.refused(line).contains("run directory run holds another run than run directory"), "{line}");
    }
    for line in [games.replace("--out games", "--out run"), "train --config tiny.toml --run games".to_owned()] {
        let message = workspace.refused(&line);
        assert!(message.contains("kind is ") && message.len() < 200, "{line}: {message}");
    }
    assert!(workspace.refused("worker games").contains("a run of kind \"selfplay\""));
    assert_eq!(before, products(&workspace, "run"));
}

#[test]
fn a_run_of_another_config_is_refused_and_kept() {
    let workspace = Workspace::new();
    let train = "train --no-table --config tiny.toml --run run";
    workspace.succeeds(train);
    let before = products(&workspace, "run");
    workspace.write("tiny.toml", TINY.replacen("channels = 16", "channels = 32", 1));
    let message = workspace.refused(train);
    assert!(message.contains("network.channels") && message.contains("16") && message.contains("32"), "{message}");
    assert_eq!(before, products(&workspace, "run"));
}

#[test]
fn a_run_fetched_without_its_states_says_how_to_get_them() {
    let workspace = Workspace::new();
    workspace.succeeds("train --no-table --config tiny.toml --run run");
    workspace.succeeds("fetch run --run copy");
    let longer = "train --no-table --config tiny.toml --run copy --set budget.generations=4";
    assert!(workspace.refused(longer).contains("`hnefi fetch` copies them with --all"));
    workspace.succeeds("fetch run --run copy --all");
    workspace.succeeds(longer);
}

#[test]
fn a_run_that_is_called_as_a_shipped_network_is_meant_by_its_path() {
    let workspace = Workspace::new();
    workspace.succeeds("train --no-table --config tiny.toml --run brandubh");
    let begin = "train --no-table --config tiny.toml --run other --from";
    assert!(workspace.refused(&format!("{begin} brandubh")).contains("channels: 32"), "the shipped network");
    workspace.succeeds(&format!("{begin} ./brandubh"));
}
