//! Captures of one move: custodial, Linnaeus' capture, the shieldwall and the king's.
//!
//! All are judged on the board as it stands after the piece has moved and before anything is removed
//! (RULES.md, semantics 1).

use crate::ruleset::Ruleset;
use crate::state::Men;
use crate::tables::{DOWN, LEFT, RIGHT, UP};
use crate::{KingArmed, KingCapture, KingOnEdge, Rules, ThroneHostileToAttackers, ThroneHostileToDefenders};

/// The squares against which attackers capture defending men: their own men and what is hostile by itself.
#[inline(always)]
pub(crate) fn hostile_to_defenders<R: Ruleset>(rules: &Rules, men: Men) -> u128 {
    let t = R::TABLES;
    let options = R::options(rules);
    let mut hostile = men.attackers | R::royal_corners(rules);
    if options.throne_hostile_to_defenders == ThroneHostileToDefenders::WhenEmpty {
        hostile |= t.throne & !men.king;
    }
    if options.linnaean_capture && men.king == t.throne {
        let beside = neighbours_of_throne::<R>();
        // With three attackers beside him the throne turns against the man on the fourth side.
        if (beside & men.attackers).count_ones() == 3 {
            hostile |= t.throne;
        }
    }
    hostile
}

/// The squares against which defenders capture attackers.
#[inline(always)]
pub(crate) fn hostile_to_attackers<R: Ruleset>(rules: &Rules, men: Men) -> u128 {
    let t = R::TABLES;
    let options = R::options(rules);
    let throne = match options.throne_hostile_to_attackers {
        ThroneHostileToAttackers::Always => t.throne,
        ThroneHostileToAttackers::WhenEmpty => t.throne & !men.king,
        ThroneHostileToAttackers::Never => 0,
    };
    men.defenders | king_as_anvil::<R>(rules, men.king) | throne | R::royal_corners(rules)
}

/// The defending men captured by the attacker who has just arrived on `to`, the king's own fate apart.
#[inline(always)]
pub(crate) fn by_attacker<R: Ruleset>(rules: &Rules, men: Men, to: usize) -> u128 {
    let t = R::TABLES;
    let mut captured = 0;
    if t.adjacent[to & 127] & men.defenders != 0 {
        captured = custodial::<R>(t.bit[to & 127], men.defenders, hostile_to_defenders::<R>(rules, men));
    }
    if R::options(rules).shieldwall && may_close_shieldwall::<R>(to, men.defenders | men.king) {
        captured |= shieldwall::<R>(rules, to, men.attackers, men.defenders | men.king) & !men.king;
    }
    captured
}

/// The attackers captured by the defender who has just arrived on `to`; `king_moved` says whether it is the king.
#[inline(always)]
pub(crate) fn by_defender<R: Ruleset>(rules: &Rules, men: Men, to: usize, king_moved: bool) -> u128 {
    let t = R::TABLES;
    let armed = R::options(rules).king_armed;
    if king_moved && !matches!(armed, KingArmed::Armed | KingArmed::HammerOnly) {
        return 0;
    }
    let mut captured = 0;
    if t.adjacent[to & 127] & men.attackers != 0 {
        captured = custodial::<R>(t.bit[to & 127], men.attackers, hostile_to_attackers::<R>(rules, men));
    }
    if R::options(rules).shieldwall && may_close_shieldwall::<R>(to, men.attackers) {
        let arrived = t.bit[to & 127];
        let own = men.defenders | king_as_anvil::<R>(rules, men.king) | arrived;
        captured |= shieldwall::<R>(rules, to, own, men.attackers);
    }
    captured
}

/// Whether the attacker who has just arrived on `to`, beside the king, captures him.
#[inline(always)]
pub(crate) fn king_captured<R: Ruleset>(rules: &Rules, attackers: u128, king: u128, to: usize) -> bool {
    let t = R::TABLES;
    let options = R::options(rules);
    let square = king.trailing_zeros() as usize & 127;
    let around = t.adjacent[square];
    let throne = t.throne & !king;
    let strong = match options.king_capture {
        KingCapture::Strong => true,
        KingCapture::StrongNearThrone => (king | around) & t.throne != 0,
        KingCapture::Weak => false,
    };
    if strong {
        // The edge spares only a king who needs four; a king who is strong near the throne never is strong out there.
        let spared = options.king_on_edge == KingOnEdge::Safe && king & t.edge != 0;
        around & !(attackers | throne) == 0 && !spared
    } else {
        let corners = if options.corner_hostile_to_king { R::royal_corners(rules) } else { 0 };
        custodial::<R>(t.bit[to & 127], king, attackers | throne | corners) != 0
    }
}

