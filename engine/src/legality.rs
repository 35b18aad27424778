//! Why a move is illegal.

use crate::history::Recent;
use crate::movegen;
use crate::ruleset::Ruleset;
use crate::slide::{king_reach, men_may_cross, men_may_stop, reach};
use crate::state::State;
use crate::{Bitboard, BoardSize, Move, Outcome, Piece, Rules, Side, Square};

/// A move the rules forbid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("illegal move {mv}: {problem}")]
pub struct IllegalMove {
    /// The move, as `a4b4`.
    pub mv: String,
    /// Which rule forbids it.
    pub problem: String,
}

/// The rule a move breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    GameOver(Outcome),
    OffBoard,
    NoPiece,
    EnemyPiece(Side),
    NotInLine,
    Blocked(Square),
    Throne,
    Corner,
    EmptyThrone,
    ThronePassage,
    Repeats(u8),
}

impl Fault {
    /// The error for a person to read.
    pub(crate) fn explain(self, mv: Move, size: BoardSize) -> IllegalMove {
        let (from, to) = (mv.from().name(size), mv.to().name(size));
        let problem = match self {
            Fault::GameOver(outcome) => {
                format!("the game is over ({}, {})", outcome.status(), outcome.reason().as_str())
            }
            Fault::OffBoard => format!("it leaves the {0}x{0} board", size.side()),
            Fault::NoPiece => format!("no piece stands on {from}"),
            Fault::EnemyPiece(mover) => format!("the piece on {from} is the enemy's; the {mover} are to move"),
            Fault::NotInLine => format!("{to} is not in line with {from}; pieces move along ranks and files"),
            Fault::Blocked(square) => format!("the way is blocked at {}", square.name(size)),
            Fault::Throne => format!("the throne {to} is the king's alone"),
            Fault::Corner => format!("the corner {to} is the king's alone"),
            Fault::EmptyThrone => format!("nobody may stop on the empty throne {to}"),
            Fault::ThronePassage => format!("the piece on {from} may not pass the throne"),
            Fault::Repeats(occurrence) => {
                format!("the defenders may not make a position occur {occurrence} times")
            }
        };
        IllegalMove { mv: mv.text(size), problem }
    }
}

/// Checks a move without making it.
pub(crate) fn check<R: Ruleset>(rules: &Rules, recent: Recent<'_>, state: &State, mv: Move) -> Result<(), Fault> {
    let t = R::TABLES;
    if let Some(outcome) = state.outcome {
        return Err(Fault::GameOver(outcome));
    }
    let (from, to) = (mv.from(), mv.to());
    if from.index() >= R::N * R::N || to.index() >= R::N * R::N {
        return Err(Fault::OffBoard);
    }
    let piece = state.board.piece_at(from).ok_or(Fault::NoPiece)?;
    if piece.side() != state.side_to_move {
        return Err(Fault::EnemyPiece(state.side_to_move));
    }
    let occupied = state.board.occupied().0;
    let reached = if piece == Piece::King {
        king_reach::<R>(rules, from.index(), occupied & !Bitboard::of(from).0)
    } else {
        let blockers = t.board & !men_may_cross::<R>(rules, occupied);
        reach(t, from.index(), blockers) & men_may_stop::<R>(rules)
    };
    let target = Bitboard::of(to).0;
    if reached & target == 0 {
        return Err(obstacle::<R>(piece, from, to, occupied));
    }
    if movegen::bound(rules, recent, state) && movegen::repeats::<R>(rules, recent, state, mv) {
        return Err(Fault::Repeats(rules.repetition_occurrence));
    }
    Ok(())
}

/// Why a piece cannot reach a square.
#[cold]
fn obstacle<R: Ruleset>(piece: Piece, from: Square, to: Square, occupied: u128) -> Fault {
    let t = R::TABLES;
    let target = Bitboard::of(to).0;
    let rays = t.rays[from.index() & 127];
    let Some(direction) = rays.iter().position(|ray| ray & target != 0) else {
        return Fault::NotInLine;
    };
    // The way there, the destination included.
    let way = rays[direction] & !t.rays[to.index() & 127][direction];
    let blocking = Bitboard(way & occupied);
    if let Some(nearest) = if to > from { blocking.first() } else { blocking.last() } {
        return Fault::Blocked(nearest);
    }
    if target == t.throne {
        if piece == Piece::King { Fault::EmptyThrone } else { Fault::Throne }
    } else if target & t.corners != 0 && piece != Piece::King && way & t.throne == 0 {
        Fault::Corner
    } else {
        Fault::ThronePassage
    }
}
