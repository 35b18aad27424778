//! Boards and rules for several tests.
#![allow(dead_code, reason = "not every test needs them all")]

use hnefi_engine::{BoardSize, Marks, Preset, Rules, Start};

/// Rows of letters and dots as FEN has them, runs of dots as numbers.
pub fn spell(rows: &str) -> String {
    (1..=19).rev().fold(rows.to_owned(), |rows, empty| rows.replace(&".".repeat(empty), &empty.to_string()))
}

/// A board of the data files as FEN: one string a rank, top first, in A, D, K and dots; `attackers` or `defenders`
/// are to move.
pub fn fen(rows: &[String], to_move: &str) -> String {
    format!("{} {}", spell(&rows.join("/").to_lowercase()), &to_move[..1])
}

/// A start for every board: a cross of defenders, attackers at the middle of each edge.
pub fn cross(size: BoardSize) -> Start {
    let n = size.side();
    let middle = n / 2;
    let letter = |file: usize, rank: usize| {
        let (across, along) =
            (file.abs_diff(middle).min(rank.abs_diff(middle)), file.abs_diff(middle).max(rank.abs_diff(middle)));
        let outer = [file, rank].iter().any(|&line| line == 0 || line == n - 1);
        match (across, along) {
            (0, 0) => 'k',
            (0 | 1, _) if outer => 'a',
            (0, along) if along <= n / 4 => 'd',
            _ => '.',
        }
    };
    let row = |rank: usize| -> String { (0..n).map(|file| letter(file, rank)).collect() };
    let rows: Vec<String> = (0..n).rev().map(row).collect();
    Start::parse(&spell(&rows.join("/"))).unwrap()
}

/// The rules of the presets, and Copenhagen's on boards of other sizes.
pub fn rulesets() -> Vec<Rules> {
    let others = [6, 13, 16, 19].map(|side| BoardSize::new(side).unwrap());
    let others =
        others.map(|size| Rules { start: cross(size), marks: Marks::usual(size), ..Preset::Copenhagen.rules() });
    Preset::ALL.map(Preset::rules).into_iter().chain(others).collect()
}
