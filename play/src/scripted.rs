//! A player for tests: it plays a script.

use std::collections::VecDeque;

use hnefi_arena::players::{Choice, Player, PlayerError};
use hnefi_engine::{Game, Move, MoveList};
use hnefi_inference::Wdl;
use hnefi_search::Rng;

/// Plays its script, a move a question; without one the first legal move.
pub(crate) struct Scripted {
    name: &'static str,
    script: VecDeque<&'static str>,
    wdl: Option<Wdl>,
}

impl Scripted {
    pub(crate) fn boxed(name: &'static str, script: &[&'static str]) -> Box<dyn Player> {
        let wdl = Wdl { win: 0.62, draw: 0.03, loss: 0.35 };
        Box::new(Scripted { name, script: script.iter().copied().collect(), wdl: Some(wdl) })
    }
}

impl Player for Scripted {
    fn name(&self) -> &str {
        self.name
    }

    fn choose(&mut self, game: &Game, _: &mut Rng) -> Result<Choice, PlayerError> {
        let mut moves = MoveList::new();
        game.position().legal_moves(&mut moves);
        let mv = match self.script.pop_front() {
            Some("panic") => panic!("the script says so"),
            Some(text) => Move::parse(text, game.rules().size()).expect("scripts hold moves"),
            None => moves[0],
        };
        Ok(Choice { mv, wdl: self.wdl, playouts: 64, evaluations: 64 })
    }
}
