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

use crate::{Bitboard, Board, BoardSize, Escape, Piece, Rules, Side, Special, Square};

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
    /// As many rows as no board has.
    #[error("{0} rows; expected 5 to 19")]
    NoBoard(usize),
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
    /// A letter that marks no square.
    #[error(
        "unknown letter {letter:?} in the row of rank {rank}; expected t, c, a or d",
        letter = letter.to_string()
    )]
    UnknownMark {
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
    /// A man on a special square that is closed to him.
    #[error("a man on the {kind} {}, where he may not stop", square.name(*size))]
    ManOnSpecial {
        /// `throne`, `corner` or `fort`.
        kind: &'static str,
        /// Where he stands.
        square: Square,
        /// The board.
        size: BoardSize,
    },
}

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
    let board = read_rows(rows, opentafl, Some(rules.size()))?;
    check_pieces(rules, &board)?;
    Ok((board, side))
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

pub(crate) fn read_start(rows: &str) -> Result<Board, FenError> {
    let read = || read_rows(rows, is_opentafl(rows)?, None);
    read().map_err(|problem| FenError { fen: rows.to_owned(), problem })
}

/// Reads the rows of this board, or of any.
fn read_rows(rows: &str, opentafl: bool, expected: Option<BoardSize>) -> Result<Board, FenProblem> {
    let rows = rows.strip_prefix('/').map_or(rows, |rows| rows.strip_suffix('/').unwrap_or(rows));
    let n = rows.split('/').count();
    let size = match expected {
        Some(size) if size.side() != n => return Err(FenProblem::Rows { found: n, size }),
        Some(size) => size,
        None => BoardSize::new(n).ok_or(FenProblem::NoBoard(n))?,
    };
    let mut board = Board::empty(size);
    for (index, row) in rows.split('/').enumerate() {
        let rank = if opentafl { index } else { n - 1 - index };
        let pieces = read_row(row, rank, size, |letter| match letter {
            'a' | 'A' | 't' => Ok(Piece::Attacker),
            'd' | 'D' | 'T' => Ok(Piece::Defender),
            'k' | 'K' => Ok(Piece::King),
            _ => Err(FenProblem::UnknownLetter { letter, rank: rank + 1 }),
        });
        pieces?.into_iter().for_each(|(piece, square)| board.put(piece, square));
    }
    match board.king.len() {
        1 => Ok(board),
        found => Err(FenProblem::Kings { found }),
    }
}

/// What the letters of one row stand for, with their squares.
pub(crate) fn read_row<T>(
    row: &str,
    rank: usize,
    size: BoardSize,
    meaning: impl Fn(char) -> Result<T, FenProblem>,
) -> Result<Vec<(T, Square)>, FenProblem> {
    let n = size.side();
    let (found, width) = letters(row, n + 1, |file, letter| Ok((meaning(letter)?, Square::at(file, rank, size))))?;
    if width != n {
        return Err(FenProblem::Width { rank: rank + 1, width, size });
    }
    Ok(found)
}

/// What the letters of one row, each with its file, stand for, and the row's width. Numbers count as `most` at most.
pub(crate) fn letters<T, E>(
    row: &str,
    most: usize,
    meaning: impl Fn(usize, char) -> Result<T, E>,
) -> Result<(Vec<T>, usize), E> {
    let (mut found, mut width, mut rest) = (Vec::new(), 0, row);
    while let Some(letter) = rest.chars().next() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (token, after) = rest.split_at(if digits > 0 { digits } else { letter.len_utf8() });
        rest = after;
        if digits > 0 {
            width += token.parse::<usize>().unwrap_or(most).min(most);
        } else {
            found.push(meaning(width, letter)?);
            width += 1;
        }
    }
    Ok((found, width))
}

/// Pieces may stand where they may stop, and where one of their kind stands at the start.
fn check_pieces(rules: &Rules, board: &Board) -> Result<(), FenProblem> {
    let kinds = ["throne", "corner", "fort", "fort"].into_iter().zip(rules.special_squares());
    for (kind, (special, squares)) in kinds {
        for piece in [Piece::Attacker, Piece::Defender].into_iter().filter(|&piece| !special.stop.contains(piece)) {
            let closed = board.pieces_of(piece) & (squares - rules.start.board().pieces_of(piece));
            if let Some(square) = closed.first() {
                return Err(FenProblem::ManOnSpecial { kind, square, size: rules.size() });
            }
        }
    }
    Ok(())
}

pub(crate) fn write(board: &Board, side_to_move: Side) -> String {
    format!("{} {}", board_rows(board), if side_to_move == Side::Attackers { 'a' } else { 'd' })
}

pub(crate) fn board_rows(board: &Board) -> String {
    rows(board.size, |square| board.piece_at(square).map(letter))
}

/// Writes the ranks from the top with what `letter` says of each square, and numbers where that is nothing.
pub(crate) fn rows(size: BoardSize, letter: impl Fn(Square) -> Option<char>) -> String {
    let n = size.side();
    let mut fen = String::new();
    for rank in (0..n).rev() {
        let row: Vec<Option<char>> = (0..n).map(|file| letter(Square::at(file, rank, size))).collect();
        for run in row.chunk_by(|one, next| one.is_none() && next.is_none()) {
            match run[0] {
                Some(letter) => fen.push(letter),
                None => fen += &run.len().to_string(),
            }
        }
        if rank > 0 {
            fen.push('/');
        }
    }
    fen
}

impl Board {
    /// The board as lines of text with coordinates: A, D, K, dots, `+` for empty squares of which the rules say more.
    pub fn diagram(&self, rules: &Rules) -> String {
        let n = self.size.side();
        let kinds = rules.special_squares().filter(|(kind, _)| *kind != Special::ORDINARY);
        let goals = if rules.escape == Escape::Corner { rules.marks.corners() } else { Bitboard::EMPTY };
        let marked = kinds.fold(goals, |marked, (_, squares)| marked | squares);
        let mut text = String::new();
        for rank in (0..n).rev() {
            text += &format!("{:>2}", rank + 1);
            for square in (0..n).map(|file| Square::at(file, rank, self.size)) {
                text.push(' ');
                text.push(match self.piece_at(square) {
                    Some(piece) => letter(piece).to_ascii_uppercase(),
                    None if marked.contains(square) => '+',
                    None => '.',
                });
            }
            text.push('\n');
        }
        text += "  ";
        for file in ('a'..).take(n) {
            text.push(' ');
            text.push(file);
        }
        text.push('\n');
        text
    }
}

const fn letter(piece: Piece) -> char {
    match piece {
        Piece::Attacker => 'a',
        Piece::Defender => 'd',
        Piece::King => 'k',
    }
}
