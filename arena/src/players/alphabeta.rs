//! The alpha-beta search of [`hnefi_search::AlphaBeta`] as a player.

use hnefi_engine::Game;
use hnefi_search::Rng;

use super::{Choice, Player, PlayerError};

/// Alpha-beta search to a fixed depth.
#[derive(Debug)]
pub struct AlphaBeta {
    name: String,
    search: hnefi_search::AlphaBeta,
}

impl AlphaBeta {
    /// A player that searches `depth` plies, at least one.
    pub fn new(depth: u32) -> AlphaBeta {
        let search = hnefi_search::AlphaBeta::new(depth);
        AlphaBeta { name: format!("alphabeta:{}", search.depth()), search }
    }
}

impl Player for AlphaBeta {
    fn name(&self) -> &str {
        &self.name
    }

    fn new_game(&mut self) {
        self.search.new_game();
    }

    fn choose(&mut self, game: &Game, rng: &mut Rng) -> Result<Choice, PlayerError> {
        let found = self.search.search(game.position(), rng).ok_or_else(|| PlayerError::game_over(&self.name, game))?;
        Ok(Choice { mv: found.mv, wdl: found.wdl, playouts: 0, evaluations: found.evaluations })
    }
}
