//! Squares, moves and the list that move generation fills.

use crate::BoardSize;

/// A square: `rank * N + file`, rank 0 at the bottom, file 0 at the left.
///
/// Its name depends on the board, index 7 is `a2` on 7x7 and `h1` on 9x9. So squares and moves have [`Square::name`]
/// and [`Square::parse`], [`Move::text`] and [`Move::parse`], which take the board's size, and neither `Display` nor
/// `FromStr`.
///
/// ```
/// use hnefi_engine::{BoardSize, Square};
///
/// let square = Square::parse("h1", BoardSize::NINE)?;
/// assert_eq!(square, Square::at(7, 0, BoardSize::NINE));
/// assert_eq!(square.name(BoardSize::SEVEN), "a2");
/// # Ok::<(), hnefi_engine::SquareTextError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Square(u16);

impl Square {
    /// The square with this index. Not checked against a board.
    #[inline]
    pub const fn new(index: usize) -> Square {
        Square(index as u16)
    }

    /// The square in this file, 0 at the left, and rank, 0 at the bottom. Not checked against the board.
    #[inline]
    pub const fn at(file: usize, rank: usize, size: BoardSize) -> Square {
        Square::new(rank * size.side() + file)
    }

    /// Reads a name such as `a4`.
    ///
    /// # Errors
    /// When the text is no square of a board of this size.
    pub fn parse(text: &str, size: BoardSize) -> Result<Square, SquareTextError> {
        let mut rest = text;
        let square = take_square(&mut rest, size).and_then(|square| match rest {
            "" => Ok(square),
            _ => Err(NotationProblem::NotASquare(text.to_owned())),
        });
        square.map_err(|problem| SquareTextError { text: text.to_owned(), problem })
    }

    /// Index into per-square arrays.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// File, 0 at the left, and rank, 0 at the bottom, on a board of this size.
    #[inline]
    pub const fn file_and_rank(self, size: BoardSize) -> (usize, usize) {
        (self.index() % size.side(), self.index() / size.side())
    }

    /// Name on a board of this size, such as `a4`.
    pub fn name(self, size: BoardSize) -> String {
        let (file, rank) = self.file_and_rank(size);
        format!("{}{}", (b'a' + file as u8) as char, rank + 1)
    }
}

/// A move from one square to another: origin in bits 0..9, destination in bits 9..18.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Move(u32);

impl Move {
    /// Stands in a history for the move that did not lead to its first position.
    pub(crate) const NONE: Move = Move(0);

    /// A move between two squares.
    #[inline]
    pub const fn new(from: Square, to: Square) -> Move {
        Move(from.0 as u32 | (to.0 as u32) << 9)
    }

    /// How many bits a move has.
    pub const BITS: u32 = 18;

    /// The raw [`Move::BITS`] bits.
    #[inline]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The move of these bits; higher ones are left out.
    #[inline]
    pub const fn of_bits(bits: u32) -> Move {
        Move(bits & ((1 << Move::BITS) - 1))
    }

    /// Where the piece stands.
    #[inline]
    pub const fn from(self) -> Square {
        Square((self.0 & 511) as u16)
    }

    /// Where it goes.
    #[inline]
    pub const fn to(self) -> Square {
        Square((self.0 >> 9 & 511) as u16)
    }

    /// `a4b4`.
    pub fn text(self, size: BoardSize) -> String {
        format!("{}{}", self.from().name(size), self.to().name(size))
    }

    /// Reads `a4b4`, `a4-b4` or `a4-b4xc4`, as TaflZero, OpenTafl and hnefatafl.org write moves too: squares may have
    /// capitals, as in `A4-B4`, the king may be named, as in `Kd4-d1`, and marks for threats and ends may follow, as
    /// in `a4-b4+` and `Kd4-d1--`. Captures named in the text are read but not returned, see
    /// [`Move::parse_with_captures`].
    ///
    /// # Errors
    /// When a square is missing or lies off a board of this size, or the text goes on after the move.
    pub fn parse(text: &str, size: BoardSize) -> Result<Move, MoveTextError> {
        Move::parse_with_captures(text, size).map(|(mv, _)| mv)
    }

    /// Reads a move and the captures its text names: `a4-b4xc4xd5` or `a4-b4xc4/d5`. Nothing is checked against a
    /// position.
    ///
    /// # Errors
    /// As [`Move::parse`].
    pub fn parse_with_captures(text: &str, size: BoardSize) -> Result<(Move, Vec<Square>), MoveTextError> {
        let mut rest = text.trim();
        let mut read = || -> Result<(Move, Vec<Square>), NotationProblem> {
            skip_piece(&mut rest);
            let from = take_square(&mut rest, size)?;
            if rest.starts_with(['^', '=']) {
                return Err(NotationProblem::Berserk);
            }
            rest = rest.strip_prefix('-').unwrap_or(rest);
            let to = take_square(&mut rest, size)?;
            let mut captures = Vec::new();
            while let Some(after) = rest.strip_prefix('x').or_else(|| rest.strip_prefix('/')) {
                rest = after;
                skip_piece(&mut rest);
                captures.push(take_square(&mut rest, size)?);
            }
            if ["", "+", "-", "++", "--"].contains(&rest) {
                Ok((Move::new(from, to), captures))
            } else {
                Err(NotationProblem::Trailing(rest.to_owned()))
            }
        };
        read().map_err(|problem| MoveTextError { text: text.to_owned(), problem })
    }
}

