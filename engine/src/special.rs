//! Special squares: where they are, and who may do what there.

use crate::{Bitboard, BoardSize, FenError, FenProblem, Piece, fen};

/// Some of the three kinds of piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pieces(u8);

impl Pieces {
    /// None.
    pub const NONE: Pieces = Pieces(0);
    /// The attackers.
    pub const ATTACKERS: Pieces = Pieces(1);
    /// The defenders without the king.
    pub const DEFENDERS: Pieces = Pieces(2);
    /// The king.
    pub const KING: Pieces = Pieces(4);
    /// All but the king.
    pub const MEN: Pieces = Pieces(3);
    /// All.
    pub const ALL: Pieces = Pieces(7);

    /// The kinds in one set or both.
    pub const fn or(self, other: Pieces) -> Pieces {
        Pieces(self.0 | other.0)
    }

    /// The kinds that are not among them.
    pub const fn complement(self) -> Pieces {
        Pieces(!self.0 & Pieces::ALL.0)
    }

    /// Whether the kind is among them.
    pub const fn contains(self, piece: Piece) -> bool {
        self.0 >> piece as u8 & 1 == 1
    }

    /// The kinds, attackers first.
    pub fn iter(self) -> impl Iterator<Item = Piece> {
        Piece::ALL.into_iter().filter(move |&piece| self.contains(piece))
    }
}

impl FromIterator<Piece> for Pieces {
    fn from_iter<I: IntoIterator<Item = Piece>>(pieces: I) -> Pieces {
        Pieces(pieces.into_iter().fold(0, |set, piece| set | 1 << piece as u8))
    }
}

/// What special squares of one kind do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Special {
    /// Who may pass over one.
    pub pass: Pieces,
    /// Who may stop on one.
    pub stop: Pieces,
    /// Who may come from a square of another kind, be it to pass or to stop. Others only move among squares of this
    /// kind, and away.
    pub enter: Pieces,
    /// Who is captured against an empty one.
    pub hostile_empty: Pieces,
    /// Who is captured against one that a piece of any side stands on. Enemies are hostile on every square.
    pub hostile_occupied: Pieces,
}

impl Special {
    /// Squares as all others.
    pub const ORDINARY: Special = Special {
        pass: Pieces::ALL,
        stop: Pieces::ALL,
        enter: Pieces::ALL,
        hostile_empty: Pieces::NONE,
        hostile_occupied: Pieces::NONE,
    };

    /// Whether no man may stop there.
    pub const fn is_royal(&self) -> bool {
        !self.stop.contains(Piece::Attacker) && !self.stop.contains(Piece::Defender)
    }
}

/// How many squares a piece goes at most in one move; 0 is as far as the way is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Speed {
    /// The attackers.
    pub attackers: u8,
    /// The defenders without the king.
    pub defenders: u8,
    /// The king.
    pub king: u8,
}

impl Speed {
    /// No limits.
    pub const UNLIMITED: Speed = Speed { attackers: 0, defenders: 0, king: 0 };

    /// The limit of one kind of piece, 0 for none.
    pub const fn of(self, piece: Piece) -> u8 {
        match piece {
            Piece::Attacker => self.attackers,
            Piece::Defender => self.defenders,
            Piece::King => self.king,
        }
    }
}

/// Which squares of a board are special. Every square is of one kind at most.
///
/// ```
/// use hnefi_engine::{BoardSize, Marks};
///
/// let marks = Marks::parse("c5c/7/7/3t3/7/7/c5c")?;
/// assert_eq!(marks, Marks::usual(BoardSize::SEVEN));
/// # Ok::<(), hnefi_engine::FenError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Marks {
    size: BoardSize,
    /// Thrones, corners, forts of the attackers and of the defenders.
    squares: [Bitboard; Marks::KINDS],
}

impl Marks {
    pub(crate) const KINDS: usize = 4;
    const LETTERS: [char; Marks::KINDS] = ['t', 'c', 'a', 'd'];

    /// The throne in the middle, which a board of even side has not, and the four corners.
    pub const fn usual(size: BoardSize) -> Marks {
        let squares = [Bitboard::throne(size), Bitboard::corners(size), Bitboard::EMPTY, Bitboard::EMPTY];
        Marks { size, squares }
    }

