//! Where the pieces stand when a game begins.

use std::hash::{Hash, Hasher};

use crate::{Board, BoardSize, FenError, Piece, Square, fen};

/// A board with its opening position, which has one king.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start(pub(crate) Board);

impl Start {
    /// The start of these ranks, the topmost first, as in a FEN: for constants.
    ///
    /// # Panics
    /// When they fill no board, have another letter than a, d and k, or not one king.
    pub const fn of(rows: &str) -> Start {
        let rows = rows.as_bytes();
        let (mut n, mut index) = (1, 0);
        while index < rows.len() {
            n += (rows[index] == b'/') as usize;
            index += 1;
        }
        let Some(size) = BoardSize::new(n) else { panic!("rows of no board") };
        let mut board = Board::empty(size);
        let (mut rank, mut file, mut number) = (n - 1, 0, 0);
        index = 0;
        while index < rows.len() {
            let letter = rows[index];
            index += 1;
            if letter.is_ascii_digit() {
                number = 10 * number + (letter - b'0') as usize;
                continue;
            }
            file += number;
            number = 0;
            if letter == b'/' {
                assert!(file == n, "a row of another width");
                (rank, file) = (rank - 1, 0);
                continue;
            }
            let piece = match letter {
                b'a' => Piece::Attacker,
                b'd' => Piece::Defender,
                b'k' => Piece::King,
                _ => panic!("a letter of no piece"),
            };
            board.put(piece, Square::at(file, rank, size));
            file += 1;
        }
        assert!(rank == 0 && file + number == n && board.king.len() == 1, "rows of no start");
        Start(board)
    }

    /// Reads ranks in any of the notations of a FEN, without the side to move.
    ///
    /// # Errors
    /// When they fill no board or have not one king.
    pub fn parse(rows: &str) -> Result<Start, FenError> {
        fen::read_start(rows).map(Start)
    }

    /// The board's size.
    #[inline]
    pub const fn size(&self) -> BoardSize {
        self.0.size
    }

    /// The pieces.
    #[inline]
    pub const fn board(&self) -> &Board {
        &self.0
    }

    /// Where the king stands.
    pub fn king(&self) -> Square {
        self.0.king().expect("a start has a king")
    }

    /// The ranks from the top, as in a FEN.
    pub fn rows(&self) -> String {
        fen::board_rows(&self.0)
    }
}

/// Where a game began says nothing about a position, so only the size counts: rules that differ in their starts have
/// the same fingerprint.
impl Hash for Start {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.size().hash(state);
    }
}

/// A start in files: its rows.
#[cfg(feature = "serde")]
mod text {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Start;

    impl Serialize for Start {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_str(&self.rows())
        }
    }

    impl<'de> Deserialize<'de> for Start {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Start, D::Error> {
            let rows = String::deserialize(deserializer)?;
            Start::parse(&rows).map_err(D::Error::custom)
        }
    }
}
