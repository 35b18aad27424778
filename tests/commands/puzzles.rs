//! `hnefi puzzles`: players before the shipped puzzles, puzzles found in games, and bad input.

use serde_json::{Value, json};

use super::Workspace;

#[test]
fn players_are_set_the_shipped_puzzles() {
    let workspace = Workspace::new();
    let line = "puzzles solve --rules brandubh --json --every 4 random alphabeta:3";
    let reports = workspace.succeeds(&format!("{line} model:brandubh,playouts=64")).json();
    let count = |report: &Value, key: &str| report[key].as_f64().expect("a count");
    let shares: Vec<f64> = reports.iter().map(|report| count(report, "solved") / count(report, "puzzles")).collect();
    // Three plies of alpha-beta see every win in three plies; chance finds one move of twenty.
    assert!(shares[0] < 0.3 && shares[1] > 0.5 && shares[2] > 0.5, "{shares:?}");
    assert_eq!(reports[0]["rulesets"].as_object().expect("an object").keys().collect::<Vec<_>>(), ["brandubh"]);
    let without_time = |mut report: Value| {
        report.as_object_mut().expect("an object").remove("seconds");
        report
    };
    let again = workspace.succeeds(&format!("{line} --threads 1")).json().into_iter().map(without_time);
    let two = reports.into_iter().take(2).map(without_time);
    assert!(again.eq(two), "another number of threads gives another result");
    let table = workspace.succeeds("puzzles solve alphabeta:2 --rules brandubh --every 9").out;
    assert!(table.contains("alphabeta:2") && table.lines().last().expect("a line").starts_with("all "), "{table}");
}

#[test]
fn puzzles_are_found_in_games_and_proven_again() {
    let workspace = Workspace::new();
    workspace.succeeds("match alphabeta:2 alphabeta:1 --games 20 --save games.hgames -q");
    let table = workspace.succeeds("puzzles find games.hgames --out found.jsonl --longest 3").out;
    assert!(table.contains("puzzles of 20 games"), "{table}");
    assert!(workspace.succeeds("puzzles check found.jsonl").out.contains("puzzles are right"));
    // A wrong answer is found out.
    let text = String::from_utf8(workspace.read("found.jsonl")).expect("text");
    let mut first: Value = serde_json::from_str(text.lines().next().expect("a puzzle")).expect("JSON");
    first["answers"] = json!([]);
    workspace.write("wrong.jsonl", first.to_string());
    assert!(workspace.refused("puzzles check wrong.jsonl").contains("the right moves are"));
}

#[test]
fn bad_input_is_named() {
    let workspace = Workspace::new();
    workspace.write("junk.jsonl", "\n{\"id\": 3}\n");
    workspace.write("empty.jsonl", "");
    for (line, expected) in [
        ("puzzles check junk.jsonl", "junk.jsonl: line 2: "),
        ("puzzles check none.jsonl", "reading none.jsonl: "),
        ("puzzles check empty.jsonl", "there is no puzzle in it"),
        ("puzzles solve alphabta:2", "did you mean alphabeta:2?"),
        ("puzzles solve", "<PLAYER>"),
        ("puzzles find junk.jsonl --out junk.jsonl", "junk.jsonl"),
    ] {
        let message = workspace.refused(line);
        assert!(message.contains(expected), "{line}: {message}");
    }
}

#[test]
fn games_of_other_rules_are_told() {
    let workspace = Workspace::new();
    workspace.write("games.jsonl", "{\"rules\": \"parlett-13x13\", \"fen\": null, \"moves\": []}\n");
    workspace.succeeds("import games.jsonl --out games.hgames");
    let error = workspace.succeeds("puzzles find games.hgames --out found.jsonl").error;
    assert!(error.contains("1 games are left out: puzzles are of the nine presets alone"), "{error}");
}
