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
    /// The hash of the defenders and the king.
    defenders: Vec<u64>,
    /// The move that led to each position; nothing meaningful for the first.
    moves: Vec<Move>,
}

impl History {
    #[inline(always)]
    pub(crate) fn push(&mut self, key: u64, defenders: u64, mv: Move) {
        self.keys.push(key);
        self.defenders.push(defenders);
        self.moves.push(mv);
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) {
        self.keys.pop();
        self.defenders.pop();
        self.moves.pop();
    }

    /// The last `plies` entries: those since the last capture, as their user has counted them.
    #[inline(always)]
    pub(crate) fn recent(&self, plies: usize) -> Recent<'_> {
        let start = self.keys.len() - plies;
        Recent { keys: &self.keys[start..], defenders: &self.defenders[start..] }
    }

    /// The moves that led to the last `plies` entries, latest first.
    pub(crate) fn moves_back(&self, plies: usize) -> impl Iterator<Item = Move> + '_ {
        self.moves[self.moves.len() - plies..].iter().rev().copied()
    }

    /// Puts the entries into the opposite order; for building a history from the present backwards.
    pub(crate) fn reverse(&mut self) {
        self.keys.reverse();
        self.defenders.reverse();
        self.moves.reverse();
    }
}

impl Clone for History {
    fn clone(&self) -> History {
        History { keys: self.keys.clone(), defenders: self.defenders.clone(), moves: self.moves.clone() }
    }

    /// Reuses the memory that is there.
    fn clone_from(&mut self, source: &History) {
        self.keys.clone_from(&source.keys);
        self.defenders.clone_from(&source.defenders);
        self.moves.clone_from(&source.moves);
    }
}

/// The positions since the last capture, oldest first.
#[derive(Clone, Copy)]
pub(crate) struct Recent<'a> {
    keys: &'a [u64],
    defenders: &'a [u64],
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
        let after_theirs = self.defenders.iter().rev().take(plies).skip(1).step_by(2);
        after_theirs.filter(|&&entry| entry == defenders).count()
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
        self.keys[..earlier].iter().zip(self.defenders).any(|(key, defenders)| key ^ defenders == attackers)
    }
}