/// The king where he can stand on the far side of a capture, else nothing.
#[inline(always)]
fn king_as_anvil<R: Ruleset>(rules: &Rules, king: u128) -> u128 {
    match R::options(rules).king_armed {
        KingArmed::Armed | KingArmed::AnvilOnly => king,
        KingArmed::HammerOnly | KingArmed::Unarmed => 0,
    }
}

#[inline(always)]
fn neighbours_of_throne<R: Ruleset>() -> u128 {
    R::TABLES.adjacent[R::TABLES.throne.trailing_zeros() as usize & 127]
}

/// Victims in a straight line between the piece that arrived and a hostile square.
#[inline(always)]
fn custodial<R: Ruleset>(arrived: u128, victims: u128, hostile: u128) -> u128 {
    let inner = R::TABLES.inner_files;
    let n = R::N;
    ((arrived << 1) & inner & victims & (hostile >> 1))
        | ((arrived >> 1) & inner & victims & (hostile << 1))
        | ((arrived << n) & victims & (hostile >> n))
        | ((arrived >> n) & victims & (hostile << n))
}

/// Where a piece that arrives captures custodially, and whom: the converse of [`custodial`] for all squares of
/// `arrivals` at once.
#[inline(always)]
pub(crate) fn custodial_threats<R: Ruleset>(arrivals: u128, victims: u128, hostile: u128) -> (u128, u128) {
    let inner = R::TABLES.inner_files;
    let n = R::N;
    let right = (arrivals << 1) & inner & victims & (hostile >> 1);
    let left = (arrivals >> 1) & inner & victims & (hostile << 1);
    let up = (arrivals << n) & victims & (hostile >> n);
    let down = (arrivals >> n) & victims & (hostile << n);
    ((right >> 1) | (left << 1) | (up >> n) | (down << n), right | left | up | down)
}

/// A cheap necessary condition: the piece stands on the edge with an enemy beside it on the edge.
#[inline(always)]
fn may_close_shieldwall<R: Ruleset>(to: usize, enemies: u128) -> bool {
    R::TABLES.adjacent_on_edge[to & 127] & enemies != 0
}

/// The enemy rows that the piece on `to` closes as a bracket, on every edge it stands on. Only the king can arrive on
/// a royal corner, and there the wall was closed before he came.
#[cold]
#[inline(never)]
fn shieldwall<R: Ruleset>(rules: &Rules, to: usize, own: u128, enemies: u128) -> u128 {
    let t = R::TABLES;
    let n = R::N;
    let corners = R::royal_corners(rules);
    if t.bit[to & 127] & corners != 0 {
        return 0;
    }
    let (file, rank) = (to % n, to / n);
    let mut captured = 0;
    // The directions of each edge, and the direction from it towards the middle.
    for (on_edge, along, inward) in [
        (rank == 0, [RIGHT, LEFT], UP),
        (rank == n - 1, [RIGHT, LEFT], DOWN),
        (file == 0, [UP, DOWN], RIGHT),
        (file == n - 1, [UP, DOWN], LEFT),
    ] {
        if !on_edge {
            continue;
        }
        for direction in along {
            let mut row = 0;
            let mut square = step::<R>(t.bit[to & 127], direction);
            while square & enemies != 0 && step::<R>(square, inward) & own != 0 {
                row |= square;
                square = step::<R>(square, direction);
            }
            if row.count_ones() >= 2 && square & (own | corners) != 0 {
                captured |= row;
            }
        }
    }
    captured
}

/// One step for a whole set; squares that would leave the board vanish.
#[inline(always)]
pub(crate) fn step<R: Ruleset>(set: u128, direction: usize) -> u128 {
    let t = R::TABLES;
    match direction {
        RIGHT => (set & t.not_last_file) << 1,
        UP => (set << R::N) & t.board,
        LEFT => (set & t.not_first_file) >> 1,
        _ => set >> R::N,
    }
}
