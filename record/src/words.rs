//! The game in words: how it ended, who is who, what a move did.

use hnefi_engine::{Ending, Escape, Move, NamedRules, Outcome, Ply, Reason, Rules, Side};

use crate::{Chances, Seat};

/// `Attackers` or `Defenders`.
pub fn side(side: Side) -> &'static str {
    match side {
        Side::Attackers => "Attackers",
        Side::Defenders => "Defenders",
    }
}

/// Who sits there: `you`, or the player's name.
pub fn seat(seat: &Seat) -> &str {
    seat.player().map_or("you", String::as_str)
}

/// Name and board of the rules, such as `Brandubh, 7x7`.
pub fn rules(rules: &Rules) -> String {
    let side = rules.size().side();
    let named = NamedRules::from(*rules);
    let name = if named.is_published() { named.name() } else { "own rules".to_owned() };
    // Some names end in the board.
    let mut letters = name.trim_end_matches(&format!("-{side}x{side}")).chars();
    let capital = letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>());
    format!("{}, {side}x{side}", capital.unwrap_or_default())
}

/// The end of a game in a sentence or two.
pub fn ending(ending: Ending, rules: &Rules) -> String {
    let outcome = match ending {
        Ending::Resigned(loser) => {
            return format!("The {loser} resign. The {} win.", loser.opponent());
        }
        Ending::Board(outcome) => outcome,
    };
    let how = match (outcome.reason(), outcome.winner()) {
        (Reason::KingCaptured, _) => "The king is captured.".to_owned(),
        (Reason::KingEscaped, _) if rules.escape == Escape::Corner => {
            "The king reaches a corner and is free.".to_owned()
        }
        (Reason::KingEscaped, _) => "The king reaches the edge and is free.".to_owned(),
        (Reason::ExitFort, _) => "The king holds a fort at the edge that nobody can break.".to_owned(),
        (Reason::Encirclement, _) => "The ring is closed: no defender can reach the edge any more.".to_owned(),
        (Reason::Repetition, Some(winner)) => {
            format!("The position has been repeated too often, which the rules lay to the {}.", winner.opponent())
        }
        (Reason::Repetition, None) => "The position has been repeated too often.".to_owned(),
        (Reason::DrawFort, _) => {
            "The defenders' formation has stood too often behind its walls, which loses for them.".to_owned()
        }
        (Reason::NoMoves, Some(winner)) => format!("The {} have no legal move left.", winner.opponent()),
        (Reason::NoMoves, None) => "The side to move has no legal move.".to_owned(),
        (Reason::NoCapture, _) => format!("{} plies have passed without a capture.", rules.no_capture_draw_plies),
        (Reason::PlyCap, _) => format!("The limit of {} plies is reached.", rules.ply_cap),
    };
    match outcome {
        Outcome::Win { side, .. } => format!("{how} The {side} win."),
        Outcome::Draw { .. } => format!("{how} The game is drawn."),
    }
}

/// A ply as `a4-b4xc4`.
pub fn ply(ply: &Ply, rules: &Rules) -> String {
    let mut text = mv(ply.mv, rules);
    for square in ply.captured {
        text.push('x');
        text.push_str(&square.name(rules.size()));
    }
    text
}

/// A move as `a4-b4`.
pub fn mv(mv: Move, rules: &Rules) -> String {
    format!("{}-{}", mv.from().name(rules.size()), mv.to().name(rules.size()))
}

/// A view in one phrase, such as `attackers 61 %, defenders 37 %, draw 2 %`.
pub fn chances(chances: Chances) -> String {
    let percent = |chance: f32| (100.0 * chance).round() as i32;
    let mut text = format!("attackers {} %, defenders {} %", percent(chances.attackers), percent(chances.defenders));
    if percent(chances.draw) > 0 {
        text.push_str(&format!(", draw {} %", percent(chances.draw)));
    }
    text
}
