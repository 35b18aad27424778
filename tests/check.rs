//! `hnefi check` from outside: what is whole passes, damage is named and harms nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ARCHIVE: &str = "game,moves,captures_by_attackers,captures_by_defenders,result
3,d2-c2 d5-e5 d6-c6 e5-e6 timeout,0,0,White
";

/// Runs the program; what it printed, on standard output and then on standard error, and how it ended.
fn hnefi(args: &[&str]) -> (String, String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_hnefi")).args(args).output().expect("the binary starts");
    let [out, error] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (out, error, output.status.code())
}

fn text(path: &Path) -> String {
    path.to_str().expect("UTF-8").to_owned()
}

/// A run of one file of games.
fn run(folder: &Path) -> PathBuf {
    let (archive, run) = (folder.join("games.csv"), folder.join("run"));
    fs::create_dir_all(run.join("games")).expect("a folder");
    fs::write(&archive, ARCHIVE).expect("written");
    fs::write(run.join("run.json"), "{\"format\": 1, \"kind\": \"selfplay\"}\n").expect("written");
    let games = text(&run.join("games/000001.hgames"));
    let (_, error, code) = hnefi(&["import", &text(&archive), "--rules", "brandubh", "--out", &games]);
    assert_eq!(code, Some(0), "{error}");
    run
}

#[test]
fn a_run_is_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = run(folder.path());
    let (out, error, code) = hnefi(&["check", &text(&run)]);
    assert_eq!(code, Some(0), "{error}");
    assert!(out.contains("games             1 objects: whole\n"), "{out}");
    assert!(out.contains("run.json          1 objects: whole\n"), "{out}");

    // A flipped bit in the run.
    let games = run.join("games/000001.hgames");
    let mut bytes = fs::read(&games).expect("readable");
    bytes[30] ^= 4;
    fs::write(&games, &bytes).expect("written");
    let (out, error, code) = hnefi(&["check", &text(&run)]);
    assert_eq!(code, Some(1));
    assert!(out.contains("games             1 objects: 1 damaged\n"), "{out}");
    assert!(out.contains(&format!("damaged: {}: checksum of the game record file is ", games.display())), "{out}");
    assert!(error.starts_with("error: 1 damaged; docs/RUNS.md says"), "{error}");
    assert_eq!(fs::read(&games).expect("readable"), bytes, "nothing is changed");

    let (_, error, code) = hnefi(&["check", &text(folder.path())]);
    assert!(code == Some(1) && error.contains("expected the directory of a run"), "{error}");
}
