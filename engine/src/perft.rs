//! Perft: counting the move tree, which checks the rules and measures speed.

use crate::cpu::versions;
use crate::make::make_for;
use crate::movegen;
use crate::ruleset::{Ruleset, with_ruleset};
use crate::{Move, MoveList, Position, Side};

/// Number of move sequences of exactly `depth` plies. The last ply is counted, not made; a finished game has no
/// continuation.
pub fn perft(position: &mut Position, depth: u32) -> u64 {
    with_ruleset!(position.kernel, R => sequences::<R>(position.cpu, position, depth))
}

/// The same tree with every move made and every outcome tested, the last ply included. Returns the moves made in
/// total, on all plies.
pub fn perft_made(position: &mut Position, depth: u32) -> u64 {
    with_ruleset!(position.kernel, R => makes::<R>(position.cpu, position, depth))
}

versions! {
    fn sequences<R: Ruleset>(cpu: Cpu, position: &mut Position, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        if position.state.outcome.is_some() {
            return 0;
        }
        if depth == 1 {
            return movegen::count::<R>(&position.rules, position.recent(), &position.state, &position.lines) as u64;
        }
        let mut moves = MoveList::new();
        movegen::list::<R>(&position.rules, position.recent(), &position.state, &mut moves);
        if depth > 2 {
            let below = |&mv| below(position, mv, |position| sequences::<R>(position.cpu, position, depth - 1));
            return moves.iter().map(below).sum();
        }
        match position.state.side_to_move {
            Side::Attackers => moves.iter().map(|&mv| replies::<R, true>(position, mv)).sum(),
            Side::Defenders => moves.iter().map(|&mv| replies::<R, false>(position, mv)).sum(),
        }
    }
}

/// The number of replies to a move, from the state after it: the position stays, and its history ends before that
/// state.
#[inline(always)]
fn replies<R: Ruleset, const ATTACKERS: bool>(position: &Position, mv: Move) -> u64 {
    let (after, captured) = make_for::<R, ATTACKERS>(&position.rules, position.recent(), &position.state, mv);
    if after.outcome.is_some() {
        return 0;
    }
    let mut lines = position.lines;
    lines.play::<R, ATTACKERS>(mv, captured);
    movegen::count::<R>(&position.rules, position.recent(), &after, &lines) as u64
}

versions! {
    fn makes<R: Ruleset>(cpu: Cpu, position: &mut Position, depth: u32) -> u64 {
        if depth == 0 || position.state.outcome.is_some() {
            return 0;
        }
        let mut moves = MoveList::new();
        movegen::list::<R>(&position.rules, position.recent(), &position.state, &mut moves);
        if depth > 1 {
            let below = |&mv| below(position, mv, |position| makes::<R>(position.cpu, position, depth - 1));
            return moves.len() as u64 + moves.iter().map(below).sum::<u64>();
        }
        match position.state.side_to_move {
            Side::Attackers => moves.iter().for_each(|&mv| judged::<R, true>(position, mv)),
            Side::Defenders => moves.iter().for_each(|&mv| judged::<R, false>(position, mv)),
        }
        moves.len() as u64
    }
}

/// Makes a move up to its outcome.
#[inline(always)]
fn judged<R: Ruleset, const ATTACKERS: bool>(position: &Position, mv: Move) {
    let (after, _) = make_for::<R, ATTACKERS>(&position.rules, position.recent(), &position.state, mv);
    // The result is what is being measured: it must not be optimised away.
    std::hint::black_box(after.outcome);
}

/// What `count` finds after a move, which is taken back.
fn below(position: &mut Position, mv: Move, count: impl FnOnce(&mut Position) -> u64) -> u64 {
    let undo = position.play_unchecked(mv);
    let found = count(position);
    position.undo(undo);
    found
}
