//! Import, export, judge and export-net: one game goes all the way, and bad input is refused by name.

use std::fs;

use serde_json::{Value, json};

use super::Workspace;

/// Three games: a whole one, one with an illegal move, and one without a result.
const ARCHIVE: &str = "game,moves,captures_by_attackers,captures_by_defenders,result
3,d2-c2 d5-e5 d6-c6 e5-e6 timeout,0,0,White
4,d2-c2 d2-c2,0,0,White
5,d6-c6 d5-e5,0,0,Ongoing
";

/// How searches are asked for here. What "auto" takes is a matter of speed.
const USUAL: &str = "--playouts 32 --precision f32";

/// A folder with the archive and its games as a record file.
fn imported() -> Workspace {
    let workspace = Workspace::new();
    workspace.write("games.csv", ARCHIVE);
    let import = "import games.csv --rules brandubh --out games.hgames";
    assert!(workspace.refused(&format!("{import} --strict")).contains("1 games have errors"));
    let ended = workspace.succeeds(import);
    assert_eq!(ended.out, "2 games, 6 plies, 1 with a result; 1 left out\n");
    assert!(ended.error.contains("games.csv, line 3: game 4: ply 2: "), "{}", ended.error);
    workspace
}

#[test]
fn a_persons_game_becomes_lines_that_replay_and_tables() {
    let workspace = imported();
    let lines = workspace.succeeds("export games.hgames --format jsonl").out;
    assert_eq!(lines.lines().count(), 2);
    let answers = workspace.succeeds_with("replay", &lines).out;
    assert!(answers.lines().all(|answer| answer.contains("\"error\":null")), "{answers}");
    let ongoing = workspace.succeeds("export games.hgames --format jsonl --result ongoing").out;
    assert_eq!(ongoing.lines().count(), 1);
    let folder = workspace.folder.path().to_str().expect("UTF-8");
    let (options, out) = ("--format parquet --split train=0.5,test=0.5", format!("--out '{folder}/dataset'"));
    let line = format!("export '{folder}/games.hgames' {options} {out}");
    let error = workspace.succeeds(&line).error;
    assert!(error.contains("1 games, 4 plies (train ") && error.contains("1 unfinished games left out"), "{error}");
    let card = String::from_utf8(workspace.read("dataset/README.md")).expect("text");
    assert!(card.contains(&format!("hnefi export games.hgames {options} --out dataset")), "{card}");
    assert!(!card.contains(folder), "a card names no folder of this machine");
    assert!(workspace.refused(&line).contains("it exists and is no empty folder"));
    let message = workspace.refused("import games.csv --rules brandubh --out games.hgames");
    assert!(message.contains("games.hgames: it exists; nothing is overwritten"), "{message}");
}

#[test]
fn a_shipped_network_is_judged_by_a_persons_game() {
    let workspace = imported();
    let report = &workspace.succeeds("judge brandubh games.hgames --playouts 4 --json").json()[0];
    assert_eq!((&report["games"], &report["positions"], &report["unfinished"]), (&2.into(), &6.into(), &1.into()));
    assert_eq!(report["attackers"]["policy"]["top1"]["positions"], 3);
    assert_eq!(report["both"]["search"]["top5"]["positions"], 6);
    assert_eq!(report["both"]["value"]["brier"]["positions"], 4);
    assert_eq!(report["both"]["value"]["deciles"].as_array().map(Vec::len), Some(10));
    let table = workspace.succeeds("judge brandubh games.hgames").out;
    assert!(table.contains("defenders, policy") && table.contains("reliability, both to move"), "{table}");
    assert!(workspace.refused("judge no/such/net games.hgames").contains("no/such/net"));
    let message = workspace.refused("judge brandubh no/such/games");
    assert!(message.contains("neither a run directory nor a record file"), "{message}");
}

