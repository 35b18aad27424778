//! `hnefi puzzles` from outside: players before the shipped puzzles, puzzles found in games, and bad input.

use std::path::Path;
use std::process::Command;

/// Runs the program in a folder; what it printed, on standard output and then on standard error, and whether it
/// succeeded.
fn hnefi(folder: &Path, arguments: &[&str]) -> (String, String, bool) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hnefi"));
    let output = command.current_dir(folder).args(arguments).output().expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (text(output.stdout), text(output.stderr), output.status.success())
}

#[test]
fn players_are_set_the_shipped_puzzles() {
    let folder = tempfile::tempdir().expect("a folder");
    let players = ["random", "alphabeta:3", "model:brandubh,playouts=64"];
    let arguments = ["puzzles", "solve", "--rules", "brandubh", "--json", "--every", "4"];
    let (output, error, ok) = hnefi(folder.path(), &[&arguments[..], &players[..]].concat());
    assert!(ok, "{error}");
    let reports: Vec<serde_json::Value> =
        output.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    let shares: Vec<f64> = reports
        .iter()
        .map(|report| report["solved"].as_f64().expect("a count") / report["puzzles"].as_f64().expect("a count"))
        .collect();
    // Three plies of alpha-beta see every win in three plies; chance finds one move of twenty.
    assert!(shares[0] < 0.3 && shares[1] > 0.5 && shares[2] > 0.5, "{shares:?}");
    assert_eq!(reports[0]["rulesets"].as_object().expect("an object").keys().collect::<Vec<_>>(), ["brandubh"]);
    let (again, ..) = hnefi(folder.path(), &[&arguments[..], &players[..2], &["--threads", "1"]].concat());
    let without_time = |line: &str| {
        let mut report: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        report.as_object_mut().expect("an object").remove("seconds");
        report
    };
    let two = |text: &str| text.lines().take(2).map(without_time).collect::<Vec<_>>();
    assert_eq!(two(&again), two(&output), "another number of threads gives another result");
    let (table, ..) = hnefi(folder.path(), &["puzzles", "solve", "alphabeta:2", "--rules", "brandubh", "--every", "9"]);
    assert!(table.contains("alphabeta:2") && table.lines().last().expect("a line").starts_with("all "), "{table}");
}

#[test]
fn puzzles_are_found_in_games_and_proven_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let played = ["match", "alphabeta:2", "alphabeta:1", "--games", "20", "--save", "games.hgames", "-q"];
    let (_, error, ok) = hnefi(folder.path(), &played);
    assert!(ok, "{error}");
    let (table, error, ok) =
        hnefi(folder.path(), &["puzzles", "find", "games.hgames", "--out", "found.jsonl", "--longest", "3"]);
    assert!(ok && table.contains("puzzles of 20 games"), "{error}{table}");
    let (said, error, ok) = hnefi(folder.path(), &["puzzles", "check", "found.jsonl"]);
    assert!(ok && said.contains("puzzles are right"), "{error}");
    // A wrong answer is found out.
    let text = std::fs::read_to_string(folder.path().join("found.jsonl")).expect("the file");
    let mut first: serde_json::Value = serde_json::from_str(text.lines().next().expect("a puzzle")).expect("JSON");
    first["answers"] = serde_json::json!([]);
    std::fs::write(folder.path().join("wrong.jsonl"), first.to_string()).expect("written");
    let (_, error, ok) = hnefi(folder.path(), &["puzzles", "check", "wrong.jsonl"]);
    assert!(!ok && error.contains("the right moves are"), "{error}");
}

#[test]
fn bad_input_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("junk.jsonl"), "\n{\"id\": 3}\n").expect("written");
    for (arguments, message) in [
        (&["puzzles", "check", "junk.jsonl"][..], "junk.jsonl: line 2: "),
        (&["puzzles", "check", "none.jsonl"], "reading none.jsonl: "),
        (&["puzzles", "solve", "alphabta:2"], "did you mean alphabeta:2?"),
        (&["puzzles", "solve"], "<PLAYER>"),
        (&["puzzles", "find", "junk.jsonl", "--out", "junk.jsonl"], "junk.jsonl"),
    ] {
        let (output, error, ok) = hnefi(folder.path(), arguments);
        assert!(!ok && output.is_empty() && error.contains(message), "{arguments:?}: {error}");
    }
}
