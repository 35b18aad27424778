//! What a position remembers of the game: one entry per position, and questions about those since the last capture.
//!
//! Captures are irreversible, so only the entries since the last one matter to the rules. Older ones stay for
//! [`Position::undo`](crate::Position::undo).

use crate::{Move, RepetitionCompares, Side};

/// The positions of a game up to the present one, oldest first.
#[derive(Debug, Default)]
pub(crate) struct History(Vec<Entry>);

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// What repetition compares: the hash of the board, with the side to move where the rules say so.
    key: u64,
    /// The hash of the defenders and the king.
    defenders: u64,
    /// The move that led to the position; nothing meaningful for the first.
    mv: Move,
}

impl History {
    #[inline(always)]
    pub(crate) fn push(&mut self, key: u64, defenders: u64, mv: Move) {
        self.0.push(Entry { key, defenders, mv });
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    /// The last `plies` entries: those since the last capture, as their user has counted them.
    #[inline(always)]
    pub(crate) fn recent(&self, plies: usize) -> Recent<'_> {
        Recent { history: self, plies }
    }

    /// The moves that led to the last `plies` entries, latest first.
    pub(crate) fn moves_back(&self, plies: usize) -> impl Iterator<Item = Move> + '_ {
        self.recent(plies).entries().iter().rev().map(|entry| entry.mv)
    }

    /// Puts the entries into the opposite order; for building a history from the present backwards.
    pub(crate) fn reverse(&mut self) {
        self.0.reverse();
    }
}

impl Clone for History {
    fn clone(&self) -> History {
        History(self.0.clone())
    }

    /// Reuses the memory that is there.
    fn clone_from(&mut self, source: &History) {
        self.0.clone_from(&source.0);
    }
}

/// The positions since the last capture, oldest first. Few moves ask, see [`Seen`].
#[derive(Clone, Copy)]
pub(crate) struct Recent<'a> {
    history: &'a History,
    plies: usize,
}

impl<'a> Recent<'a> {
    #[inline(always)]
    fn entries(self) -> &'a [Entry] {
        &self.history.0[self.history.0.len() - self.plies..]
    }

    /// How often `key` stands here. `key` belongs to a position that follows the last entry by one move.
    #[inline(always)]
    pub(crate) fn count(self, key: u64) -> usize {
        // A board can come again after two plies of each side at the earliest.
        let entries = self.entries();
        let comparable = entries.len().saturating_sub(3);
        entries[..comparable].iter().map(|entry| usize::from(entry.key == key)).sum()
    }

    /// How often the defenders stood like this after moves of theirs, among the last `plies` entries. `defenders`
    /// belongs to a position that follows the last entry by a move of theirs.
    #[inline(always)]
    pub(crate) fn count_defenders(self, plies: usize, defenders: u64) -> usize {
        let entries = self.entries();
        // The last entry follows a move of the attackers, the one before it one of the defenders, and so on.
        let end = entries.len().saturating_sub(1);
        let start = entries.len().saturating_sub(plies).min(end);
        let pairs = entries[start..end].rchunks(2);
        pairs.map(|pair| usize::from(pair[pair.len() - 1].defenders == defenders)).sum()
    }

    /// How often `key` stands here at all.
    #[inline(always)]
    pub(crate) fn count_anywhere(self, key: u64) -> usize {
        self.entries().iter().map(|entry| usize::from(entry.key == key)).sum()
    }

    /// Whether in one of these positions but the last the attackers stood as `attackers` says, which is their hash:
    /// only then can a move of the defenders bring it back.
    #[inline(always)]
    pub(crate) fn attackers_stood(self, attackers: u64) -> bool {
        let earlier = self.plies.saturating_sub(1);
        self.entries()[..earlier].iter().any(|entry| entry.key ^ entry.defenders == attackers)
    }
}

/// Which hashes stand in the positions since the last capture, as small Bloom filters of one hash function: what they
/// do not hold needs no search. Words by themselves, since an array would live in memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// Keys of positions with the attackers to move.
    attackers_to_move: u64,
    /// Keys of positions with the defenders to move.
    defenders_to_move: u64,
    /// The defenders' configurations that count for the draw fort.
    configurations: u64,
}

impl Seen {
    #[inline(always)]
    pub(crate) fn add_key(&mut self, side_to_move: Side, key: u64) {
        match side_to_move {
            Side::Attackers => self.attackers_to_move |= 1 << (key & 63),
            Side::Defenders => self.defenders_to_move |= 1 << (key & 63),
        }
    }

    #[inline(always)]
    pub(crate) fn add_configuration(&mut self, defenders: u64) {
        self.configurations |= 1 << (defenders & 63);
    }

    /// Whether a position with this key may be among them, with `side` to move or, where keys leave that out, either;
    /// a no is never wrong.
    #[inline(always)]
    pub(crate) fn may_hold_key(&self, compares: RepetitionCompares, side: Side, key: u64) -> bool {
        let keys = match (compares, side) {
            (RepetitionCompares::BoardAlone, _) => self.attackers_to_move | self.defenders_to_move,
            (RepetitionCompares::BoardAndSide, Side::Attackers) => self.attackers_to_move,
            (RepetitionCompares::BoardAndSide, Side::Defenders) => self.defenders_to_move,
        };
        keys >> (key & 63) & 1 != 0
    }

    /// The same of a configuration of the defenders.
    #[inline(always)]
    pub(crate) fn may_hold_configuration(&self, defenders: u64) -> bool {
        self.configurations >> (defenders & 63) & 1 != 0
    }
}
