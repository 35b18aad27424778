//! Outcomes that floods decide: the exit fort and the encirclement.

use crate::capture::step;
use crate::ruleset::Ruleset;
use crate::slide::neighbours;
use crate::state::Men;
use crate::tables::{DOWN, LEFT, RIGHT, UP};
use crate::{Encirclement, Rules, ThroneHostileToDefenders};

/// All squares reached from `seeds` by orthogonal steps onto squares of `passable`, the seeds among them.
#[inline(always)]
pub(crate) fn flood<R: Ruleset>(seeds: u128, passable: u128) -> u128 {
    let mut reached = seeds;
    loop {
        let grown = reached | (neighbours::<R>(reached) & passable);
        if grown == reached {
            return reached;
        }
        reached = grown;
    }
}

/// The squares reached from the edge through squares without attackers.
#[inline(always)]
pub(crate) fn from_edge<R: Ruleset>(attackers: u128) -> u128 {
    let open = R::TABLES.board & !attackers;
    flood::<R>(R::TABLES.edge & open, open)
}

/// Whether the attackers have encircled the defenders (RULES.md, semantics 7).
///
/// `witness` is a path from a defender to the edge, found earlier. While a defender stands on it and no attacker
/// does, there is nothing to flood; when it no longer holds, the new one replaces it.
#[inline(always)]
pub(crate) fn encircled<R: Ruleset>(rules: &Rules, men: Men, witness: &mut u128) -> bool {
    if R::options(rules).encirclement == Encirclement::Off {
        return false;
    }
    let inside = men.defenders | men.king;
    if *witness & men.attackers == 0 && *witness & inside != 0 {
        return false;
    }
    match path_to_edge::<R>(men.attackers, inside) {
        Some(path) => {
            *witness = path;
            false
        }
        None => {
            R::options(rules).encirclement == Encirclement::AnyPocket || {
                let open = R::TABLES.board & !men.attackers;
                inside & !flood::<R>(inside & inside.wrapping_neg(), open) == 0
            }
        }
    }
}

/// The witness for [`encircled`] after a move of the defenders, who may have left the old one: found anew now, it
/// serves for every reply.
#[inline(always)]
pub(crate) fn renewed_witness<R: Ruleset>(rules: &Rules, men: Men, witness: u128) -> u128 {
    let inside = men.defenders | men.king;
    if R::options(rules).encirclement == Encirclement::Off || witness & inside != 0 {
        return witness;
    }
    path_to_edge::<R>(men.attackers, inside).unwrap_or(0)
}

/// A connected set of squares without attackers from one of `inside` to the edge, `None` when there is no way out.
#[cold]
#[inline(never)]
fn path_to_edge<R: Ruleset>(attackers: u128, inside: u128) -> Option<u128> {
    let open = R::TABLES.board & !attackers;
    // The flood's layers, to walk back on. A way longer than this is rare, and then only goes unremembered.
    let mut layers = [0; 24];
    let mut reached = inside;
    let mut depth = 0;
    loop {
        let out = reached & R::TABLES.edge;
        if out != 0 {
            return Some(if depth > layers.len() { 0 } else { walk_back::<R>(out, &layers[..depth]) });
        }
        if depth < layers.len() {
            layers[depth] = reached;
        }
        depth += 1;
        let grown = reached | (neighbours::<R>(reached) & open);
        if grown == reached {
            return None;
        }
        reached = grown;
    }
}

/// Joins one square of `out` to the first layer, going through each layer in turn.
fn walk_back<R: Ruleset>(out: u128, layers: &[u128]) -> u128 {
    let mut here = out & out.wrapping_neg();
    let mut path = here;
    for &layer in layers.iter().rev() {
        if here & layer == 0 {
            let before = neighbours::<R>(here) & layer;
            here = before & before.wrapping_neg();
            path |= here;
        }
    }
    path
}

