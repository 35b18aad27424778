//! Making a move: captures, hashes, clocks and every outcome test, in the order of the rules (RULES.md, semantics 5).

use crate::capture;
use crate::enclosure;
use crate::history::{Recent, Seen};
use crate::movegen;
use crate::ruleset::{Ruleset, Terms};
use crate::set::Set;
use crate::slide::{men_may_cross, men_may_stop};
use crate::state::{Men, State, repetition_key};
use crate::tables::{ATTACKER, DEFENDER, KING, ZOBRIST};
use crate::{Move, NoLegalMove, Outcome, Reason, Repetition, Side};

/// The state after a legal move, and the squares it emptied by capture. `recent` ends with `before`.
///
/// Inlined everywhere: a caller that wants the outcome alone does not pay for the rest.
#[inline(always)]
pub(crate) fn make<R: Ruleset>(
    g: &Terms<R::Set>,
    recent: Recent<'_>,
    before: &State<R::Set>,
    mv: Move,
) -> (State<R::Set>, R::Set) {
    match before.side_to_move {
        Side::Attackers => make_for::<R, true>(g, recent, before, mv),
        Side::Defenders => make_for::<R, false>(g, recent, before, mv),
    }
}

/// [`make`] where the side that moves is known.
#[inline(always)]
pub(crate) fn make_for<R: Ruleset, const ATTACKERS: bool>(
    g: &Terms<R::Set>,
    recent: Recent<'_>,
    before: &State<R::Set>,
    mv: Move,
) -> (State<R::Set>, R::Set) {
    let t = R::tables(g);
    let rules = &g.rules;
    let (from, to) = (mv.from().index(), mv.to().index());
    let (from_bit, to_bit) = (*R::Set::at(&t.bit, from), *R::Set::at(&t.bit, to));
    let stride = from_bit | to_bit;
    let mut men = before.men;
    let (mut attackers_hash, mut defenders_hash) = (before.attackers_hash, before.defenders_hash);
    let captured_men;
    let mut king_captured = false;
    let mut king_moved = false;
    if ATTACKERS {
        men.attackers ^= stride;
        attackers_hash ^= ZOBRIST[ATTACKER][from] ^ ZOBRIST[ATTACKER][to];
        captured_men = capture::by_attacker::<R>(g, men, to);
        if (*R::Set::at(&t.adjacent, to) & men.king).any() {
            king_captured = capture::king_captured::<R>(g, men, to);
        }
        men.defenders ^= captured_men;
        for square in captured_men.squares() {
            defenders_hash ^= ZOBRIST[DEFENDER][square & 511];
        }
    } else {
        king_moved = men.king == from_bit;
        if king_moved {
            men.king = to_bit;
            defenders_hash ^= ZOBRIST[KING][from] ^ ZOBRIST[KING][to];
        } else {
            men.defenders ^= stride;
            defenders_hash ^= ZOBRIST[DEFENDER][from] ^ ZOBRIST[DEFENDER][to];
        }
        captured_men = capture::by_defender::<R>(g, men, to, king_moved);
        men.attackers ^= captured_men;
        for square in captured_men.squares() {
            attackers_hash ^= ZOBRIST[ATTACKER][square & 511];
        }
    }
    let mut captured = captured_men;
    let mut remaining_king = men.king;
    if king_captured {
        captured |= men.king;
        remaining_king = R::Set::EMPTY;
        defenders_hash ^= ZOBRIST[KING][men.king.first() & 511];
    }

    let side_to_move = if ATTACKERS { Side::Defenders } else { Side::Attackers };
    let key = repetition_key(rules, attackers_hash ^ defenders_hash, side_to_move);
    let ply = before.ply + 1;
    let draw_fort_counts = !ATTACKERS && rules.draw_fort_occurrence != 0;
    let configuration = if draw_fort_counts { defenders_hash } else { 0 };
    let (since_capture, occurrences, keys_sum, configurations_sum, mut seen) = if captured.any() {
        (0, 1, key, configuration, Seen::default())
    } else {
        (
            before.since_capture + 1,
            if before.seen.may_hold_key(rules.repetition_compares, side_to_move, key) {
                recent.count(key) as u32 + 1
            } else {
                1
            },
            before.keys_sum.wrapping_add(key),
            before.configurations_sum.wrapping_add(configuration),
            before.seen,
        )
    };
    seen.add_key(side_to_move, key);
    if draw_fort_counts {
        seen.add_configuration(configuration);
    }

    let mut way_out = before.way_out;
    if !ATTACKERS {
        way_out = enclosure::renewed_witness::<R>(g, men, way_out);
    }
    let outcome = 'judge: {
        if ATTACKERS {
            if king_captured {
                break 'judge Some(win(Side::Attackers, Reason::KingCaptured));
            }
            if enclosure::encircled::<R>(g, men, &mut way_out) {
                break 'judge Some(win(Side::Attackers, Reason::Encirclement));
            }
        } else {
            if king_moved && (men.king & R::masks(g).goals).any() {
                break 'judge Some(win(Side::Defenders, Reason::KingEscaped));
            }
            if R::options(g).exit_fort && enclosure::exit_fort::<R>(g, men) {
                break 'judge Some(win(Side::Defenders, Reason::ExitFort));
            }
        }
        if occurrences >= u32::from(rules.repetition_occurrence) {
            match rules.repetition {
                Repetition::Ignore | Repetition::DefendersMayNot => {}
                Repetition::Draw => break 'judge Some(draw(Reason::Repetition)),
                Repetition::DefendersLose => break 'judge Some(win(Side::Attackers, Reason::Repetition)),
                Repetition::MoverLoses => break 'judge Some(win(side_to_move, Reason::Repetition)),
                Repetition::MoverWins => break 'judge Some(win(before.side_to_move, Reason::Repetition)),
            }
        }
        // Coming back takes the defenders two moves, which are four plies.
        let soonest = 4 * (u32::from(rules.draw_fort_occurrence).saturating_sub(1));
        if draw_fort_counts
            && since_capture >= soonest
            && before.seen.may_hold_configuration(configuration)
            && men.defenders.count() >= 4
        {
            // The position the game began from is no position after a defenders' move.
            if recent.count_defenders(before.ply as usize, defenders_hash) + 1
                >= usize::from(rules.draw_fort_occurrence)
            {
                break 'judge Some(win(Side::Attackers, Reason::DrawFort));
            }
        }
        if !has_slide::<R, ATTACKERS>(g, men) {
            break 'judge Some(match rules.no_legal_move {
                NoLegalMove::Loss => win(side_to_move.opponent(), Reason::NoMoves),
                NoLegalMove::Draw => draw(Reason::NoMoves),
            });
        }
        None
    };

    let mut after = State {
        men: Men { king: remaining_king, ..men },
        attackers_hash,
        defenders_hash,
        keys_sum,
        configurations_sum,
        seen,
        way_out,
        ply,
        since_capture,
        occurrences,
        last_move: Some(mv),
        side_to_move,
        outcome,
    };
    if outcome.is_none() {
        after.outcome = late_outcome::<R, ATTACKERS>(g, recent, &after);
    }
    (after, captured)
}

