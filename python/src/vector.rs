//! Many games stepped at once.

use std::sync::Arc;

use hnefi_engine::{Move, NamedRules, Position as Board, Reason, Rules as EngineRules, Side};
use hnefi_run::PlyCaps;
use hnefi_search::{Rng, rng_for};
use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rand::RngExt;
use rayon::ThreadPool;
use rayon::prelude::*;

use crate::arguments::{SEEDS, THREADS, one_a_game, optional, shown, whole};
use crate::arrays::{AT_ONCE, AllKept, Arrays, Form, Packed, Plain};
use crate::game::position_of;
use crate::observation::{action_of, actions, move_of};
use crate::position::{Position, one_size};
use crate::process::{ALL_CORES, Pool, Shared};
use crate::rules::{Rules, reward, rules_of};
use crate::{refused, tuple};

/// Random plies of every game between two looks for Ctrl-C.
const BETWEEN_SIGNALS: u32 = 1000;

/// The most games of an environment.
const MOST: usize = 1 << 20;

/// The action of a game that waits.
const WAITS: i64 = -1;

/// One game of the environment.
struct Slot {
    position: Position,
    rng: Rng,
}

/// What changes with every call.
struct State {
    slots: Vec<Slot>,
    kept: AllKept,
}

/// VectorEnv(ruleset, count, seed=0, *, ply_cap=None, fen=None, threads=None, copy=True): `count` games, N, stepped
/// together on all cores.
///
/// A game that ends is begun anew at once. Both sides are played by the caller: each action is the side to move's.
/// `seed` decides `random_actions` and `step_random` for any number of threads. `ply_cap`: plies after which a game is
/// truncated, a draw, 0 for none; None takes the rules' own or, if they have none, self-play's for this board. `fen`:
/// where games begin, None for the rules' start. `threads`: None for one a core (the variable RAYON_NUM_THREADS changes
/// that). The arrays of an observation that nobody holds any more are written anew. With `copy=False` every observation
/// is written to the same arrays: less memory, and only the newest is valid. Pickled and copied with its games and
/// their random numbers. Raises ValueError for an unknown ruleset and for no games or threads. Threads that use one
/// environment wait for each other.
#[pyclass(module = "hnefi", frozen)]
pub struct VectorEnv {
    rules: EngineRules,
    start: Position,
    count: usize,
    copy: bool,
    /// Its own threads, None for those of all cores.
    own: Option<Pool>,
    state: Shared<State>,
}