/// Whether the king holds an exit fort (RULES.md, semantics 6).
#[inline(always)]
pub(crate) fn exit_fort<R: Ruleset>(rules: &Rules, men: Men) -> bool {
    let t = R::TABLES;
    men.king & t.edge & !t.corners != 0 && may_be_fort::<R>(rules, men) && is_fort::<R>(rules, men)
}

/// The cheap test: from the king through empty squares nobody meets an attacker. Corners are no passage, since
/// attackers cannot cross them.
#[inline(always)]
fn may_be_fort<R: Ruleset>(rules: &Rules, men: Men) -> bool {
    let t = R::TABLES;
    let empty = t.board & !(men.attackers | men.defenders | men.king);
    let around = t.adjacent[men.king.trailing_zeros() as usize & 127];
    if around & empty == 0 || around & men.attackers != 0 {
        return false;
    }
    let room = empty & !R::royal_corners(rules);
    let mut reached = around & room;
    loop {
        let beside = neighbours::<R>(reached);
        if beside & men.attackers != 0 {
            return false;
        }
        let grown = reached | (beside & room);
        if grown == reached {
            return true;
        }
        reached = grown;
    }
}

/// The greatest set of defenders who can never be captured, found by dropping those who can; a fort stands when the
/// attackers still reach none of the king's neighbours.
#[cold]
#[inline(never)]
fn is_fort<R: Ruleset>(rules: &Rules, men: Men) -> bool {
    let t = R::TABLES;
    let options = R::options(rules);
    let around = t.adjacent[men.king.trailing_zeros() as usize & 127];
    let corners = R::royal_corners(rules);
    let throne = match options.throne_hostile_to_defenders {
        ThroneHostileToDefenders::WhenEmpty => t.throne,
        ThroneHostileToDefenders::Never => 0,
    };
    let lone_attacker = men.attackers.count_ones() < 2;
    let mut safe = men.defenders;
    loop {
        let reached = flood::<R>(men.attackers, t.board & !(men.king | safe | corners));
        if reached & around != 0 {
            return false;
        }
        let occupiable = reached & !t.throne;
        let hostile = occupiable | corners | throne;
        let mut dropped = 0;
        for (one, other) in [(LEFT, RIGHT), (DOWN, UP)] {
            let (a, b) = (step::<R>(hostile, one), step::<R>(hostile, other));
            let (a_occupied, b_occupied) = (step::<R>(occupiable, one), step::<R>(occupiable, other));
            let mut pair = a & b & (a_occupied | b_occupied);
            if lone_attacker {
                pair &= !(a_occupied & b_occupied);
            }
            dropped |= pair;
        }
        dropped &= safe;
        if dropped == 0 && options.shieldwall {
            dropped = shieldwall_prey::<R>(safe, men.king, occupiable, corners);
        }
        if dropped == 0 {
            return true;
        }
        safe &= !dropped;
    }
}

/// The men of edge rows that attackers standing on any of `occupiable` could take by a shieldwall.
fn shieldwall_prey<R: Ruleset>(safe: u128, king: u128, occupiable: u128, corners: u128) -> u128 {
    let t = R::TABLES;
    let n = R::N;
    let row_men = (safe | king) & !corners;
    let mut prey = 0;
    for (start, along, inward) in [(0, RIGHT, UP), (n * (n - 1), RIGHT, DOWN), (0, UP, RIGHT), (n - 1, UP, LEFT)] {
        let mut square = t.bit[start];
        let mut before = 0;
        while square != 0 {
            if square & row_men == 0 {
                before = square;
                square = step::<R>(square, along);
                continue;
            }
            let mut row = 0;
            while square & row_men != 0 {
                row |= square;
                square = step::<R>(square, along);
            }
            let ends = before | square;
            let both_ends = before != 0 && square != 0 && ends & !(occupiable | corners) == 0;
            let fronts = step::<R>(row, inward);
            if row.count_ones() >= 2 && both_ends && ends & occupiable != 0 && fronts & !occupiable == 0 {
                prey |= row & safe;
            }
        }
    }
    prey
}
