//! Sets of squares that a network's input or a heuristic wants to see, computed for all squares at once.

use crate::capture;
use crate::enclosure;
use crate::movegen;
use crate::ruleset::{Ruleset, Terms, with_ruleset};
use crate::set::Set;
use crate::slide::reach_of_any;
use crate::state::Men;
use crate::{Bitboard, Piece, Position, Side};

/// Where one side could capture at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureThreats {
    /// Squares that a man of the side can reach in one move and where arriving captures custodially.
    pub landings: Bitboard,
    /// Enemy men (not the king) that fall to such a move.
    pub victims: Bitboard,
}

impl Position {
    /// The origins of the legal moves, by direction (up, right, down, left) and distance, one square first and as many
    /// as the board allows; none when the game is over.
    pub fn legal_origins(&self) -> [Vec<Bitboard>; 4] {
        let mut found = std::array::from_fn(|_| vec![Bitboard::EMPTY; self.size().side() - 1]);
        if self.outcome().is_none() {
            with_ruleset!(self.kernel, R => {
                let inner = self.inner::<R>();
                movegen::origins::<R>(&inner.terms, self.recent(), &inner.state, &mut found)
            });
        }
        found
    }

    /// Squares the king could go to in one move from any of `origins`, the pieces standing as they do (the king
    /// lifted). Applied again to its result it gives the squares two moves away, and so on.
    pub fn king_destinations(&self, origins: Bitboard) -> Bitboard {
        with_ruleset!(self.kernel, R => {
            let inner = self.inner::<R>();
            let men = inner.state.men;
            let origins = <R as Ruleset>::Set::narrowed(origins);
            reach_of_any::<R>(&inner.terms, Piece::King, origins, men.attackers | men.defenders).widened()
        })
    }

    /// Where the king could come in any number of moves if he were alone on the board.
    pub(crate) fn king_wanders(&self) -> Bitboard {
        with_ruleset!(self.kernel, R => {
            let inner = self.inner::<R>();
            let mut reached = inner.state.men.king;
            loop {
                let empty = <R as Ruleset>::Set::EMPTY;
                let grown = reached | reach_of_any::<R>(&inner.terms, Piece::King, reached, empty);
                if grown == reached {
                    return reached.widened();
                }
                reached = grown;
            }
        })
    }

    /// Squares reached from the edge by orthogonal steps through squares without attackers.
    pub fn edge_flood(&self) -> Bitboard {
        with_ruleset!(self.kernel, R => {
            let inner = self.inner::<R>();
            enclosure::from_edge::<R>(&inner.terms, inner.state.men.attackers).widened()
        })
    }

    /// Where `side` could capture men at once, if it were to move.
    pub fn capture_threats(&self, side: Side) -> CaptureThreats {
        with_ruleset!(self.kernel, R => {
            let inner = self.inner::<R>();
            capture_threats::<R>(&inner.terms, inner.state.men, side)
        })
    }
}

#[inline(always)]
fn capture_threats<R: Ruleset>(g: &Terms<R::Set>, men: Men<R::Set>, side: Side) -> CaptureThreats {
    let occupied = men.occupied();
    let (piece, own, victims, hostile) = match side {
        Side::Attackers => (Piece::Attacker, men.attackers, men.defenders, capture::hostile_to_defenders::<R>(g, men)),
        Side::Defenders => (Piece::Defender, men.defenders, men.attackers, capture::hostile_to_attackers::<R>(g, men)),
    };
    let reached = reach_of_any::<R>(g, piece, own, occupied);
    let (landings, victims) = capture::custodial_threats::<R>(g, reached, victims, hostile);
    CaptureThreats { landings: landings.widened(), victims: victims.widened() }
}