/// Takes the capital that names a piece, as in `Kd4`, off the front of `text`.
fn skip_piece(text: &mut &str) {
    let mut letters = text.chars();
    if letters.next().is_some_and(|first| "KTAD".contains(first))
        && letters.next().is_some_and(|second| second.is_ascii_alphabetic())
    {
        *text = &text[1..];
    }
}

/// Reads a square such as `k11` off the front of `text`.
fn take_square(text: &mut &str, size: BoardSize) -> Result<Square, NotationProblem> {
    let letter = text.chars().next().ok_or(NotationProblem::MissingSquare)?.to_ascii_lowercase();
    if !letter.is_ascii_lowercase() {
        return Err(NotationProblem::NoSquare((*text).to_owned()));
    }
    let digits = text[1..].bytes().take_while(u8::is_ascii_digit).count();
    let (name, rest) = text.split_at(1 + digits);
    let file = usize::from(letter as u8 - b'a');
    let rank = name[1..].parse::<usize>().map_err(|_| NotationProblem::NotASquare(name.to_owned()))?;
    let n = size.side();
    if file >= n || rank == 0 || rank > n {
        return Err(NotationProblem::OffBoard { name: name.to_owned(), size });
    }
    *text = rest;
    Ok(Square::at(file, rank - 1, size))
}

/// A text that is no move.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("move {text:?}: {problem}; expected two squares such as a4b4")]
pub struct MoveTextError {
    /// What was read.
    pub text: String,
    /// What is wrong with it.
    pub problem: NotationProblem,
}

/// A text that is no square.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("square {text:?}: {problem}; expected a file and a rank such as a4")]
pub struct SquareTextError {
    /// What was read.
    pub text: String,
    /// What is wrong with it.
    pub problem: NotationProblem,
}

/// What is wrong with the text of a square or a move.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotationProblem {
    /// The text ends where a square should be.
    #[error("a square is missing at the end")]
    MissingSquare,
    /// Here a square should begin, with a letter.
    #[error("{0:?} does not begin with a square")]
    NoSquare(String),
    /// A letter without a rank, or with more than a rank.
    #[error("{0:?} is not a square")]
    NotASquare(String),
    /// A square of a larger board.
    #[error("{name} lies off the {0}x{0} board", size.side())]
    OffBoard {
        /// The square's name.
        name: String,
        /// The board it is not on.
        size: BoardSize,
    },
    /// One of OpenTafl's moves that these games do not have.
    #[error("it is a jump or a berserk move, which these games do not have")]
    Berserk,
    /// Text after a whole move.
    #[error("{0:?} follows the move")]
    Trailing(String),
}

/// The legal moves of one position, in generation order. Filled again, it does not allocate again.
#[derive(Clone, Debug, Default)]
pub struct MoveList(Vec<Move>);

impl MoveList {
    /// Room made at once: positions of boards up to 11x11 have no more moves.
    const ROOM: usize = 496;

    /// An empty list.
    #[inline]
    pub const fn new() -> MoveList {
        MoveList(Vec::new())
    }

    /// Removes all moves.
    #[inline]
    pub fn clear(&mut self) {
        self.0.clear();
        self.0.reserve(MoveList::ROOM);
    }

    /// Adds a move.
    #[inline]
    pub fn push(&mut self, mv: Move) {
        self.0.push(mv);
    }

    /// Adds `count` moves from one square to `first`, `first + stride` and so on.
    ///
    /// On boards of up to 11x11 a full run is written for any count: that is a few vector stores, where a loop of
    /// unpredictable length would cost more in branches missed.
    #[inline(always)]
    pub(crate) fn push_run(&mut self, from: Square, first: usize, stride: usize, count: usize, longest: usize) {
        // Sums alone: the compiler makes one vector of them.
        let (start, next) = (u32::from(from.0) | (first as u32) << 9, (stride as u32) << 9);
        let mv = |step: usize| Move(start.wrapping_add(step as u32 * next));
        match longest {
            ..=8 => self.push_some::<8>(std::array::from_fn(mv), count),
            9 | 10 => self.push_some::<10>(std::array::from_fn(mv), count),
            _ => self.0.extend((0..count).map(mv)),
        }
    }

    /// Adds the first `count` of a full run.
    #[inline(always)]
    fn push_some<const RUN: usize>(&mut self, run: [Move; RUN], count: usize) {
        let len = self.0.len() + count;
        self.0.extend_from_slice(&run);
        self.0.truncate(len);
    }

    /// Keeps the moves that `keep` accepts, in their order.
    pub fn retain(&mut self, mut keep: impl FnMut(Move) -> bool) {
        self.0.retain(|&mv| keep(mv));
    }

    /// The moves.
    #[inline]
    pub fn as_slice(&self) -> &[Move] {
        &self.0
    }
}

impl<'a> IntoIterator for &'a MoveList {
    type Item = &'a Move;
    type IntoIter = std::slice::Iter<'a, Move>;

    fn into_iter(self) -> Self::IntoIter {
        self.as_slice().iter()
    }
}

impl std::ops::Deref for MoveList {
    type Target = [Move];

    #[inline]
    fn deref(&self) -> &[Move] {
        self.as_slice()
    }
}
