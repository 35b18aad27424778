//! Sets that a board's size gives: regions, complements, steps, and drawings of sets.

use super::Bitboard;
use crate::{BoardSize, Square, tables};

/// A direction in which pieces move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Towards higher files.
    Right,
    /// Towards higher ranks.
    Up,
    /// Towards lower files.
    Left,
    /// Towards lower ranks.
    Down,
}

impl Direction {
    /// All four.
    pub const ALL: [Direction; 4] = [Direction::Right, Direction::Up, Direction::Left, Direction::Down];
}

impl Bitboard {
    /// Every square of the board.
    ///
    /// ```
    /// use hnefi_engine::{Bitboard, BoardSize};
    ///
    /// assert!(BoardSize::ALL.into_iter().all(|size| Bitboard::board(size).len() == size.squares()));
    /// ```
    #[inline]
    pub const fn board(size: BoardSize) -> Bitboard {
        Bitboard((1 << size.squares()) - 1)
    }

    /// The squares along the four edges.
    ///
    /// ```
    /// use hnefi_engine::{Bitboard, BoardSize::Seven, bitboard};
    ///
    /// assert_eq!(Bitboard::edge(Seven), bitboard! {
    ///     X X X X X X X
    ///     X . . . . . X
    ///     X . . . . . X
    ///     X . . . . . X
    ///     X . . . . . X
    ///     X . . . . . X
    ///     X X X X X X X
    /// });
    /// ```
    #[inline]
    pub const fn edge(size: BoardSize) -> Bitboard {
        Bitboard(tables::of(size).edge)
    }

    /// The four corners, whether the rules give them a meaning or not.
    ///
    /// ```
    /// use hnefi_engine::{Bitboard, BoardSize::Seven, bitboard};
    ///
    /// assert_eq!(Bitboard::corners(Seven), bitboard! {
    ///     X . . . . . X
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    ///     X . . . . . X
    /// });
    /// ```
    #[inline]
    pub const fn corners(size: BoardSize) -> Bitboard {
        Bitboard(tables::of(size).corners)
    }

    /// The square in the middle.
    ///
    /// ```
    /// use hnefi_engine::{Bitboard, BoardSize::Seven, bitboard};
    ///
    /// assert_eq!(Bitboard::throne(Seven), bitboard! {
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . X . . .
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    /// });
    /// ```
    #[inline]
    pub const fn throne(size: BoardSize) -> Bitboard {
        Bitboard(1 << (size.squares() / 2))
    }

    /// A rank, 0 at the bottom.
    ///
    /// # Panics
    /// When the board has no such rank.
    ///
    /// ```
    /// use hnefi_engine::{Bitboard, BoardSize::Seven, bitboard};
    ///
    /// assert_eq!(Bitboard::rank(1, Seven), bitboard! {
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    ///     X X X X X X X
    ///     . . . . . . .
    /// });
    /// ```
    #[inline]
    pub const fn rank(rank: usize, size: BoardSize) -> Bitboard {
        let n = size.side();
        assert!(rank < n, "no such rank");
        Bitboard(((1 << n) - 1) << (rank * n))
    }

    /// A file, 0 at the left.
    ///
    /// # Panics
    /// When the board has no such file.
    ///
    /// ```
    /// use hnefi_engine::{Bitboard, BoardSize::Seven, bitboard};
    ///
    /// assert_eq!(Bitboard::file(1, Seven), bitboard! {
    ///     . X . . . . .
    ///     . X . . . . .
    ///     . X . . . . .
    ///     . X . . . . .
    ///     . X . . . . .
    ///     . X . . . . .
    ///     . X . . . . .
    /// });
    /// ```
    #[inline]
    pub const fn file(file: usize, size: BoardSize) -> Bitboard {
        assert!(file < size.side(), "no such file");
        let t = tables::of(size);
        Bitboard((t.board & !t.not_first_file) << file)
    }

    /// The squares of the board that are not in the set.
    ///
    /// ```
    /// use hnefi_engine::{Bitboard, BoardSize::Seven, bitboard};
    ///
    /// assert_eq!(Bitboard::edge(Seven).complement(Seven), bitboard! {
    ///     . . . . . . .
    ///     . X X X X X .
    ///     . X X X X X .
    ///     . X X X X X .
    ///     . X X X X X .
    ///     . X X X X X .
    ///     . . . . . . .
    /// });
    /// ```
    #[inline]
    pub const fn complement(self, size: BoardSize) -> Bitboard {
        Bitboard::board(size).without(self)
    }

