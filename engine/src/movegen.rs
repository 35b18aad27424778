//! Move generation: listing, counting, choosing one at random, and the ban on repetition.
//!
//! Generation order is by origin, then by destination, both rising.

use crate::capture;
use crate::history::Recent;
use crate::lines::Lines;
use crate::ruleset::Ruleset;
use crate::slide::{king_reach, king_slides_like_men, men_may_cross, men_may_stop, reach_by_ray, slides_from_any};
use crate::state::{State, repetition_key};
use crate::tables::{DEFENDER, KING, ZOBRIST};
use crate::{Bitboard, Move, MoveList, Repetition, Rules, Side, Square};

/// Fills `moves` with the legal moves. The game must go on.
#[inline(always)]
pub(crate) fn list<R: Ruleset>(rules: &Rules, recent: Recent<'_>, state: &State, moves: &mut MoveList) {
    list_slides::<R>(rules, state, moves);
    if bound(rules, recent, state) {
        moves.retain(|mv| !repeats::<R>(rules, recent, state, mv));
    }
}

#[inline(always)]
fn list_slides<R: Ruleset>(rules: &Rules, state: &State, moves: &mut MoveList) {
    moves.clear();
    let (men, king) = state.movers();
    let occupied = state.board.occupied().0;
    let blockers = R::TABLES.board & !men_may_cross::<R>(rules, occupied);
    let stops = men_may_stop::<R>(rules);
    for from in Bitboard(men | king) {
        if king == R::TABLES.bit[from.index() & 127] {
            for to in Bitboard(king_reach::<R>(rules, from.index(), occupied & !king)) {
                moves.push(Move::new(from, to));
            }
            continue;
        }
        let rays = reach_by_ray(R::TABLES, from.index(), blockers);
        if R::TABLES.special_in_line[from.index() & 127] & R::TABLES.throne & !blockers != 0 {
            // The throne may leave a hole in a ray.
            for to in Bitboard((rays[0] | rays[1] | rays[2] | rays[3]) & stops) {
                moves.push(Move::new(from, to));
            }
            continue;
        }
        let [right, up, left, down] = rays.map(|ray| (ray & stops).count_ones() as usize);
        let square = from.index();
        moves.push_run(from, square - down * R::N, R::N, down);
        moves.push_run(from, square - left, 1, left);
        moves.push_run(from, square + 1, 1, right);
        moves.push_run(from, square + R::N, R::N, up);
    }
}

/// Adds the origins of the legal moves, by direction (up, right, down, left) and distance. The game must go on.
#[inline(always)]
pub(crate) fn origins<R: Ruleset>(
    rules: &Rules,
    recent: Recent<'_>,
    state: &State,
    [up, right, down, left]: &mut [[Bitboard; 10]; 4],
) {
    let t = R::TABLES;
    let (men, king) = state.movers();
    let occupied = state.board.occupied().0;
    let is_bound = bound(rules, recent, state);
    if !is_bound {
        let ahead = (men_may_cross::<R>(rules, occupied), men_may_stop::<R>(rules));
        by_distance(&mut up[..R::N - 1], men, ahead, |set| set >> R::N);
        by_distance(&mut right[..R::N - 1], men, ahead, |set| (set >> 1) & t.not_last_file);
        by_distance(&mut down[..R::N - 1], men, ahead, |set| set << R::N);
        by_distance(&mut left[..R::N - 1], men, ahead, |set| (set << 1) & t.not_first_file);
    }
    let mut add = |from: usize, to: usize| {
        let (direction, distance) = match (from / R::N == to / R::N, from < to) {
            (true, true) => (&mut *right, to - from),
            (true, false) => (&mut *left, from - to),
            (false, true) => (&mut *up, (to - from) / R::N),
            (false, false) => (&mut *down, (from - to) / R::N),
        };
        direction[distance - 1].0 |= t.bit[from & 127];
    };
    if is_bound {
        for mv in bound_moves::<R>(rules, recent, *state).iter() {
            add(mv.from().index(), mv.to().index());
        }
    } else if king != 0 {
        let from = king.trailing_zeros() as usize;
        for to in Bitboard(king_reach::<R>(rules, from, occupied & !king)) {
            add(from, to.index());
        }
    }
}

/// Where men can slide from in one direction, by distance. `back` takes a set of squares one square against the
/// direction, so that a square has what lies ahead of it.
#[inline(always)]
fn by_distance(origins: &mut [Bitboard], men: u128, ahead: (u128, u128), back: impl Fn(u128) -> u128) {
    let (mut movers, (mut free, mut stops)) = (men, ahead);
    for origins in origins {
        (free, stops) = (back(free), back(stops));
        movers &= free;
        origins.0 = movers & stops;
    }
}

