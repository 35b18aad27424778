//! Regions at the corners of the board, which players look at and the rules do not.

use std::sync::LazyLock;

use hnefi_engine::{Bitboard, BoardSize, Square};

/// The four quarters of the board, the middle rank and file in none.
pub(crate) fn quarters(size: BoardSize) -> [Bitboard; 4] {
    REGIONS[size.index()].0
}

/// The short diagonals that bar the corners: `a2 b1` up to 7x7, `a3 b2 c1` on the larger boards.
pub(crate) fn corner_bars(size: BoardSize) -> [Bitboard; 4] {
    REGIONS[size.index()].1
}

static REGIONS: LazyLock<[([Bitboard; 4], [Bitboard; 4]); BoardSize::ALL.len()]> = LazyLock::new(|| {
    BoardSize::ALL.map(|size| {
        let steps = if size.side() <= 7 { 1 } else { 2 };
        let quarter = |up: usize, right: usize| up.max(right) < size.side() / 2;
        (at_corners(size, quarter), at_corners(size, |up, right| up + right == steps))
    })
});

/// The squares at each corner of a board that are wanted so many steps up and to the right of it, or as seen from the
/// corner.
fn at_corners(size: BoardSize, wanted: impl Fn(usize, usize) -> bool) -> [Bitboard; 4] {
    let from = |far: bool, line: usize| if far { size.side() - 1 - line } else { line };
    [(false, false), (true, false), (false, true), (true, true)].map(|(top, last)| {
        let is_wanted = |&square: &Square| {
            let (file, rank) = square.file_and_rank(size);
            wanted(from(top, rank), from(last, file))
        };
        Bitboard::board(size).filter(is_wanted).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(set: Bitboard, size: BoardSize) -> Vec<String> {
        set.map(|square| square.name(size)).collect()
    }

    #[test]
    fn regions_lie_where_they_are_said_to() {
        assert_eq!(names(corner_bars(BoardSize::SEVEN)[0], BoardSize::SEVEN), ["b1", "a2"]);
        assert_eq!(names(corner_bars(BoardSize::ELEVEN)[3], BoardSize::ELEVEN), ["k9", "j10", "i11"]);
        for size in BoardSize::ALL {
            let n = size.side();
            assert!(quarters(size).iter().all(|quarter| quarter.len() == (n / 2) * (n / 2)));
        }
    }
}
