//! Perft: counting the move tree, which checks the rules and measures speed.

use crate::make::make;
use crate::movegen;
use crate::ruleset::{Ruleset, with_ruleset};
use crate::{MoveList, Position};

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
    let before = position.state;
    let mut nodes = 0;
    for &mv in moves.iter() {
        let (after, _) = make::<R>(&position.rules, position.recent(), &before, mv);
        position.history.push(after.key(&position.rules), after.defenders_hash, mv);
        position.state = after;
        nodes += sequences::<R>(position, depth - 1);
        position.history.pop();
        position.state = before;
    }
    nodes
}

fn makes<R: Ruleset>(position: &mut Position, depth: u32) -> u64 {
    if depth == 0 || position.state.outcome.is_some() {
        return 0;
    }
    let mut moves = MoveList::new();
    movegen::list::<R>(&position.rules, position.recent(), &position.state, &mut moves);
    let before = position.state;
    let mut made = moves.len() as u64;
    for &mv in moves.iter() {
        let (after, _) = make::<R>(&position.rules, position.recent(), &before, mv);
        if depth == 1 {
            // The result is what is being measured: it must not be optimised away.
            std::hint::black_box(after.outcome);
            continue;
        }
        position.history.push(after.key(&position.rules), after.defenders_hash, mv);
        position.state = after;
        made += makes::<R>(position, depth - 1);
        position.history.pop();
        position.state = before;
    }
    made
}
