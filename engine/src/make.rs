//! Making a move: captures, hashes, clocks and every outcome test, in the order of the rules (RULES.md, semantics 5).

use crate::capture;
use crate::enclosure;
use crate::history::{Recent, Seen};
use crate::movegen;
use crate::ruleset::Ruleset;
use crate::slide::{men_may_cross, men_may_stop};
use crate::state::{Men, State, goals, repetition_key};
use crate::tables::{ATTACKER, DEFENDER, KING, ZOBRIST};
use crate::{Bitboard, Board, Move, NoLegalMove, Outcome, Reason, Repetition, Rules, Side};

/// The state after a legal move, and the squares it emptied by capture. `recent` ends with `before`.
///
/// Inlined everywhere: a caller that wants the outcome alone does not pay for the rest.
#[inline(always)]
pub(crate) fn make<R: Ruleset>(rules: &Rules, recent: Recent<'_>, before: &State, mv: Move) -> (State, Bitboard) {
    match before.side_to_move {
        Side::Attackers => make_for::<R, true>(rules, recent, before, mv),
        Side::Defenders => make_for::<R, false>(rules, recent, before, mv),
    }
}

/// [`make`] where the side that moves is known.
#[inline(always)]
pub(crate) fn make_for<R: Ruleset, const ATTACKERS: bool>(
    rules: &Rules,
    recent: Recent<'_>,
    before: &State,
    mv: Move,
) -> (State, Bitboard) {
    let t = R::TABLES;
    let (from, to) = (mv.from().index() & 127, mv.to().index() & 127);
    let stride = t.bit[from] | t.bit[to];
    let mut men = before.board.men();
    let (mut attackers_hash, mut defenders_hash) = (before.attackers_hash, before.defenders_hash);
    let captured_men;
    let mut king_captured = false;
    let mut king_moved = false;
    if ATTACKERS {
        men.attackers ^= stride;
        attackers_hash ^= ZOBRIST[ATTACKER][from] ^ ZOBRIST[ATTACKER][to];
        captured_men = capture::by_attacker::<R>(rules, men, to);
        if t.adjacent[to] & men.king != 0 {
            king_captured = capture::king_captured::<R>(rules, men.attackers, men.king, to);
        }
        men.defenders ^= captured_men;
        for square in Bitboard(captured_men) {
            defenders_hash ^= ZOBRIST[DEFENDER][square.index() & 127];
        }
    } else {
        king_moved = men.king == t.bit[from];
        if king_moved {
            men.king = t.bit[to];
            defenders_hash ^= ZOBRIST[KING][from] ^ ZOBRIST[KING][to];
        } else {
            men.defenders ^= stride;
            defenders_hash ^= ZOBRIST[DEFENDER][from] ^ ZOBRIST[DEFENDER][to];
        }
        captured_men = capture::by_defender::<R>(rules, men, to, king_moved);
        men.attackers ^= captured_men;
        for square in Bitboard(captured_men) {
            attackers_hash ^= ZOBRIST[ATTACKER][square.index() & 127];
        }
    }
    let mut captured = captured_men;
    let mut remaining_king = men.king;
    if king_captured {
        captured |= men.king;
        remaining_king = 0;
        defenders_hash ^= ZOBRIST[KING][men.king.trailing_zeros() as usize & 127];
    }

    let side_to_move = if ATTACKERS { Side::Defenders } else { Side::Attackers };
    let key = repetition_key(rules, attackers_hash ^ defenders_hash, side_to_move);
    let ply = before.ply + 1;
    let draw_fort_counts = !ATTACKERS && rules.draw_fort_occurrence != 0;
    let configuration = if draw_fort_counts { defenders_hash } else { 0 };
    let (since_capture, occurrences, keys_sum, configurations_sum, mut seen) = if captured != 0 {
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
        way_out = enclosure::renewed_witness::<R>(rules, men, way_out);
    }
    let outcome = 'judge: {
        if ATTACKERS {
            if king_captured {
                break 'judge Some(win(Side::Attackers, Reason::KingCaptured));
            }
            if enclosure::encircled::<R>(rules, men, &mut way_out) {
                break 'judge Some(win(Side::Attackers, Reason::Encirclement));
            }
        } else {
            if king_moved && men.king & goals::<R>(rules) != 0 {
                break 'judge Some(win(Side::Defenders, Reason::KingEscaped));
            }
            if R::options(rules).exit_fort && enclosure::exit_fort::<R>(rules, men) {
                break 'judge Some(win(Side::Defenders, Reason::ExitFort));
            }
        }
        if occurrences >= u32::from(rules.repetition_occurrence) {
            match rules.repetition {
                Repetition::Ignore | Repetition::DefendersMayNot => {}
                Repetition::Draw => break 'judge Some(draw(Reason::Repetition)),
                Repetition::DefendersLose => break 'judge Some(win(Side::Attackers, Reason::Repetition)),
                Repetition::MoverLoses => break 'judge Some(win(side_to_move, Reason::Repetition)),
            }
        }
        // Coming back takes the defenders two moves, which are four plies.
        let soonest = 4 * (u32::from(rules.draw_fort_occurrence).saturating_sub(1));
        if draw_fort_counts
            && since_capture >= soonest
            && before.seen.may_hold_configuration(configuration)
            && men.defenders.count_ones() >= 4
        {
            // The position the game began from is no position after a defenders' move.
            if recent.count_defenders(before.ply as usize, defenders_hash) + 1
                >= usize::from(rules.draw_fort_occurrence)
            {
                break 'judge Some(win(Side::Attackers, Reason::DrawFort));
            }
        }
        if !has_slide::<R, ATTACKERS>(rules, men) {
            break 'judge Some(match rules.no_legal_move {
                NoLegalMove::Loss => win(side_to_move.opponent(), Reason::NoMoves),
                NoLegalMove::Draw => draw(Reason::NoMoves),
            });
        }
        None
    };

    let mut after = State {
        board: Board {
            attackers: Bitboard(men.attackers),
            defenders: Bitboard(men.defenders),
            king: Bitboard(remaining_king),
            size: before.board.size,
        },
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
        after.outcome = late_outcome::<R, ATTACKERS>(rules, recent, &after);
    }
    (after, Bitboard(captured))
}

/// The outcomes that come last: a defenders' side whose every move would repeat, and the two clocks.
#[inline(always)]
fn late_outcome<R: Ruleset, const ATTACKERS: bool>(
    rules: &Rules,
    recent: Recent<'_>,
    after: &State,
) -> Option<Outcome> {
    if ATTACKERS && movegen::bound(rules, recent, after) {
        // A call wants the state in memory; given a copy of its own, it leaves the other in registers.
        let in_memory = *after;
        if movegen::every_move_repeats::<R>(rules, recent, &in_memory) {
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
fn has_slide<R: Ruleset, const ATTACKERS: bool>(rules: &Rules, men: Men) -> bool {
    let (own, king) = if ATTACKERS { (men.defenders, men.king) } else { (men.attackers, 0) };
    let occupied = men.attackers | men.defenders | men.king;
    let free = men_may_cross::<R>(rules, occupied) & men_may_stop::<R>(rules);
    ((own << R::N) | (own >> R::N)) & free != 0 || movegen::can_slide::<R>(rules, own, king, occupied)
}

const fn win(side: Side, reason: Reason) -> Outcome {
    Outcome::Win { side, reason }
}

const fn draw(reason: Reason) -> Outcome {
    Outcome::Draw { reason }
}
