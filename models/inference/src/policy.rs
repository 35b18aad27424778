//! Where a move stands in the policy output: 40 planes (4 directions by 10 distances) at the origin square.

use hnefi_engine::{BoardSize, Move, Square};

/// Planes of the policy head: directions up, right, down, left, each with distances 1 to 10.
pub const POLICY_PLANES: usize = 40;

/// Distances a direction has planes for: a man crosses the largest board in one move of ten.
const DISTANCES: usize = 10;

/// A move's place in the policy output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PolicyIndex {
    /// `direction * 10 + distance - 1`, directions up, right, down, left.
    pub plane: usize,
    /// The origin square's index.
    pub square: usize,
}

impl PolicyIndex {
    /// The place of `mv` on a board of this size.
    pub fn of(mv: Move, size: BoardSize) -> PolicyIndex {
        let n = size.side();
        let (from, to) = (mv.from().index(), mv.to().index());
        let (rank_from, rank_to) = (from / n, to / n);
        let (direction, distance) = if rank_from == rank_to {
            if to > from { (1, to - from) } else { (3, from - to) }
        } else if rank_to > rank_from {
            (0, rank_to - rank_from)
        } else {
            (2, rank_from - rank_to)
        };
        PolicyIndex { plane: direction * DISTANCES + distance - 1, square: from }
    }

    /// Index into a `[POLICY_PLANES, N, N]` array in row-major order.
    #[inline]
    pub fn flat(self, size: BoardSize) -> usize {
        self.plane * size.squares() + self.square
    }

    /// The place at an index of a `[POLICY_PLANES, N, N]` array in row-major order.
    #[inline]
    pub fn from_flat(index: usize, size: BoardSize) -> PolicyIndex {
        PolicyIndex { plane: index / size.squares(), square: index % size.squares() }
    }

    /// The move at this place, `None` where it would leave the board.
    pub fn to_move(self, size: BoardSize) -> Option<Move> {
        Some(Move::new(Square::new(self.square), Square::new(self.destination(size.side())?)))
    }

    /// The index of the square that the move at this place goes to on a board of `side` squares a side, `None` where it
    /// would leave the board.
    pub fn destination(self, side: usize) -> Option<usize> {
        let (rank, file) = (self.square / side, self.square % side);
        let distance = self.plane % DISTANCES + 1;
        match self.plane / DISTANCES {
            0 => (rank + distance < side).then_some(self.square + distance * side),
            1 => (file + distance < side).then_some(self.square + distance),
            2 => (rank >= distance).then(|| self.square - distance * side),
            _ => (file >= distance).then(|| self.square - distance),
        }
    }
}
