//! Board texts: FEN and the diagram.
//!
//! A FEN gives the ranks from the top, runs of empty squares as numbers, the letters a d k, then the side to move:
//! `3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 a`.

use crate::{Bitboard, Board, BoardSize, Piece, Rules, Side, Square};

/// A FEN that cannot stand on the board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("FEN {fen:?}: {problem}")]
pub struct FenError {
    /// What was read.
    pub fen: String,
    /// What is wrong with it and what was expected.
    pub problem: String,
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
    let problem = |problem: String| FenError { fen: fen.to_owned(), problem };
    let mut words = fen.split_whitespace();
    let rows = words.next().ok_or_else(|| problem("it is empty; expected rows and the side to move".to_owned()))?;
    let side = match words.next() {
        Some("a") => Side::Attackers,
        Some("d") => Side::Defenders,
        Some(other) => return Err(problem(format!("side to move {other:?}; expected a or d"))),
        None => return Err(problem("the side to move is missing; expected a or d after the rows".to_owned())),
    };
    if let Some(more) = words.next() {
        return Err(problem(format!("{more:?} follows the side to move; expected nothing more")));
    }
    read_rows(rules, rows).map(|board| (board, side)).map_err(problem)
}

fn read_rows(rules: &Rules, rows: &str) -> Result<Board, String> {
    let size = rules.size;
    let n = size.side();
    let mut board = Board { attackers: Bitboard::EMPTY, defenders: Bitboard::EMPTY, king: Bitboard::EMPTY, size };
    let found = rows.split('/').count();
    if found != n {
        return Err(format!("{found} rows; expected {n}"));
    }
    for (rank, row) in (0..n).rev().zip(rows.split('/')) {
        for (file, piece) in read_row(row, rank, n)? {
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
        0 => Err("no king; expected one".to_owned()),
        kings => Err(format!("{kings} kings; expected one")),
    }
}

/// The pieces of one row with their files.
fn read_row(row: &str, rank: usize, n: usize) -> Result<Vec<(usize, Piece)>, String> {
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
            _ => return Err(format!("unknown letter {token:?} in the row of rank {}; expected a, d, k", rank + 1)),
        };
        pieces.push((width, piece));
        width += 1;
    }
    if width != n {
        return Err(format!("the row of rank {} is {width} squares wide; expected {n}", rank + 1));
    }
    Ok(pieces)
}

/// Men may stand anywhere but on the throne and on royal corners.
fn check_man(rules: &Rules, square: Square) -> Result<(), String> {
    let n = rules.size.side();
    let (file, rank) = square.file_and_rank(rules.size);
    let corner = (file == 0 || file == n - 1) && (rank == 0 || rank == n - 1);
    if rules.corners && corner {
        Err(format!("a man on the corner {}; only the king may stand there", square.name(rules.size)))
    } else if (file, rank) == (n / 2, n / 2) {
        Err(format!("a man on the throne {}; only the king may stand there", square.name(rules.size)))
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
        let n = self.size.side();
        let mut text = String::new();
        for rank in (0..n).rev() {
            text += &format!("{:>2}", rank + 1);
            for file in 0..n {
                let on_corner = (file == 0 || file == n - 1) && (rank == 0 || rank == n - 1);
                let marked = on_corner || (file, rank) == (n / 2, n / 2);
                text.push(' ');
                text.push(match self.piece_at(Square::new(rank * n + file)) {
                    Some(piece) => letter(piece).to_ascii_uppercase(),
                    None if marked => '+',
                    None => '.',
                });
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
}

const fn letter(piece: Piece) -> char {
    match piece {
        Piece::Attacker => 'a',
        Piece::Defender => 'd',
        Piece::King => 'k',
    }
}