#[pymethods]
impl VectorEnv {
    #[new]
    #[pyo3(
        signature = (ruleset, count, seed = None, *, ply_cap = None, fen = None, threads = None, copy = true),
        text_signature = "(ruleset, count, seed=0, *, ply_cap=None, fen=None, threads=None, copy=True)"
    )]
    #[expect(clippy::too_many_arguments, reason = "Python's keywords")]
    fn new(
        py: Python<'_>,
        ruleset: &Bound<'_, PyAny>,
        count: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
        ply_cap: Option<&Bound<'_, PyAny>>,
        fen: Option<&str>,
        threads: Option<&Bound<'_, PyAny>>,
        copy: bool,
    ) -> PyResult<VectorEnv> {
        let (given, count) = (rules_of(ruleset)?, whole(count, "count", 1..=MOST)?);
        let usual = PlyCaps::default().or_own(&given);
        let ply_cap = optional(ply_cap, "ply_cap", 0..=u16::MAX)?.unwrap_or(usual);
        let rules = EngineRules { ply_cap, ..given };
        let start = Position::at(&rules, fen)?;
        check_open("fen", &start)?;
        let own = optional(threads, "threads", THREADS)?.map(Pool::new);
        own.as_ref().map(|own| own.get(py)).transpose()?;
        let seed = optional(seed, "seed", SEEDS)?.unwrap_or(0);
        let slot = |game| Slot { position: start.clone(), rng: rng_for(&[seed, game as u64]) };
        let state = State { slots: (0..count).map(slot).collect(), kept: AllKept::default() };
        Ok(VectorEnv { rules, start, count, copy, own, state: Shared::new(state) })
    }

    /// The rules in force, the ply cap included.
    #[getter]
    fn rules(&self) -> Rules {
        Rules(self.rules)
    }

    /// Squares along one edge, n.
    #[getter]
    fn size(&self) -> usize {
        self.rules.size().side()
    }

    /// Length of the policy index, A = 4 * (n - 1) * n * n.
    #[getter]
    fn num_actions(&self) -> usize {
        actions(self.rules.size())
    }

    fn __len__(&self) -> usize {
        self.count
    }

    /// The position of one game. Raises IndexError when there is no such game.
    fn position(&self, py: Python<'_>, index: &Bound<'_, PyAny>) -> PyResult<Position> {
        let (state, last) = (self.state.lock(py)?, self.count - 1);
        let slot = index.extract().ok().and_then(|index: usize| state.slots.get(index));
        let missing = || PyIndexError::new_err(format!("game {}: expected 0 to {last}", shown(index)));
        slot.map(|slot| slot.position.clone()).ok_or_else(missing)
    }

    /// Begins all games anew, or those where `mask`, [N] bool, is True, and returns what is seen: an `Observation`.
    /// With a seed their random play begins anew, too.
    #[pyo3(signature = (seed = None, *, mask = None))]
    fn reset<'py>(
        &self,
        py: Python<'py>,
        seed: Option<&Bound<'py, PyAny>>,
        mask: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let seed = optional(seed, "seed", SEEDS)?;
        let mask = mask.map(|mask| one_a_game::<bool>(mask, "mask", "b", "True or False")).transpose()?;
        let mask = mask.map(|mask| mask.to_vec()).transpose().map_err(refused)?;
        if let Some(mask) = mask.as_ref().filter(|mask| mask.len() != self.count) {
            return Err(refused(format!("a mask of {}: expected one value for each of {}", mask.len(), self.count)));
        }
        let mut state = self.state.lock(py)?;
        for (game, slot) in state.slots.iter_mut().enumerate() {
            if mask.as_ref().is_none_or(|mask| mask[game]) {
                slot.position.clone_from(&self.start);
                if let Some(seed) = seed {
                    slot.rng = rng_for(&[seed, game as u64]);
                }
            }
        }
        drop(state);
        self.observe(py)
    }

    /// What is seen now: an `Observation`.
    fn observe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.seen::<Plain>(py)
    }

    /// What is seen now in bits: a `PackedObservation`.
    fn observe_packed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.seen::<Packed>(py)
    }

    /// Plays one move in every game: `actions` are [N] whole numbers of the policy index, or -1 for a game that waits.
    /// Returns a `Step`.
    ///
    /// Raises ValueError when a move is illegal, with the game and the rule, or their number is wrong; no game has
    /// changed then. The interpreter's lock is released.
    fn step<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.play::<Plain>(py, actions)
    }

    /// `step` whose observation is in bits, several times as fast: returns a `PackedStep`.
    fn step_packed<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.play::<Packed>(py, actions)
    }

    /// A legal move for every game, each equally likely: [N] int64.
    fn random_actions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let (size, pool, mut state) = (self.rules.size(), self.pool(py)?, self.state.lock(py)?);
        let slots = &mut state.slots;
        let choose = |Slot { position, rng }: &mut Slot| {
            position.0.random_move(|count| rng.random_range(0..count)).map_or(-1, |mv| action_of(mv, size) as i64)
        };
        let chosen: Vec<i64> =
            py.detach(|| pool.install(|| slots.par_iter_mut().with_min_len(AT_ONCE).map(choose).collect()));
        Ok(chosen.into_pyarray(py))
    }

    /// Plays `plies` random plies in every game, without observations, and counts how games ended: a `RandomPlay`.
    ///
    /// The interpreter's lock is released; Ctrl-C ends it.
    fn step_random<'py>(&self, py: Python<'py>, plies: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let plies = whole(plies, "plies", 0..=u32::MAX)?;
        let (pool, mut state, start) = (self.pool(py)?, self.state.lock(py)?, &self.start);
        let slots = &mut state.slots;
        let add = |a: [u64; 3], b: [u64; 3]| [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
        let (mut ends, mut left) = ([0; 3], plies);
        while left > 0 {
            let now = left.min(BETWEEN_SIGNALS);
            let play = |slot: &mut Slot| slot.play_at_random(now, start);
            let played = || slots.par_iter_mut().with_min_len(AT_ONCE).map(play).reduce(|| [0; 3], add);
            ends = add(ends, py.detach(|| pool.install(played)));
            left -= now;
            py.check_signals()?;
        }
        drop(state);
        tuple(py, "RandomPlay", (u64::from(plies) * self.count as u64, ends[0], ends[1], ends[2]))
    }

    /// The games as they stand and their random numbers: a `VectorState`.
    fn get_state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let state = self.state.lock(py)?;
        let positions: Vec<Position> = state.slots.iter().map(|slot| slot.position.clone()).collect();
        let rngs: Vec<&Rng> = state.slots.iter().map(|slot| &slot.rng).collect();
        let random = serde_json::to_string(&rngs).map_err(refused)?;
        drop(state);
        tuple(py, "VectorState", (positions, random))
    }

    /// Goes on from a state that `get_state` gave, here or elsewhere; its positions may be others of these rules.
    ///
    /// Raises ValueError for another number of games, other rules and a finished game; nothing has changed then.
    fn set_state(&self, py: Python<'_>, state: (Vec<PyRef<'_, Position>>, String)) -> PyResult<()> {
        let (positions, random) = state;
        let rngs: Vec<Rng> =
            serde_json::from_str(&random).map_err(|error| refused(format!("state: random: {error}")))?;
        if positions.len() != self.count || rngs.len() != self.count {
            let (positions, rngs) = (positions.len(), rngs.len());
            let problem = format!("{positions} positions and {rngs} random numbers: expected {} of each", self.count);
            return Err(refused(format!("state: {problem}")));
        }
        for (game, position) in positions.iter().enumerate() {
            if *position.0.rules() != self.rules {
                let (found, expected) = (Rules(*position.0.rules()).__repr__(), self.rules().__repr__());
                return Err(refused(format!("state: position {game} under {found}: expected {expected}")));
            }
            check_open(&format!("state: position {game}"), position)?;
        }
        let slot = |(position, rng): (PyRef<'_, Position>, Rng)| Slot { position: position.clone(), rng };
        self.state.lock(py)?.slots = positions.into_iter().zip(rngs).map(slot).collect();
        Ok(())
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((Rules, usize), Bound<'py, PyDict>)> {
        let named = PyDict::new(py);
        named.set_item("ply_cap", self.rules.ply_cap)?;
        named.set_item("fen", self.start.start())?;
        named.set_item("threads", self.own.as_ref().map(Pool::threads))?;
        named.set_item("copy", self.copy)?;
        Ok(((self.rules(), self.count), named))
    }

    fn __getstate__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.get_state(py)
    }

    fn __setstate__(&self, py: Python<'_>, state: (Vec<PyRef<'_, Position>>, String)) -> PyResult<()> {
        self.set_state(py, state)
    }

    fn __repr__(&self) -> String {
        let named = NamedRules::from(self.rules);
        let rules = if named.is_published() { named.name() } else { "own rules".to_owned() };
        format!("<VectorEnv of {} games of {rules}>", self.count)
    }
}

