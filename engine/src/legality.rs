//! Whether a move is legal, and why it is not.

use std::fmt;

use crate::history::Recent;
use crate::movegen;
use crate::ruleset::Ruleset;
use crate::slide::{king_reach, men_may_cross, men_may_stop, reach};
use crate::state::State;
use crate::{Bitboard, BoardSize, Ending, Move, Piece, Rules, Side, Square};

/// A move the rules forbid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("illegal move {}: {}", mv.text(*size), Explanation { mv: *mv, size: *size, reason: *reason })]
pub struct IllegalMove {
    /// The move.
    pub mv: Move,
    /// The board it was tried on, which gives the squares their names.
    pub size: BoardSize,
    /// Which rule forbids it.
    pub reason: IllegalMoveReason,
}

/// The rule that an illegal move breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IllegalMoveReason {
    /// The game has ended.
    GameOver(Ending),
    /// Its origin or its destination lies outside the board.
    OffBoard,
    /// Nothing stands on its origin.
    NoPiece,
    /// The piece on its origin belongs to the enemy; the side named is to move.
    EnemyPiece(Side),
    /// Origin and destination share neither rank nor file.
    NotInLine,
    /// Another piece stands in the way or on the destination; the nearest one stands here.
    Blocked(Square),
    /// A man may not stop on the throne.
    Throne,
    /// A man may not stop on a corner.
    Corner,
    /// Under these rules even the king may not stop on the throne.
    EmptyThrone,
    /// The piece may not pass over the throne.
    ThronePassage,
    /// The defenders may not make a position occur this many times.
    Repeats(u8),
}

/// A reason in words, with the names of the squares.
struct Explanation {
    mv: Move,
    size: BoardSize,
    reason: IllegalMoveReason,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.size;
        let (from, to) = (self.mv.from().name(size), self.mv.to().name(size));
        match self.reason {
            IllegalMoveReason::GameOver(Ending::Board(outcome)) => {
                write!(f, "the game is over ({}, {})", outcome.status(), outcome.reason())
            }
            IllegalMoveReason::GameOver(Ending::Resigned(side)) => {
                write!(f, "the game is over, the {side} have resigned")
            }
            IllegalMoveReason::OffBoard => write!(f, "it leaves the {0}x{0} board", size.side()),
            IllegalMoveReason::NoPiece => write!(f, "no piece stands on {from}"),
            IllegalMoveReason::EnemyPiece(mover) => {
                write!(f, "the piece on {from} is the enemy's; the {mover} are to move")
            }
            IllegalMoveReason::NotInLine => {
                write!(f, "{to} is not in line with {from}; pieces move along ranks and files")
            }
            IllegalMoveReason::Blocked(square) => write!(f, "the way is blocked at {}", square.name(size)),
            IllegalMoveReason::Throne => write!(f, "the throne {to} is the king's alone"),
            IllegalMoveReason::Corner => write!(f, "the corner {to} is the king's alone"),
            IllegalMoveReason::EmptyThrone => write!(f, "nobody may stop on the empty throne {to}"),
            IllegalMoveReason::ThronePassage => write!(f, "the piece on {from} may not pass the throne"),
            IllegalMoveReason::Repeats(occurrence) => {
                write!(f, "the defenders may not make a position occur {occurrence} times")
            }
        }
    }
}

/// Checks a move without making it.
pub(crate) fn check<R: Ruleset>(
    rules: &Rules,
    recent: Recent<'_>,
    state: &State,
    mv: Move,
) -> Result<(), IllegalMoveReason> {
    let t = R::TABLES;
    if let Some(outcome) = state.outcome {
        return Err(IllegalMoveReason::GameOver(Ending::Board(outcome)));
    }
    let (from, to) = (mv.from(), mv.to());
    if from.index() >= R::N * R::N || to.index() >= R::N * R::N {
        return Err(IllegalMoveReason::OffBoard);
    }
    let piece = state.board.piece_at(from).ok_or(IllegalMoveReason::NoPiece)?;
    if piece.side() != state.side_to_move {
        return Err(IllegalMoveReason::EnemyPiece(state.side_to_move));
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
        return Err(IllegalMoveReason::Repeats(rules.repetition_occurrence));
    }
    Ok(())
}

/// Why a piece cannot reach a square.
#[cold]
fn obstacle<R: Ruleset>(piece: Piece, from: Square, to: Square, occupied: u128) -> IllegalMoveReason {
    let t = R::TABLES;
    let target = Bitboard::of(to).0;
    let rays = t.rays[from.index() & 127];
    let Some(direction) = rays.iter().position(|ray| ray & target != 0) else {
        return IllegalMoveReason::NotInLine;
    };
    // The way there, the destination included.
    let way = rays[direction] & !t.rays[to.index() & 127][direction];
    let blocking = Bitboard(way & occupied);
    if let Some(nearest) = if to > from { blocking.first() } else { blocking.last() } {
        return IllegalMoveReason::Blocked(nearest);
    }
    if target == t.throne {
        if piece == Piece::King { IllegalMoveReason::EmptyThrone } else { IllegalMoveReason::Throne }
    } else if target & t.corners != 0 && piece != Piece::King && way & t.throne == 0 {
        IllegalMoveReason::Corner
    } else {
        IllegalMoveReason::ThronePassage
    }
}