#[test]
fn a_reviewed_game_has_the_values_of_analyse_and_is_read_back() {
    let workspace = imported();
    workspace.succeeds(&format!("review games.hgames --out reviewed.pgn {USUAL}"));
    let printed = workspace.succeeds(&format!("review games.hgames --model brandubh --threads 1 {USUAL}")).out;
    let same = workspace.read("reviewed.pgn") == printed.as_bytes();
    assert!(same, "any number of threads, and the network of the rules");
    let question =
        r#"{"id": "3", "rules": "brandubh", "moves": ["d2c2", "d5e5", "d6c6", "e5e6"], "plies": [1, 2, 3, 4]}"#;
    let mut scores = [const { String::new() }; 4];
    for answer in workspace.succeeds_with(&format!("analyse brandubh {USUAL}"), question).json() {
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
    let read = workspace.succeeds("import reviewed.pgn --out again.hgames --strict").out;
    assert_eq!(read, "2 games, 6 plies, 1 with a result; 0 left out\n");
    workspace.write("empty.pgn", "");
    for (line, expected) in [
        ("review games.hgames --out reviewed.pgn", "reviewed.pgn: it exists"),
        ("review none.pgn", "none.pgn"),
        ("review empty.pgn", "no game with moves"),
    ] {
        let message = workspace.refused(line);
        assert!(message.contains(expected), "{line}: {message}");
    }
}

/// A change to the default, or to what is beside the name, is one all the same.
#[test]
fn self_play_is_of_the_rulesets_that_were_asked_for() {
    let workspace = Workspace::new();
    let brandubh = r#"selfplay.rulesets=[{rules="brandubh",share=1.0}]"#;
    workspace.succeeds(&format!("selfplay --model copenhagen --set '{brandubh}' --games 1 --playouts 2 --out changed"));
    assert_eq!(workspace.succeeds("export changed --format jsonl").json()[0]["rules"], "brandubh");
    workspace.write("own.toml", "[selfplay]\nrulesets = [{ rules = \"brandubh\", share = 1.0 }]\n");
    workspace.succeeds("selfplay --model copenhagen --config own.toml --games 1 --playouts 2 --out configured");
    assert_eq!(workspace.succeeds("export configured --format jsonl").json()[0]["rules"], "brandubh");
    // A folder that is named by what lies in it.
    std::fs::create_dir(workspace.at("changed/below")).expect("a folder");
    workspace.succeeds("export changed/below/.. --format npz");
    assert!(workspace.at("changed-npz").is_dir());
    // The name of a folder has no ending.
    fs::rename(workspace.at("changed"), workspace.at("v1.5")).expect("renamed");
    workspace.succeeds("export v1.5 --format npz");
    assert!(workspace.at("v1.5-npz").is_dir());
}

#[test]
fn relabelled_games_have_the_targets_of_the_searches() {
    let workspace = imported();
    assert!(workspace.refused("relabel games.hgames --out better.hgames").contains("--model is missing"));
    let line = format!("relabel games.hgames --model brandubh --games 1 --out better.hgames {USUAL}");
    let said = workspace.succeeds(&line).out;
    assert!(said.starts_with("1 games, 2 positions searched with 32 playouts"), "{said}");
    let game = &workspace.succeeds("export better.hgames --format jsonl").json()[0];
    assert_eq!(game["moves"], json!(["d6c6", "d5e5"]), "as it was played");
    assert!(game["attackers"].as_str().is_some_and(|name| name.contains(", relabelled by ")), "{game}");
    assert_eq!(game["playouts"], json!([32, 32]));
    // What analyse says of the same positions.
    let question = r#"{"id": "5", "rules": "brandubh", "moves": ["d6c6"], "plies": [0, 1]}"#;
    for answer in workspace.succeeds_with(&format!("analyse brandubh {USUAL}"), question).json() {
        let ply = answer["ply"].as_u64().expect("a ply") as usize;
        assert_eq!(game["searched"][ply], answer["wdl"], "ply {ply}");
        let policy: &Vec<Value> = game["policy"][ply].as_array().expect("a list");
        assert!(policy.iter().any(|weight| weight[0] == answer["moves"][0]["move"]), "ply {ply}");
    }
    assert!(workspace.refused(&line).contains("better.hgames: it exists"));
}

#[test]
fn a_network_leaves_as_onnx_and_is_never_overwritten() {
    let (workspace, line) = (Workspace::new(), "export-net brandubh --onnx net.onnx --reference net.npz");
    let files = || ["net.onnx", "net.npz"].map(|name| workspace.read(name));
    workspace.succeeds(line);
    let whole = files();
    assert!(whole[0].len() > 100_000);
    // An interruption between the two.
    for missing in ["net.npz", "net.onnx"] {
        fs::remove_file(workspace.at(missing)).expect("it was there");
        workspace.succeeds(line);
        assert_eq!(files(), whole);
    }
    workspace.write("net.npz", "another");
    fs::remove_file(workspace.at("net.onnx")).expect("it was there");
    assert!(workspace.refused(line).contains("net.npz: it exists"));
    assert_eq!(workspace.read("net.npz"), b"another");
    assert!(workspace.refused("export-net brandubh").contains("--onnx"));
}
