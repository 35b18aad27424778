//! Regions at the corners of the board, which players look at and the rules do not.

use hnefi_engine::{Bitboard, BoardSize};

/// Index into tables that have an entry per board, smallest first.
const fn index(size: BoardSize) -> usize {
    match size {
        BoardSize::Seven => 0,
        BoardSize::Nine => 1,
        BoardSize::Eleven => 2,
    }
}

/// The four quarters of the board, the middle rank and file in none.
pub(crate) fn quarters(size: BoardSize) -> [Bitboard; 4] {
    const QUARTERS: [[Bitboard; 4]; 3] = [at_corners(7, 3, None), at_corners(9, 4, None), at_corners(11, 5, None)];
    QUARTERS[index(size)]
}

/// The short diagonals that bar the corners: `a2 b1` on 7x7, `a3 b2 c1` on the larger boards.
pub(crate) fn corner_bars(size: BoardSize) -> [Bitboard; 4] {
    const BARS: [[Bitboard; 4]; 3] = [at_corners(7, 2, Some(1)), at_corners(9, 3, Some(2)), at_corners(11, 3, Some(2))];
    BARS[index(size)]
}

/// One region at each corner of an `n` by `n` board: the squares within `width` of both edges, or of those only the
/// ones on the diagonal that many steps from the corner.
const fn at_corners(n: usize, width: usize, diagonal: Option<usize>) -> [Bitboard; 4] {
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
                regions[corner].0 |= 1 << (rank * n + file);
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
        assert_eq!(names(corner_bars(BoardSize::Seven)[0], BoardSize::Seven), ["b1", "a2"]);
        assert_eq!(names(corner_bars(BoardSize::Eleven)[3], BoardSize::Eleven), ["k9", "j10", "i11"]);
        for size in BoardSize::ALL {
            let n = size.side();
            assert!(quarters(size).iter().all(|quarter| quarter.len() == (n / 2) * (n / 2)));
        }
    }
}
