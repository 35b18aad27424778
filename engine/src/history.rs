//! What a position remembers of the game: one entry per position, and questions about those since the last capture.
//!
//! Captures are irreversible, so only the entries since the last one matter to the rules. Older ones stay for
//! [`Position::undo`](crate::Position::undo).

use crate::Move;

/// The positions of a game up to the present one, oldest first.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// What repetition compares: the hash of the board, with the side to move where the rules say so.
    keys: Vec<u64>,
    /// What else is remembered, apart so that keys lie side by side for counting.
    rest: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The hash of the defenders and the king.
    defenders: u64,
    /// The move that led to the position; nothing meaningful for the first.
    mv: Move,
}

impl History {
    #[inline(always)]
    pub(crate) fn push(&mut self, key: u64, defenders: u64, mv: Move) {
        self.keys.push(key);
        self.rest.push(Entry { defenders, mv });
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) {
        self.keys.pop();
        self.rest.pop();
    }

    /// The last `plies` entries: those since the last capture, as their user has counted them.
    #[inline(always)]
    pub(crate) fn recent(&self, plies: usize) -> Recent<'_> {
        let start = self.keys.len() - plies;
        Recent { keys: &self.keys[start..], rest: &self.rest[start..] }
    }

    /// The moves that led to the last `plies` entries, latest first.
    pub(crate) fn moves_back(&self, plies: usize) -> impl Iterator<Item = Move> + '_ {
        self.rest[self.rest.len() - plies..].iter().rev().map(|entry| entry.mv)
    }

    /// Puts the entries into the opposite order; for building a history from the present backwards.
    pub(crate) fn reverse(&mut self) {
        self.keys.reverse();
        self.rest.reverse();
    }
}

impl Clone for History {
    fn clone(&self) -> History {
        History { keys: self.keys.clone(), rest: self.rest.clone() }
    }

    /// Reuses the memory that is there.
    fn clone_from(&mut self, source: &History) {
        self.keys.clone_from(&source.keys);
        self.rest.clone_from(&source.rest);
    }
}

/// The positions since the last capture, oldest first.
#[derive(Clone, Copy)]
pub(crate) struct Recent<'a> {
    keys: &'a [u64],
    rest: &'a [Entry],
}

impl Recent<'_> {
    /// How often `key` stands here. `key` belongs to a position that follows the last entry by one move.
    #[inline(always)]
    pub(crate) fn count(self, key: u64) -> usize {
        // A board can come again after two plies of each side at the earliest.
        let comparable = self.keys.len().saturating_sub(3);
        self.keys[..comparable].iter().map(|&entry| usize::from(entry == key)).sum()
    }

    /// How often the defenders stood like this after moves of theirs, among the last `plies` entries. `defenders`
    /// belongs to a position that follows the last entry by a move of theirs.
    #[inline(always)]
    pub(crate) fn count_defenders(self, plies: usize, defenders: u64) -> usize {
        // The last entry follows a move of the attackers, the one before it one of the defenders, and so on.
        let end = self.rest.len().saturating_sub(1);
        let start = self.rest.len().saturating_sub(plies).min(end);
        let pairs = self.rest[start..end].rchunks(2);
        pairs.map(|pair| usize::from(pair[pair.len() - 1].defenders == defenders)).sum()
    }

    /// How often `key` stands here at all.
    #[inline(always)]
    pub(crate) fn count_anywhere(self, key: u64) -> usize {
        self.keys.iter().map(|&entry| usize::from(entry == key)).sum()
    }

    /// Whether in one of these positions but the last the attackers stood as `attackers` says, which is their hash:
    /// only then can a move of the defenders bring it back.
    #[inline(always)]
    pub(crate) fn attackers_stood(self, attackers: u64) -> bool {
        let earlier = self.keys.len().saturating_sub(1);
        self.keys[..earlier].iter().zip(self.rest).any(|(key, entry)| key ^ entry.defenders == attackers)
    }
}