    /// Every square one step on; squares that would leave the board vanish.
    ///
    /// ```
    /// use hnefi_engine::{Bitboard, BoardSize::Seven, Direction, bitboard};
    ///
    /// let set = bitboard! {
    ///     . . . . . . X
    ///     . . . . . . .
    ///     . . X . . . .
    ///     . X . X . . .
    ///     . . X . . . .
    ///     . . . . . . .
    ///     X . . . . . .
    /// };
    /// assert_eq!(set.step(Direction::Right, Seven), bitboard! {
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . X . . .
    ///     . . X . X . .
    ///     . . . X . . .
    ///     . . . . . . .
    ///     . X . . . . .
    /// });
    /// ```
    #[inline]
    pub const fn step(self, direction: Direction, size: BoardSize) -> Bitboard {
        let t = tables::of(size);
        Bitboard(match direction {
            Direction::Right => (self.0 & t.not_last_file) << 1,
            Direction::Up => (self.0 << size.side()) & t.board,
            Direction::Left => (self.0 & t.not_first_file) >> 1,
            Direction::Down => self.0 >> size.side(),
        })
    }

    /// The squares orthogonally beside one of the set; they may be in the set themselves.
    ///
    /// ```
    /// use hnefi_engine::{Bitboard, BoardSize::Seven, bitboard};
    ///
    /// let set = bitboard! {
    ///     . . . . . . X
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . X X . . .
    ///     . . . . . . .
    ///     . . . . . . .
    ///     . . . . . . .
    /// };
    /// assert_eq!(set.neighbours(Seven), bitboard! {
    ///     . . . . . X .
    ///     . . . . . . X
    ///     . . X X . . .
    ///     . X X X X . .
    ///     . . X X . . .
    ///     . . . . . . .
    ///     . . . . . . .
    /// });
    /// ```
    #[inline]
    pub const fn neighbours(self, size: BoardSize) -> Bitboard {
        let [right, left] = [self.step(Direction::Right, size), self.step(Direction::Left, size)];
        let [up, down] = [self.step(Direction::Up, size), self.step(Direction::Down, size)];
        Bitboard(right.0 | left.0 | up.0 | down.0)
    }

    /// A drawing with coordinates, `X` for the squares of the set and dots for all others.
    ///
    /// ```
    /// use hnefi_engine::{Bitboard, BoardSize};
    ///
    /// let lines = [
    ///     " 7 X . . . . . X",
    ///     " 6 . . . . . . .",
    ///     " 5 . . . . . . .",
    ///     " 4 . . . . . . .",
    ///     " 3 . . . . . . .",
    ///     " 2 . . . . . . .",
    ///     " 1 X . . . . . X",
    ///     "   a b c d e f g\n",
    /// ];
    /// assert_eq!(Bitboard::corners(BoardSize::Seven).diagram(BoardSize::Seven), lines.join("\n"));
    /// ```
    pub fn diagram(self, size: BoardSize) -> String {
        draw(size, |square| if self.contains(square) { 'X' } else { '.' })
    }

    /// The set drawn by these words, `X` or `.` for each square of a board from the top left; what [`bitboard!`] calls.
    ///
    /// # Panics
    /// When the words fill no board, or one is neither `X` nor `.`.
    ///
    /// [`bitboard!`]: crate::bitboard
    pub const fn drawn(words: &[&str]) -> Bitboard {
        let n = match words.len() {
            49 => 7,
            81 => 9,
            121 => 11,
            _ => panic!("a drawing has 49, 81 or 121 squares"),
        };
        let mut set = Bitboard::EMPTY;
        let mut place = 0;
        while place < words.len() {
            match words[place].as_bytes() {
                b"X" => set.0 |= Bitboard::of(Square::new((n - 1 - place / n) * n + place % n)).0,
                b"." => {}
                _ => panic!("a square is drawn as X or a dot"),
            }
            place += 1;
        }
        set
    }
}

/// A board as lines of text with coordinates, the topmost rank first, with what `symbol` says of each square.
pub(crate) fn draw(size: BoardSize, symbol: impl Fn(Square) -> char) -> String {
    let n = size.side();
    let mut text = String::new();
    for rank in (0..n).rev() {
        text += &format!("{:>2}", rank + 1);
        for file in 0..n {
            text.push(' ');
            text.push(symbol(Square::at(file, rank, size)));
        }
        text.push('\n');
    }
    text += "  ";
    for file in 0..n as u8 {
        text.push(' ');
        text.push((b'a' + file) as char);
    }
    text.push('\n');
    text
}

/// The set of squares drawn as `X` on a board of 7, 9 or 11 ranks, the topmost first; a constant where one is wanted.
///
/// ```
/// use hnefi_engine::{Bitboard, BoardSize, Square, bitboard};
///
/// const SET: Bitboard = bitboard! {
///     . . X . . . .
///     . . . . . . .
///     . . . . . . .
///     . . . . . . .
///     . . . . . . .
///     . . . . . . .
///     . . . . . . X
/// };
/// assert_eq!(SET, ["c7", "g1"].iter().map(|name| Square::parse(name, BoardSize::Seven).unwrap()).collect());
/// ```
#[macro_export]
macro_rules! bitboard {
    ($($square:tt)*) => {
        $crate::Bitboard::drawn(&[$(stringify!($square)),*])
    };
}
