//! The weakest baseline: every legal move is as likely as any other.

use hnefi_engine::Game;
use rand::RngExt;

use super::{Choice, Player, PlayerError};
use hnefi_search::Rng;

/// Plays uniformly random legal moves, and does not even take a win when it sees one.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomPlayer;

impl Player for RandomPlayer {
    fn name(&self) -> &str {
        "random"
    }

    fn choose(&mut self, game: &Game, rng: &mut Rng) -> Result<Choice, PlayerError> {
        let mv = game
            .position()
            .random_move(|count| rng.random_range(0..count))
            .ok_or_else(|| PlayerError::game_over(self.name(), game))?;
        Ok(Choice { mv, wdl: None, playouts: 0, evaluations: 0 })
    }
}

#[cfg(test)]
mod tests {
    use hnefi_engine::{Move, Preset};

    use super::*;
    use hnefi_search::rng_for;

    #[test]
    fn every_legal_move_is_played_sooner_or_later() {
        let game = Game::new(&Preset::Brandubh.rules());
        let mut rng = rng_for(&[1]);
        let mut counts = std::collections::HashMap::new();
        for _ in 0..4_000 {
            let choice = RandomPlayer.choose(&game, &mut rng).expect("the game has begun");
            *counts.entry(choice.mv).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 40);
        assert!(counts.values().all(|count| (50..=160).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_finished_game_is_an_error() {
        let fen = "7/3a3/3a3/aa3aa/3d2k/3a3/3a3 d";
        let mut game = Game::from_fen(&Preset::Brandubh.rules(), fen).expect("a legal position");
        game.play(Move::parse("g3g1", game.rules().size()).expect("a move")).expect("the king goes home");
        let error = RandomPlayer.choose(&game, &mut rng_for(&[1])).expect_err("the game is over").to_string();
        assert!(error.starts_with("player random: asked for a move, but the game is over"), "{error}");
    }
}
