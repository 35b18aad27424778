//! Lessons and puzzles by requests.

mod support;

use hnefi_puzzles::shipped;
use serde_json::json;
use support::Page;

#[test]
fn a_lesson_and_a_puzzle_by_requests() {
    let page = Page::new();
    let course = page.get("/api/lessons?rules=brandubh").ok();
    let asked = |mv: &str| json!({ "rules": "brandubh", "lesson": "moves", "exercise": 0, "move": mv });
    let lesson = course["lessons"].as_array().expect("lessons").iter().find(|lesson| lesson["id"] == "moves");
    let solution = lesson.expect("a lesson")["exercises"][0]["solution"].as_str().expect("a move");
    assert_eq!(page.post("/api/lessons/attempt", &asked(solution)).ok()["fulfilled"], true);
    page.post("/api/lessons/attempt", &asked("b2d3")).refused(400, "illegal");
    page.get("/api/lessons?rules=chess").refused(400, "chess");
    page.get("/api/lessons").refused(400, "rules");

    let puzzle = shipped().into_iter().find(|puzzle| puzzle.line.len() == 5).expect("a puzzle of three moves");
    let path = format!("/api/puzzles/{}", puzzle.id);
    let set = page.get(&path).ok();
    assert_eq!(set["scene"]["fen"], puzzle.fen);
    assert!(set.get("line").is_none() && set.get("answers").is_none());
    let first = puzzle.line[0].text(puzzle.rules.rules().size());
    assert_eq!(page.post(&format!("{path}/attempt"), &json!({ "moves": [first] })).ok()["verdict"], "right");
    let rest = page.post(&format!("{path}/solution"), &json!({ "moves": [first] })).ok();
    assert_eq!(rest["frames"].as_array().map(Vec::len), Some(3));
    page.get("/api/puzzles/0").refused(404, "no such puzzle");
}
