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

#[test]
fn impossible_exports_are_refused_before_anything_is_written() {
    let (folder, games) = imported();
    let out = path(folder.path(), "out");
    for (options, words) in [
        (&["--format", "csv"][..], "expected jsonl, npz, parquet or pgn"),
        (&["--format", "npz", "--table", "games"], "npz holds positions"),
        (&["--format", "jsonl", "--policy", "dense"], "a table of games has no policies"),
        (&["--format", "npz", "--split", "train=0.9"], "the shares sum to 0.9"),
        (&["--format", "npz", "--plies", "9-3"], "expected 3-7, 3-, -7 or 3"),
        (&["--format", "npz", "--result", "win"], "expected attackers, defenders, draw or ongoing"),
        (&["--format", "npz", "--rules", "chess"], "unknown ruleset \"chess\""),
        (&["--format", "npz", "--sample", "2"], "expected a share above 0, at most 1"),
        (&["--format", "npz", "--shard-rows", "0"], "0 is not in"),
        (&["--format", "pgn", "--shard-rows", "9"], "pgn without a split is one file"),
    ] {
        let mut args = vec!["export", &games, "--out", &out];
        args.extend(options);
        let message = refused(&args);
        assert!(message.contains(words), "{options:?}: {message}");
        assert!(!Path::new(&out).exists(), "{options:?}");
    }
}
