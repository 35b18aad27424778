//! Questions as lines of JSON: the answer to one is what a search by itself finds, with any others beside it.

use std::collections::BTreeMap;
use std::io::{BufReader, Cursor, Write};
use std::sync::mpsc;
use std::time::Duration;

use super::Broken;
use hnefi_data::{AnalyseParams, AnalyseSummary, analyse};
use hnefi_engine::{Game, Move, Preset};
use hnefi_inference::{Evaluations, HashEvaluator};
use hnefi_search::{Search, SearchConfig, run_to_end};
use serde_json::{Value, json};

fn asked(threads: usize, lines: &str) -> (Vec<Value>, AnalyseSummary) {
    let params = AnalyseParams { playouts: 40, search: SearchConfig::default(), threads };
    let mut out = Vec::new();
    let lines = Cursor::new(lines.to_owned());
    let summary = analyse(lines, &mut out, &|| Box::new(HashEvaluator::new(7)), &params).unwrap();
    let text = String::from_utf8(out).unwrap();
    (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), summary)
}

fn reals(values: &Value) -> Vec<f32> {
    values.as_array().unwrap().iter().map(|value| value.as_f64().unwrap() as f32).collect()
}

const MOVES: [&str; 4] = ["d6f6", "d5g5", "f6f5", "d3g3"];

#[test]
fn answers_are_those_of_a_search_by_itself() {
    let question = json!({"id": "game", "rules": "brandubh", "moves": MOVES, "plies": [0, 1, 2, 3, 4], "top": 3});
    let others: String = (0..40)
        .map(|id| json!({"id": id.to_string(), "rules": "tablut", "playouts": 10 + id}).to_string() + "\n")
        .collect();
    let by_ply = |answers: &[Value]| -> BTreeMap<u64, Value> {
        let of_game = answers.iter().filter(|answer| answer["id"] == "game");
        of_game.map(|answer| (answer["ply"].as_u64().unwrap(), answer.clone())).collect()
    };
    let (alone, summary) = asked(1, &question.to_string());
    assert_eq!(summary, AnalyseSummary { positions: 5, errors: 0 });
    let alone = by_ply(&alone);
    let (beside, summary) = asked(3, &format!("{others}{question}\n{others}"));
    assert_eq!((by_ply(&beside), summary.positions), (alone.clone(), 85));

    let mut game = Game::new(&Preset::Brandubh.rules());
    let size = game.rules().size();
    let (mut search, mut scratch) = (Search::new(SearchConfig::default()), Evaluations::new());
    for ply in 0..=MOVES.len() {
        search.begin(game.position(), 40, None);
        run_to_end(&mut search, &mut HashEvaluator::new(7), &mut scratch).unwrap();
        let (report, answer) = (search.report(), &alone[&(ply as u64)]);
        assert_eq!(answer["fen"], game.position().fen());
        assert_eq!(
            (&answer["last"], &answer["cancelled"], &answer["status"]),
            (&json!(true), &json!(false), &json!("ongoing"))
        );
        assert_eq!(answer["playouts"], report.playouts);
        assert_eq!(reals(&answer["wdl"]), [report.wdl.win, report.wdl.draw, report.wdl.loss]);
        assert_eq!(answer["moves"].as_array().unwrap().len(), 3);
        let best = &answer["moves"][0];
        let line: Vec<String> = report.pv.iter().map(|mv| mv.text(size)).collect();
        assert_eq!((&best["move"], &best["line"]), (&json!(report.best.text(size)), &json!(line)));
        let root = report.moves.iter().find(|root| root.mv == report.best).unwrap();
        assert_eq!((&best["visits"], reals(&json!([best["prior"]]))), (&json!(root.visits), vec![root.prior]));
        if let Some(text) = MOVES.get(ply) {
            game.play(Move::parse(text, size).unwrap()).unwrap();
        }
    }
}

