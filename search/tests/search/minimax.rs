//! Plain full-width minimax, the independent judge of what the solver claims.

use hnefi_engine::Position;
use hnefi_search::{Proven, ProvenResult};

use crate::legal_moves;

/// The result of `position` under best play, for its side to move, if it can be known from all lines of at most `depth`
/// plies. Wins as fast and losses as slow as possible.
pub fn solve(position: &Position, depth: u8) -> Option<Proven> {
    let moves = legal_moves(position);
    let mut values = Vec::new();
    for &mv in moves.as_slice() {
        let mut after = position.clone();
        after.play(mv).expect("a legal move");
        let value = match after.outcome() {
            Some(outcome) => Some(Proven { result: outcome.result_for(position.side_to_move()), plies: 1 }),
            None if depth > 1 => {
                solve(&after, depth - 1).map(|reply| Proven { result: reply.result.reversed(), plies: reply.plies + 1 })
            }
            None => None,
        };
        values.push(value);
    }
    let of = |result| values.iter().flatten().filter(move |value| value.result == result).copied();
    if let Some(win) = of(ProvenResult::Win).min_by_key(|win| win.plies) {
        return Some(win);
    }
    if values.contains(&None) {
        return None;
    }
    of(ProvenResult::Draw).next().or_else(|| of(ProvenResult::Loss).max_by_key(|loss| loss.plies))
}
