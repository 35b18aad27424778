//! Regions at the corners of the board, which players look at and the rules do not.

use hnefi_engine::{Bitboard, BoardSize, Square};

/// The four quarters of the board, the middle rank and file in none.
pub(crate) fn quarters(size: BoardSize) -> [Bitboard; 4] {
    static QUARTERS: [[Bitboard; 4]; BoardSize::ALL.len()] = of_sizes(false);
    QUARTERS[size.index()]
}

/// The short diagonals that bar the corners: `a2 b1` up to 7x7, `a3 b2 c1` on the larger boards.
pub(crate) fn corner_bars(size: BoardSize) -> [Bitboard; 4] {
    static BARS: [[Bitboard; 4]; BoardSize::ALL.len()] = of_sizes(true);
    BARS[size.index()]
}

const fn of_sizes(bars: bool) -> [[Bitboard; 4]; BoardSize::ALL.len()] {
    let mut regions = [[Bitboard::EMPTY; 4]; BoardSize::ALL.len()];
    let mut index = 0;
    while index < regions.len() {
        let size = BoardSize::ALL[index];
        let steps = if size.side() <= 7 { 1 } else { 2 };
        regions[index] =
            if bars { at_corners(size, steps + 1, Some(steps)) } else { at_corners(size, size.side() / 2, None) };
        index += 1;
    }
    regions
}

/// One region at each corner of a board: the squares within `width` of both edges, or of those only the ones on the
/// diagonal that many steps from the corner.
const fn at_corners(size: BoardSize, width: usize, diagonal: Option<usize>) -> [Bitboard; 4] {
    let n = size.side();
    let mut regions = [Bitboard::EMPTY; 4];
    let mut corner = 0;
    while corner < 4 {
        let mut i = 0;
        while i < width * width {
            let (up, right) = (i / width, i % width);
            let wanted = match diagonal {
                Some(distance) => up + right == distance,
                None => true,
            };
            if wanted {
                let rank = if corner & 1 == 0 { up } else { n - 1 - up };
                let file = if corner & 2 == 0 { right } else { n - 1 - right };
                regions[corner] = regions[corner].or(Bitboard::of(Square::at(file, rank, size)));
            }
            i += 1;
        }
        corner += 1;
    }
    regions
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
