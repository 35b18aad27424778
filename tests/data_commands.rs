//! Import, export, judge and export-net from outside: one game goes all the way, and bad input is refused by name.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const ARCHIVE: &str = "game,moves,captures_by_attackers,captures_by_defenders,result
3,d2-c2 d5-e5 d6-c6 e5-e6 timeout,0,0,White
4,d2-c2 d2-c2,0,0,White
5,d6-c6 d5-e5,0,0,Ongoing
";

fn hnefi(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hnefi"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("written");
    child.wait_with_output().expect("ends")
}

/// Runs and expects success; returns standard output and standard error.
fn ran(args: &[&str], input: &str) -> (String, String) {
    let output = hnefi(args, input);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

/// Runs and expects failure; returns what was printed on standard error.
fn refused(args: &[&str]) -> String {
    let output = hnefi(args, "");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && !message.contains("panicked"), "{args:?}: {message}");
    message
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().expect("UTF-8").to_owned()
}

/// A folder with the archive and its games as a record file.
fn imported() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let (archive, games) = (path(folder.path(), "games.csv"), path(folder.path(), "games.hgames"));
    fs::write(&archive, ARCHIVE).expect("written");
    let strict = refused(&["import", &archive, "--rules", "brandubh", "--out", &games, "--strict"]);
    assert!(strict.contains("1 games have errors") && !Path::new(&games).exists(), "{strict}");
    let (out, err) = ran(&["import", &archive, "--rules", "brandubh", "--out", &games], "");
    assert_eq!(out, "2 games, 6 plies, 1 with a result; 1 left out\n");
    assert!(err.contains("games.csv, line 3: game 4: ply 2: "), "{err}");
    (folder, games)
}

#[test]
fn a_persons_game_becomes_lines_that_replay_and_tables() {
    let (folder, games) = imported();
    let (lines, _) = ran(&["export", &games, "--format", "jsonl"], "");
    assert_eq!(lines.lines().count(), 2);
    let (answers, _) = ran(&["replay"], &lines);
    assert!(answers.lines().all(|answer| answer.contains("\"error\":null")), "{answers}");
    let (lines, _) = ran(&["export", &games, "--format", "jsonl", "--result", "ongoing"], "");
    assert_eq!(lines.lines().count(), 1);
    let out = path(folder.path(), "dataset");
    let args = ["export", &games, "--format", "parquet", "--split", "train=0.5,test=0.5", "--out", &out];
    let (_, err) = ran(&args, "");
    assert!(err.contains("1 games, 4 plies (train ") && err.contains("1 unfinished games left out"), "{err}");
    let card = fs::read_to_string(folder.path().join("dataset/README.md")).expect("a card");
    assert!(
        card.contains("hnefi export games.hgames --format parquet --split train=0.5,test=0.5 --out dataset"),
        "{card}"
    );
    assert!(!card.contains(folder.path().to_str().expect("UTF-8")), "a card names no folder of this machine");
    assert!(refused(&args).contains("it exists and is no empty folder"));
    let message = refused(&["import", &path(folder.path(), "games.csv"), "--rules", "brandubh", "--out", &games]);
    assert!(message.contains("games.hgames: it exists; nothing is overwritten"), "{message}");
}

#[test]
fn a_shipped_network_is_judged_by_a_persons_game() {
    let (_folder, games) = imported();
    let (line, _) = ran(&["judge", "brandubh", &games, "--playouts", "4", "--json"], "");
    let report: serde_json::Value = serde_json::from_str(&line).expect("a line of JSON");
    assert_eq!((&report["games"], &report["positions"], &report["unfinished"]), (&2.into(), &6.into(), &1.into()));
    assert_eq!(report["attackers"]["policy"]["top1"]["positions"], 3);
    assert_eq!(report["both"]["search"]["top5"]["positions"], 6);
    assert_eq!(report["both"]["value"]["brier"]["positions"], 4);
    assert_eq!(report["both"]["value"]["deciles"].as_array().map(Vec::len), Some(10));
    let (table, _) = ran(&["judge", "brandubh", &games], "");
    assert!(table.contains("defenders, policy") && table.contains("reliability, both to move"), "{table}");
    assert!(refused(&["judge", "no/such/net", &games]).contains("no/such/net"));
    assert!(refused(&["judge", "brandubh", "no/such/games"]).contains("neither a run directory nor a record file"));
}

