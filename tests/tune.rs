//! `hnefi tune` from outside: one that is stopped again and again ends like one left alone, and what it refuses.
#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Eight iterations of two pairs, and as many games of the test.
const TUNE: &str = "tune model:brandubh,playouts=8,search.c_visit=20 --set search.c_scale=0.1..4 \
                    --set search.max_num_considered_actions=1..16 --threads 1 -q";

fn hnefi(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hnefi"));
    command.args(line.split_whitespace()).current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs to the end; standard output.
fn ran(folder: &Path, line: &str) -> String {
    let Output { status, stdout, stderr } = hnefi(folder, line).output().expect("the binary starts");
    assert!(status.success() && stderr.is_empty(), "{line}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).expect("UTF-8")
}

#[test]
fn a_tuning_that_is_stopped_again_and_again_ends_like_one_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let read = |name: &str| std::fs::read(folder.path().join(name)).ok();
    let whole = ran(folder.path(), &format!("{TUNE} --games 32"));
    let line = format!("{TUNE} --games 32 --state broken.json");
    let mut stops = 0;
    for signal in [Signal::SIGKILL, Signal::SIGINT].iter().cycle() {
        let (before, until) = (read("broken.json"), Instant::now() + Duration::from_secs(120));
        let mut child = hnefi(folder.path(), &line).spawn().expect("starts");
        let ended = loop {
            match child.try_wait().expect("a child") {
                None if read("broken.json") == before => assert!(Instant::now() < until, "no iteration ends"),
                ended => break ended,
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        if ended.is_some_and(|status| status.success()) {
            break;
        }
        let _ = kill(Pid::from_raw(child.id() as i32), *signal);
        assert!(child.wait().expect("ended").code().is_none_or(|code| [0, 130].contains(&code)));
        stops += 1;
    }
    assert!(stops > 2, "stopped {stops} times");
    assert_eq!(ran(folder.path(), &line), whole);
    assert_eq!(read("broken.json"), read("tune.json"));

    assert!(whole.contains("\n32 games against the original player: ") && whole.contains("\nsprt elo0 0 elo1 20: "));
    let row: Vec<&str> = whole.lines().nth(1).expect("a row").split_whitespace().collect();
    assert!(row[0] == "search.c_scale=0.1..4" && row[1] == "1" && row[2] != "1", "{whole}");
    let tuned = whole.lines().last().expect("a last line");
    let begins = "model:brandubh,playouts=8,search.c_visit=20,search.c_scale=";
    assert!(tuned.starts_with(begins) && tuned.contains(row[2]), "{whole}");
    assert!(ran(folder.path(), &format!("match {tuned} random --games 2 -q")).starts_with(tuned));
}

#[test]
fn what_cannot_be_tuned_is_refused_before_a_game_is_played() {
    let folder = tempfile::tempdir().expect("a folder");
    ran(folder.path(), &format!("{TUNE} --games 4 --state other.json"));
    std::fs::write(folder.path().join("not.json"), "{}").expect("written");
    for (line, code, problem) in [
        ("tune model:brandubh", 2, "--set <search.KEY=LOW..HIGH>"),
        ("tune model:brandubh --set search.c_sclae=1..2", 2, "did you mean search.c_scale?"),
        ("tune model:brandubh --set search.c_scale=2..1", 2, "expected the lower end first"),
        ("tune model:brandubh --set search.c_scale=2..4", 2, "tuning starts from the player's 1"),
        ("tune model:brandubh --set search.c_puct=0..4", 2, "it does not change how this player plays"),
        ("tune alphabeta:2 --set search.c_puct=0..4", 2, "only a network's search has keys"),
        ("tune model:brandubh --set search.c_scale=0..4 --games 3", 2, "even number"),
        ("tune model:brandubh --set search.c_scale=0..4 --opening-plies 150", 2, "--ply-cap"),
        ("tune model:nobody --set search.c_scale=0..4", 1, "no shipped checkpoint of that name"),
        ("tune model:brandubh --set search.c_scale=0..4 --state other.json", 1, "other.json: the state of another"),
        ("tune model:brandubh --set search.c_scale=0..4 --state not.json", 1, "no state of a tuning"),
        ("tune model:brandubh --set search.c_scale=0..4 --state .", 1, "a folder; expected a file"),
        ("tune model:brandubh --set search.c_scale=0..4 --state not.json/a", 1, "not.json"),
    ] {
        let output = hnefi(folder.path(), line).output().expect("the binary starts");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(code) && error.contains(problem), "{line}: {error}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 2, "nothing is made");
}
