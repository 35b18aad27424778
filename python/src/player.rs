//! Players by their specs, for environments in which they answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hnefi_arena::players::{ModelCache, Player as Chooser, PlayerError, PlayerSpec};
use hnefi_engine::{Game as Played, Move};
use hnefi_inference::Devices;
use hnefi_search::{SearchConfig, rng_for};
use numpy::PyArray1;
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::arguments::{SEEDS, optional, shown};
use crate::game::Game;
use crate::observation::numbers;
use crate::position::Position;
use crate::process::{ALL_CORES, Shared, interruptible};
use crate::refused;

/// The players that nobody uses just now, and the process that made them: a child cannot use its parent's programs.
type Idle = (u32, Vec<Box<dyn Chooser>>);

/// Player(spec): the player that "random", "alphabeta:2", "rollout:200", "model:brandubh,playouts=16" or "uci:COMMAND" names.
///
/// Specs are as for `match`. A player remembers nothing between two calls: its moves follow from the positions and
/// the seed, unless it looks at the clock or is an external program. Pickled by its spec. Raises ValueError for a spec
/// that cannot be, a checkpoint that is missing or damaged, and a program that does not start.
#[pyclass(module = "hnefi", frozen)]
pub struct Player {
    spec: PlayerSpec,
    models: Shared<ModelCache>,
    idle: Shared<Idle>,
}

#[pymethods]
impl Player {
    #[new]
    fn new(py: Python<'_>, spec: &str) -> PyResult<Player> {
        let models = Shared::new(ModelCache::new(Devices::cpu(), SearchConfig::default()));
        let idle = Shared::new((std::process::id(), Vec::new()));
        let player = Player { spec: spec.parse().map_err(refused)?, models, idle };
        py.detach(|| player.used(|_| Ok(()))).map_err(refused)?;
        Ok(player)
    }

    /// The spec.
    #[getter]
    fn spec(&self) -> String {
        self.spec.to_string()
    }

    /// Chooses a move in each of k positions, a sequence of `Position` and `Game` of one board size: [k] int64, numbers
    /// of the policy index. They are thought about on all cores, and the interpreter's lock is released. Raises
    /// ValueError for a game that is over, and where an external program fails. Ctrl-C ends it: within a move of a
    /// network or an external program, else after it.
    #[pyo3(signature = (positions, seed = None), text_signature = "($self, positions, seed=0)")]
    fn choose<'py>(
        &self,
        py: Python<'py>,
        positions: Vec<Bound<'py, PyAny>>,
        seed: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let seed = optional(seed, "seed", SEEDS)?.unwrap_or(0);
        let games = positions.iter().map(played).collect::<PyResult<Vec<Played>>>()?;
        let Some(size) = games.first().map(|game| game.rules().size()) else {
            return Ok(PyArray1::from_vec(py, Vec::new()));
        };
        if games.iter().any(|game| game.rules().size() != size) {
            return Err(refused("positions of several board sizes: expected one"));
        }
        let pool = ALL_CORES.get(py)?;
        self.models.check()?;
        self.idle.check()?;
        let work = |stopped: &Arc<AtomicBool>| {
            let choose = |(index, game): (usize, &Played)| {
                if stopped.load(Ordering::Relaxed) {
                    return Err("interrupted".to_owned());
                }
                let choose = |player: &mut dyn Chooser| {
                    player.stop_by(stopped);
                    player.new_game();
                    Ok(player.choose(game, &mut rng_for(&[seed, index as u64]))?.mv)
                };
                self.used(choose).map_err(|error| error.to_string())
            };
            let moves: Result<Vec<Move>, String> = pool.install(|| games.par_iter().enumerate().map(choose).collect());
            moves.map_err(refused)
        };
        let moves = py.detach(|| interruptible(work))?;
        Ok(numbers(py, moves, size))
    }

    fn __getnewargs__(&self) -> (String,) {
        (self.spec(),)
    }

    fn __repr__(&self) -> String {
        format!("Player({:?})", self.spec())
    }
}

impl Player {
    /// What `work` does with a player of this spec that nobody else uses meanwhile.
    fn used<T>(&self, work: impl FnOnce(&mut dyn Chooser) -> Result<T, PlayerError>) -> Result<T, PlayerError> {
        let process = std::process::id();
        let mut idle = self.idle.wait();
        if idle.0 != process {
            std::mem::forget(std::mem::replace(&mut *idle, (process, Vec::new())));
        }
        let waiting = idle.1.pop();
        drop(idle);
        let mut player = match waiting {
            Some(player) => player,
            None => self.spec.build(&mut self.models.wait())?,
        };
        let done = work(player.as_mut())?;
        self.idle.wait().1.push(player);
        Ok(done)
    }
}

/// The game that led to a position from which it goes on.
fn played(argument: &Bound<'_, PyAny>) -> PyResult<Played> {
    let game = if let Ok(game) = argument.cast::<Game>() {
        game.try_borrow()?.0.clone()
    } else {
        let expected = || refused(format!("position {}: expected hnefi.Position or hnefi.Game", shown(argument)));
        let position = argument.cast::<Position>().map_err(|_| expected())?.get();
        let mut game = Game::at(position.0.rules(), position.start())?.0;
        position.0.moves().try_for_each(|mv| game.play(mv).map(drop)).map_err(refused)?;
        game
    };
    match game.ending() {
        None => Ok(game),
        Some(_) => {
            Err(refused(format!("position {}: the game is over; expected one that goes on", game.position().fen())))
        }
    }
}
