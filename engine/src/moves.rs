//! Squares, moves and the list that move generation fills.

use serde::{Deserialize, Serialize};

use crate::BoardSize;

/// A square: `rank * N + file`, rank 0 at the bottom, file 0 at the left. Its name depends on the board: index 7 is
/// `a2` on 7x7 and `h1` on 9x9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Square(u8);

impl Square {
    /// The square with this index. Not checked against a board.
    #[inline]
    pub const fn new(index: usize) -> Square {
        Square(index as u8)
    }

    /// Index into per-square arrays.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Name on a board of this size, such as `a4`.
    pub fn name(self, size: BoardSize) -> String {
        let n = size.side();
        format!("{}{}", (b'a' + (self.index() % n) as u8) as char, self.index() / n + 1)
    }
}

/// A move from one square to another: origin in bits 0..7, destination in bits 7..14.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Move(u16);

impl Move {
    /// A move between two squares.
    #[inline]
    pub const fn new(from: Square, to: Square) -> Move {
        Move(from.0 as u16 | (to.0 as u16) << 7)
    }

    /// The raw 14 bits.
    #[inline]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Where the piece stands.
    #[inline]
    pub const fn from(self) -> Square {
        Square((self.0 & 127) as u8)
    }

    /// Where it goes.
    #[inline]
    pub const fn to(self) -> Square {
        Square((self.0 >> 7 & 127) as u8)
    }

    /// `a4b4`.
    pub fn text(self, size: BoardSize) -> String {
        format!("{}{}", self.from().name(size), self.to().name(size))
    }

    /// Reads `a4b4`, `a4-b4` or `a4-b4xc4`. Captures named in the text are not checked here.
    ///
    /// # Errors
    /// When a square is missing or lies off a board of this size.
    pub fn parse(text: &str, size: BoardSize) -> Result<Move, MoveTextError> {
        let _ = (text, size);
        todo!()
    }
}

/// A text that is no move.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("move {text:?}: {problem}; expected two squares such as a4b4")]
pub struct MoveTextError {
    /// What was read.
    pub text: String,
    /// What is wrong with it.
    pub problem: String,
}

/// The legal moves of one position, in generation order, without allocation.
///
/// 480 places are enough: each of at most 120 empty squares is reached from at most four directions.
#[derive(Clone)]
pub struct MoveList {
    len: u16,
    moves: [Move; MoveList::CAPACITY],
}

impl MoveList {
    /// The most moves any position can have.
    pub const CAPACITY: usize = 480;

    /// An empty list.
    #[inline]
    pub const fn new() -> MoveList {
        MoveList { len: 0, moves: [Move(0); MoveList::CAPACITY] }
    }

    /// Removes all moves.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds a move.
    #[inline]
    pub fn push(&mut self, mv: Move) {
        self.moves[self.len as usize] = mv;
        self.len += 1;
    }

    /// The moves.
    #[inline]
    pub fn as_slice(&self) -> &[Move] {
        &self.moves[..self.len as usize]
    }
}

impl Default for MoveList {
    fn default() -> Self {
        MoveList::new()
    }
}

impl std::ops::Deref for MoveList {
    type Target = [Move];

    fn deref(&self) -> &[Move] {
        self.as_slice()
    }
}
