//! Sliding: where pieces can go along ranks and files, for whole sets and for single squares.

use crate::Rules;
use crate::ruleset::Ruleset;
use crate::tables::{DOWN, LEFT, RIGHT, Tables, UP};
use crate::{ThronePass, ThroneStop};

/// All squares orthogonally beside a set.
#[inline(always)]
pub(crate) fn neighbours<R: Ruleset>(set: u128) -> u128 {
    let t = R::TABLES;
    ((set << R::N) & t.board)
        | (set >> R::N)
        | ((set << 1) & t.board & t.not_first_file)
        | ((set >> 1) & t.not_last_file)
}

/// All squares reached in one slide from `origins`, which may stand in the way of one another without blocking it.
#[inline(always)]
pub(crate) fn slides_from_any<R: Ruleset>(origins: u128, open: u128) -> u128 {
    let t = R::TABLES;
    run_up::<R>(origins, open & t.not_first_file, 1)
        | run_down::<R>(origins, open & t.not_last_file, 1)
        | run_up::<R>(origins, open, R::N)
        | run_down::<R>(origins, open, R::N)
}

/// Runs through `open` towards higher squares in steps of `stride`, by doubling: 1, 2, 4 and 8 steps together cover
/// the ten of the largest board.
#[inline(always)]
fn run_up<R: Ruleset>(origins: u128, open: u128, stride: usize) -> u128 {
    let mut run = open;
    let mut reached = (origins << stride) & run;
    reached |= run & (reached << stride);
    run &= run << stride;
    reached |= run & (reached << (2 * stride));
    run &= run << (2 * stride);
    reached |= run & (reached << (4 * stride));
    if R::N > 9 {
        run &= run << (4 * stride);
        reached |= run & (reached << (8 * stride));
    }
    reached
}

/// The same towards lower squares.
#[inline(always)]
fn run_down<R: Ruleset>(origins: u128, open: u128, stride: usize) -> u128 {
    let mut run = open;
    let mut reached = (origins >> stride) & run;
    reached |= run & (reached >> stride);
    run &= run >> stride;
    reached |= run & (reached >> (2 * stride));
    run &= run >> (2 * stride);
    reached |= run & (reached >> (4 * stride));
    if R::N > 9 {
        run &= run >> (4 * stride);
        reached |= run & (reached >> (8 * stride));
    }
    reached
}

/// The squares that a piece on `square` reaches before the first blocker in each direction.
#[inline(always)]
pub(crate) fn reach(t: &Tables, square: usize, blockers: u128) -> u128 {
    let rays = reach_by_ray(t, square, blockers);
    rays[RIGHT] | rays[UP] | rays[LEFT] | rays[DOWN]
}

/// The same by direction.
#[inline(always)]
pub(crate) fn reach_by_ray(t: &Tables, square: usize, blockers: u128) -> [u128; 4] {
    let [right, up, left, down] = t.rays[square & 127];
    // Below the lowest blocker; all ones when there is none.
    let rising = |ray: u128| {
        let hit = ray & blockers;
        ray & (hit & hit.wrapping_neg()).wrapping_sub(1)
    };
    // Above the highest blocker. Squares end at bit 120, so the shift stays below 128.
    let falling = |ray: u128| ray & (!0 << (128 - (ray & blockers).leading_zeros()));
    [rising(right), rising(up), falling(left), falling(down)]
}

/// The squares through which men may slide; they may not stop on all of them, see [`men_may_stop`].
#[inline(always)]
pub(crate) fn men_may_cross<R: Ruleset>(rules: &Rules, occupied: u128) -> u128 {
    let t = R::TABLES;
    let free = t.board & !occupied;
    if R::options(rules).throne_pass == ThronePass::All { free } else { free & !t.throne }
}

/// The squares on which men may stop, occupied or not.
#[inline(always)]
pub(crate) fn men_may_stop<R: Ruleset>(rules: &Rules) -> u128 {
    R::TABLES.board & !R::TABLES.throne & !R::royal_corners(rules)
}

/// Whether the king slides as men do, except that he may also stop on corners and the throne.
#[inline(always)]
pub(crate) fn king_slides_like_men<R: Ruleset>(rules: &Rules) -> bool {
    R::options(rules).throne_pass == ThronePass::All
}

/// Where a king on `square` can go, `occupied` not counting himself.
#[inline(always)]
pub(crate) fn king_reach<R: Ruleset>(rules: &Rules, square: usize, occupied: u128) -> u128 {
    let t = R::TABLES;
    let options = R::options(rules);
    let through = reach(t, square, occupied);
    let crossing = match options.throne_pass {
        ThronePass::All | ThronePass::King => through,
        // He may still come to rest on the throne.
        ThronePass::Nobody => reach(t, square, occupied | t.throne) | (through & t.throne),
    };
    match options.throne_stop {
        ThroneStop::King => crossing,
        ThroneStop::Nobody => crossing & !t.throne,
    }
}
