//! Where a move stands in the policy output: planes of direction by distance, at the origin square.
//!
//! A board of side N has the distances 1 to N - 1, so its output has `4 (N - 1)` planes. The network has weights for
//! every distance of the largest board, [`POLICY_ROWS`], and on a board those are used that it has.

use hnefi_engine::{BoardSize, Move, Square};

/// Distances that the network has weights for: the longest move of a board of 19 squares a side.
pub const DISTANCES: usize = 18;

/// Directions: up, right, down, left.
pub const DIRECTIONS: usize = 4;

/// Rows of weights of the policy head, `direction * 18 + distance - 1`.
pub const POLICY_ROWS: usize = DIRECTIONS * DISTANCES;

/// Planes of the policy output on a board of `side` squares a side.
pub const fn policy_planes(side: usize) -> usize {
    DIRECTIONS * (side - 1)
}

/// A move's place in the policy output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PolicyIndex {
    /// Up, right, down or left: 0 to 3.
    pub direction: usize,
    /// Squares that the move goes, at least 1.
    pub distance: usize,
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
        PolicyIndex { direction, distance, square: from }
    }

    /// All places of a board of `side` squares a side, in the order of the output.
    pub fn all(side: usize) -> impl Iterator<Item = PolicyIndex> + Clone {
        (0..policy_planes(side)).flat_map(move |plane| {
            let (direction, distance) = (plane / (side - 1), plane % (side - 1) + 1);
            (0..side * side).map(move |square| PolicyIndex { direction, distance, square })
        })
    }

    /// The row of the network's weights, below [`POLICY_ROWS`].
    #[inline]
    pub fn row(self) -> usize {
        self.direction * DISTANCES + self.distance - 1
    }

    /// Index into a `[policy_planes, N, N]` array in row-major order.
    #[inline]
    pub fn flat(self, size: BoardSize) -> usize {
        (self.direction * (size.side() - 1) + self.distance - 1) * size.squares() + self.square
    }

    /// The place at an index of a `[policy_planes, N, N]` array in row-major order.
    #[inline]
    pub fn from_flat(index: usize, size: BoardSize) -> PolicyIndex {
        let (plane, distances) = (index / size.squares(), size.side() - 1);
        let (direction, distance) = (plane / distances, plane % distances + 1);
        PolicyIndex { direction, distance, square: index % size.squares() }
    }

    /// The move at this place, `None` where it would leave the board.
    pub fn to_move(self, size: BoardSize) -> Option<Move> {
        Some(Move::new(Square::new(self.square), Square::new(self.destination(size.side())?)))
    }

    /// The index of the square that the move at this place goes to on a board of `side` squares a side, `None` where it
    /// would leave the board.
    pub fn destination(self, side: usize) -> Option<usize> {
        let PolicyIndex { direction, distance, square } = self;
        let (rank, file) = (square / side, square % side);
        match direction {
            0 => (rank + distance < side).then_some(square + distance * side),
            1 => (file + distance < side).then_some(square + distance),
            2 => (rank >= distance).then(|| square - distance * side),
            _ => (file >= distance).then(|| square - distance),
        }
    }
}
