//! Where hashes stand in a long history.

use std::collections::HashMap;

use super::Entry;

/// The places of the entries of a history, oldest first, by what is asked of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    len: usize,
    /// By [`Entry::key`] in the whole game. There are as many as since the last capture: a board with a man more does not
    /// come again.
    keys: Places,
    defenders: Places,
    attackers: Places,
}

type Places = HashMap<u64, Vec<usize>>;

impl Index {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn push(&mut self, entry: &Entry) {
        let place = self.len;
        for (places, hash) in self.of(entry) {
            places.entry(hash).or_default().push(place);
        }
        self.len += 1;
    }

    /// Forgets the last entry, which is given.
    pub(super) fn pop(&mut self, entry: &Entry) {
        for (places, hash) in self.of(entry) {
            places.get_mut(&hash).and_then(Vec::pop);
        }
        self.len -= 1;
    }

    fn of(&mut self, entry: &Entry) -> [(&mut Places, u64); 3] {
        [(&mut self.keys, entry.key), (&mut self.defenders, entry.defenders), (&mut self.attackers, entry.attackers())]
    }

    pub(super) fn count(&self, key: u64) -> usize {
        places(&self.keys, key).len()
    }

    pub(super) fn defenders(&self, hash: u64) -> &[usize] {
        places(&self.defenders, hash)
    }

    pub(super) fn attackers(&self, hash: u64) -> &[usize] {
        places(&self.attackers, hash)
    }
}

fn places(places: &Places, hash: u64) -> &[usize] {
    places.get(&hash).map_or(&[], Vec::as_slice)
}