impl VectorEnv {
    /// The positions as they stand.
    pub fn positions(&self, py: Python<'_>) -> PyResult<Vec<Position>> {
        Ok(self.state.lock(py)?.slots.iter().map(|slot| slot.position.clone()).collect())
    }

    fn pool(&self, py: Python<'_>) -> PyResult<Arc<ThreadPool>> {
        self.own.as_ref().unwrap_or(&ALL_CORES).get(py)
    }

    fn seen<'py, F: Form>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (size, pool, mut state) = (self.rules.size(), self.pool(py)?, self.state.lock(py)?);
        let State { slots, kept } = &mut *state;
        let arrays = F::kept(kept).next(py, self.count, size, self.copy);
        arrays.write(py, &pool, size, slots.par_iter().map(|slot| &slot.position.0))?;
        drop(state);
        arrays.named(py)
    }

    /// The moves that these numbers mean, each legal in its game; none where a game waits.
    fn check(&self, slots: &[Slot], given: &[i64]) -> Result<Vec<Option<Move>>, String> {
        if given.len() != self.count {
            return Err(format!("{} actions: expected one for each of the {} games", given.len(), self.count));
        }
        let legal = |(slot, &action): (&Slot, &i64)| {
            if action == WAITS {
                return Ok(None);
            }
            let mv = move_of(action, self.rules.size())?;
            slot.position.0.check(mv).map_err(|error| format!("action {action}: {error}")).map(|()| Some(mv))
        };
        let moves: Vec<Result<Option<Move>, String>> =
            slots.par_iter().zip(given).with_min_len(AT_ONCE).map(legal).collect();
        let named = |(game, mv): (usize, Result<_, String>)| mv.map_err(|problem| format!("game {game}: {problem}"));
        moves.into_iter().enumerate().map(named).collect()
    }

    /// Plays the moves that these numbers mean, and begins a new game where one ended.
    fn play<'py, F: Form>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let given = one_a_game::<i64>(actions, "actions", "iu", "whole numbers")?;
        let given = given.readonly();
        let given = given.as_slice().map_err(refused)?;
        let (size, pool, mut state) = (self.rules.size(), self.pool(py)?, self.state.lock(py)?);
        let State { slots, kept } = &mut *state;
        let moves = py.detach(|| pool.install(|| self.check(slots, given))).map_err(refused)?;
        let arrays = F::kept(kept).next(py, self.count, size, self.copy);
        let mut results: Vec<(f32, Option<Box<Board>>)> = Vec::new();
        results.resize_with(self.count, Default::default);
        let boards = slots.par_iter_mut().zip(&moves).zip(&mut results).map(|((slot, &mv), result)| {
            *result = mv.map(|mv| slot.play(mv, &self.start)).unwrap_or_default();
            &slot.position.0
        });
        arrays.write(py, &pool, size, boards)?;
        drop(state);
        let last = || results.iter().map(|(_, last)| last.as_deref());
        let capped = |last: &Board| last.outcome().is_some_and(|outcome| outcome.reason() == Reason::PlyCap);
        let rewards: Vec<f32> = results.iter().map(|&(reward, _)| reward).collect();
        let truncated: Vec<bool> = last().map(|last| last.is_some_and(capped)).collect();
        let terminated: Vec<bool> = last().map(|last| last.is_some_and(|last| !capped(last))).collect();
        let ended: Vec<&Board> = last().flatten().collect();
        let final_obs = Arrays::<F>::new(py, ended.len(), size);
        if !ended.is_empty() {
            final_obs.write(py, &pool, size, ended.into_par_iter())?;
        }
        let (seen, final_obs) = (arrays.named(py)?, final_obs.named(py)?);
        let (terminated, truncated) = (terminated.into_pyarray(py), truncated.into_pyarray(py));
        tuple(py, F::STEP, (seen, rewards.into_pyarray(py), terminated, truncated, final_obs))
    }
}

