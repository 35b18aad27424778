//! What a position remembers of the game: one entry per position, and questions about those since the last capture.
//!
//! Captures are irreversible, so only the entries since the last one matter to the rules. Older ones stay for
//! [`Position::undo`](crate::Position::undo).
//!
//! Questions are answered by looking through the entries, which is fast as long as they are few. A game that goes on
//! for [`LONG`] plies without a capture gets an index, so that its replay takes time in proportion to its length.

mod index;

use crate::{Move, RepetitionCompares, Side};
use index::Index;

/// Plies without a capture from which on there is an index. Games of people and of self-play stay below.
pub(crate) const LONG: usize = 1024;

/// The positions of a game up to the present one, oldest first.
#[derive(Debug, Default)]
pub(crate) struct History {
    entries: Vec<Entry>,
    /// There once the game was long without a capture, and up to date whenever it is.
    index: Option<Box<Index>>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// What repetition compares: the hash of the board, with the side to move where the rules say so.
    key: u64,
    /// The hash of the defenders and the king.
    defenders: u64,
    /// The move that led to the position; nothing meaningful for the first.
    mv: Move,
}

impl Entry {
    /// The hash of the attackers, with the side to move where the key holds it.
    #[inline(always)]
    fn attackers(&self) -> u64 {
        self.key ^ self.defenders
    }
}

impl History {
    #[inline(always)]
    pub(crate) fn push(&mut self, key: u64, defenders: u64, mv: Move) {
        self.entries.push(Entry { key, defenders, mv });
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) {
        let entry = self.entries.pop();
        if self.index.is_some() {
            self.forget(entry);
        }
    }

    /// Takes an entry out of the index, if it is in there.
    #[cold]
    #[inline(never)]
    fn forget(&mut self, entry: Option<Entry>) {
        if let (Some(index), Some(entry)) = (&mut self.index, entry)
            && index.len() > self.entries.len()
        {
            index.pop(&entry);
        }
    }

    /// Brings the index up to date; to be called after each push from [`LONG`] plies without a capture on.
    #[cold]
    #[inline(never)]
    pub(crate) fn index_newest(&mut self) {
        let index = self.index.get_or_insert_default();
        for entry in &self.entries[index.len()..] {
            index.push(entry);
        }
    }

    /// The last `plies` entries: the entries since the last capture, as the caller has counted them.
    #[inline(always)]
    pub(crate) fn recent(&self, plies: usize) -> Recent<'_> {
        Recent { history: self, plies }
    }

    pub(crate) fn moves(&self) -> impl Iterator<Item = Move> + '_ {
        self.entries.iter().skip(1).map(|entry| entry.mv)
    }

    /// The moves that led to the last `plies` entries, latest first.
    pub(crate) fn moves_back(&self, plies: usize) -> impl Iterator<Item = Move> + '_ {
        self.recent(plies).entries().iter().rev().map(|entry| entry.mv)
    }
}

impl Clone for History {
    fn clone(&self) -> History {
        History { entries: self.entries.clone(), index: self.index.clone() }
    }

    /// Reuses the memory that is there.
    fn clone_from(&mut self, source: &History) {
        self.entries.clone_from(&source.entries);
        self.index.clone_from(&source.index);
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
        let entries = &self.history.entries[self.start()..];
        #[cfg(test)]
        tests::LOOKED_THROUGH.with(|count| count.set(count.get() + entries.len()));
        entries
    }

