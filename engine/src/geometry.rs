//! The sizes of boards.

/// The side of a square board: 5 to 19.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "u8", into = "u8"))]
pub struct BoardSize(u8);

const SHORTEST: usize = 5;
const LONGEST: usize = 19;

impl BoardSize {
    /// 7x7.
    pub const SEVEN: BoardSize = BoardSize(7);
    /// 9x9.
    pub const NINE: BoardSize = BoardSize(9);
    /// 11x11.
    pub const ELEVEN: BoardSize = BoardSize(11);
    /// 19x19, the largest board.
    pub const LARGEST: BoardSize = BoardSize(LONGEST as u8);

    /// All sizes, smallest first.
    pub const ALL: [BoardSize; LONGEST - SHORTEST + 1] = {
        let mut all = [BoardSize(0); LONGEST - SHORTEST + 1];
        let mut index = 0;
        while index < all.len() {
            all[index] = BoardSize((SHORTEST + index) as u8);
            index += 1;
        }
        all
    };

    /// The board of that side, `None` if there is none.
    #[inline]
    pub const fn new(side: usize) -> Option<BoardSize> {
        if SHORTEST <= side && side <= LONGEST { Some(BoardSize(side as u8)) } else { None }
    }

    /// Squares along one edge.
    #[inline]
    pub const fn side(self) -> usize {
        self.0 as usize
    }

    /// Squares on the board.
    #[inline]
    pub const fn squares(self) -> usize {
        self.side() * self.side()
    }

    /// The place in [`BoardSize::ALL`].
    #[inline]
    pub const fn index(self) -> usize {
        self.side() - SHORTEST
    }
}

impl From<BoardSize> for u8 {
    fn from(size: BoardSize) -> u8 {
        size.0
    }
}

/// A number that is the side of no board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("board size {0}: expected {SHORTEST} to {LONGEST}")]
pub struct BoardSizeError(pub u8);

impl TryFrom<u8> for BoardSize {
    type Error = BoardSizeError;

    fn try_from(value: u8) -> Result<BoardSize, BoardSizeError> {
        BoardSize::new(value.into()).ok_or(BoardSizeError(value))
    }
}