#[test]
fn partial_answers_lead_to_the_last_one() {
    let line = json!({"id": "a", "rules": "brandubh", "playouts": 100, "every": 30}).to_string();
    let (answers, summary) = asked(1, &line);
    let playouts: Vec<u64> = answers.iter().map(|answer| answer["playouts"].as_u64().unwrap()).collect();
    assert_eq!(playouts, [30, 60, 90, 100]);
    let last: Vec<bool> = answers.iter().map(|answer| answer["last"].as_bool().unwrap()).collect();
    assert_eq!((last, summary.positions), (vec![false, false, false, true], 1));
}

#[test]
fn a_cancelled_question_is_answered_as_far_as_it_is() {
    let endless = json!({"id": "long", "rules": "copenhagen", "playouts": 5_000_000}).to_string();
    let (answers, summary) = asked(1, &format!("{endless}\n{}", json!({"cancel": "long"})));
    assert_eq!((answers.len(), summary.positions), (1, 1));
    assert_eq!((&answers[0]["last"], &answers[0]["cancelled"]), (&json!(true), &json!(true)));
    assert!(answers[0]["playouts"].as_u64().is_none_or(|playouts| playouts < 5_000_000));
}

#[test]
fn a_game_that_is_over_has_no_moves() {
    let line = json!({"id": "end", "rules": "brandubh", "fen": "3a3/3a3/3d3/aad1daa/3d3/k2a3/7 d", "moves": ["a2a1"]});
    let (answers, _) = asked(1, &line.to_string());
    assert_eq!((&answers[0]["status"], &answers[0]["reason"]), (&json!("defenders"), &json!("king_escaped")));
    assert!(answers[0].get("moves").is_none() && answers[0]["last"] == true);
}

#[test]
fn a_failing_evaluator_ends_the_work_though_the_input_stays_open() {
    let (input, mut questions) = std::io::pipe().unwrap();
    writeln!(questions, "{}", json!({"id": "a", "rules": "brandubh"})).unwrap();
    let (sender, ended) = mpsc::channel();
    std::thread::spawn(move || {
        let params = AnalyseParams { playouts: 4, search: SearchConfig::default(), threads: 2 };
        let found = analyse(BufReader::new(input), std::io::sink(), &|| Box::new(Broken), &params);
        sender.send(found.map_err(|error| error.to_string()))
    });
    let found = ended.recv_timeout(Duration::from_secs(60)).expect("it ends");
    assert!(found.unwrap_err().contains("unplugged"));
    drop(questions);
}

#[test]
fn what_cannot_be_asked_is_answered_by_an_error() {
    for (line, id, words) in [
        ("[1", Value::Null, "the line is no question"),
        (r#"{"rules": "brandubh"}"#, Value::Null, "missing field `id`"),
        (r#"{"id": "x", "rules": "brandub"}"#, json!("x"), "did you mean brandubh?"),
        (r#"{"id": "x", "rules": "brandubh", "playout": 3}"#, json!("x"), "unknown field `playout`"),
        (r#"{"id": "x", "rules": "brandubh", "moves": ["d6f6", "d6f6"]}"#, json!("x"), "moves: ply 2: "),
        (r#"{"id": "x", "rules": "brandubh", "plies": [1]}"#, json!("x"), "plies: 1; expected 0 to 0"),
        (r#"{"id": "x", "rules": "brandubh", "plies": []}"#, json!("x"), "plies: an empty list; expected at least one"),
        (r#"{"id": "x", "rules": "brandubh", "playouts": 0}"#, json!("x"), "playouts: 0; expected 1 to"),
        (r#"{"id": "x", "rules": "brandubh", "top": 0}"#, json!("x"), "top: 0; expected at least 1"),
        (r#"{"id": "x", "rules": "brandubh", "fen": "7"}"#, json!("x"), "FEN"),
    ] {
        let (answers, summary) = asked(2, line);
        assert_eq!((answers.len(), summary), (1, AnalyseSummary { positions: 0, errors: 1 }), "{line}");
        let error = answers[0]["error"].as_str().unwrap();
        assert!(answers[0]["id"] == id && error.contains(words), "{line}: {error}");
    }
}
