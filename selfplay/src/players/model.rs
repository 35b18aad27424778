//! A network under the tree search.
//!
//! With a fixed number of playouts the root is a Gumbel root and every move begins a fresh tree. With a clock the root is
//! PUCT, which can be stopped at any time, and the part of the tree that the played moves lead to is kept.

use std::time::{Duration, Instant};

use hnefi_engine::Position;
use hnefi_models::{Evaluations, Evaluator};

use super::{Choice, Limit, Player, PlayerError};
use crate::Rng;
use crate::search::{RootKind, Search, SearchConfig, run_to_end};

/// Playouts between two looks at the clock: few, so that a large network on a slow machine keeps its time.
const PLAYOUTS_PER_LOOK: u32 = 4;

/// A network that plays by search, without noise.
pub struct ModelPlayer {
    name: String,
    evaluator: Box<dyn Evaluator>,
    search: Search,
    limit: Limit,
    scratch: Evaluations,
    /// With a clock: the position after our latest move, which the tree stands at.
    left: Option<Position>,
}

impl ModelPlayer {
    /// A player of that name. `config` says how it searches, except for the root, which the limit decides.
    pub fn new(name: String, evaluator: Box<dyn Evaluator>, config: &SearchConfig, limit: Limit) -> ModelPlayer {
        let root = match limit {
            Limit::Playouts(_) => RootKind::Gumbel,
            Limit::Time(_) => RootKind::Puct,
        };
        let search = Search::new(SearchConfig { root, ..config.clone() });
        ModelPlayer { name, evaluator, search, limit, scratch: Evaluations::new(), left: None }
    }

    /// Searches until the time is used up, in the old tree where the game went on from it.
    fn think_for(&mut self, position: &Position, time: Duration) -> Result<(), PlayerError> {
        let start = Instant::now();
        if self.follows(position) {
            self.search.extend(PLAYOUTS_PER_LOOK);
        } else {
            self.search.begin(position, PLAYOUTS_PER_LOOK, None);
        }
        loop {
            run_to_end(&mut self.search, self.evaluator.as_mut(), &mut self.scratch)?;
            if start.elapsed() >= time {
                return Ok(());
            }
            self.search.extend(PLAYOUTS_PER_LOOK);
            if self.search.is_finished() {
                // The result is certain, or the tree is full.
                return Ok(());
            }
        }
    }

    /// Moves the tree on to `position` if that is one reply after our latest move.
    fn follows(&mut self, position: &Position) -> bool {
        let Some(mut left) = self.left.take() else { return false };
        let Some(reply) = position.last_move().filter(|&reply| left.is_legal(reply)) else { return false };
        left.play_unchecked(reply);
        left.ply() == position.ply() && left.state_key() == position.state_key() && self.search.advance(reply)
    }
}

impl Player for ModelPlayer {
    fn name(&self) -> &str {
        &self.name
    }

    fn new_game(&mut self) {
        self.left = None;
    }

    fn choose(&mut self, position: &Position, _: &mut Rng) -> Result<Choice, PlayerError> {
        if position.outcome().is_some() {
            return Err(PlayerError::game_over(&self.name, position));
        }
        match self.limit {
            Limit::Playouts(playouts) => {
                self.search.begin(position, playouts, None);
                run_to_end(&mut self.search, self.evaluator.as_mut(), &mut self.scratch)?;
            }
            Limit::Time(time) => self.think_for(position, time)?,
        }
        let report = self.search.report();
        if matches!(self.limit, Limit::Time(_)) && self.search.advance(report.best) {
            let mut left = position.clone();
            left.play_unchecked(report.best);
            self.left = Some(left);
        }
        let (mv, wdl) = (report.best, Some(report.wdl));
        Ok(Choice { mv, wdl, playouts: report.playouts, evaluations: report.evaluations })
    }
}
