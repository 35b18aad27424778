//! Every position of `data/cases.json` under every ruleset it names.

mod boards;

use hnefi_engine::{Move, Position, Preset};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    name: String,
    ruleset: String,
    #[serde(default)]
    also_rulesets: Vec<String>,
    board: Vec<String>,
    to_move: String,
    #[serde(default)]
    history: Vec<String>,
    #[serde(rename = "move")]
    mv: String,
    expect: Expectation,
}

#[derive(Deserialize)]
struct Expectation {
    legal: bool,
    captures: Vec<String>,
    status: String,
    reason: String,
}

#[test]
fn every_case_holds_under_every_ruleset_it_names() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("data/cases.json")).unwrap();
    let mut checked = 0;
    for case in &cases {
        for ruleset in std::iter::once(&case.ruleset).chain(&case.also_rulesets) {
            check(case, ruleset);
            checked += 1;
        }
    }
    assert!(cases.len() >= 111 && checked > 300, "{} cases, {checked} checks", cases.len());
}

fn check(case: &Case, ruleset: &str) {
    let context = format!("{} under {ruleset}", case.name);
    let rules = Preset::from_name(ruleset).unwrap_or_else(|| panic!("{context}: unknown ruleset")).rules();
    let size = rules.size();
    let mut position = Position::from_fen(&rules, &boards::fen(&case.board, &case.to_move)).unwrap();
    for text in &case.history {
        position.play(Move::parse(text, size).unwrap()).unwrap_or_else(|error| panic!("{context}: {error}"));
    }
    let mv = Move::parse(&case.mv, size).unwrap();
    assert_eq!(position.is_legal(mv), case.expect.legal, "{context}: legality of {}\n{}", case.mv, position.diagram());
    let before = position.fen();
    match position.play(mv) {
        Err(_) => assert_eq!(position.fen(), before, "{context}: an illegal move changed the position"),
        Ok(captured) => {
            let mut captured: Vec<String> = captured.map(|square| square.name(size)).collect();
            let mut expected = case.expect.captures.clone();
            captured.sort();
            expected.sort();
            assert_eq!(captured, expected, "{context}: captures\n{}", position.diagram());
            let (status, reason) = match position.outcome() {
                Some(outcome) => (outcome.status(), outcome.reason().as_str()),
                None => ("ongoing", ""),
            };
            assert_eq!(
                (status, reason),
                (&*case.expect.status, &*case.expect.reason),
                "{context}\n{}",
                position.diagram()
            );
        }
    }
}
