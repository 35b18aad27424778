//! Perft: counting the move tree, which checks the rules and measures speed.

use crate::cpu::versions;
use crate::history::Recent;
use crate::make::make_for;
use crate::movegen;
use crate::position::{Held, Inner};
use crate::ruleset::{Ruleset, with_ruleset};
use crate::{Move, MoveList, Position, Side};

/// Number of move sequences of exactly `depth` plies. The last ply is counted, not made; a finished game has no
/// continuation.
pub fn perft(position: &mut Position, depth: u32) -> u64 {
    with_ruleset!(position.kernel, R => sequences::<R>(position.cpu, position, depth, &mut lists(depth)))
}

/// The same tree with every move made and every outcome tested, the last ply included. Returns the moves made in
/// total, on all plies.
pub fn perft_made(position: &mut Position, depth: u32) -> u64 {
    with_ruleset!(position.kernel, R => makes::<R>(position.cpu, position, depth, &mut lists(depth)))
}

versions! {
    fn sequences<R: Ruleset<Set: Held>>(cpu: Cpu, position: &mut Position, depth: u32, lists: &mut [MoveList]) -> u64 {
        if depth == 0 {
            return 1;
        }
        let inner = position.inner::<R>();
        if inner.state.outcome.is_some() {
            return 0;
        }
        if depth == 1 {
            return movegen::count::<R>(&inner.terms, position.recent(), &inner.state, &inner.lines) as u64;
        }
        let Some((moves, lists)) = lists.split_first_mut() else { return 0 };
        movegen::list::<R>(&inner.terms, position.recent(), &inner.state, moves);
        if depth > 2 {
            let below = |&mv| below(position, mv, |position| sequences::<R>(position.cpu, position, depth - 1, lists));
            return moves.iter().map(below).sum();
        }
        let (inner, recent) = (position.inner::<R>(), position.recent());
        match inner.state.side_to_move {
            Side::Attackers => moves.iter().map(|&mv| replies::<R, true>(inner, recent, mv)).sum(),
            Side::Defenders => moves.iter().map(|&mv| replies::<R, false>(inner, recent, mv)).sum(),
        }
    }
}

/// The number of replies to a move, from the state after it: the position stays, and its history ends before that
/// state.
#[inline(always)]
fn replies<R: Ruleset, const ATTACKERS: bool>(inner: &Inner<R::Set>, recent: Recent<'_>, mv: Move) -> u64 {
    let (after, captured) = make_for::<R, ATTACKERS>(&inner.terms, recent, &inner.state, mv);
    if after.outcome.is_some() {
        return 0;
    }
    let mut lines = inner.lines;
    lines.play::<R, ATTACKERS>(&inner.terms, mv, captured);
    // In memory the lines are read as vectors; without this the compiler takes them word by word.
    movegen::count::<R>(&inner.terms, recent, &after, std::hint::black_box(&lines)) as u64
}

versions! {
    fn makes<R: Ruleset<Set: Held>>(cpu: Cpu, position: &mut Position, depth: u32, lists: &mut [MoveList]) -> u64 {
        let inner = position.inner::<R>();
        if depth == 0 || inner.state.outcome.is_some() {
            return 0;
        }
        let Some((moves, lists)) = lists.split_first_mut() else { return 0 };
        movegen::list::<R>(&inner.terms, position.recent(), &inner.state, moves);
        if depth > 1 {
            let below = |&mv| below(position, mv, |position| makes::<R>(position.cpu, position, depth - 1, lists));
            return moves.len() as u64 + moves.iter().map(below).sum::<u64>();
        }
        let (inner, recent) = (position.inner::<R>(), position.recent());
        match inner.state.side_to_move {
            Side::Attackers => moves.iter().for_each(|&mv| judged::<R, true>(inner, recent, mv)),
            Side::Defenders => moves.iter().for_each(|&mv| judged::<R, false>(inner, recent, mv)),
        }
        moves.len() as u64
    }
}

/// Makes a move up to its outcome.
#[inline(always)]
fn judged<R: Ruleset, const ATTACKERS: bool>(inner: &Inner<R::Set>, recent: Recent<'_>, mv: Move) {
    let (after, _) = make_for::<R, ATTACKERS>(&inner.terms, recent, &inner.state, mv);
    // The result is what is being measured: it must not be optimised away.
    std::hint::black_box(after.outcome);
}

/// A list of moves for every ply, so that nothing is allocated on the way. Nobody counts sequences of a thousand plies.
fn lists(depth: u32) -> Vec<MoveList> {
    (0..depth.min(1000)).map(|_| MoveList::new()).collect()
}

/// What `count` finds after a move, which is taken back.
fn below(position: &mut Position, mv: Move, count: impl FnOnce(&mut Position) -> u64) -> u64 {
    let undo = position.play_unchecked(mv);
    let found = count(position);
    position.undo(undo);
    found
}
