//! Where hashes stand in a long history.

use std::collections::HashMap;

use super::Entry;

/// The places of the entries of a history, oldest first, by what is asked of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    len: usize,
    /// By [`Entry::key`] in the whole game. There are as many as since the last capture: a board with a man more does
    /// not come again.
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
            let Some(found) = places.get_mut(&hash) else { continue };
            found.pop();
            // A search that plays and takes back for hours would keep every hash that it met.
            if found.is_empty() {
                places.remove(&hash);
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Move;

    #[test]
    fn entries_that_are_taken_back_leave_nothing() {
        let mv = Move::parse("a1b1", crate::BoardSize::SEVEN).expect("a move");
        let entries: Vec<Entry> = (0..9).map(|hash| Entry { key: hash % 4, defenders: hash % 3, mv }).collect();
        let mut index = Index::default();
        entries.iter().for_each(|entry| index.push(entry));
        assert_eq!((index.len(), index.count(0), index.defenders(1)), (9, 3, &[1, 4, 7][..]));
        entries.iter().rev().for_each(|entry| index.pop(entry));
        assert_eq!(index.len(), 0);
        assert!([&index.keys, &index.defenders, &index.attackers].iter().all(|places| places.is_empty()));
    }
}
