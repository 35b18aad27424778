//! Move generation: listing, counting, choosing one at random, and the ban on repetition.
//!
//! Generation order is by origin, then by destination, both rising.

use crate::capture;
use crate::history::Recent;
use crate::lines::Lines;
use crate::ruleset::{Ruleset, Terms};
use crate::set::Set;
use crate::slide::{men_may_cross, men_may_stop, reach_by_ray, reach_of, reach_of_any};
use crate::state::{State, repetition_key};
use crate::tables::{DEFENDER, KING, ZOBRIST};
use crate::{Bitboard, Move, MoveList, Piece, Repetition, Rules, Side, Square};

/// Fills `moves` with the legal moves. The game must go on.
#[inline(always)]
pub(crate) fn list<R: Ruleset>(g: &Terms<R::Set>, recent: Recent<'_>, state: &State<R::Set>, moves: &mut MoveList) {
    list_slides::<R>(g, state, moves);
    if bound(&g.rules, recent, state) {
        moves.retain(|mv| !repeats::<R>(g, recent, state, mv));
    }
}

#[inline(always)]
fn list_slides<R: Ruleset>(g: &Terms<R::Set>, state: &State<R::Set>, moves: &mut MoveList) {
    moves.clear();
    let (t, masks, n) = (R::tables(g), R::masks(g), R::n(g));
    let (men, king) = state.movers();
    let (occupied, side) = (state.men.occupied(), state.side_to_move);
    let blockers = t.board & !men_may_cross::<R>(g, side, occupied);
    let stops = men_may_stop::<R>(g, side);
    for square in (men | king).squares() {
        let from = Square::new(square);
        let is_king = king == *R::Set::at(&t.bit, square);
        if is_king || !masks.plain {
            let piece = if is_king { Piece::King } else { man_of(side) };
            let others = occupied & !*R::Set::at(&t.bit, square);
            for to in reach_of::<R>(g, piece, square, others).squares() {
                moves.push(Move::new(from, Square::new(to)));
            }
            continue;
        }
        let rays = reach_by_ray(t, square, blockers);
        if (*R::Set::at(&t.in_line, square) & !stops & !blockers).any() {
            // Squares that are passed without stopping may leave holes in a ray.
            for to in ((rays[0] | rays[1] | rays[2] | rays[3]) & stops).squares() {
                moves.push(Move::new(from, Square::new(to)));
            }
            continue;
        }
        let [right, up, left, down] = rays.map(|ray| (ray & stops).count());
        moves.push_run(from, square - down * n, n, down, n - 1);
        moves.push_run(from, square - left, 1, left, n - 1);
        moves.push_run(from, square + 1, 1, right, n - 1);
        moves.push_run(from, square + n, n, up, n - 1);
    }
}

const fn man_of(side: Side) -> Piece {
    match side {
        Side::Attackers => Piece::Attacker,
        Side::Defenders => Piece::Defender,
    }
}

/// Adds the origins of the legal moves, by direction (up, right, down, left) and distance. The game must go on.
#[inline(always)]
pub(crate) fn origins<R: Ruleset>(
    g: &Terms<R::Set>,
    recent: Recent<'_>,
    state: &State<R::Set>,
    [up, right, down, left]: &mut [Vec<Bitboard>; 4],
) {
    let t = R::tables(g);
    let n = R::n(g);
    let (men, king) = state.movers();
    let occupied = state.men.occupied();
    let one_by_one = must_list::<R>(g, recent, state);
    if !one_by_one {
        let side = state.side_to_move;
        let ahead = (men_may_cross::<R>(g, side, occupied), men_may_stop::<R>(g, side));
        by_distance(up, men, ahead, |set| set >> n);
        by_distance(right, men, ahead, |set| (set >> 1) & t.not_last_file);
        by_distance(down, men, ahead, |set| set << n);
        by_distance(left, men, ahead, |set| (set << 1) & t.not_first_file);
    }
    let mut add = |from: usize, to: usize| {
        let (direction, distance) = match (from / n == to / n, from < to) {
            (true, true) => (&mut *right, to - from),
            (true, false) => (&mut *left, from - to),
            (false, true) => (&mut *up, (to - from) / n),
            (false, false) => (&mut *down, (from - to) / n),
        };
        direction[distance - 1] |= Bitboard::of(Square::new(from));
    };
    if one_by_one {
        for mv in listed_moves::<R>(g, recent, *state).iter() {
            add(mv.from().index(), mv.to().index());
        }
    } else if king.any() {
        for to in reach_of::<R>(g, Piece::King, king.first(), occupied & !king).squares() {
            add(king.first(), to);
        }
    }
}

/// Where men can slide from in one direction, by distance. `back` takes a set of squares one square against the
/// direction, so that a square has what lies ahead of it.
#[inline(always)]
fn by_distance<S: Set>(origins: &mut [Bitboard], men: S, ahead: (S, S), back: impl Fn(S) -> S) {
    let (mut movers, (mut free, mut stops)) = (men, ahead);
    for origins in origins {
        (free, stops) = (back(free), back(stops));
        movers &= free;
        *origins = (movers & stops).widened();
    }
}

/// How many legal moves there are. The game must go on.
#[inline(always)]
pub(crate) fn count<R: Ruleset>(
    g: &Terms<R::Set>,
    recent: Recent<'_>,
    state: &State<R::Set>,
    lines: &Lines<R::Set>,
) -> usize {
    if must_list::<R>(g, recent, state) {
        return listed_moves::<R>(g, recent, *state).len();
    }
    let (_, king) = state.movers();
    let slides = lines.slides::<R>(g, state.side_to_move, king);
    slides.count::<R>(g) + king_extra::<R>(g, king, state.men.occupied()).count()
}

