//! Memory for runs of items that never move. A tree grows by a block at a time, so no playout waits for a copy of the
//! tree. (With one growing vector, a search of two seconds overran its time by up to 75 ms when the vector doubled.)

/// Items per block, which is also the longest run.
const BLOCK: usize = 1 << 14;

/// Runs of items, such as the edges of a node, each contiguous in memory, in blocks that are kept and reused.
#[derive(Clone, Debug)]
pub(super) struct EdgeArena<T> {
    /// The last block in use is at `open`; the blocks behind it are empty.
    blocks: Vec<Vec<T>>,
    open: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EdgeOffset(u32);

impl EdgeOffset {
    fn block(self) -> usize {
        self.0 as usize / BLOCK
    }

    fn offset(self) -> usize {
        self.0 as usize % BLOCK
    }
}

impl<T> Default for EdgeArena<T> {
    fn default() -> Self {
        EdgeArena { blocks: vec![Vec::new()], open: 0 }
    }
}

impl<T: Copy> EdgeArena<T> {
    /// Removes all runs and keeps their memory.
    pub(super) fn clear(&mut self) {
        self.blocks[..=self.open].iter_mut().for_each(Vec::clear);
        self.open = 0;
    }

    /// Begins a run of at most `most` items.
    ///
    /// # Panics
    /// When `most` is more than a block holds.
    pub(super) fn begin(&mut self, most: usize) -> EdgeOffset {
        assert!(most <= BLOCK, "{most} items in a run; expected at most {BLOCK}");
        if self.blocks[self.open].len() + most > BLOCK {
            self.open += 1;
            if self.open == self.blocks.len() {
                self.blocks.push(Vec::with_capacity(BLOCK));
            }
        }
        let start = self.open * BLOCK + self.blocks[self.open].len();
        EdgeOffset(u32::try_from(start).expect("SearchConfig::MOST_NODES keeps the edges below 2^32"))
    }

    /// Adds items to the newest run, within its `most` items.
    pub(super) fn extend(&mut self, items: &[T]) {
        self.blocks[self.open].extend_from_slice(items);
    }

    pub(super) fn get(&self, start: EdgeOffset, len: usize) -> &[T] {
        // A run of none may begin in a block that is not there yet.
        if len == 0 { &[] } else { &self.blocks[start.block()][start.offset()..][..len] }
    }

    pub(super) fn get_mut(&mut self, start: EdgeOffset, len: usize) -> &mut [T] {
        if len == 0 { &mut [] } else { &mut self.blocks[start.block()][start.offset()..][..len] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_stay_where_they_are_and_whole() {
        let mut arena = EdgeArena::default();
        let lens = [1, 480, 7, 0, BLOCK, 100, BLOCK - 100, 3, BLOCK, 0];
        for round in 0..2_usize {
            let mut starts = Vec::new();
            for (number, &len) in lens.iter().enumerate() {
                let start = arena.begin(len);
                let items: Vec<usize> = (0..len).map(|item| round + 1000 * number + item).collect();
                arena.extend(&items);
                starts.push((start, len));
            }
            for (number, &(start, len)) in starts.iter().enumerate() {
                let expected: Vec<usize> = (0..len).map(|item| round + 1000 * number + item).collect();
                assert_eq!(arena.get(start, len), expected, "run {number} of round {round}");
                assert_eq!(arena.get_mut(start, len), expected);
            }
            assert_eq!(arena.blocks.len(), 5, "memory is used again");
            arena.clear();
        }
    }
}
