//! The values of a rules record, each in the one form that comparing and writing need.

use super::options::Kind;
use crate::{Bitboard, Board, BoardSize, Piece, Speed, Square, Start, fen};

/// Found and expected.
pub(super) type Problem = (String, String);

/// The pieces there are, in the notation's order: attackers, defenders, the king.
const PIECES: &str = "tTK";

/// Pieces of the notation that are on none of our boards.
const OTHER_PIECES: &str = "cnkmgCNMG";

/// How many squares a move every kind of piece may go, of both sides in turn.
const LONGEST_SPEEDS: usize = 12;

/// The value in its one form: pieces in order and only those there are, squares in order, speeds as short as may be.
pub(super) fn normal(kind: Kind, value: &str, size: BoardSize) -> Result<String, Problem> {
    match kind {
        Kind::Choice(choices) => choice(choices, value),
        Kind::Absent(choices) => choice(choices, value).map(|_| String::new()),
        Kind::Off(what) if value != "n" => Err((value.to_owned(), format!("n, because {what} are not played here"))),
        Kind::Off(_) => Ok(value.to_owned()),
        Kind::Number => match value.parse::<u16>() {
            Ok(number) => Ok(number.to_string()),
            Err(_) => Err((value.to_owned(), format!("a number from 0 to {}", u16::MAX))),
        },
        Kind::Pieces => pieces(value),
        Kind::Squares => squares(value, size),
        Kind::Speeds => speeds(value).map(write_speeds),
    }
}

fn choice(choices: &[&str], value: &str) -> Result<String, Problem> {
    match choices.iter().find(|choice| **choice == value) {
        Some(choice) => Ok((*choice).to_owned()),
        None => Err((value.to_owned(), choices.join(", "))),
    }
}

fn pieces(value: &str) -> Result<String, Problem> {
    match value.chars().find(|letter| !PIECES.contains(*letter) && !OTHER_PIECES.contains(*letter)) {
        Some(letter) => Err((letter.to_string(), format!("letters of pieces, {PIECES} and {OTHER_PIECES}"))),
        None => Ok(PIECES.chars().filter(|piece| value.contains(*piece)).collect()),
    }
}

fn squares(value: &str, size: BoardSize) -> Result<String, Problem> {
    if value == "default" {
        return Ok(value.to_owned());
    }
    let mut squares = Bitboard::EMPTY;
    for name in value.split(',').filter(|name| !name.is_empty()) {
        let square =
            Square::parse(name, size).ok().filter(|_| name.starts_with(|file: char| file.is_ascii_lowercase()));
        squares |= Bitboard::of(square.ok_or_else(|| {
            let last = Square::new(size.squares() - 1).name(size);
            (name.to_owned(), format!("squares from a1 to {last}, parted by commas"))
        })?);
    }
    Ok(write_squares(squares, size))
}

pub(super) fn write_squares(squares: Bitboard, size: BoardSize) -> String {
    squares.map(|square| square.name(size)).collect::<Vec<_>>().join(",")
}

pub(super) fn speeds(value: &str) -> Result<Speed, Problem> {
    let list: Vec<&str> = value.strip_suffix(',').unwrap_or(value).split(',').collect();
    let read = |place: usize| match list[place].parse::<i16>() {
        Ok(-1) => Ok(0),
        Ok(speed @ 1..=255) => Ok(speed as u8),
        _ => Err((list[place].to_owned(), "squares a move, from 1 to 255, or -1 for no limit".to_owned())),
    };
    // Longer lists give, for either side, taflmen, commanders, knights, kings, then mercenaries, then guards.
    let [attackers, defenders, king] = match list.len() {
        1 => [0, 0, 0],
        2 => [0, 1, 1],
        count @ (8 | 10 | LONGEST_SPEEDS) => [0, count / 2, count / 2 + 3],
        count => return Err((format!("{count} numbers"), format!("1, 2, 8, 10 or {LONGEST_SPEEDS} numbers"))),
    };
    Ok(Speed { attackers: read(attackers)?, defenders: read(defenders)?, king: read(king)? })
}

/// The shortest list that says these speeds.
pub(super) fn write_speeds(Speed { attackers, defenders, king }: Speed) -> String {
    let speeds = if attackers == defenders && defenders == king {
        vec![attackers]
    } else if defenders == king {
        vec![attackers, defenders]
    } else {
        let mut speeds = [[attackers; LONGEST_SPEEDS / 2], [defenders; LONGEST_SPEEDS / 2]].concat();
        speeds[LONGEST_SPEEDS / 2 + 3] = king;
        speeds
    };
    let write = |&limit: &u8| if limit == 0 { "-1".to_owned() } else { limit.to_string() };
    speeds.iter().map(write).collect::<Vec<_>>().join(",")
}

/// The start of these rows, which begin with the first rank, or with the last one if `inverted`.
pub(super) fn start(value: &str, size: BoardSize, inverted: bool) -> Result<Start, Problem> {
    let side = size.side();
    let rows = value.strip_prefix('/').unwrap_or(value);
    let rows: Vec<&str> = rows.strip_suffix('/').unwrap_or(rows).split('/').collect();
    if rows.len() != side {
        return Err((format!("{} rows", rows.len()), format!("{side}, as dim says")));
    }
    let mut board = Board::empty(size);
    for (index, row) in rows.into_iter().enumerate() {
        let rank = if inverted { side - 1 - index } else { index };
        let pieces = match fen::letters(row, 999, |file, letter| Ok((piece(letter)?, Square::at(file, rank, size)))) {
            Ok((pieces, width)) if width == side => Ok(pieces),
            Ok((_, width)) => Err((format!("{width} squares"), format!("{side}, as dim says"))),
            Err(problem) => Err(problem),
        };
        let in_row = |(found, expected)| (format!("{found} in the row of rank {}", rank + 1), expected);
        pieces.map_err(in_row)?.into_iter().for_each(|(piece, square)| board.put(piece, square));
    }
    match board.king.len() {
        1 => Ok(Start(board)),
        kings => Err((format!("{kings} kings (K)"), "one".to_owned())),
    }
}

fn piece(letter: char) -> Result<Piece, Problem> {
    let unknown = match letter {
        't' => return Ok(Piece::Attacker),
        'T' => return Ok(Piece::Defender),
        'K' => return Ok(Piece::King),
        'c' | 'C' => "commanders",
        'n' | 'N' => "knights",
        'm' | 'M' => "mercenaries",
        'g' | 'G' => "guards",
        'k' => "kings of the attackers",
        _ => return Err((letter.to_string(), "t, T, K and counts of empty squares".to_owned())),
    };
    Err((letter.to_string(), format!("t, T and K, because {unknown} are not played here")))
}