/// The outcomes that come last: a defenders' side whose every move would repeat, and the two clocks.
#[inline(always)]
fn late_outcome<R: Ruleset, const ATTACKERS: bool>(
    g: &Terms<R::Set>,
    recent: Recent<'_>,
    after: &State<R::Set>,
) -> Option<Outcome> {
    let rules = &g.rules;
    if ATTACKERS && movegen::bound(rules, recent, after) {
        // A call wants the state in memory; given a copy of its own, it leaves the other in registers.
        let in_memory = *after;
        if movegen::every_move_repeats::<R>(g, recent, &in_memory) {
            return Some(win(Side::Attackers, Reason::NoMoves));
        }
    }
    if rules.no_capture_draw_plies != 0 && after.since_capture >= u32::from(rules.no_capture_draw_plies) {
        return Some(draw(Reason::NoCapture));
    }
    if rules.ply_cap != 0 && after.ply >= u32::from(rules.ply_cap) {
        return Some(draw(Reason::PlyCap));
    }
    None
}

/// Whether the side to move can move at all, repetition apart; `ATTACKERS` have just moved. A man free to step along
/// his file decides nearly every position.
#[inline(always)]
fn has_slide<R: Ruleset, const ATTACKERS: bool>(g: &Terms<R::Set>, men: Men<R::Set>) -> bool {
    let (own, king, side) = match ATTACKERS {
        true => (men.defenders, men.king, Side::Defenders),
        false => (men.attackers, R::Set::EMPTY, Side::Attackers),
    };
    let occupied = men.occupied();
    let free = men_may_cross::<R>(g, side, occupied) & men_may_stop::<R>(g, side);
    (((own << R::n(g)) | (own >> R::n(g))) & free).any() || movegen::can_slide::<R>(g, side, own, king, occupied)
}

const fn win(side: Side, reason: Reason) -> Outcome {
    Outcome::Win { side, reason }
}

const fn draw(reason: Reason) -> Outcome {
    Outcome::Draw { reason }
}
