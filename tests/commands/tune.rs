//! `hnefi tune`: one that is stopped again and again ends like one left alone, and what it refuses.

use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Ended, TIMEOUT, Workspace, wait_until};

/// Eight iterations of two pairs, and as many games of the test.
const TUNE: &str = "tune model:brandubh,playouts=8,search.c_visit=20 --set search.c_scale=0.1..4 \
                    --set search.max_num_considered_actions=1..16 --threads 1 -q";

/// Runs to the end; standard output.
fn ran(workspace: &Workspace, line: &str) -> String {
    let ended = workspace.succeeds(line);
    assert_eq!(ended.error, "", "{line}");
    ended.out
}

#[test]
fn a_tuning_that_is_stopped_again_and_again_ends_like_one_left_alone() {
    let workspace = Workspace::new();
    let read = |name: &str| std::fs::read(workspace.at(name)).ok();
    let whole = ran(&workspace, &format!("{TUNE} --games 32"));
    let line = format!("{TUNE} --games 32 --state broken.json");
    let mut stops = 0;
    for signal in [Signal::SIGKILL, Signal::SIGINT].iter().cycle() {
        let (before, until) = (read("broken.json"), Instant::now() + TIMEOUT);
        let mut child = workspace.command(&line).spawn().expect("starts");
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
    assert_eq!(ran(&workspace, &line), whole);
    assert_eq!(read("broken.json"), read("tune.json"));

    assert!(whole.contains("\n32 games against the original player: ") && whole.contains("\nsprt elo0 0 elo1 20: "));
    let row: Vec<&str> = whole.lines().nth(1).expect("a row").split_whitespace().collect();
    assert!(row[0] == "search.c_scale=0.1..4" && row[1] == "1" && row[2] != "1", "{whole}");
    let tuned = whole.lines().last().expect("a last line");
    let begins = "model:brandubh,playouts=8,search.c_visit=20,search.c_scale=";
    assert!(tuned.starts_with(begins) && tuned.contains(row[2]), "{whole}");
    assert!(ran(&workspace, &format!("match {tuned} random --games 2 -q")).starts_with(tuned));
}

#[test]
fn a_tuning_that_another_process_went_on_with_is_left_to_it() {
    let workspace = Workspace::new();
    let line = format!("{TUNE} --games 32 --state shared.json");
    let slow = workspace.command(&line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    wait_until("no iteration ends", || workspace.at("shared.json").exists());
    kill(Pid::from_raw(slow.id() as i32), Signal::SIGSTOP).expect("stopped");
    let other = workspace.run(&line);
    let done = std::fs::read(workspace.at("shared.json")).expect("a state");
    kill(Pid::from_raw(slow.id() as i32), Signal::SIGCONT).expect("goes on");
    let ended: Ended = slow.wait_with_output().expect("ended").into();
    assert_eq!(std::fs::read(workspace.at("shared.json")).expect("a state"), done);
    // Whoever of them wrote last has ended well.
    let refused = [&other, &ended].map(|one| one.error.contains("another process has gone on with it"));
    assert_eq!(refused.iter().filter(|&&refused| refused).count(), 1, "{}{}", other.error, ended.error);
}

#[test]
fn what_cannot_be_tuned_is_refused_before_a_game_is_played() {
    let workspace = Workspace::new();
    ran(&workspace, &format!("{TUNE} --games 4 --state other.json"));
    workspace.write("not.json", "{}");
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
        let ended = workspace.run(line);
        assert_eq!(ended.code, Some(code), "{line}: {}", ended.error);
        assert!(ended.refusal(line).contains(problem), "{line}: {problem}");
    }
    assert_eq!(workspace.names(), ["not.json", "other.json", "tiny.toml"], "nothing is made");
}
