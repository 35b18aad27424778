//! Node counts of `data/perft.json`, agreed by independent programs.

mod boards;

use std::collections::BTreeMap;

use hnefi_engine::{Position, Preset, perft, perft_made};
use serde::Deserialize;

/// Counts beyond this are left to an optimised build.
const NODE_LIMIT: u64 = if cfg!(debug_assertions) { 100_000 } else { 60_000_000 };

#[derive(Deserialize)]
struct Entry {
    name: String,
    preset: String,
    to_move: String,
    board: Vec<String>,
    perft: BTreeMap<u32, u64>,
    #[serde(default)]
    perft_defenders_may_not_repeat: BTreeMap<u32, u64>,
}

impl Entry {
    fn position(&self, preset: Preset) -> Position {
        Position::from_fen(&preset.rules(), &boards::fen(&self.board, &self.to_move)).unwrap()
    }
}

#[test]
fn node_counts_agree() {
    let entries: Vec<Entry> = serde_json::from_str(include_str!("data/perft.json")).unwrap();
    for entry in &entries {
        let preset = Preset::from_name(&entry.preset).unwrap();
        check(entry, preset, &entry.perft);
        check(entry, Preset::CopenhagenHnefataflOrg, &entry.perft_defenders_may_not_repeat);
    }
}

fn check(entry: &Entry, preset: Preset, counts: &BTreeMap<u32, u64>) {
    for (&depth, &nodes) in counts.iter().filter(|&(_, &nodes)| nodes <= NODE_LIMIT) {
        let mut position = entry.position(preset);
        let before = position.state_key();
        assert_eq!(perft(&mut position, depth), nodes, "{} under {preset}, depth {depth}", entry.name);
        assert_eq!(position.state_key(), before, "perft must leave the position as it was");
    }
}

#[test]
fn the_entries_named_start_are_the_standard_layouts() {
    let entries: Vec<Entry> = serde_json::from_str(include_str!("data/perft.json")).unwrap();
    for entry in entries.iter().filter(|entry| entry.name.starts_with("start")) {
        let preset = Preset::from_name(&entry.preset).unwrap();
        assert_eq!(Position::start(&preset.rules()).fen(), entry.position(preset).fen());
    }
}

#[test]
fn making_every_move_makes_the_sum_of_all_plies() {
    let mut position = Position::start(&Preset::Brandubh.rules());
    assert_eq!(perft_made(&mut position, 3), 40 + 960 + 39_512);
}
