//! Captures of one move: custodial, Linnaeus' capture, the shieldwall and the king's.
//!
//! All are judged on the board as it stands after the piece has moved and before anything is removed
//! (RULES.md, semantics 1).

use crate::ruleset::{Ruleset, Terms};
use crate::set::Set;
use crate::state::Men;
use crate::tables::{DOWN, LEFT, RIGHT, UP};
use crate::{KingArmed, KingCapture, KingOnEdge, Piece};

/// The squares that are hostile by themselves to pieces of one kind.
#[inline(always)]
fn hostile_squares<R: Ruleset>(g: &Terms<R::Set>, men: Men<R::Set>, piece: Piece) -> R::Set {
    let masks = R::masks(g);
    let piece = piece as usize;
    // Where men cannot come, only the king makes a difference.
    let standing = if masks.men_on_special { men.occupied() } else { men.king };
    masks.hostile[piece] | (masks.hostile_empty[piece] & !standing) | (masks.hostile_occupied[piece] & standing)
}

/// The squares against which attackers capture defending men: their own men and what is hostile by itself.
#[inline(always)]
pub(crate) fn hostile_to_defenders<R: Ruleset>(g: &Terms<R::Set>, men: Men<R::Set>) -> R::Set {
    let mut hostile = men.attackers | hostile_squares::<R>(g, men, Piece::Defender);
    if R::options(g).linnaean_capture && (men.king & R::masks(g).throne).any() {
        let beside = *R::Set::at(&R::tables(g).adjacent, men.king.first());
        // With three attackers beside him the throne turns against the man on the fourth side.
        if (beside & men.attackers).count() == 3 {
            hostile |= men.king;
        }
    }
    hostile
}

/// The squares against which defenders capture attackers.
#[inline(always)]
pub(crate) fn hostile_to_attackers<R: Ruleset>(g: &Terms<R::Set>, men: Men<R::Set>) -> R::Set {
    men.defenders | king_as_anvil::<R>(g, men.king) | hostile_squares::<R>(g, men, Piece::Attacker)
}

/// The defending men captured by the attacker who has just arrived on `to`, the king's own fate apart.
#[inline(always)]
pub(crate) fn by_attacker<R: Ruleset>(g: &Terms<R::Set>, men: Men<R::Set>, to: usize) -> R::Set {
    let t = R::tables(g);
    let mut captured = R::Set::EMPTY;
    if (*R::Set::at(&t.adjacent, to) & men.defenders).any() {
        captured = custodial::<R>(g, *R::Set::at(&t.bit, to), men.defenders, hostile_to_defenders::<R>(g, men));
    }
    if R::options(g).shieldwall && may_close_shieldwall::<R>(g, to, men.defenders | men.king) {
        captured |= shieldwall::<R>(g, to, men.attackers, men.defenders | men.king) & !men.king;
    }
    captured
}

/// The attackers captured by the defender who has just arrived on `to`; `king_moved` says whether it is the king.
#[inline(always)]
pub(crate) fn by_defender<R: Ruleset>(g: &Terms<R::Set>, men: Men<R::Set>, to: usize, king_moved: bool) -> R::Set {
    let t = R::tables(g);
    let armed = R::options(g).king_armed;
    if king_moved && !matches!(armed, KingArmed::Armed | KingArmed::HammerOnly) {
        return R::Set::EMPTY;
    }
    let mut captured = R::Set::EMPTY;
    if (*R::Set::at(&t.adjacent, to) & men.attackers).any() {
        captured = custodial::<R>(g, *R::Set::at(&t.bit, to), men.attackers, hostile_to_attackers::<R>(g, men));
    }
    if R::options(g).shieldwall && may_close_shieldwall::<R>(g, to, men.attackers) {
        let arrived = *R::Set::at(&t.bit, to);
        let own = men.defenders | king_as_anvil::<R>(g, men.king) | arrived;
        captured |= shieldwall::<R>(g, to, own, men.attackers);
    }
    captured
}

/// Whether the attacker who has just arrived on `to`, beside the king, captures him.
#[inline(always)]
pub(crate) fn king_captured<R: Ruleset>(g: &Terms<R::Set>, men: Men<R::Set>, to: usize) -> bool {
    let (t, options) = (R::tables(g), R::options(g));
    let king = men.king;
    let hostile = men.attackers | hostile_squares::<R>(g, men, Piece::King);
    let strong = match options.king_capture {
        KingCapture::Strong => true,
        KingCapture::StrongNearThrone => (king & R::masks(g).near_throne).any(),
        KingCapture::Weak => false,
    };
    if strong {
        let around = *R::Set::at(&t.adjacent, king.first());
        // The edge spares only a king who needs four.
        let spared = options.king_on_edge == KingOnEdge::Safe && (king & t.edge).any();
        (around & !hostile).is_empty() && !spared
    } else {
        custodial::<R>(g, *R::Set::at(&t.bit, to), king, hostile).any()
    }
}

/// The king where he can stand on the far side of a capture, else nothing.
#[inline(always)]
fn king_as_anvil<R: Ruleset>(g: &Terms<R::Set>, king: R::Set) -> R::Set {
    match R::options(g).king_armed {
        KingArmed::Armed | KingArmed::AnvilOnly => king,
        KingArmed::HammerOnly | KingArmed::Unarmed => R::Set::EMPTY,
    }
}