/// Refuses a position from which nothing can be played.
fn check_open(name: &str, position: &Position) -> PyResult<()> {
    match position.0.outcome() {
        None => Ok(()),
        Some(outcome) => {
            let problem = format!("the game is over, {outcome}; expected one that goes on");
            Err(refused(format!("{name} {}: {problem}", position.0.fen())))
        }
    }
}

impl Slot {
    /// Plays a legal move. Returns the mover's reward and, when the game ended, its last position; then the next one
    /// has begun.
    fn play(&mut self, mv: Move, start: &Position) -> (f32, Option<Box<Board>>) {
        let mover = self.position.0.side_to_move();
        self.position.0.advance(mv);
        match self.position.0.outcome() {
            None => (0.0, None),
            Some(outcome) => {
                let last = std::mem::replace(&mut self.position, start.clone());
                (reward(outcome.result_for(mover)), Some(Box::new(last.0)))
            }
        }
    }

    /// Plays this many random plies and counts the games won by the attackers, won by the defenders and drawn.
    fn play_at_random(&mut self, plies: u32, start: &Position) -> [u64; 3] {
        let mut ends = [0; 3];
        let Slot { position, rng } = self;
        for _ in 0..plies {
            if let Some(mv) = position.0.random_move(|count| rng.random_range(0..count)) {
                position.0.advance(mv);
            }
            if let Some(outcome) = position.0.outcome() {
                ends[outcome.winner().map_or(2, Side::index)] += 1;
                position.clone_from(start);
            }
        }
        ends
    }
}

/// The positions of a sequence of positions and games, or of an environment.
pub fn positions_of(argument: &Bound<'_, PyAny>) -> PyResult<Vec<Position>> {
    if let Ok(env) = argument.cast::<VectorEnv>() {
        return env.get().positions(argument.py());
    }
    let expected = || format!("positions {}: expected a sequence of them or hnefi.VectorEnv", shown(argument));
    argument.try_iter().map_err(|_| refused(expected()))?.map(|one| position_of(&one?)).collect()
}

/// What is seen of N positions of one board size, as a sequence of `Position` and `Game` or a `VectorEnv`: an
/// `Observation`, a network's input.
///
/// With `out`, the `Observation` of as many positions of that size, its arrays are written anew and returned. A
/// position whose game is over has no legal move. All cores work, and the interpreter's lock is released. Raises
/// ValueError for no positions, a resigned game, several board sizes and an `out` of other shapes or not in C's order.
#[pyfunction]
#[pyo3(signature = (positions, out = None))]
pub fn encode<'py>(
    py: Python<'py>,
    positions: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let positions = positions_of(positions)?;
    let size = one_size(&positions).map_err(refused)?;
    let size = size.ok_or_else(|| refused("no positions: expected at least one"))?;
    let count = positions.len();
    let arrays = match out {
        None => Arrays::<Plain>::new(py, count, size),
        Some(out) => Arrays::given(out, count, size)?,
    };
    arrays.write(py, &*ALL_CORES.get(py)?, size, positions.par_iter().map(|position| &position.0))?;
    arrays.named(py)
}
