//! The three board sizes.

/// One of the three boards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "u8", into = "u8"))]
pub enum BoardSize {
    /// 7x7.
    Seven = 7,
    /// 9x9.
    Nine = 9,
    /// 11x11.
    Eleven = 11,
}

impl BoardSize {
    /// All sizes, smallest first.
    pub const ALL: [BoardSize; 3] = [BoardSize::Seven, BoardSize::Nine, BoardSize::Eleven];

    /// Squares along one edge: 7, 9 or 11.
    #[inline]
    pub const fn side(self) -> usize {
        self as usize
    }

    /// Squares on the board: 49, 81 or 121.
    #[inline]
    pub const fn squares(self) -> usize {
        self.side() * self.side()
    }
}

impl From<BoardSize> for u8 {
    fn from(size: BoardSize) -> u8 {
        size as u8
    }
}

/// A number that is the side of no board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("board size {0}: expected 7, 9 or 11")]
pub struct BoardSizeError(pub u8);

impl TryFrom<u8> for BoardSize {
    type Error = BoardSizeError;

    fn try_from(value: u8) -> Result<BoardSize, BoardSizeError> {
        match value {
            7 => Ok(BoardSize::Seven),
            9 => Ok(BoardSize::Nine),
            11 => Ok(BoardSize::Eleven),
            other => Err(BoardSizeError(other)),
        }
    }
}
