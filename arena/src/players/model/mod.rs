//! A network under the tree search.
//!
//! With a fixed number of playouts every move begins a fresh tree, usually with a Gumbel root. With a clock the root is
//! PUCT, which can be stopped at any time, and the part of the tree that the played moves lead to is kept. With a
//! number of playouts on one thread the same game gives the same move.

mod cache;
mod spec;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hnefi_engine::Game;
use hnefi_inference::{Evaluations, Evaluator};

use super::{Choice, Limit, Player, PlayerError};
use hnefi_search::Rng;
use hnefi_search::{Search, SearchConfig, Signal, run_until, search_on_threads};

pub use cache::{CheckpointSource, ModelCache};
pub use spec::{DEFAULT_PLAYOUTS, ModelSpec};

/// Playouts between two looks at the clock: few, so that a large network on a slow machine keeps its time.
const PLAYOUTS_PER_LOOK: u32 = 4;

/// How often a search on many threads looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(100);

/// A network that plays by search, without noise.
pub struct ModelPlayer {
    name: String,
    /// One per thread.
    evaluators: Vec<Box<dyn Evaluator>>,
    search: Search,
    limit: Limit,
    scratch: Evaluations,
    /// With a clock: the game after our latest move, which the tree stands at.
    left: Option<Game>,
    stop: Arc<AtomicBool>,
}

impl ModelPlayer {
    /// A player of that name that searches with a thread per evaluator. With a clock `config` must have a PUCT root.
    ///
    /// # Panics
    /// Without an evaluator.
    pub fn new(name: String, evaluators: Vec<Box<dyn Evaluator>>, config: SearchConfig, limit: Limit) -> ModelPlayer {
        assert!(!evaluators.is_empty(), "{name}: no evaluator; expected one per thread");
        let search = Search::new(config);
        ModelPlayer { name, evaluators, search, limit, scratch: Evaluations::new(), left: None, stop: Arc::default() }
    }

    /// Searches the playouts that are granted, on many threads until the time `until` at the latest.
    fn search(&mut self, until: Option<Instant>) -> Result<(), PlayerError> {
        if let [evaluator] = &mut self.evaluators[..] {
            return Ok(run_until(&mut self.search, evaluator.as_mut(), &mut self.scratch, &self.stop)?);
        }
        let stop = Arc::clone(&self.stop);
        let goes_on = || !stop.load(Ordering::Relaxed) && until.is_none_or(|until| Instant::now() < until);
        let signal = Signal::default();
        let ((), ended) = search_on_threads(&mut self.search, &mut self.evaluators, &signal, |searching| {
            while !searching.is_over() && goes_on() {
                let look = Instant::now() + LOOK;
                signal.wait(Some(until.map_or(look, |until| until.min(look))));
            }
        });
        Ok(ended?)
    }

    /// Searches until the time is used up, in the old tree where the game went on from it.
    fn think_for(&mut self, game: &Game, time: Duration) -> Result<(), PlayerError> {
        let end = Instant::now() + time;
        if self.follows(game) {
            self.search.extend(PLAYOUTS_PER_LOOK);
        } else {
            self.search.begin(game.position(), PLAYOUTS_PER_LOOK, None);
        }
        // However short the time is, these are made. Many threads then search until its end.
        self.search(None)?;
        let more = if self.evaluators.len() > 1 { u32::MAX } else { PLAYOUTS_PER_LOOK };
        while Instant::now() < end && !self.stop.load(Ordering::Relaxed) {
            self.search.extend(more);
            if self.search.is_finished() {
                // The result is certain, or the tree is full.
                break;
            }
            self.search(Some(end))?;
        }
        Ok(())
    }

    /// Moves the tree on to `game` if that is one reply after our latest move.
    fn follows(&mut self, game: &Game) -> bool {
        let left = self.left.take();
        match left.as_ref().and_then(|left| game.plies_since(left)) {
            Some([reply]) => self.search.advance(reply.mv),
            _ => false,
        }
    }
}

impl Player for ModelPlayer {
    fn name(&self) -> &str {
        &self.name
    }

    fn new_game(&mut self) {
        self.left = None;
    }

    fn stop_by(&mut self, flag: &Arc<AtomicBool>) {
        self.stop = Arc::clone(flag);
    }

    fn choose(&mut self, game: &Game, _: &mut Rng) -> Result<Choice, PlayerError> {
        if game.ending().is_some() {
            return Err(PlayerError::game_over(&self.name, game));
        }
        match self.limit {
            Limit::Playouts(playouts) => {
                self.search.begin(game.position(), playouts, None);
                self.search(None)?;
            }
            Limit::Time(time) => self.think_for(game, time)?,
        }
        if self.stop.load(Ordering::Relaxed) {
            self.left = None;
            return Err(PlayerError::Stopped { player: self.name.clone() });
        }
        let report = self.search.report();
        if matches!(self.limit, Limit::Time(_)) && self.search.advance(report.best) {
            let mut left = game.clone();
            self.left = left.play(report.best).is_ok().then_some(left);
        }
        let (mv, wdl) = (report.best, Some(report.wdl));
        Ok(Choice { mv, wdl, playouts: report.playouts, evaluations: report.evaluations })
    }
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Preset;
    use hnefi_inference::{EvalError, EvalRequest, HashEvaluator};

