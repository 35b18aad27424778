//! Positions for tests, met in seeded random play.

#![allow(dead_code, reason = "each test binary uses its own part")]

use hnefi_engine::{MoveList, Position, Rules};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// `count` ongoing positions of games under `rules`, at random plies of random games.
pub fn positions(rules: &Rules, count: usize, seed: u64) -> Vec<Position> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut moves = MoveList::new();
    let mut positions = Vec::new();
    while positions.len() < count {
        let mut position = Position::start(rules);
        for _ in 0..rng.random_range(0..80) {
            position.legal_moves(&mut moves);
            position.play_unchecked(moves[rng.random_range(0..moves.len())]);
            if position.outcome().is_some() {
                break;
            }
        }
        if position.outcome().is_none() {
            positions.push(position);
        }
    }
    positions
}

/// The legal moves of a position.
pub fn legal(position: &Position) -> MoveList {
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    moves
}