/// How many legal moves there are. The game must go on.
#[inline(always)]
pub(crate) fn count<R: Ruleset>(rules: &Rules, recent: Recent<'_>, state: &State, lines: &Lines) -> usize {
    if bound(rules, recent, state) {
        return bound_moves::<R>(rules, recent, *state).len();
    }
    let (_, king) = state.movers();
    let slides = lines.slides::<R>(rules, state.side_to_move, king);
    slides.count::<R>() + king_extra::<R>(rules, king, state.board.occupied().0).count_ones() as usize
}

/// The legal moves where the ban on repetition may forbid some. Takes a state of its own, so that its caller's can
/// stay in registers.
#[cold]
#[inline(never)]
fn bound_moves<R: Ruleset>(rules: &Rules, recent: Recent<'_>, state: State) -> MoveList {
    let mut moves = MoveList::new();
    list::<R>(rules, recent, &state, &mut moves);
    moves
}

/// Where the king goes beyond the slides of a man, or altogether where he does not slide like a man.
#[inline(always)]
fn king_extra<R: Ruleset>(rules: &Rules, king: u128, occupied: u128) -> u128 {
    if king == 0 {
        return 0;
    }
    let square = king.trailing_zeros() as usize & 127;
    let stops = men_may_stop::<R>(rules);
    if !king_slides_like_men::<R>(rules) {
        king_reach::<R>(rules, square, occupied & !king)
    } else if R::TABLES.special_in_line[square] & !stops != 0 {
        king_reach::<R>(rules, square, occupied & !king) & !stops
    } else {
        0
    }
}

/// The legal move that `pick` chooses: it is given their number and returns an index below it. The order of the
/// indices is not the generation order.
#[inline(always)]
pub(crate) fn choose<R: Ruleset>(
    rules: &Rules,
    recent: Recent<'_>,
    state: &State,
    lines: &Lines,
    pick: impl FnOnce(usize) -> usize,
) -> Option<Move> {
    if bound(rules, recent, state) {
        let moves = bound_moves::<R>(rules, recent, *state);
        return if moves.is_empty() { None } else { Some(moves[pick(moves.len())]) };
    }
    let (_, king) = state.movers();
    let slides = lines.slides::<R>(rules, state.side_to_move, king);
    let extra = king_extra::<R>(rules, king, state.board.occupied().0);
    let count = slides.count::<R>();
    let total = count + extra.count_ones() as usize;
    if total == 0 {
        return None;
    }
    let index = pick(total);
    if index >= count {
        let from = Square::new(king.trailing_zeros() as usize);
        return Some(Move::new(from, Bitboard(extra).nth_square(index - count)));
    }
    Some(slides.nth::<R>(index))
}

/// Whether `men` or `king` (either may be empty) can move at all, repetition apart.
#[cold]
#[inline(never)]
pub(crate) fn can_slide<R: Ruleset>(rules: &Rules, men: u128, king: u128, occupied: u128) -> bool {
    slides_from_any::<R>(men, men_may_cross::<R>(rules, occupied)) & men_may_stop::<R>(rules) != 0
        || (king != 0 && king_reach::<R>(rules, king.trailing_zeros() as usize & 127, occupied & !king) != 0)
}

/// Whether the ban on repetition may forbid one of the moves here: it is in force, and the attackers stand as they
/// stood once before.
#[inline(always)]
pub(crate) fn bound(rules: &Rules, recent: Recent<'_>, state: &State) -> bool {
    rules.repetition == Repetition::DefendersMayNot
        && state.side_to_move == Side::Defenders
        && state.since_capture > 2
        && recent.attackers_stood(state.attackers_hash)
}

/// Whether a defenders' move would make the forbidden occurrence. A capture never does.
///
/// Here and below `recent` may end with `state` or just before it: no move of the defenders leads back to the board
/// they move from, nor to one a single ply older.
pub(crate) fn repeats<R: Ruleset>(rules: &Rules, recent: Recent<'_>, state: &State, mv: Move) -> bool {
    let (from, to) = (mv.from().index() & 127, mv.to().index() & 127);
    let mut men = state.board.men();
    let king_moved = men.king == R::TABLES.bit[from];
    if king_moved {
        men.king = R::TABLES.bit[to];
    } else {
        men.defenders ^= R::TABLES.bit[from] | R::TABLES.bit[to];
    }
    if capture::by_defender::<R>(rules, men, to, king_moved) != 0 {
        return false;
    }
    let piece = if king_moved { KING } else { DEFENDER };
    let defenders_hash = state.defenders_hash ^ ZOBRIST[piece][from] ^ ZOBRIST[piece][to];
    let key = repetition_key(rules, state.attackers_hash ^ defenders_hash, Side::Attackers);
    recent.count_anywhere(key) + 1 >= usize::from(rules.repetition_occurrence)
}

/// Whether the defenders, to move in `state`, have nothing but moves that repeat.
#[cold]
#[inline(never)]
pub(crate) fn every_move_repeats<R: Ruleset>(rules: &Rules, recent: Recent<'_>, state: &State) -> bool {
    let mut moves = MoveList::new();
    list_slides::<R>(rules, state, &mut moves);
    moves.iter().all(|&mv| repeats::<R>(rules, recent, state, mv))
}
