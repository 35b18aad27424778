//! The checker of games: known positions, bad input of every kind, and everything the exporter writes.

use super::games;
use hnefi_data::{replay, write_jsonl};
use serde_json::{Value, json};

/// The answers to a text, one per line.
fn answers(input: &[u8]) -> Vec<Value> {
    let mut output = Vec::new();
    replay(input, &mut output).expect("the streams are in memory");
    let text = String::from_utf8(output).expect("answers are text");
    text.lines().map(|line| serde_json::from_str(line).expect("an answer is JSON")).collect()
}

fn answer(request: Value) -> Value {
    let mut found = answers(request.to_string().as_bytes());
    assert_eq!(found.len(), 1);
    found.remove(0)
}

#[test]
fn answers_have_the_promised_shape() {
    let found = answer(json!({"rules": "brandubh", "fen": null, "moves": ["d2c2", "d5-e5", "d6-c6xd5"]}));
    // The legal moves were counted by hand.
    let ply =
        |mv: &str, legal: usize| json!({"move": mv, "legal": legal, "captures": [], "status": "ongoing", "reason": ""});
    assert_eq!(found, json!({"plies": [ply("d2c2", 40), ply("d5e5", 23), ply("d6c6", 44)], "error": null}));
}

/// The rules' own cases, whose expectations were checked against other engines.
#[test]
fn the_cases_of_the_rules_replay() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../engine/tests/data/cases.json");
    let cases: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).expect("the cases")).expect("JSON");
    assert!(cases.len() > 100);
    for case in cases {
        let name = case["name"].as_str().expect("a name");
        let rows = case["board"].as_array().expect("a board").iter().map(|row| fen_row(row.as_str().expect("a row")));
        let side = &case["to_move"].as_str().expect("a side")[..1];
        let fen = format!("{} {side}", rows.collect::<Vec<_>>().join("/"));
        let mut moves: Vec<Value> = case["history"].as_array().cloned().unwrap_or_default();
        let history = moves.len();
        moves.push(case["move"].clone());
        let found = answer(json!({"rules": case["ruleset"], "fen": fen, "moves": moves}));
        let expect = &case["expect"];
        if expect["legal"] == json!(false) {
            let error = found["error"].as_str().unwrap_or_else(|| panic!("{name}: {found}"));
            assert!(error.starts_with(&format!("ply {}: ", history + 1)), "{name}: {error}");
            assert_eq!(found["plies"].as_array().map(Vec::len), Some(history), "{name}");
        } else {
            assert_eq!(found["error"], json!(null), "{name}");
            let ply = &found["plies"][history];
            assert_eq!(sorted(&ply["captures"]), sorted(&expect["captures"]), "{name}");
            assert_eq!((&ply["status"], &ply["reason"]), (&expect["status"], &expect["reason"]), "{name}");
        }
    }
}

fn fen_row(row: &str) -> String {
    let (mut text, mut empty) = (String::new(), 0);
    for square in row.chars().chain(['|']) {
        if square == '.' {
            empty += 1;
            continue;
        }
        if empty > 0 {
            text.push_str(&empty.to_string());
            empty = 0;
        }
        if square != '|' {
            text.push(square.to_ascii_lowercase());
        }
    }
    text
}

fn sorted(squares: &Value) -> Vec<String> {
    let mut names: Vec<_> =
        squares.as_array().expect("squares").iter().map(|name| name.as_str().expect("a name").to_owned()).collect();
    names.sort();
    names
}

#[test]
fn the_first_illegal_move_is_named_and_the_plies_before_it_stay() {
    let found = answer(json!({"rules": "brandubh", "moves": ["d2c2", "d5e5", "a4a4", "d6c6"]}));
    assert_eq!(found["plies"].as_array().map(Vec::len), Some(2));
    let error = found["error"].as_str().expect("an error");
    assert!(error.starts_with("ply 3: ") && error.contains("a4a4"), "{error}");
}

#[test]
fn bad_lines_are_answered_and_the_next_line_is_read() {
    let good = r#"{"rules": "brandubh", "moves": []}"#;
    for (bad, words) in [
        ("{", &["no request", "expected {"][..]),
        ("[]", &["no request"]),
        (r#"{"rules": "brandubh"}"#, &["missing field `moves`"]),
        (r#"{"rules": 7, "moves": []}"#, &["no request"]),
        (r#"{"rules": "chess", "moves": []}"#, &["unknown ruleset \"chess\"", "brandubh", "tablut-linnaeus"]),
        (r#"{"rules": "brandubh", "fen": "7/7/7/7/7/7/7 a", "moves": []}"#, &["FEN", "king"]),
        (r#"{"rules": "brandubh", "fen": "", "moves": []}"#, &["FEN"]),
        (r#"{"rules": "brandubh", "moves": ["z9"]}"#, &["ply 1", "z9"]),
        (r#"{"rules": "brandubh", "moves": ["d2c2\u0000"]}"#, &["ply 1"]),
        (r#"{"rules": "brandubh", "moves": ["é1a2"]}"#, &["ply 1"]),
        ("\u{feff}nonsense", &["no request"]),
    ] {
        let found = answers(format!("{bad}\n\n{good}\n").as_bytes());
        assert_eq!(found.len(), 2, "{bad}");
        let error = found[0]["error"].as_str().unwrap_or_else(|| panic!("{bad} was accepted"));
        for word in words {
            assert!(error.contains(word), "{bad}: {error:?} does not say {word:?}");
        }
        assert_eq!(found[0]["plies"], json!([]), "{bad}");
        assert_eq!(found[1]["error"], json!(null));
    }
    let good = format!("\u{feff}{good}\n{good}");
    assert!(answers(good.as_bytes()).iter().all(|answer| answer["error"] == json!(null)), "a byte order mark");
    let found = answers(b"\xff\xfe\n{\"rules\": \"fetlar\", \"moves\": []}");
    assert!(found[0]["error"].as_str().expect("an error").contains("UTF-8"));
    assert_eq!(found[1]["error"], json!(null), "the last line needs no line break");
}

#[test]
fn moves_after_the_end_are_illegal() {
    let found = answer(json!({"rules": "brandubh", "fen": "7/7/5a1/7/7/7/1k5 d", "moves": ["b1a1", "f5f4"]}));
    let end = json!({"move": "b1a1", "legal": 12, "captures": [], "status": "defenders", "reason": "king_escaped"});
    assert_eq!(found["plies"], json!([end]));
    assert!(found["error"].as_str().is_some_and(|error| error.starts_with("ply 2: ")), "{found}");
}

#[test]
fn every_exported_game_is_accepted_with_the_same_captures_and_end() {
    let games = games::mixed_games();
    let mut lines = Vec::new();
    write_jsonl(games.clone(), &mut lines).expect("the games are sound");
    let exported: Vec<Value> =
        lines.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let found = answers(&lines);
    assert_eq!((found.len(), exported.len()), (games.len(), games.len()));
    for ((game, line), answer) in games.iter().zip(&exported).zip(&found) {
        assert_eq!(answer["error"], json!(null), "game {}", game.game);
        let plies = answer["plies"].as_array().expect("plies");
        assert_eq!(plies.len(), game.plies.len());
        for (ply, captures) in plies.iter().zip(line["captures"].as_array().expect("captures")) {
            assert_eq!(&ply["captures"], captures);
        }
        if let (None, Some(last)) = (game.resigned, plies.last()) {
            assert_eq!((&last["status"], &last["reason"]), (&line["status"], &line["reason"]));
        }
    }
}
