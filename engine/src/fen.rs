//! Board texts: FEN and the diagram.
//!
//! A FEN gives the ranks from the top, runs of empty squares as numbers, the letters a d k, then the side to move:
//! `3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 a`.

use crate::bitboard::draw;
use crate::{Bitboard, Board, BoardSize, Piece, Rules, Side, Square};

/// A FEN that cannot stand on the board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("FEN {fen:?}: {problem}")]
pub struct FenError {
    /// What was read.
    pub fen: String,
    /// What is wrong with it and what was expected.
    pub problem: FenProblem,
}

/// What is wrong with a FEN.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FenProblem {
    /// There is nothing but white space.
    #[error("it is empty; expected rows and the side to move")]
    Empty,
    /// The rows are all there is.
    #[error("the side to move is missing; expected a or d after the rows")]
    NoSide,
    /// The second word names no side.
    #[error("side to move {0:?}; expected a or d")]
    UnknownSide(String),
    /// A third word.
    #[error("{0:?} follows the side to move; expected nothing more")]
    Trailing(String),
    /// As many rows as another board has, or none.
    #[error("{found} rows; expected {}", size.side())]
    Rows {
        /// Rows found.
        found: usize,
        /// The board they should fill.
        size: BoardSize,
    },
    /// A row with too many squares or too few.
    #[error("the row of rank {rank} is {width} squares wide; expected {}", size.side())]
    Width {
        /// The rank, 1 at the bottom.
        rank: usize,
        /// Squares found.
        width: usize,
        /// The board the row should fill.
        size: BoardSize,
    },
    /// A letter that stands for no piece.
    #[error("unknown letter {letter:?} in the row of rank {rank}; expected a, d, k", letter = letter.to_string())]
    UnknownLetter {
        /// The letter.
        letter: char,
        /// The rank, 1 at the bottom.
        rank: usize,
    },
    /// No king, or more than one.
    #[error("{}; expected one", match found { 0 => "no king".to_owned(), kings => format!("{kings} kings") })]
    Kings {
        /// Kings found.
        found: usize,
    },
    /// A man on a corner that is the king's alone.
    #[error("a man on the corner {}; only the king may stand there", square.name(*size))]
    ManOnCorner {
        /// The corner.
        square: Square,
        /// The board.
        size: BoardSize,
    },
    /// A man on the throne.
    #[error("a man on the throne {}; only the king may stand there", square.name(*size))]
    ManOnThrone {
        /// The throne.
        square: Square,
        /// The board.
        size: BoardSize,
    },
}

/// The standard layout of a size, as the board part of a FEN.
pub(crate) const fn standard_layout(size: BoardSize) -> &'static str {
    match size {
        BoardSize::Seven => "3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3",
        BoardSize::Nine => "3aaa3/4a4/4d4/a3d3a/aaddkddaa/a3d3a/4d4/4a4/3aaa3",
        BoardSize::Eleven => "3aaaaa3/5a5/11/a4d4a/a3ddd3a/aa1ddkdd1aa/a3ddd3a/a4d4a/11/5a5/3aaaaa3",
    }
}

/// Reads a FEN under these rules.
pub(crate) fn read(rules: &Rules, fen: &str) -> Result<(Board, Side), FenError> {
    read_words(rules, fen).map_err(|problem| FenError { fen: fen.to_owned(), problem })
}

fn read_words(rules: &Rules, fen: &str) -> Result<(Board, Side), FenProblem> {
    let mut words = fen.split_whitespace();
    let rows = words.next().ok_or(FenProblem::Empty)?;
    let side = match words.next() {
        Some("a") => Side::Attackers,
        Some("d") => Side::Defenders,
        Some(other) => return Err(FenProblem::UnknownSide(other.to_owned())),
        None => return Err(FenProblem::NoSide),
    };
    if let Some(more) = words.next() {
        return Err(FenProblem::Trailing(more.to_owned()));
    }
    Ok((read_rows(rules, rows)?, side))
}

