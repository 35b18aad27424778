//! Board texts: FEN and the diagram.
//!
//! A FEN gives the ranks from the top, runs of empty squares as numbers, the letters a d k, then the side to move:
//! `3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 a`. That is written; three more notations are read:
//!
//! - TaflZero's, with the last move's destination before the side to move and two counters after it:
//!   `3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 - a 0 0`. A game begins with its FEN, so these are passed over.
//! - OpenTafl's, which begins with the first rank and has t for attackers, T for defenders and K:
//!   `/3t3/3t3/3T3/ttTKTtt/3T3/3t3/3t3/`. It may stand without the side to move, which then is the rules' first.
//! - hnefatafl.org's, which has capitals and slashes around: `/3A3/3A3/3D3/AADKDAA/3D3/3A3/3A3/`. The last rank comes
//!   first, as in ours, and the side to move may be missing, as in OpenTafl's.

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
    /// More after the side to move than TaflZero's two counters.
    #[error("{0:?} follows the side to move; expected nothing more, or two numbers")]
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
    #[error(
        "unknown letter {letter:?} in the row of rank {rank}; expected a, d, k, or t, T, K as OpenTafl has them",
        letter = letter.to_string()
    )]
    UnknownLetter {
        /// The letter.
        letter: char,
        /// The rank, 1 at the bottom.
        rank: usize,
    },
    /// Men of two notations on one board.
    #[error("letters of two notations; expected a, d and k, or t, T and K as OpenTafl has them")]
    TwoNotations,
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

/// Reads a FEN under these rules.
pub(crate) fn read(rules: &Rules, fen: &str) -> Result<(Board, Side), FenError> {
    read_words(rules, fen).map_err(|problem| FenError { fen: fen.to_owned(), problem })
}

fn read_words(rules: &Rules, fen: &str) -> Result<(Board, Side), FenProblem> {
    let words: Vec<&str> = fen.split_whitespace().collect();
    let (&rows, rest) = words.split_first().ok_or(FenProblem::Empty)?;
    let opentafl = is_opentafl(rows)?;
    let side = match rest {
        [] if opentafl || rows.starts_with('/') => rules.first,
        [] => return Err(FenProblem::NoSide),
        [word, counters @ ..] if side(word).is_some() => side_before(word, counters)?,
        // TaflZero: the last move's destination, or a dash at the start.
        [last, word, counters @ ..] if *last == "-" || Square::parse(last, rules.size()).is_ok() => {
            side_before(word, counters)?
        }
        [word, ..] => return Err(FenProblem::UnknownSide((*word).to_owned())),
    };
    Ok((read_rows(rules, rows, opentafl)?, side))
}

fn side(word: &str) -> Option<Side> {
    match word {
        "a" | "attackers" => Some(Side::Attackers),
        "d" | "defenders" => Some(Side::Defenders),
        _ => None,
    }
}

/// The side that `word` names; TaflZero lets up to two counters follow.
fn side_before(word: &str, counters: &[&str]) -> Result<Side, FenProblem> {
    let side = side(word).ok_or_else(|| FenProblem::UnknownSide(word.to_owned()))?;
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    match counters.iter().enumerate().find(|&(index, word)| index >= 2 || !is_number(word)) {
        Some((_, word)) => Err(FenProblem::Trailing((*word).to_owned())),
        None => Ok(side),
    }
}

/// Whether the rows are in OpenTafl's letters.
fn is_opentafl(rows: &str) -> Result<bool, FenProblem> {
    match (rows.contains(['t', 'T']), rows.contains(['a', 'A', 'd', 'D'])) {
        (true, true) => Err(FenProblem::TwoNotations),
        (opentafl, _) => Ok(opentafl),
    }
}

fn read_rows(rules: &Rules, rows: &str, opentafl: bool) -> Result<Board, FenProblem> {
    let size = rules.size();
    let n = size.side();
    let mut board = Board { attackers: Bitboard::EMPTY, defenders: Bitboard::EMPTY, king: Bitboard::EMPTY, size };
    let rows = rows.strip_prefix('/').map_or(rows, |rows| rows.strip_suffix('/').unwrap_or(rows));
    let found = rows.split('/').count();
    if found != n {
        return Err(FenProblem::Rows { found, size });
    }
    for (index, row) in rows.split('/').enumerate() {
        let rank = if opentafl { index } else { n - 1 - index };
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
            "a" | "A" | "t" => Piece::Attacker,
            "d" | "D" | "T" => Piece::Defender,
            "k" | "K" => Piece::King,
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
    let size = rules.size();
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
