//! A start for every board: a cross of defenders, attackers at the middle of each edge.

use hnefi_engine::{BoardSize, Marks, Preset, Rules, Start};

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
    let spelled =
        |row: String| (1..=n).rev().fold(row, |row, empty| row.replace(&".".repeat(empty), &empty.to_string()));
    let rows: Vec<String> = (0..n).rev().map(|rank| spelled(row(rank))).collect();
    Start::parse(&rows.join("/")).unwrap()
}

/// The rules of the presets, and Copenhagen's on boards of other sizes.
#[allow(dead_code, reason = "not every test needs them")]
pub fn rulesets() -> Vec<Rules> {
    let others = [6, 13, 16, 19].map(|side| BoardSize::new(side).unwrap());
    let others =
        others.map(|size| Rules { start: cross(size), marks: Marks::usual(size), ..Preset::Copenhagen.rules() });
    Preset::ALL.map(Preset::rules).into_iter().chain(others).collect()
}