fn read_rows(rules: &Rules, rows: &str) -> Result<Board, FenProblem> {
    let size = rules.size;
    let n = size.side();
    let mut board = Board { attackers: Bitboard::EMPTY, defenders: Bitboard::EMPTY, king: Bitboard::EMPTY, size };
    let found = rows.split('/').count();
    if found != n {
        return Err(FenProblem::Rows { found, size });
    }
    for (rank, row) in (0..n).rev().zip(rows.split('/')) {
        for (file, piece) in read_row(row, rank, size)? {
            let square = Square::new(rank * n + file);
            match piece {
                Piece::Attacker => board.attackers |= Bitboard::of(square),
                Piece::Defender => board.defenders |= Bitboard::of(square),
                Piece::King => board.king |= Bitboard::of(square),
            }
            if piece != Piece::King {
                check_man(rules, square)?;
            }
        }
    }
    match board.king.len() {
        1 => Ok(board),
        found => Err(FenProblem::Kings { found }),
    }
}

/// The pieces of one row with their files.
fn read_row(row: &str, rank: usize, size: BoardSize) -> Result<Vec<(usize, Piece)>, FenProblem> {
    let n = size.side();
    let mut pieces = Vec::new();
    let mut width = 0;
    let mut rest = row;
    while let Some(letter) = rest.chars().next() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (token, after) = rest.split_at(if digits > 0 { digits } else { letter.len_utf8() });
        rest = after;
        let piece = match token {
            "a" => Piece::Attacker,
            "d" => Piece::Defender,
            "k" => Piece::King,
            _ if digits > 0 => {
                // A number too long to read is too wide for any board.
                width += token.parse::<usize>().unwrap_or(n + 1).min(n + 1);
                continue;
            }
            _ => return Err(FenProblem::UnknownLetter { letter, rank: rank + 1 }),
        };
        pieces.push((width, piece));
        width += 1;
    }
    if width != n {
        return Err(FenProblem::Width { rank: rank + 1, width, size });
    }
    Ok(pieces)
}

/// Men may stand anywhere but on the throne and on royal corners.
fn check_man(rules: &Rules, square: Square) -> Result<(), FenProblem> {
    let size = rules.size;
    if rules.corners && Bitboard::corners(size).contains(square) {
        Err(FenProblem::ManOnCorner { square, size })
    } else if Bitboard::throne(size).contains(square) {
        Err(FenProblem::ManOnThrone { square, size })
    } else {
        Ok(())
    }
}

/// Writes the board and the side to move.
pub(crate) fn write(board: &Board, side_to_move: Side) -> String {
    let n = board.size.side();
    let mut fen = String::new();
    for rank in (0..n).rev() {
        let mut empty = 0;
        for file in 0..n {
            let Some(piece) = board.piece_at(Square::new(rank * n + file)) else {
                empty += 1;
                continue;
            };
            if empty > 0 {
                fen += &empty.to_string();
                empty = 0;
            }
            fen.push(letter(piece));
        }
        if empty > 0 {
            fen += &empty.to_string();
        }
        fen.push(if rank > 0 { '/' } else { ' ' });
    }
    fen.push(if side_to_move == Side::Attackers { 'a' } else { 'd' });
    fen
}

impl Board {
    /// The board as lines of text with coordinates: A, D, K, dots, `+` for the empty throne and corners.
    pub fn diagram(&self) -> String {
        let marked = Bitboard::corners(self.size) | Bitboard::throne(self.size);
        draw(self.size, |square| match self.piece_at(square) {
            Some(piece) => letter(piece).to_ascii_uppercase(),
            None if marked.contains(square) => '+',
            None => '.',
        })
    }
}

const fn letter(piece: Piece) -> char {
    match piece {
        Piece::Attacker => 'a',
        Piece::Defender => 'd',
        Piece::King => 'k',
    }
}