/// Victims in a straight line between the piece that arrived and a hostile square.
#[inline(always)]
fn custodial<R: Ruleset>(g: &Terms<R::Set>, arrived: R::Set, victims: R::Set, hostile: R::Set) -> R::Set {
    let inner = R::tables(g).inner_files;
    let n = R::n(g);
    ((arrived << 1) & inner & victims & (hostile >> 1))
        | ((arrived >> 1) & inner & victims & (hostile << 1))
        | ((arrived << n) & victims & (hostile >> n))
        | ((arrived >> n) & victims & (hostile << n))
}

/// Where a piece that arrives captures custodially, and whom: the converse of [`custodial`] for all squares of
/// `arrivals` at once.
#[inline(always)]
pub(crate) fn custodial_threats<R: Ruleset>(
    g: &Terms<R::Set>,
    arrivals: R::Set,
    victims: R::Set,
    hostile: R::Set,
) -> (R::Set, R::Set) {
    let inner = R::tables(g).inner_files;
    let n = R::n(g);
    let right = (arrivals << 1) & inner & victims & (hostile >> 1);
    let left = (arrivals >> 1) & inner & victims & (hostile << 1);
    let up = (arrivals << n) & victims & (hostile >> n);
    let down = (arrivals >> n) & victims & (hostile << n);
    ((right >> 1) | (left << 1) | (up >> n) | (down << n), right | left | up | down)
}

/// A cheap necessary condition: the piece stands on the edge with an enemy beside it on the edge, or need not.
#[inline(always)]
fn may_close_shieldwall<R: Ruleset>(g: &Terms<R::Set>, to: usize, enemies: R::Set) -> bool {
    !R::options(g).shieldwall_flank || (*R::Set::at(&R::tables(g).adjacent_on_edge, to) & enemies).any()
}

/// The enemy rows that the piece on `to` closes as a bracket, on every edge it stands on. Only the king can arrive on
/// a royal corner, and there the wall was closed before he came.
#[cold]
#[inline(never)]
fn shieldwall<R: Ruleset>(g: &Terms<R::Set>, to: usize, own: R::Set, enemies: R::Set) -> R::Set {
    let t = R::tables(g);
    let n = R::n(g);
    let corners = R::masks(g).wall_ends;
    if !R::options(g).shieldwall_flank {
        return closed_rows::<R>(g, own, corners, enemies);
    }
    if (*R::Set::at(&t.bit, to) & corners).any() {
        return R::Set::EMPTY;
    }
    let (file, rank) = (to % n, to / n);
    let mut captured = R::Set::EMPTY;
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
            let mut row = R::Set::EMPTY;
            let mut square = step::<R>(g, *R::Set::at(&t.bit, to), direction);
            while (square & enemies & !corners).any() && (step::<R>(g, square, inward) & own).any() {
                row |= square;
                square = step::<R>(g, square, direction);
            }
            if row.count() >= 2 && (square & (own | corners)).any() {
                captured |= row;
            }
        }
    }
    captured
}

/// The enemy rows that stand closed: every one has `own` in front, and at each end `own` or one of `corners`.
fn closed_rows<R: Ruleset>(g: &Terms<R::Set>, own: R::Set, corners: R::Set, enemies: R::Set) -> R::Set {
    let mut closed = R::Set::EMPTY;
    for_each_row::<R>(g, enemies & !corners, |row, ends, fronts| {
        if ends.count() == 2 && (ends & !(own | corners)).is_empty() && (fronts & !own).is_empty() {
            closed |= row;
        }
    });
    closed
}

/// Calls `found` with every row of at least two of `members` along an edge, its ends and the squares in front of it.
pub(crate) fn for_each_row<R: Ruleset>(
    g: &Terms<R::Set>,
    members: R::Set,
    mut found: impl FnMut(R::Set, R::Set, R::Set),
) {
    let n = R::n(g);
    for (start, along, inward) in [(0, RIGHT, UP), (n * (n - 1), RIGHT, DOWN), (0, UP, RIGHT), (n - 1, UP, LEFT)] {
        let mut square = *R::Set::at(&R::tables(g).bit, start);
        let mut before = R::Set::EMPTY;
        while square.any() {
            if (square & members).is_empty() {
                before = square;
                square = step::<R>(g, square, along);
                continue;
            }
            let mut row = R::Set::EMPTY;
            while (square & members).any() {
                row |= square;
                square = step::<R>(g, square, along);
            }
            if row.count() >= 2 {
                found(row, before | square, step::<R>(g, row, inward));
            }
            before = R::Set::EMPTY;
        }
    }
}

/// One step for a whole set; squares that would leave the board vanish.
#[inline(always)]
pub(crate) fn step<R: Ruleset>(g: &Terms<R::Set>, set: R::Set, direction: usize) -> R::Set {
    let t = R::tables(g);
    match direction {
        RIGHT => (set & t.not_last_file) << 1,
        UP => (set << R::n(g)) & t.board,
        LEFT => (set & t.not_first_file) >> 1,
        _ => set >> R::n(g),
    }
}
