//! Sets that a board's size gives: regions, complements, steps, and drawings of sets.

use super::{Bitboard, shifted_down, shifted_up};
use crate::{BoardSize, Square};

/// What a board's size gives.
struct Regions {
    board: Bitboard,
    edge: Bitboard,
    corners: Bitboard,
    throne: Bitboard,
    first_rank: Bitboard,
    first_file: Bitboard,
    last_file: Bitboard,
}

static REGIONS: [Regions; BoardSize::ALL.len()] = {
    let mut all = [const { Regions::of(BoardSize::ALL[0]) }; BoardSize::ALL.len()];
    let mut index = 1;
    while index < all.len() {
        all[index] = Regions::of(BoardSize::ALL[index]);
        index += 1;
    }
    all
};

impl Regions {
    const fn of(size: BoardSize) -> Regions {
        let n = size.side();
        let nothing = Bitboard::EMPTY;
        let mut regions = Regions {
            board: nothing,
            edge: nothing,
            corners: nothing,
            throne: nothing,
            first_rank: nothing,
            first_file: nothing,
            last_file: nothing,
        };
        let mut index = 0;
        while index < n * n {
            let (file, rank) = (index % n, index / n);
            let square = Bitboard::of(Square::new(index));
            let (outer_file, outer_rank) = (file == 0 || file == n - 1, rank == 0 || rank == n - 1);
            regions.board = regions.board.or(square);
            if outer_file || outer_rank {
                regions.edge = regions.edge.or(square);
            }
            if outer_file && outer_rank {
                regions.corners = regions.corners.or(square);
            }
            if n % 2 == 1 && file == n / 2 && rank == n / 2 {
                regions.throne = square;
            }
            if rank == 0 {
                regions.first_rank = regions.first_rank.or(square);
            }
            if file == 0 {
                regions.first_file = regions.first_file.or(square);
            }
            if file == n - 1 {
                regions.last_file = regions.last_file.or(square);
            }
            index += 1;
        }
        regions
    }
}

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
        REGIONS[size.index()].board
    }

    /// The squares along the four edges.
    ///
    /// ```
    /// use hnefi_engine::{Bitboard, BoardSize, bitboard};
    ///
    /// assert_eq!(Bitboard::edge(BoardSize::SEVEN), bitboard! {
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
        REGIONS[size.index()].edge
    }

    /// The four corners, whether the rules give them a meaning or not.
    ///
    /// ```
    /// use hnefi_engine::{Bitboard, BoardSize, bitboard};
    ///
    /// assert_eq!(Bitboard::corners(BoardSize::SEVEN), bitboard! {
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
        REGIONS[size.index()].corners
    }

    /// The square in the middle; none where the side is even.
    ///
    /// ```
    /// use hnefi_engine::{Bitboard, BoardSize, bitboard};
    ///
    /// assert_eq!(Bitboard::throne(BoardSize::SEVEN), bitboard! {
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
        REGIONS[size.index()].throne
    }

    /// A rank, 0 at the bottom.
    ///
    /// # Panics
    /// When the board has no such rank.
    ///
    /// ```
    /// use hnefi_engine::{Bitboard, BoardSize, bitboard};
    ///
    /// assert_eq!(Bitboard::rank(1, BoardSize::SEVEN), bitboard! {
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
        assert!(rank < size.side(), "no such rank");
        Bitboard(shifted_up(REGIONS[size.index()].first_rank.0, rank * size.side()))
    }

    /// A file, 0 at the left.
    ///
    /// # Panics
    /// When the board has no such file.
    ///
    /// ```
    /// use hnefi_engine::{Bitboard, BoardSize, bitboard};
    ///
    /// assert_eq!(Bitboard::file(1, BoardSize::SEVEN), bitboard! {
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
        Bitboard(shifted_up(REGIONS[size.index()].first_file.0, file))
    }

    /// The squares of the board that are not in the set.
    ///
    /// ```
    /// use hnefi_engine::{Bitboard, BoardSize, bitboard};
    ///
    /// assert_eq!(Bitboard::edge(BoardSize::SEVEN).complement(BoardSize::SEVEN), bitboard! {
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
    /// use hnefi_engine::{Bitboard, BoardSize, Direction, bitboard};
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
    /// assert_eq!(set.step(Direction::Right, BoardSize::SEVEN), bitboard! {
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
        let regions = &REGIONS[size.index()];
        match direction {
            Direction::Right => Bitboard(shifted_up(self.without(regions.last_file).0, 1)),
            Direction::Up => Bitboard(shifted_up(self.0, size.side())).and(regions.board),
            Direction::Left => Bitboard(shifted_down(self.without(regions.first_file).0, 1)),
            Direction::Down => Bitboard(shifted_down(self.0, size.side())),
        }
    }

    /// The squares orthogonally beside one of the set; they may be in the set themselves.
    ///
    /// ```
    /// use hnefi_engine::{Bitboard, BoardSize, bitboard};
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
    /// assert_eq!(set.neighbours(BoardSize::SEVEN), bitboard! {
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
        right.or(left).or(up).or(down)
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
    /// assert_eq!(Bitboard::corners(BoardSize::SEVEN).diagram(BoardSize::SEVEN), lines.join("\n"));
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
        let n = words.len().isqrt();
        assert!(n * n == words.len() && BoardSize::new(n).is_some(), "a drawing has the squares of a board");
        let mut set = Bitboard::EMPTY;
        let mut place = 0;
        while place < words.len() {
            match words[place].as_bytes() {
                b"X" => set = set.or(Bitboard::of(Square::new((n - 1 - place / n) * n + place % n))),
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

/// The set of squares drawn as `X` on a board, the topmost rank first; a constant where one is wanted.
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
/// assert_eq!(SET, ["c7", "g1"].iter().map(|name| Square::parse(name, BoardSize::SEVEN).unwrap()).collect());
/// ```
#[macro_export]
macro_rules! bitboard {
    ($($square:tt)*) => {
        $crate::Bitboard::drawn(&[$(stringify!($square)),*])
    };
}
