//! Perft: counting the move tree, which checks the rules and measures speed.

use crate::make::make;
use crate::movegen;
use crate::ruleset::{Ruleset, with_ruleset};
use crate::{Move, MoveList, Position};

/// Number of move sequences of exactly `depth` plies. The last ply is counted, not made; a finished game has no
/// continuation.
pub fn perft(position: &mut Position, depth: u32) -> u64 {
    with_ruleset!(position.kernel, R => sequences::<R>(position, depth))
}

/// The same tree with every move made and every outcome tested, the last ply included. Returns the moves made in
/// total, on all plies.
pub fn perft_made(position: &mut Position, depth: u32) -> u64 {
    with_ruleset!(position.kernel, R => makes::<R>(position, depth))
}

fn sequences<R: Ruleset>(position: &mut Position, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    if position.state.outcome.is_some() {
        return 0;
    }
    if depth == 1 {
        return movegen::count::<R>(&position.rules, position.recent(), &position.state) as u64;
    }
    let mut moves = MoveList::new();
    movegen::list::<R>(&position.rules, position.recent(), &position.state, &mut moves);
    moves.iter().map(|&mv| below::<R>(position, mv, |position| sequences::<R>(position, depth - 1))).sum()
}

fn makes<R: Ruleset>(position: &mut Position, depth: u32) -> u64 {
    if depth == 0 || position.state.outcome.is_some() {
        return 0;
    }
    let mut moves = MoveList::new();
    movegen::list::<R>(&position.rules, position.recent(), &position.state, &mut moves);
    if depth > 1 {
        let below = |&mv| below::<R>(position, mv, |position| makes::<R>(position, depth - 1));
        return moves.len() as u64 + moves.iter().map(below).sum::<u64>();
    }
    for &mv in moves.iter() {
        let (after, _) = make::<R>(&position.rules, position.recent(), &position.state, mv);
        // The result is what is being measured: it must not be optimised away.
        std::hint::black_box(after.outcome);
    }
    moves.len() as u64
}

/// What `count` finds after a move, which is taken back.
fn below<R: Ruleset>(position: &mut Position, mv: Move, count: impl FnOnce(&mut Position) -> u64) -> u64 {
    let before = position.state;
    let recent = position.history.recent(before.since_capture as usize + 1);
    position.state = make::<R>(&position.rules, recent, &before, mv).0;
    position.history.push(position.state.key(&position.rules), position.state.defenders_hash, mv);
    let found = count(position);
    position.history.pop();
    position.state = before;
    found
}
