//! The shipped collection: every puzzle is proven, and none stands in it twice.

use std::collections::{BTreeMap, HashSet};

use hnefi_engine::MoveList;
use hnefi_puzzles::{Puzzle, Theme, orbit, read, shipped, write};

/// Far more than any shipped puzzle takes.
const BUDGET: u64 = 200_000_000;

#[test]
fn every_puzzle_is_proven() {
    let puzzles = shipped();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let share = puzzles.iter().skip(thread).step_by(threads);
            scope.spawn(move || {
                for puzzle in share {
                    puzzle.check(BUDGET).unwrap_or_else(|error| panic!("{}: {error}", puzzle.fen));
                }
            });
        }
    });
}

#[test]
fn the_collection_is_large_and_varied() {
    let puzzles = shipped();
    assert!(puzzles.len() >= 500, "{} puzzles", puzzles.len());
    let mut themes = BTreeMap::<_, usize>::new();
    let mut seen = HashSet::new();
    for puzzle in &puzzles {
        *themes.entry(puzzle.theme).or_default() += 1;
        let position = puzzle.position().expect("a position");
        assert!(seen.insert((puzzle.rules, orbit(&position))), "{} stands twice", puzzle.fen);
    }
    for theme in [Theme::CaptureTheKing, Theme::Escape, Theme::SaveTheKing, Theme::StopTheKing] {
        assert!(themes[&theme] >= 40, "{theme}: {themes:?}");
    }
}

#[test]
fn what_is_written_is_read_back() {
    let puzzles = shipped();
    let text = write(&puzzles);
    assert_eq!(read(&text).expect("puzzles"), puzzles);
    assert_eq!(text, include_str!("../puzzles.jsonl"));
    for (text, message) in [
        ("{}", "line 1: missing field `id`"),
        ("\n{\"id\": 1}", "line 2: invalid type"),
        ("brandubh", "line 1: expected value"),
    ] {
        let error = read(text).expect_err(text).to_string();
        assert!(error.starts_with(message), "{error}");
    }
    let line = text.lines().next().expect("a puzzle");
    assert!(read(&line.replace("\"theme\":\"", "\"theme\":\"no-")).is_err());
}

#[test]
fn a_wrong_line_is_found() {
    let only = shipped().into_iter().find(|puzzle| puzzle.theme.is_only_move()).expect("one");
    let mut moves = MoveList::new();
    only.position().expect("a position").legal_moves(&mut moves);
    let blunder = *moves.iter().find(|mv| !only.answers.contains(mv)).expect("a wrong move");
    for line in [vec![], vec![blunder]] {
        assert!(Puzzle { line, ..only.clone() }.check(BUDGET).is_err());
    }
    assert!(Puzzle { plies: 0, ..only.clone() }.check(BUDGET).is_err());
    only.check(BUDGET).expect("right as it is");
}
