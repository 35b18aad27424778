//! Sets of squares that a network's input or a heuristic wants to see, computed for all squares at once.

use crate::capture;
use crate::enclosure;
use crate::movegen;
use crate::ruleset::{Ruleset, with_ruleset};
use crate::slide::{men_may_cross, men_may_stop, slides_from_any};
use crate::state::Men;
use crate::{Bitboard, Position, Rules, Side, ThronePass, ThroneStop};

/// Where one side could capture at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureThreats {
    /// Squares that a man of the side can reach in one move and where arriving captures custodially.
    pub landings: Bitboard,
    /// Enemy men (not the king) that fall to such a move.
    pub victims: Bitboard,
}

impl Position {
    /// The origins of the legal moves, by direction (up, right, down, left) and distance, one square first; none when
    /// the game is over.
    pub fn legal_origins(&self) -> [[Bitboard; 10]; 4] {
        let mut found = [[Bitboard::EMPTY; 10]; 4];
        if self.outcome().is_none() {
            let (rules, recent, state) = (&self.rules, self.recent(), &self.state);
            with_ruleset!(self.kernel, R => movegen::origins::<R>(rules, recent, state, &mut found));
        }
        found
    }

    /// Squares the king could go to in one move from any of `origins`, the pieces standing as they do (the king
    /// lifted). Applied again to its result it gives the squares two moves away, and so on.
    pub fn king_destinations(&self, origins: Bitboard) -> Bitboard {
        let men = self.board().men();
        Bitboard(with_ruleset!(self.kernel, R => king_destinations::<R>(&self.rules, men, origins.0)))
    }

    /// Squares reached from the edge by orthogonal steps through squares without attackers.
    pub fn edge_flood(&self) -> Bitboard {
        let attackers = self.board().attackers().0;
        Bitboard(with_ruleset!(self.kernel, R => enclosure::from_edge::<R>(attackers)))
    }

    /// Where `side` could capture men at once, if it were to move.
    pub fn capture_threats(&self, side: Side) -> CaptureThreats {
        let men = self.board().men();
        with_ruleset!(self.kernel, R => capture_threats::<R>(&self.rules, men, side))
    }
}

#[inline(always)]
fn king_destinations<R: Ruleset>(rules: &Rules, men: Men, origins: u128) -> u128 {
    let t = R::TABLES;
    let options = R::options(rules);
    let free = t.board & !(men.attackers | men.defenders);
    let reached = match options.throne_pass {
        ThronePass::All | ThronePass::King => slides_from_any::<R>(origins, free),
        // He may enter the throne and leave it, but not cross it.
        ThronePass::Nobody => {
            let outside = origins & !t.throne;
            slides_from_any::<R>(outside, free & !t.throne)
                | (slides_from_any::<R>(outside, free) & t.throne)
                | slides_from_any::<R>(origins & t.throne, free)
        }
    };
    match options.throne_stop {
        ThroneStop::King => reached,
        ThroneStop::Nobody => reached & !t.throne,
    }
}

#[inline(always)]
fn capture_threats<R: Ruleset>(rules: &Rules, men: Men, side: Side) -> CaptureThreats {
    let occupied = men.attackers | men.defenders | men.king;
    let (own, victims, hostile) = match side {
        Side::Attackers => (men.attackers, men.defenders, capture::hostile_to_defenders::<R>(rules, men)),
        Side::Defenders => (men.defenders, men.attackers, capture::hostile_to_attackers::<R>(rules, men)),
    };
    let reached = slides_from_any::<R>(own, men_may_cross::<R>(rules, occupied)) & men_may_stop::<R>(rules);
    let (landings, victims) = capture::custodial_threats::<R>(reached, victims, hostile);
    CaptureThreats { landings: Bitboard(landings), victims: Bitboard(victims) }
}