/// Whether moves cannot be counted without listing them: the ban on repetition may forbid some, or the rules are not
/// plain.
#[inline(always)]
fn must_list<R: Ruleset>(g: &Terms<R::Set>, recent: Recent<'_>, state: &State<R::Set>) -> bool {
    !R::masks(g).plain || bound(&g.rules, recent, state)
}

/// The legal moves where they must be listed. Takes a state of its own, so that its caller's can stay in registers.
#[cold]
#[inline(never)]
fn listed_moves<R: Ruleset>(g: &Terms<R::Set>, recent: Recent<'_>, state: State<R::Set>) -> MoveList {
    let mut moves = MoveList::new();
    list::<R>(g, recent, &state, &mut moves);
    moves
}

/// Where the king goes beyond the slides of a man, or altogether where he does not slide like a man.
#[inline(always)]
fn king_extra<R: Ruleset>(g: &Terms<R::Set>, king: R::Set, occupied: R::Set) -> R::Set {
    if king.is_empty() {
        return R::Set::EMPTY;
    }
    let square = king.first();
    let masks = R::masks(g);
    let stops = men_may_stop::<R>(g, Side::Defenders);
    if !masks.king_as_man {
        reach_of::<R>(g, Piece::King, square, occupied & !king)
    } else if (*R::Set::at(&R::tables(g).in_line, square) & masks.stop[Piece::King as usize] & !stops).any() {
        reach_of::<R>(g, Piece::King, square, occupied & !king) & !stops
    } else {
        R::Set::EMPTY
    }
}

/// The legal move that `pick` chooses: it is given their number and returns an index below it. The order of the
/// indices is not the generation order.
#[inline(always)]
pub(crate) fn choose<R: Ruleset>(
    g: &Terms<R::Set>,
    recent: Recent<'_>,
    state: &State<R::Set>,
    lines: &Lines<R::Set>,
    pick: impl FnOnce(usize) -> usize,
) -> Option<Move> {
    if must_list::<R>(g, recent, state) {
        let moves = listed_moves::<R>(g, recent, *state);
        return if moves.is_empty() { None } else { Some(moves[pick(moves.len())]) };
    }
    let (_, king) = state.movers();
    let slides = lines.slides::<R>(g, state.side_to_move, king);
    let extra = king_extra::<R>(g, king, state.men.occupied());
    let count = slides.count::<R>(g);
    let total = count + extra.count();
    if total == 0 {
        return None;
    }
    let index = pick(total);
    if index >= count {
        return Some(Move::new(Square::new(king.first()), Square::new(extra.nth(index - count))));
    }
    Some(slides.nth::<R>(g, index))
}

/// Whether `men` of this side or `king` (either may be empty) can move at all, repetition apart.
#[cold]
#[inline(never)]
pub(crate) fn can_slide<R: Ruleset>(
    g: &Terms<R::Set>,
    side: Side,
    men: R::Set,
    king: R::Set,
    occupied: R::Set,
) -> bool {
    reach_of_any::<R>(g, man_of(side), men, occupied).any()
        || (king.any() && reach_of::<R>(g, Piece::King, king.first(), occupied & !king).any())
}

/// Whether the ban on repetition may forbid one of the moves here: it is in force, and the attackers stand as they
/// stood once before.
#[inline(always)]
pub(crate) fn bound<S: Set>(rules: &Rules, recent: Recent<'_>, state: &State<S>) -> bool {
    rules.repetition == Repetition::DefendersMayNot
        && state.side_to_move == Side::Defenders
        && state.since_capture > 2
        && recent.attackers_stood(state.attackers_hash)
}

/// Whether a defenders' move would make the forbidden occurrence. A capture never does.
///
/// Here and below `recent` may end with `state` or just before it: no move of the defenders leads back to the board
/// they move from, nor to one a single ply older.
pub(crate) fn repeats<R: Ruleset>(g: &Terms<R::Set>, recent: Recent<'_>, state: &State<R::Set>, mv: Move) -> bool {
    let (from, to) = (mv.from().index(), mv.to().index());
    let (from_bit, to_bit) = (*R::Set::at(&R::tables(g).bit, from), *R::Set::at(&R::tables(g).bit, to));
    let mut men = state.men;
    let king_moved = men.king == from_bit;
    if king_moved {
        men.king = to_bit;
    } else {
        men.defenders ^= from_bit | to_bit;
    }
    if capture::by_defender::<R>(g, men, to, king_moved).any() {
        return false;
    }
    let piece = if king_moved { KING } else { DEFENDER };
    let defenders_hash = state.defenders_hash ^ ZOBRIST[piece][from] ^ ZOBRIST[piece][to];
    let key = repetition_key(&g.rules, state.attackers_hash ^ defenders_hash, Side::Attackers);
    recent.count_anywhere(key) + 1 >= usize::from(g.rules.repetition_occurrence)
}

/// Whether the defenders, to move in `state`, have nothing but moves that repeat.
#[cold]
#[inline(never)]
pub(crate) fn every_move_repeats<R: Ruleset>(g: &Terms<R::Set>, recent: Recent<'_>, state: &State<R::Set>) -> bool {
    let mut moves = MoveList::new();
    list_slides::<R>(g, state, &mut moves);
    moves.iter().all(|&mv| repeats::<R>(g, recent, state, mv))
}
