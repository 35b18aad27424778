//! `hnefi check`: what is whole passes, damage is named and harms nothing.

use std::fs;

use super::Workspace;

#[test]
fn a_run_is_checked() {
    let workspace = Workspace::with_a_game();
    fs::create_dir_all(workspace.at("run/games")).expect("a folder");
    workspace.write("run/run.json", "{\"format\": 1, \"kind\": \"selfplay\"}\n");
    workspace.write("run/games/000001.hgames", workspace.read("games.hgames"));
    let out = workspace.succeeds("check run").out;
    assert!(out.contains("games             1 objects: whole\n"), "{out}");
    assert!(out.contains("run.json          1 objects: whole\n"), "{out}");

    // A flipped bit in the run.
    let mut bytes = workspace.read("games.hgames");
    bytes[30] ^= 4;
    workspace.write("run/games/000001.hgames", &bytes);
    let ended = workspace.run("check run");
    assert_eq!(ended.code, Some(1));
    assert!(ended.out.contains("games             1 objects: 1 damaged\n"), "{}", ended.out);
    let damage = "damaged: run/games/000001.hgames: checksum of the game record file is ";
    assert!(ended.out.contains(damage), "{}", ended.out);
    assert!(ended.error.starts_with("error: 1 damaged; docs/RUNS.md says"), "{}", ended.error);
    assert_eq!(workspace.read("run/games/000001.hgames"), bytes, "nothing is changed");
    assert!(workspace.refused("check .").contains("expected the directory of a run"));
}
