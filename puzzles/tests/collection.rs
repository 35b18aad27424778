//! The shipped collection: every puzzle is proven, and none stands in it twice.

use std::collections::{BTreeMap, HashSet};

use hnefi_engine::Preset;
use hnefi_puzzles::{Puzzle, Theme, orbit, read, shipped, write};

/// Far more than any shipped puzzle takes.
const BUDGET: u64 = 200_000_000;

fn prove(puzzles: impl Iterator<Item = Puzzle>) {
    for puzzle in puzzles {
        puzzle.check(BUDGET).unwrap_or_else(|error| panic!("{} {}: {error}", puzzle.rules.name(), puzzle.fen));
    }
}

#[test]
fn short_puzzles_and_some_long_ones_are_proven() {
    let puzzles = shipped();
    let short = |puzzle: &Puzzle| puzzle.plies < 5 && (puzzle.rules == Preset::Brandubh || puzzle.plies == 1);
    prove(puzzles.iter().filter(|&puzzle| short(puzzle)).cloned());
    prove(puzzles.into_iter().filter(|puzzle| !short(puzzle)).step_by(25));
}

/// Long, so not part of the quick tests: `cargo test --release -p hnefi-puzzles -- --ignored every_`.
#[test]
#[ignore = "takes a minute or more"]
fn every_puzzle_is_proven() {
    prove(shipped().into_iter());
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