    /// These squares, `None` when one is off the board or of two kinds.
    pub fn new(
        size: BoardSize,
        throne: Bitboard,
        corners: Bitboard,
        attacker_forts: Bitboard,
        defender_forts: Bitboard,
    ) -> Option<Marks> {
        let squares = [throne, corners, attacker_forts, defender_forts];
        let marks = Marks { size, squares };
        let apart = squares.into_iter().map(Bitboard::len).sum::<usize>() == marks.all().len();
        (apart && marks.all().is_subset(Bitboard::board(size))).then_some(marks)
    }

    /// The board's size.
    pub const fn size(&self) -> BoardSize {
        self.size
    }

    /// The throne, or several.
    pub const fn throne(&self) -> Bitboard {
        self.squares[0]
    }

    /// The corners, which may be more than the four.
    pub const fn corners(&self) -> Bitboard {
        self.squares[1]
    }

    /// Forts of the attackers.
    pub const fn attacker_forts(&self) -> Bitboard {
        self.squares[2]
    }

    /// Forts of the defenders.
    pub const fn defender_forts(&self) -> Bitboard {
        self.squares[3]
    }

    pub(crate) const fn squares(&self) -> &[Bitboard; Marks::KINDS] {
        &self.squares
    }

    pub(crate) fn all(&self) -> Bitboard {
        self.squares.into_iter().fold(Bitboard::EMPTY, |all, set| all | set)
    }

    /// Reads ranks from the top with `t` for a throne, `c` for a corner, `a` and `d` for forts of attackers and
    /// defenders, and numbers for the rest.
    ///
    /// # Errors
    /// When they fill no board or have another letter.
    pub fn parse(rows: &str) -> Result<Marks, FenError> {
        let read = || {
            let n = rows.split('/').count();
            let size = BoardSize::new(n).ok_or(FenProblem::NoBoard(n))?;
            let mut squares = [Bitboard::EMPTY; Marks::KINDS];
            for (row, rank) in rows.split('/').zip((0..n).rev()) {
                let mark = |letter| {
                    let kind = Marks::LETTERS.iter().position(|&known| known == letter);
                    kind.ok_or(FenProblem::UnknownMark { letter, rank: rank + 1 })
                };
                for (kind, square) in fen::read_row(row, rank, size, mark)? {
                    squares[kind] |= Bitboard::of(square);
                }
            }
            Ok(Marks { size, squares })
        };
        read().map_err(|problem| FenError { fen: rows.to_owned(), problem })
    }

    /// What [`Marks::parse`] reads.
    pub fn rows(&self) -> String {
        fen::rows(self.size, |square| {
            let kind = self.squares.iter().position(|set| set.contains(square))?;
            Some(Marks::LETTERS[kind])
        })
    }
}

#[cfg(feature = "serde")]
mod text {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Marks, Pieces};
    use crate::Piece;

    impl Serialize for Marks {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_str(&self.rows())
        }
    }

    impl<'de> Deserialize<'de> for Marks {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Marks, D::Error> {
            Marks::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
        }
    }

    const NAMES: [&str; 3] = ["attackers", "defenders", "king"];

    /// A list of names; in binary files a byte of three bits.
    impl Serialize for Pieces {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            if serializer.is_human_readable() {
                serializer.collect_seq(self.iter().map(|piece| NAMES[piece as usize]))
            } else {
                serializer.serialize_u8(self.0)
            }
        }
    }

    impl<'de> Deserialize<'de> for Pieces {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pieces, D::Error> {
            if !deserializer.is_human_readable() {
                let bits = u8::deserialize(deserializer)?;
                let known = bits <= Pieces::ALL.0;
                return known.then_some(Pieces(bits)).ok_or_else(|| D::Error::custom("pieces: expected three bits"));
            }
            let read = |name: String| {
                let place = NAMES.iter().position(|&known| known == name);
                let expected = || D::Error::custom(format!("piece {name:?}: expected attackers, defenders or king"));
                place.map(|place| Piece::ALL[place]).ok_or_else(expected)
            };
            Vec::deserialize(deserializer)?.into_iter().map(read).collect()
        }
    }
}