#[test]
fn a_reviewed_game_has_the_values_of_analyse_and_is_read_back() {
    let (folder, games) = imported();
    let out = path(folder.path(), "reviewed.pgn");
    // What "auto" takes is a matter of speed.
    let usual = ["--playouts", "32", "--precision", "f32"];
    ran(&[&["review", &games, "--out", &out][..], &usual].concat(), "");
    let (printed, _) = ran(&[&["review", &games, "--model", "brandubh", "--threads", "1"][..], &usual].concat(), "");
    assert_eq!(
        fs::read_to_string(&out).expect("a file"),
        printed,
        "any number of threads, and the network of the rules"
    );
    let question =
        r#"{"id": "3", "rules": "brandubh", "moves": ["d2c2", "d5e5", "d6c6", "e5e6"], "plies": [1, 2, 3, 4]}"#;
    let (answers, _) = ran(&[&["analyse", "brandubh"][..], &usual].concat(), question);
    let mut scores = [String::new(), String::new(), String::new(), String::new()];
    for answer in answers.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON")) {
        let part = |index: usize| answer["wdl"][index].as_f64().expect("a number");
        let attacks = answer["fen"].as_str().expect("a text").ends_with(" a");
        let score = if attacks { part(0) + part(1) / 2.0 } else { part(2) + part(1) / 2.0 };
        scores[answer["ply"].as_u64().expect("a ply") as usize - 1] = format!("{{{:.0} %}}", 100.0 * score);
    }
    let mut rest = printed.as_str();
    for (mv, score) in ["d2-c2", "d5-e5", "d6-c6", "e5-e6"].iter().zip(&scores) {
        rest = rest.split_once(mv).unwrap_or_else(|| panic!("{mv}: {printed}")).1;
        let said = rest.find('{').map(|at| &rest[at..at + score.len()]);
        assert_eq!(said, Some(score.as_str()), "{mv}: {printed}");
    }
    let again = path(folder.path(), "again.hgames");
    let (read, _) = ran(&["import", &out, "--out", &again, "--strict"], "");
    assert_eq!(read, "2 games, 6 plies, 1 with a result; 0 left out\n");
    assert!(refused(&["review", &games, "--out", &out]).contains("reviewed.pgn: it exists"));
    assert!(refused(&["review", &path(folder.path(), "none.pgn")]).contains("none.pgn"));
    let tafl = path(folder.path(), "empty.pgn");
    fs::write(&tafl, "").expect("written");
    assert!(refused(&["review", &tafl]).contains("no game with moves"));
}

#[test]
fn relabelled_games_have_the_targets_of_the_searches() {
    let (folder, games) = imported();
    let out = path(folder.path(), "better.hgames");
    assert!(refused(&["relabel", &games, "--out", &out]).contains("--model is missing"));
    let usual = ["--playouts", "32", "--precision", "f32"];
    let args = [&["relabel", &games, "--model", "brandubh", "--games", "1", "--out", &out][..], &usual].concat();
    let (said, _) = ran(&args, "");
    assert!(said.starts_with("1 games, 2 positions searched with 32 playouts"), "{said}");
    let (line, _) = ran(&["export", &out, "--format", "jsonl"], "");
    let game: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(game["moves"], serde_json::json!(["d6c6", "d5e5"]), "as it was played");
    assert!(game["attackers"].as_str().is_some_and(|name| name.contains(", relabelled by ")), "{line}");
    assert_eq!(game["playouts"], serde_json::json!([32, 32]));
    // What analyse says of the same positions.
    let question = r#"{"id": "5", "rules": "brandubh", "moves": ["d6c6"], "plies": [0, 1]}"#;
    for answer in ran(&[&["analyse", "brandubh"][..], &usual].concat(), question).0.lines() {
        let answer: serde_json::Value = serde_json::from_str(answer).expect("JSON");
        let ply = answer["ply"].as_u64().expect("a ply") as usize;
        assert_eq!(game["searched"][ply], answer["wdl"], "ply {ply}");
        let policy = game["policy"][ply].as_array().expect("a list");
        assert!(policy.iter().any(|weight| weight[0] == answer["moves"][0]["move"]), "ply {ply}");
    }
    assert!(refused(&args).contains("better.hgames: it exists"));
}

#[test]
fn a_network_leaves_as_onnx_and_is_never_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let (onnx, reference) = (path(folder.path(), "net.onnx"), path(folder.path(), "net.npz"));
    let args = ["export-net", "brandubh", "--onnx", &onnx, "--reference", &reference];
    ran(&args, "");
    assert!(fs::metadata(&onnx).expect("a file").len() > 100_000);
    // An interruption between the two.
    let whole = [&onnx, &reference].map(|file| fs::read(file).expect("a file"));
    for missing in [&reference, &onnx] {
        fs::remove_file(missing).expect("it was there");
        ran(&args, "");
        assert_eq!([&onnx, &reference].map(|file| fs::read(file).expect("a file")), whole);
    }
    fs::write(&reference, "another").expect("written");
    fs::remove_file(&onnx).expect("it was there");
    assert!(refused(&args).contains("net.npz: it exists"));
    assert!(!Path::new(&onnx).exists() && fs::read(&reference).expect("there") == b"another");
    assert!(refused(&["export-net", "brandubh"]).contains("--onnx"));
}
