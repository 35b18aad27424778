//! The transposition table: what a search found at positions it may meet again.
//!
//! Positions are identified by the hash of board and side to move. Clocks and repetitions are not part of it: a
//! baseline may mistake the value of a position that was reached by another way and is about to be drawn.

use hnefi_engine::Move;

use super::{MINUS_PROVEN, PROVEN};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Exact,
    AtLeast,
    AtMost,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    key: u64,
    /// Value for the side to move; wins count from this position, not from the root.
    pub value: i32,
    /// The best move found.
    pub mv: Move,
    /// Plies searched below.
    pub depth: u8,
    pub bound: Bound,
}

/// A fixed number of places, one for each value of the key's lowest bits; a newer entry replaces an older one.
#[derive(Debug)]
pub(super) struct TranspositionTable {
    places: Vec<Option<Entry>>,
}

impl TranspositionTable {
    /// A table of `2^bits` places of 24 bytes.
    pub fn new(bits: u32) -> TranspositionTable {
        TranspositionTable { places: vec![None; 1 << bits] }
    }

    pub fn clear(&mut self) {
        self.places.fill(None);
    }

    pub fn get(&self, key: u64) -> Option<Entry> {
        self.places[self.place(key)].filter(|entry| entry.key == key)
    }

    pub fn put(&mut self, key: u64, mv: Move, value: i32, depth: u8, bound: Bound) {
        let place = self.place(key);
        self.places[place] = Some(Entry { key, value, mv, depth, bound });
    }

    fn place(&self, key: u64) -> usize {
        key as usize & (self.places.len() - 1)
    }
}

/// A value as the search has it, wins counted from the root, made to count from a node `ply` plies below it.
pub(super) fn counted_from_node(value: i32, ply: i32) -> i32 {
    match value {
        PROVEN.. => value + ply,
        ..=MINUS_PROVEN => value - ply,
        _ => value,
    }
}

/// The opposite of [`counted_from_node`].
pub(super) fn counted_from_root(value: i32, ply: i32) -> i32 {
    match value {
        PROVEN.. => value - ply,
        ..=MINUS_PROVEN => value + ply,
        _ => value,
    }
}
