//! Whether a move is legal, and why it is not.

use std::fmt;

use crate::history::Recent;
use crate::movegen;
use crate::ruleset::{Ruleset, Terms};
use crate::set::Set;
use crate::slide::reach_of;
use crate::state::State;
use crate::{BoardSize, Ending, Move, Piece, Pieces, Side, Special, Square};

/// A move the rules forbid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Only the king may stop on the throne.
    Throne,
    /// Only the king may stop on the corner.
    Corner,
    /// Under these rules even the king may not stop on the throne.
    EmptyThrone,
    /// This kind of piece may not stop on a special square, whoever else may.
    SpecialSquare,
    /// The piece may not pass over a special square on its way.
    Passage,
    /// The piece may not go farther than this in one move.
    TooFar(u8),
    /// The defenders may not make a position occur this many times.
    Repeats(u8),
}

impl std::error::Error for IllegalMove {}

impl fmt::Display for IllegalMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.size;
        let (from, to) = (self.mv.from().name(size), self.mv.to().name(size));
        write!(f, "illegal move {from}{to}: ")?;
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
            IllegalMoveReason::SpecialSquare => {
                write!(f, "the piece on {from} may not stop on the special square {to}")
            }
            IllegalMoveReason::Passage => write!(f, "the piece on {from} may not pass a special square before {to}"),
            IllegalMoveReason::TooFar(limit) => write!(f, "the piece on {from} goes {limit} squares at most"),
            IllegalMoveReason::Repeats(occurrence) => {
                write!(f, "the defenders may not make a position occur {occurrence} times")
            }
        }
    }
}

pub(crate) fn check<R: Ruleset>(
    g: &Terms<R::Set>,
    recent: Recent<'_>,
    state: &State<R::Set>,
    mv: Move,
) -> Result<(), IllegalMoveReason> {
    let t = R::tables(g);
    if let Some(outcome) = state.outcome {
        return Err(IllegalMoveReason::GameOver(Ending::Board(outcome)));
    }
    let (from, to) = (mv.from(), mv.to());
    if from.index() >= R::n(g) * R::n(g) || to.index() >= R::n(g) * R::n(g) {
        return Err(IllegalMoveReason::OffBoard);
    }
    let (from_bit, target) = (*R::Set::at(&t.bit, from.index()), *R::Set::at(&t.bit, to.index()));
    let piece = if (state.men.attackers & from_bit).any() {
        Piece::Attacker
    } else if (state.men.defenders & from_bit).any() {
        Piece::Defender
    } else if state.men.king == from_bit {
        Piece::King
    } else {
        return Err(IllegalMoveReason::NoPiece);
    };
    if piece.side() != state.side_to_move {
        return Err(IllegalMoveReason::EnemyPiece(state.side_to_move));
    }
    let occupied = state.men.occupied() & !from_bit;
    let reached = reach_of::<R>(g, piece, from.index(), occupied);
    if (reached & target).is_empty() {
        return Err(obstacle::<R>(g, piece, from, to, occupied));
    }
    if movegen::bound(&g.rules, recent, state) && movegen::repeats::<R>(g, recent, state, mv) {
        return Err(IllegalMoveReason::Repeats(g.rules.repetition_occurrence));
    }
    Ok(())
}

/// Why a piece cannot reach a square.
#[cold]
fn obstacle<R: Ruleset>(
    g: &Terms<R::Set>,
    piece: Piece,
    from: Square,
    to: Square,
    occupied: R::Set,
) -> IllegalMoveReason {
    let t = R::tables(g);
    let target = *R::Set::at(&t.bit, to.index());
    let rays = R::Set::at(&t.rays, from.index());
    let Some(direction) = rays.iter().position(|&ray| (ray & target).any()) else {
        return IllegalMoveReason::NotInLine;
    };
    // The way there, the destination included.
    let way = rays[direction] & !R::Set::at(&t.rays, to.index())[direction];
    let blocking = (way & occupied).widened();
    if let Some(nearest) = if to > from { blocking.first() } else { blocking.last() } {
        return IllegalMoveReason::Blocked(nearest);
    }
    let rules = R::options(g);
    let limit = rules.speed.of(piece);
    if limit > 0 && way.count() > limit.into() {
        return IllegalMoveReason::TooFar(limit);
    }
    // Passing is what fails where the same piece could stop if it came from beside the square.
    let stops = reach_of::<R>(g, piece, from.index(), R::Set::EMPTY);
    let kind = rules.marks.squares().iter().position(|squares| squares.contains(to));
    let special = kind.map_or(Special::ORDINARY, |kind| rules.kinds()[kind]);
    let open: Pieces = special.stop.iter().filter(|&piece| special.enter.contains(piece)).collect();
    if open.contains(piece) || (stops & target).any() {
        return IllegalMoveReason::Passage;
    }
    match (kind, open) {
        (Some(0), Pieces::NONE) => IllegalMoveReason::EmptyThrone,
        (Some(0), Pieces::KING) => IllegalMoveReason::Throne,
        (Some(1), Pieces::KING) => IllegalMoveReason::Corner,
        _ => IllegalMoveReason::SpecialSquare,
    }
}
