//! The training plies of one board size.

use std::borrow::Borrow;

use hnefi_engine::BoardSize;
use hnefi_record::GameRecord;
use hnefi_search::Rng;
use rand_xoshiro::rand_core::Rng as _;

pub(super) struct Pool {
    pub(super) size: BoardSize,
    /// Number of the game and of the ply.
    plies: Vec<(u32, u32)>,
}

impl Pool {
    /// All training plies of the games on boards of this size.
    pub(super) fn new<G: Borrow<GameRecord>>(size: BoardSize, games: &[G]) -> Pool {
        let games = games.iter().map(Borrow::borrow).enumerate().filter(|(_, game)| game.rules.size() == size);
        let plies = games.flat_map(|(number, game)| {
            let trains = game.plies.iter().enumerate().filter(|(_, ply)| ply.trains);
            trains.map(move |(ply, _)| (number as u32, ply as u32))
        });
        Pool { size, plies: plies.collect() }
    }

    pub(super) fn len(&self) -> usize {
        self.plies.len()
    }

    /// Draws a uniform ply: number of the game and of the ply.
    ///
    /// # Panics
    /// When the pool is empty.
    pub(super) fn draw(&self, rng: &mut Rng) -> (u32, u32) {
        self.plies[below(rng, self.plies.len())]
    }
}

/// A number in `0..bound`; the bias is below `bound / 2^64`.
pub(super) fn below(rng: &mut Rng, bound: usize) -> usize {
    assert!(bound > 0, "nothing to draw from");
    ((u128::from(rng.next_u64()) * bound as u128) >> 64) as usize
}
