//! The values of a rules record, each in the one form that comparing and writing need.

use super::options::Kind;

/// Found and expected.
pub(super) type Problem = (String, String);

/// The pieces there are, in the notation's order: attackers, defenders, the king.
const PIECES: &str = "tTK";

/// Pieces of the notation that are on none of our boards.
const OTHER_PIECES: &str = "cnkmgCNMG";

/// How many squares a move every kind of piece may go, of both sides in turn.
const LONGEST_SPEEDS: usize = 12;

/// The value in its one form: pieces in order and only those there are, squares in order, speeds as short as may be.
pub(super) fn normal(kind: Kind, value: &str, side: usize) -> Result<String, Problem> {
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
        Kind::Squares => squares(value, side),
        Kind::Speeds => speeds(value).map(|[attackers, defenders, king]| write_speeds(attackers, defenders, king)),
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

fn squares(value: &str, side: usize) -> Result<String, Problem> {
    if value == "default" {
        return Ok(value.to_owned());
    }
    let mut squares = Vec::new();
    for name in value.split(',').filter(|name| !name.is_empty()) {
        let square = square(name, side).ok_or_else(|| {
            (name.to_owned(), format!("squares from a1 to {}, parted by commas", square_name((side - 1, side - 1))))
        })?;
        squares.push(square);
    }
    squares.sort_unstable_by_key(|(file, rank)| (*rank, *file));
    squares.dedup();
    Ok(write_squares(&squares))
}

/// File and rank of a square, from 0.
pub(super) fn square(name: &str, side: usize) -> Option<(usize, usize)> {
    let (file, rank) = name.split_at_checked(1)?;
    let file = usize::from(file.bytes().next()?).checked_sub(usize::from(b'a'))?;
    let rank = Some(rank).filter(|rank| rank.bytes().all(|byte| byte.is_ascii_digit()))?.parse::<usize>().ok()?;
    Some((file, rank.checked_sub(1)?)).filter(|(file, rank)| *file < side && *rank < side)
}

fn square_name((file, rank): (usize, usize)) -> String {
    format!("{}{}", char::from(b'a' + file as u8), rank + 1)
}

fn write_squares(squares: &[(usize, usize)]) -> String {
    squares.iter().map(|square| square_name(*square)).collect::<Vec<_>>().join(",")
}

/// The speeds of attackers, defenders and king; -1 is no limit.
pub(super) fn speeds(value: &str) -> Result<[i32; 3], Problem> {
    let list: Vec<&str> = value.strip_suffix(',').unwrap_or(value).split(',').collect();
    let read = |place: usize| {
        let speed = list[place].parse::<i32>().ok().filter(|speed| *speed == -1 || (1..=255).contains(speed));
        speed.ok_or_else(|| (list[place].to_owned(), "squares a move, from 1 to 255, or -1 for no limit".to_owned()))
    };
    // Longer lists give, for either side, taflmen, commanders, knights, kings, then mercenaries, then guards.
    let [attackers, defenders, king] = match list.len() {
        1 => [0, 0, 0],
        2 => [0, 1, 1],
        count @ (8 | 10 | LONGEST_SPEEDS) => [0, count / 2, count / 2 + 3],
        count => return Err((format!("{count} numbers"), format!("1, 2, 8, 10 or {LONGEST_SPEEDS} numbers"))),
    };
    Ok([read(attackers)?, read(defenders)?, read(king)?])
}

/// The shortest list that says these speeds.
pub(super) fn write_speeds(attackers: i32, defenders: i32, king: i32) -> String {
    let speeds = if attackers == defenders && defenders == king {
        vec![attackers]
    } else if defenders == king {
        vec![attackers, defenders]
    } else {
        let mut speeds = [[attackers; LONGEST_SPEEDS / 2], [defenders; LONGEST_SPEEDS / 2]].concat();
        speeds[LONGEST_SPEEDS / 2 + 3] = king;
        speeds
    };
    speeds.iter().map(i32::to_string).collect::<Vec<_>>().join(",")
}

/// The rows of a start, the first rank first, with the counts of empty squares as short as may be.
pub(super) fn start(value: &str, side: usize, inverted: bool) -> Result<Vec<String>, Problem> {
    let rows = value.strip_prefix('/').unwrap_or(value);
    let rows: Vec<&str> = rows.strip_suffix('/').unwrap_or(rows).split('/').collect();
    if rows.len() != side {
        return Err((format!("{} rows", rows.len()), format!("{side}, as dim says")));
    }
    let number = |index: usize| if inverted { side - index } else { index + 1 };
    let mut rows = (rows.iter().enumerate())
        .map(|(index, row)| {
            start_row(row, side)
                .map_err(|(found, expected)| (format!("{found} in the row of rank {}", number(index)), expected))
        })
        .collect::<Result<Vec<String>, Problem>>()?;
    if inverted {
        rows.reverse();
    }
    match rows.iter().flat_map(|row| row.chars()).filter(|piece| *piece == 'K').count() {
        1 => Ok(rows),
        kings => Err((format!("{kings} kings (K)"), "one".to_owned())),
    }
}

fn start_row(row: &str, side: usize) -> Result<String, Problem> {
    let mut squares = String::new();
    let mut digits = String::new();
    for letter in row.chars().chain(['/']) {
        if letter.is_ascii_digit() && digits.len() < 3 {
            digits.push(letter);
            continue;
        }
        squares.extend(std::iter::repeat_n('.', digits.parse::<usize>().unwrap_or_default()));
        digits.clear();
        let unknown = match letter {
            '/' => break,
            't' | 'T' | 'K' => {
                squares.push(letter);
                continue;
            }
            'c' | 'C' => "commanders",
            'n' | 'N' => "knights",
            'm' | 'M' => "mercenaries",
            'g' | 'G' => "guards",
            'k' => "kings of the attackers",
            _ => return Err((letter.to_string(), "t, T, K and counts of empty squares".to_owned())),
        };
        return Err((letter.to_string(), format!("t, T and K, because {unknown} are not played here")));
    }
    if squares.len() != side {
        return Err((format!("{} squares", squares.len()), format!("{side}, as dim says")));
    }
    let mut written = String::new();
    let mut rest = squares.as_str();
    while let Some(first) = rest.chars().next() {
        let empty = rest.len() - rest.trim_start_matches('.').len();
        if empty > 0 {
            written += &empty.to_string();
        } else {
            written.push(first);
        }
        rest = &rest[empty.max(1)..];
    }
    Ok(written)
}

/// Whether a list names the four corners and nothing else.
pub(super) fn are_corners(value: &str, side: usize) -> bool {
    let last = side - 1;
    value == write_squares(&[(0, 0), (last, 0), (0, last), (last, last)])
}

/// Whether a list names the centre and nothing else. A board with an even side has none.
pub(super) fn are_centre(value: &str, side: usize) -> bool {
    side % 2 == 1 && value == write_squares(&[(side / 2, side / 2)])
}
