//! Where hashes stand in a long history.

use std::collections::HashMap;

use super::Entry;

/// The entries of a history by what is asked of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// How often each key stands in the whole game. That is as often as since the last capture: a board with a man more
    /// does not come again.
    keys: HashMap<u64, usize>,
    defenders: Places,
    attackers: Places,
}

impl Index {
    /// Entries known.
    pub(super) fn len(&self) -> usize {
        self.defenders.earlier.len()
    }

    pub(super) fn push(&mut self, entry: &Entry) {
        *self.keys.entry(entry.key).or_default() += 1;
        self.defenders.push(entry.defenders);
        self.attackers.push(entry.attackers());
    }

    /// Forgets the last entry, which is given.
    pub(super) fn pop(&mut self, entry: &Entry) {
        if let Some(count) = self.keys.get_mut(&entry.key) {
            *count -= 1;
            if *count == 0 {
                self.keys.remove(&entry.key);
            }
        }
        self.defenders.pop(entry.defenders);
        self.attackers.pop(entry.attackers());
    }

    /// How often the key stands in the game.
    pub(super) fn count(&self, key: u64) -> usize {
        self.keys.get(&key).copied().unwrap_or_default()
    }

    /// Where the defenders stood so, latest first.
    pub(super) fn defenders(&self, hash: u64) -> impl Iterator<Item = usize> + '_ {
        self.defenders.of(hash)
    }

    /// Where the attackers stood so, latest first.
    pub(super) fn attackers(&self, hash: u64) -> impl Iterator<Item = usize> + '_ {
        self.attackers.of(hash)
    }
}

/// The places of each hash.
#[derive(Clone, Debug, Default)]
struct Places {
    latest: HashMap<u64, usize>,
    /// For each place the one before it with the same hash.
    earlier: Vec<Option<usize>>,
}

impl Places {
    fn push(&mut self, hash: u64) {
        let place = self.earlier.len();
        self.earlier.push(self.latest.insert(hash, place));
    }

    fn pop(&mut self, hash: u64) {
        match self.earlier.pop().flatten() {
            Some(place) => self.latest.insert(hash, place),
            None => self.latest.remove(&hash),
        };
    }

    fn of(&self, hash: u64) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.latest.get(&hash).copied(), |&place| self.earlier[place])
    }
}
