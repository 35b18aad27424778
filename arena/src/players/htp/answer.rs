//! The line by which a program moves.

use hnefi_engine::{Move, Position, Side};

/// What a program answers to `generate_move`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// A move, which need not be legal.
    Move(Move),
    /// It gives up.
    Resignation,
}

/// What the protocol calls a side.
pub(super) const fn role(side: Side) -> &'static str {
    match side {
        Side::Attackers => "attacker",
        Side::Defenders => "defender",
    }
}

/// Reads `play ROLE FROM TO`.
///
/// # Errors
/// When the line is another or names no squares of the board; what was found and what was expected.
pub(super) fn read(line: &str, position: &Position) -> Result<Answer, String> {
    let words: Vec<String> = line.split_whitespace().map(str::to_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let own = role(position.side_to_move());
    match words[..] {
        ["play", _, "resigns" | "resign", ..] => Ok(Answer::Resignation),
        ["play", side, from, to] if side == own => {
            Move::parse(&format!("{from}{to}"), position.size()).map(Answer::Move).map_err(|error| error.to_string())
        }
        _ => Err(format!("{line:?}; expected \"play {own} FROM TO\"")),
    }
}