    use super::*;
    use hnefi_search::rng_for;

    fn player(limit: Limit) -> ModelPlayer {
        player_with(Box::new(HashEvaluator::new(3)), limit)
    }

    fn player_with(evaluator: Box<dyn Evaluator>, limit: Limit) -> ModelPlayer {
        let config = SearchConfig { root: limit.usual_root(), ..SearchConfig::default() };
        ModelPlayer::new("model:test".to_owned(), vec![evaluator], config, limit)
    }

    fn choose(player: &mut ModelPlayer, game: &Game) -> Choice {
        player.choose(game, &mut rng_for(&[1])).expect("the game goes on")
    }

    #[test]
    fn a_number_of_playouts_is_kept_and_gives_the_same_move_again() {
        let start = Game::new(&Preset::Brandubh.rules());
        let first = choose(&mut player(Limit::Playouts(24)), &start);
        assert_eq!(first.playouts, 24);
        assert!(start.position().is_legal(first.mv));
        let mut again = player(Limit::Playouts(24));
        let later = Game::from_fen(&Preset::Brandubh.rules(), "3a3/3a3/3d3/aadkdaa/3d3/3a3/2a4 d");
        choose(&mut again, &later.expect("a legal position"));
        assert_eq!(choose(&mut again, &start), first);
    }

    #[test]
    fn with_a_clock_the_tree_is_kept_from_move_to_move_and_not_from_game_to_game() {
        let mut player = player(Limit::Time(Duration::from_millis(5)));
        let mut game = Game::new(&Preset::Brandubh.rules());
        let mv = choose(&mut player, &game).mv;
        game.play(mv).expect("a legal move");
        let reply = player.search.report().best;
        game.play(reply).expect("a legal move");
        let left = player.left.clone();
        assert!(player.follows(&game), "the expected reply was played");
        player.left = left;
        player.new_game();
        assert!(!player.follows(&game), "a new game has begun");
        assert!(game.position().is_legal(choose(&mut player, &game).mv));
    }

    #[test]
    fn with_a_clock_another_game_is_not_mistaken_for_the_one_before() {
        let mut player = player(Limit::Time(Duration::from_millis(5)));
        let start = Game::new(&Preset::Brandubh.rules());
        choose(&mut player, &start);
        assert!(!player.follows(&start), "the same position again, for instance after an undo");
        let other = Game::from_fen(&Preset::Brandubh.rules(), "7/1ak4/7/2d4/7/7/3a3 a").expect("a legal position");
        let choice = choose(&mut player, &other);
        assert_eq!(
            (choice.mv.text(other.rules().size()), choice.wdl),
            ("d1d6".to_owned(), Some(hnefi_inference::Wdl::WIN))
        );
    }

    #[test]
    fn many_threads_keep_the_limit() {
        let start = Game::new(&Preset::Brandubh.rules());
        let many = |limit: Limit| {
            let evaluators = (0..4).map(|_| Box::new(HashEvaluator::new(3)) as Box<dyn Evaluator>).collect();
            let config = SearchConfig { root: limit.usual_root(), ..SearchConfig::default() };
            choose(&mut ModelPlayer::new("model:test".to_owned(), evaluators, config, limit), &start)
        };
        assert_eq!(many(Limit::Playouts(100)).playouts, 100);
        let began = Instant::now();
        let found = many(Limit::Time(Duration::from_millis(50)));
        assert!(began.elapsed() >= Duration::from_millis(50) && found.playouts > PLAYOUTS_PER_LOOK, "{found:?}");
        assert!(many(Limit::Time(Duration::ZERO)).playouts >= PLAYOUTS_PER_LOOK);
    }

    struct Broken;

    impl Evaluator for Broken {
        fn evaluate(&mut self, requests: &[EvalRequest<'_>], _: &mut Evaluations) -> Result<(), EvalError> {
            let (count, device) = (requests.len(), "test".to_owned());
            Err(EvalError::Device { count, device, problem: "unplugged".to_owned() })
        }
    }

    #[test]
    fn a_device_that_fails_is_reported() {
        let start = Game::new(&Preset::Brandubh.rules());
        for limit in [Limit::Playouts(8), Limit::Time(Duration::from_millis(5))] {
            let mut player = player_with(Box::new(Broken), limit);
            let error = player.choose(&start, &mut rng_for(&[1])).expect_err("unplugged").to_string();
            assert!(error.contains("unplugged"), "{error}");
        }
    }
}
