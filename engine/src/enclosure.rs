//! Outcomes that floods decide: the exit fort and the encirclement.

use crate::capture::{for_each_row, step};
use crate::ruleset::{Ruleset, Terms};
use crate::set::Set;
use crate::slide::neighbours;
use crate::state::Men;
use crate::tables::{DOWN, LEFT, RIGHT, UP};
use crate::{Encirclement, Piece};

/// All squares reached from `seeds` by orthogonal steps onto squares of `passable`, the seeds among them.
#[inline(always)]
pub(crate) fn flood<R: Ruleset>(g: &Terms<R::Set>, seeds: R::Set, passable: R::Set) -> R::Set {
    let mut reached = seeds;
    loop {
        let grown = reached | (neighbours::<R>(g, reached) & passable);
        if grown == reached {
            return reached;
        }
        reached = grown;
    }
}

/// The squares reached from the edge through squares without attackers.
#[inline(always)]
pub(crate) fn from_edge<R: Ruleset>(g: &Terms<R::Set>, attackers: R::Set) -> R::Set {
    let open = R::tables(g).board & !attackers;
    flood::<R>(g, R::tables(g).edge & open, open)
}

/// Whether the attackers have encircled the defenders (RULES.md, semantics 7).
///
/// `witness` is a path from a defender to the edge, found earlier. While a defender stands on it and no attacker
/// does, there is nothing to flood; when it no longer holds, the new one replaces it.
#[inline(always)]
pub(crate) fn encircled<R: Ruleset>(g: &Terms<R::Set>, men: Men<R::Set>, witness: &mut R::Set) -> bool {
    if R::options(g).encirclement == Encirclement::Off {
        return false;
    }
    let inside = men.defenders | men.king;
    if (*witness & men.attackers).is_empty() && (*witness & inside).any() {
        return false;
    }
    match path_to_edge::<R>(g, men.attackers, inside) {
        Some(path) => {
            *witness = path;
            false
        }
        None => {
            R::options(g).encirclement == Encirclement::AnyPocket || {
                let open = R::tables(g).board & !men.attackers;
                (inside & !flood::<R>(g, inside.lowest(), open)).is_empty()
            }
        }
    }
}

/// The witness for [`encircled`] after a move of the defenders, who may have left the old one: found anew now, it
/// serves for every reply.
#[inline(always)]
pub(crate) fn renewed_witness<R: Ruleset>(g: &Terms<R::Set>, men: Men<R::Set>, witness: R::Set) -> R::Set {
    let inside = men.defenders | men.king;
    if R::options(g).encirclement == Encirclement::Off || (witness & inside).any() {
        return witness;
    }
    path_to_edge::<R>(g, men.attackers, inside).unwrap_or(R::Set::EMPTY)
}

/// A connected set of squares without attackers from one of `inside` to the edge, `None` when there is no way out.
#[cold]
#[inline(never)]
fn path_to_edge<R: Ruleset>(g: &Terms<R::Set>, attackers: R::Set, inside: R::Set) -> Option<R::Set> {
    let open = R::tables(g).board & !attackers;
    // The flood's layers, to walk back on. A way longer than this is rare, and then only goes unremembered.
    let mut layers = [R::Set::EMPTY; 24];
    let mut reached = inside;
    let mut depth = 0;
    loop {
        let out = reached & R::tables(g).edge;
        if out.any() {
            return Some(if depth > layers.len() { R::Set::EMPTY } else { walk_back::<R>(g, out, &layers[..depth]) });
        }
        if depth < layers.len() {
            layers[depth] = reached;
        }
        depth += 1;
        let grown = reached | (neighbours::<R>(g, reached) & open);
        if grown == reached {
            return None;
        }
        reached = grown;
    }
}

/// Joins one square of `out` to the first layer, going through each layer in turn.
fn walk_back<R: Ruleset>(g: &Terms<R::Set>, out: R::Set, layers: &[R::Set]) -> R::Set {
    let mut here = out.lowest();
    let mut path = here;
    for &layer in layers.iter().rev() {
        if (here & layer).is_empty() {
            let before = neighbours::<R>(g, here) & layer;
            here = before.lowest();
            path |= here;
        }
    }
    path
}

/// Whether the king holds an exit fort (RULES.md, semantics 6).
#[inline(always)]
pub(crate) fn exit_fort<R: Ruleset>(g: &Terms<R::Set>, men: Men<R::Set>) -> bool {
    let t = R::tables(g);
    (men.king & t.edge & !t.corners).any() && may_be_fort::<R>(g, men) && is_fort::<R>(g, men)
}

/// The cheap test: no attacker reaches the king through empty squares.
#[inline(always)]
fn may_be_fort<R: Ruleset>(g: &Terms<R::Set>, men: Men<R::Set>) -> bool {
    let t = R::tables(g);
    let empty = t.board & !(men.attackers | men.defenders | men.king);
    let around = *R::Set::at(&t.adjacent, men.king.first());
    if (around & empty).is_empty() || (around & men.attackers).any() {
        return false;
    }
    let room = empty & R::masks(g).roam;
    let mut reached = around & room;
    loop {
        let beside = neighbours::<R>(g, reached);
        if (beside & men.attackers).any() {
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
fn is_fort<R: Ruleset>(g: &Terms<R::Set>, men: Men<R::Set>) -> bool {
    let t = R::tables(g);
    let options = R::options(g);
    let around = *R::Set::at(&t.adjacent, men.king.first());
    let masks = R::masks(g);
    let piece = Piece::Defender as usize;
    let lone_attacker = men.attackers.count() < 2;
    let mut safe = men.defenders;
    loop {
        let reached = flood::<R>(g, men.attackers, masks.roam & !(men.king | safe));
        if (reached & around).any() {
            return false;
        }
        let occupiable = (reached & masks.rest) | men.attackers;
        let held = men.king | safe;
        let by_itself =
            masks.hostile[piece] | (masks.hostile_empty[piece] & !held) | (masks.hostile_occupied[piece] & held);
        let hostile = occupiable | by_itself;
        let mut dropped = R::Set::EMPTY;
        for (one, other) in [(LEFT, RIGHT), (DOWN, UP)] {
            let (a, b) = (step::<R>(g, hostile, one), step::<R>(g, hostile, other));
            let (a_occupied, b_occupied) = (step::<R>(g, occupiable, one), step::<R>(g, occupiable, other));
            let mut pair = a & b & (a_occupied | b_occupied);
            if lone_attacker {
                let needs_no_man = step::<R>(g, by_itself, one) | step::<R>(g, by_itself, other);
                pair &= !(a_occupied & b_occupied) | needs_no_man;
            }
            dropped |= pair;
        }
        dropped &= safe;
        if dropped.is_empty() && options.shieldwall {
            dropped = shieldwall_prey::<R>(g, safe, men.king, occupiable);
        }
        if dropped.is_empty() {
            return true;
        }
        safe &= !dropped;
    }
}

/// The men of edge rows that attackers standing on any of `occupiable` could take by a shieldwall.
fn shieldwall_prey<R: Ruleset>(g: &Terms<R::Set>, safe: R::Set, king: R::Set, occupiable: R::Set) -> R::Set {
    let corners = R::masks(g).wall_ends;
    let mut prey = R::Set::EMPTY;
    for_each_row::<R>(g, (safe | king) & !corners, |row, ends, fronts| {
        let closed = ends.count() == 2 && (ends & !(occupiable | corners)).is_empty();
        if closed && (ends & occupiable).any() && (fronts & !occupiable).is_empty() {
            prey |= row & safe;
        }
    });
    prey
}