    /// The index, where looking through the entries would take long.
    #[inline(always)]
    fn index(self) -> Option<&'a Index> {
        if self.plies > LONG { self.history.index.as_deref() } else { None }
    }

    #[inline(always)]
    fn start(self) -> usize {
        self.history.entries.len() - self.plies
    }

    /// How often `key` stands here. `key` belongs to a position that follows the last entry by one move.
    #[inline(always)]
    pub(crate) fn count(self, key: u64) -> usize {
        if let Some(index) = self.index() {
            return index.count(key);
        }
        // A board can come again after two plies of each side at the earliest.
        let entries = self.entries();
        let comparable = entries.len().saturating_sub(3);
        entries[..comparable].iter().map(|entry| usize::from(entry.key == key)).sum()
    }

    /// How often the defenders stood like this after moves of theirs, among the last `plies` entries. `defenders`
    /// belongs to a position that follows the last entry by a move of theirs.
    #[inline(always)]
    pub(crate) fn count_defenders(self, plies: usize, defenders: u64) -> usize {
        if let Some(index) = self.index() {
            let length = self.history.entries.len();
            let start = self.start().max(length.saturating_sub(plies));
            let recent = index.defenders(defenders).iter().rev().take_while(|&&place| place >= start);
            // The last entry follows a move of the attackers, the one before it one of the defenders, and so on.
            return recent.filter(|&place| (length - place).is_multiple_of(2)).count();
        }
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
        if let Some(index) = self.index() {
            return index.count(key);
        }
        self.entries().iter().map(|entry| usize::from(entry.key == key)).sum()
    }

    /// Whether in one of these positions but the last the attackers stood as `attackers` says, which is their hash:
    /// only then can a move of the defenders bring it back.
    #[inline(always)]
    pub(crate) fn attackers_stood(self, attackers: u64) -> bool {
        if let Some(index) = self.index() {
            let last = self.history.entries.len() - 1;
            let earlier = index.attackers(attackers).iter().rev().find(|&&place| place != last);
            return earlier.is_some_and(|&place| place >= self.start());
        }
        let earlier = self.plies.saturating_sub(1);
        self.entries()[..earlier].iter().any(|entry| entry.attackers() == attackers)
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::{Position, Preset, Repetition, Rules};

    thread_local! {
        /// Entries that questions have looked through.
        pub(super) static LOOKED_THROUGH: Cell<usize> = const { Cell::new(0) };
    }

    /// Plays these four moves over and over, and asks for the legal moves in between.
    fn shuffled(rules: &Rules, start: &str, moves: [&str; 4], plies: usize) -> Position {
        let mut position = Position::from_fen(rules, start).expect("a position");
        let moves = moves.map(|text| Move::parse(text, rules.size()).expect("a move"));
        for ply in 0..plies {
            position.play(moves[ply % 4]).unwrap_or_else(|error| panic!("ply {ply}: {error}"));
        }
        position
    }

    #[test]
    fn a_long_game_is_not_looked_through_at_every_ply() {
        let rules = Rules { repetition: Repetition::Ignore, ..Preset::Brandubh.rules() };
        let start = "3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 a";
        LOOKED_THROUGH.set(0);
        let plies = 50_000;
        let position = shuffled(&rules, start, ["d6c6", "d5c5", "c6d6", "c5d5"], plies);
        assert_eq!(position.occurrences() as usize, 1 + plies / 4);
        assert!(LOOKED_THROUGH.get() <= LONG * LONG, "{} entries for {plies} plies", LOOKED_THROUGH.get());
    }

    /// A made-up game in which both sides stand as before again and again, and men of the defenders are captured.
    #[test]
    fn an_index_says_what_the_entries_say() {
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let (mut long, mut since_capture, mut lost) = (History::default(), 0, 0);
        let (mut attackers, mut stand, mut found, mut by_index) = (0, 0, [0; 3], 0);
        for ply in 0..8 * LONG {
            let captured = ply > 0 && random(2500) == 0;
            since_capture = if captured || ply == 0 { 0 } else { since_capture + 1 };
            lost += u64::from(captured);
            if ply.is_multiple_of(2) {
                stand = random(40)
            } else {
                attackers = random(40)
            }
            let defenders = |stand: u64| stand << 8 | lost << 32;
            long.push(attackers ^ defenders(stand), defenders(stand), Move::NONE);
            if since_capture >= LONG {
                long.index_newest();
                by_index += 1;
            }
            if random(50) == 0 {
                let back = (random(30) as usize).min(since_capture);
                (0..back).for_each(|_| long.pop());
                since_capture -= back;
            }
            let short = History { entries: long.entries.clone(), index: None };
            let recent = [&long, &short].map(|history| history.recent(since_capture + 1));
            let (asked_attackers, asked_defenders) = (random(40), defenders(random(40)));
            let answers = recent.map(|recent| {
                [
                    recent.count_anywhere(asked_attackers ^ asked_defenders),
                    usize::from(recent.attackers_stood(asked_attackers)),
                    recent.count_defenders(1 + ply % 90, asked_defenders),
                ]
            });
            assert_eq!(answers[0], answers[1], "ply {ply}");
            found = [0, 1, 2].map(|question| found[question] + answers[0][question]);
        }
        assert!(found.iter().all(|&count| count > 50) && lost > 1, "{found:?}, {lost}");
        assert!((LONG..7 * LONG).contains(&by_index), "{by_index}");
    }
}
