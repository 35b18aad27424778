//! Sliding: where pieces can go along ranks and files, for whole sets and for single squares.

use crate::capture::step;
use crate::ruleset::{Ruleset, Terms};
use crate::set::Set;
use crate::tables::{DOWN, LEFT, RIGHT, Tables, UP};
use crate::{Piece, Side};

#[inline(always)]
pub(crate) fn neighbours<R: Ruleset>(g: &Terms<R::Set>, set: R::Set) -> R::Set {
    let t = R::tables(g);
    ((set << R::n(g)) & t.board)
        | (set >> R::n(g))
        | ((set << 1) & t.board & t.not_first_file)
        | ((set >> 1) & t.not_last_file)
}

/// All squares reached in one slide from `origins`, which may stand in the way of one another without blocking it.
#[inline(always)]
pub(crate) fn slides_from_any<R: Ruleset>(g: &Terms<R::Set>, origins: R::Set, open: R::Set) -> R::Set {
    let t = R::tables(g);
    run_up::<R>(g, origins, open & t.not_first_file, 1)
        | run_down::<R>(g, origins, open & t.not_last_file, 1)
        | run_up::<R>(g, origins, open, R::n(g))
        | run_down::<R>(g, origins, open, R::n(g))
}

/// Runs through `open` towards higher squares in steps of `stride`, by doubling: 1, 2, 4, 8 and 16 steps together cover
/// the 18 of the largest board.
#[inline(always)]
fn run_up<R: Ruleset>(g: &Terms<R::Set>, origins: R::Set, open: R::Set, stride: usize) -> R::Set {
    let mut run = open;
    let mut reached = (origins << stride) & run;
    reached |= run & (reached << stride);
    run &= run << stride;
    reached |= run & (reached << (2 * stride));
    run &= run << (2 * stride);
    reached |= run & (reached << (4 * stride));
    if R::n(g) > 9 {
        run &= run << (4 * stride);
        reached |= run & (reached << (8 * stride));
    }
    if R::n(g) > 17 {
        run &= run << (8 * stride);
        reached |= run & (reached << (16 * stride));
    }
    reached
}

/// The same towards lower squares.
#[inline(always)]
fn run_down<R: Ruleset>(g: &Terms<R::Set>, origins: R::Set, open: R::Set, stride: usize) -> R::Set {
    let mut run = open;
    let mut reached = (origins >> stride) & run;
    reached |= run & (reached >> stride);
    run &= run >> stride;
    reached |= run & (reached >> (2 * stride));
    run &= run >> (2 * stride);
    reached |= run & (reached >> (4 * stride));
    if R::n(g) > 9 {
        run &= run >> (4 * stride);
        reached |= run & (reached >> (8 * stride));
    }
    if R::n(g) > 17 {
        run &= run >> (8 * stride);
        reached |= run & (reached >> (16 * stride));
    }
    reached
}

/// The squares that a piece on `square` reaches before the first blocker in each direction.
#[inline(always)]
pub(crate) fn reach<S: Set>(t: &Tables<S>, square: usize, blockers: S) -> S {
    let rays = reach_by_ray(t, square, blockers);
    rays[RIGHT] | rays[UP] | rays[LEFT] | rays[DOWN]
}

/// The same by direction.
#[inline(always)]
pub(crate) fn reach_by_ray<S: Set>(t: &Tables<S>, square: usize, blockers: S) -> [S; 4] {
    let [right, up, left, down] = *S::at(&t.rays, square);
    let rising = |ray: S| ray & (ray & blockers).below_lowest();
    let falling = |ray: S| ray & (ray & blockers).above_highest();
    [rising(right), rising(up), falling(left), falling(down)]
}

/// The squares through which men of one side may slide, all but the occupied; they may not stop on all of them.
#[inline(always)]
pub(crate) fn men_may_cross<R: Ruleset>(g: &Terms<R::Set>, side: Side, occupied: R::Set) -> R::Set {
    R::masks(g).cross[side.index()] & !occupied
}

/// The squares on which men of one side may stop, occupied or not.
#[inline(always)]
pub(crate) fn men_may_stop<R: Ruleset>(g: &Terms<R::Set>, side: Side) -> R::Set {
    R::masks(g).stop[side.index()]
}

/// Where a piece on `square` can go, `occupied` not counting itself.
#[inline(always)]
pub(crate) fn reach_of<R: Ruleset>(g: &Terms<R::Set>, piece: Piece, square: usize, occupied: R::Set) -> R::Set {
    let (t, masks) = (R::tables(g), R::masks(g));
    if !masks.plain {
        return steps_of::<R>(g, piece, square, occupied);
    }
    reach(t, square, occupied | (t.board & !masks.cross[piece as usize])) & masks.stop[piece as usize]
}

/// The same step by step, for rules that are not plain.
#[cold]
#[inline(never)]
fn steps_of<R: Ruleset>(g: &Terms<R::Set>, piece: Piece, square: usize, occupied: R::Set) -> R::Set {
    let (t, masks, rules) = (R::tables(g), R::masks(g), R::options(g));
    let from = *R::Set::at(&t.bit, square);
    let (mut cross, mut stop) = (masks.cross[piece as usize], masks.stop[piece as usize]);
    for (special, &squares) in rules.kinds().iter().zip(rules.marks.squares()) {
        let squares = R::Set::narrowed(squares) & t.board;
        // From within, squares of the kind are open that are closed from outside.
        if (squares & from).any() {
            cross |= if special.pass.contains(piece) { squares } else { R::Set::EMPTY };
            stop |= if special.stop.contains(piece) { squares } else { R::Set::EMPTY };
        }
    }
    let limit = match rules.speed.of(piece) {
        0 => R::n(g),
        limit => limit.into(),
    };
    let mut reached = R::Set::EMPTY;
    for direction in [RIGHT, UP, LEFT, DOWN] {
        let mut here = from;
        for _ in 0..limit {
            here = step::<R>(g, here, direction);
            if here.is_empty() || (here & occupied).any() {
                break;
            }
            reached |= here & stop;
            if (here & cross).is_empty() {
                break;
            }
        }
    }
    reached
}

/// Where the pieces of one kind on `origins` go in one move, none of them standing in the way of another.
#[inline(always)]
pub(crate) fn reach_of_any<R: Ruleset>(g: &Terms<R::Set>, piece: Piece, origins: R::Set, occupied: R::Set) -> R::Set {
    let masks = R::masks(g);
    if masks.plain {
        return slides_from_any::<R>(g, origins, masks.cross[piece as usize] & !occupied) & masks.stop[piece as usize];
    }
    origins.squares().fold(R::Set::EMPTY, |reached, square| reached | steps_of::<R>(g, piece, square, occupied))
}
