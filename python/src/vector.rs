//! Many games stepped at once.

use hnefi_engine::{BoardSize, Move, Position as Board, Rules as EngineRules, Side};
use hnefi_inference::GLOBALS;
use hnefi_run::PlyCaps;
use hnefi_search::{Rng, rng_for};
use numpy::ndarray::Dimension;
use numpy::{Element, IntoPyArray, PyArray, PyArray1, PyArray2, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use rand::RngExt;
use rayon::prelude::*;

use crate::observation::{Form, Packed, Plain, action_of, actions, features, move_of};
use crate::position::Position;
use crate::rules::{Rules, reward, rules_of};
use crate::{refused, tuple};

/// Games that a thread takes at once.
const AT_ONCE: usize = 16;

/// One game of the environment.
struct Slot {
    position: Board,
    rng: Rng,
}

/// The arrays of an observation.
struct Arrays<'py, F: Form> {
    planes: Bound<'py, PyArrayDyn<F::Plane>>,
    globals: Bound<'py, PyArray2<f32>>,
    masks: Bound<'py, PyArray2<F::Mask>>,
    players: Bound<'py, PyArray1<i8>>,
}

/// The same, kept from step to step.
struct Kept<F: Form> {
    planes: Py<PyArrayDyn<F::Plane>>,
    globals: Py<PyArray2<f32>>,
    masks: Py<PyArray2<F::Mask>>,
    players: Py<PyArray1<i8>>,
}

/// Observations whose arrays are kept: the newest, and the one before it, which nobody else may hold any more and which
/// is then written anew. Fresh memory costs as much as what is written to it.
const KEPT: usize = 2;

impl<F: Form> Kept<F> {
    /// Whether nobody else holds the arrays, and they are as they were made.
    fn is_free(&self, py: Python<'_>, shapes: &Shapes) -> bool {
        is_free(self.planes.bind(py), &shapes.planes)
            && is_free(self.globals.bind(py), &shapes.globals)
            && is_free(self.masks.bind(py), &shapes.masks)
            && is_free(self.players.bind(py), &shapes.players)
    }
}

#[expect(deprecated, reason = "the new way to ask for the count is unsafe")]
fn is_free<T: Element, D: Dimension>(array: &Bound<'_, PyArray<T, D>>, shape: &[usize]) -> bool {
    array.get_refcnt() == 1 && array.shape() == shape && array.try_readwrite().is_ok()
}

/// Shapes of the arrays of an observation.
struct Shapes {
    planes: Vec<usize>,
    globals: [usize; 2],
    masks: [usize; 2],
    players: [usize; 1],
}

impl Shapes {
    fn of<F: Form>(count: usize, size: BoardSize) -> Shapes {
        Shapes {
            planes: [&[count][..], &F::planes(size)].concat(),
            globals: [count, GLOBALS],
            masks: [count, F::mask(size)],
            players: [count],
        }
    }
}

/// VectorEnv(ruleset, count, seed=0, *, ply_cap=None, threads=None, copy=True): `count` games, N, stepped together on
/// all cores.
///
/// A game that ends is begun anew at once. Both sides are played by the caller: each action is the side to move's.
/// `seed` decides `random_actions` and `step_random` for any number of threads. `ply_cap`: plies after which a
/// game is a draw, 0 for none; None takes the rules' own or, if they have none, self-play's for this board. `threads`:
/// None for one a core (the variable RAYON_NUM_THREADS changes that). The arrays of an observation that nobody holds
/// any more are written anew. With `copy=False` every observation is written to the same arrays: less memory, and only
/// the newest is valid. Raises ValueError for an unknown ruleset and for no games or threads. After a fork begin a new
/// one; better spawn processes.
#[pyclass(module = "hnefi")]
pub struct VectorEnv {
    rules: EngineRules,
    start: Board,
    slots: Vec<Slot>,
    pool: Option<rayon::ThreadPool>,
    copy: bool,
    kept: Vec<Kept<Plain>>,
    kept_packed: Vec<Kept<Packed>>,
}

#[pymethods]
impl VectorEnv {
    #[new]
    #[pyo3(
        signature = (ruleset, count, seed = 0, *, ply_cap = None, threads = None, copy = true),
        text_signature = "(ruleset, count, seed=0, *, ply_cap=None, threads=None, copy=True)"
    )]
    fn new(
        ruleset: &Bound<'_, PyAny>,
        count: usize,
        seed: u64,
        ply_cap: Option<u16>,
        threads: Option<usize>,
        copy: bool,
    ) -> PyResult<VectorEnv> {
        let given = rules_of(ruleset)?;
        let usual = if given.ply_cap > 0 { given.ply_cap } else { PlyCaps::default().of(given.size()) };
        let rules = EngineRules { ply_cap: ply_cap.unwrap_or(usual), ..given };
        if count == 0 {
            return Err(refused("count = 0: expected at least one game"));
        }
        let pool = threads.map(|threads| match threads {
            0 => Err(refused("threads = 0: expected at least 1, or None for all cores")),
            _ => rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(refused),
        });
        let start = Board::start(&rules);
        let (slots, pool) = (Vec::new(), pool.transpose()?);
        let mut env = VectorEnv { rules, start, slots, pool, copy, kept: Vec::new(), kept_packed: Vec::new() };
        env.slots = (0..count).map(|_| Slot { position: env.start.clone(), rng: rng_for(&[]) }).collect();
        env.seed(seed);
        Ok(env)
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

    /// Length of the policy index, A = 40 * n * n.
    #[getter]
    fn num_actions(&self) -> usize {
        actions(self.rules.size())
    }

    fn __len__(&self) -> usize {
        self.slots.len()
    }

    /// The position of one game. Raises IndexError when there is no such game.
    fn position(&self, index: usize) -> PyResult<Position> {
        let count = self.slots.len();
        let missing = || PyIndexError::new_err(format!("game {index}: expected 0 to {}", count - 1));
        self.slots.get(index).map(|slot| Position(slot.position.clone())).ok_or_else(missing)
    }

    /// Begins all games anew and returns what is seen: an `Observation`. With a seed random play begins anew, too.
    #[pyo3(signature = (seed = None))]
    fn reset<'py>(&mut self, py: Python<'py>, seed: Option<u64>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(seed) = seed {
            self.seed(seed);
        }
        for slot in &mut self.slots {
            slot.position.clone_from(&self.start);
        }
        self.observe(py)
    }

    /// What is seen now: an `Observation`.
    fn observe<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.advance::<Plain>(py, None)?.0)
    }

    /// What is seen now in bits: a `PackedObservation`.
    fn observe_packed<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.advance::<Packed>(py, None)?.0)
    }

    /// Plays one move in every game: `actions` are [N] whole numbers of the policy index. Returns a `Step`.
    ///
    /// Raises ValueError when a move is illegal, with the game and the rule, or their number is wrong; no game has
    /// changed then. The interpreter's lock is released.
    fn step<'py>(&mut self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.play::<Plain>(py, actions)
    }

    /// `step` whose observation is in bits, several times as fast: returns a `PackedStep`.
    fn step_packed<'py>(&mut self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.play::<Packed>(py, actions)
    }

    /// A legal move for every game, each equally likely: [N] int64.
    fn random_actions<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let (size, pool, slots) = (self.rules.size(), &self.pool, &mut self.slots);
        let choose = |slot: &mut Slot| {
            let Slot { position, rng } = slot;
            position.random_move(|count| rng.random_range(0..count)).map_or(-1, |mv| action_of(mv, size) as i64)
        };
        let chosen: Vec<i64> =
            py.detach(|| on(pool, || slots.par_iter_mut().with_min_len(AT_ONCE).map(choose).collect()));
        chosen.into_pyarray(py)
    }

    /// Plays `plies` random plies in every game, without observations, and counts how games ended: a `RandomPlay`.
    ///
    /// The interpreter's lock is released.
    fn step_random<'py>(&mut self, py: Python<'py>, plies: u32) -> PyResult<Bound<'py, PyAny>> {
        let (pool, slots, start) = (&self.pool, &mut self.slots, &self.start);
        let play = |slot: &mut Slot| slot.play_at_random(plies, start);
        let add = |a: [u64; 3], b: [u64; 3]| [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
        let ends =
            py.detach(|| on(pool, || slots.par_iter_mut().with_min_len(AT_ONCE).map(play).reduce(|| [0; 3], add)));
        let played = u64::from(plies) * self.slots.len() as u64;
        tuple(py, "RandomPlay", (played, ends[0], ends[1], ends[2]))
    }

    fn __repr__(&self) -> String {
        let rules = self.rules.preset().map_or("own rules", |preset| preset.name());
        format!("<VectorEnv of {} games of {rules}>", self.slots.len())
    }
}

impl VectorEnv {
    /// The positions as they stand.
    pub fn positions(&self) -> Vec<Board> {
        self.slots.iter().map(|slot| slot.position.clone()).collect()
    }

    fn seed(&mut self, seed: u64) {
        for (index, slot) in self.slots.iter_mut().enumerate() {
            slot.rng = rng_for(&[seed, index as u64]);
        }
    }

    /// The moves that these numbers mean, each legal in its game.
    fn check(&self, given: &[i64]) -> Result<Vec<Move>, String> {
        if given.len() != self.slots.len() {
            return Err(format!("{} actions: expected one for each of the {} games", given.len(), self.slots.len()));
        }
        let legal = |(slot, &action): (&Slot, &i64)| {
            let mv = move_of(action, slot.position.size())?;
            slot.position.check(mv).map_err(|error| format!("action {action}: {error}")).map(|()| mv)
        };
        let moves: Vec<Result<Move, String>> =
            on(&self.pool, || self.slots.par_iter().zip(given).with_min_len(AT_ONCE).map(legal).collect());
        let named = |(game, mv): (usize, Result<Move, String>)| mv.map_err(|problem| format!("game {game}: {problem}"));
        moves.into_iter().enumerate().map(named).collect()
    }

    /// Plays the moves that these numbers mean.
    fn play<'py, F: Kind>(&mut self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let given = whole_numbers(actions)?;
        let given = given.readonly();
        let given = given.as_slice().map_err(refused)?;
        let moves = py.detach(|| self.check(given)).map_err(refused)?;
        let (seen, rewards, dones) = self.advance::<F>(py, Some(&moves))?;
        tuple(py, F::STEP, (seen, rewards.into_pyarray(py), dones.into_pyarray(py)))
    }

    /// The arrays to write the next observation to.
    fn arrays<'py, F: Kind>(&mut self, py: Python<'py>) -> Arrays<'py, F> {
        let (shapes, copy) = (Shapes::of::<F>(self.slots.len(), self.rules.size()), self.copy);
        let all = F::kept(self);
        if let Some(kept) = all.iter().find(|kept| !copy || kept.is_free(py, &shapes)) {
            return Arrays {
                planes: kept.planes.bind(py).clone(),
                globals: kept.globals.bind(py).clone(),
                masks: kept.masks.bind(py).clone(),
                players: kept.players.bind(py).clone(),
            };
        }
        let arrays = Arrays {
            planes: PyArray::zeros(py, shapes.planes, false),
            globals: PyArray::zeros(py, shapes.globals, false),
            masks: PyArray::zeros(py, shapes.masks, false),
            players: PyArray::zeros(py, shapes.players, false),
        };
        if all.len() == KEPT {
            all.remove(0);
        }
        all.push(Kept {
            planes: arrays.planes.clone().unbind(),
            globals: arrays.globals.clone().unbind(),
            masks: arrays.masks.clone().unbind(),
            players: arrays.players.clone().unbind(),
        });
        arrays
    }

    /// Plays the moves, begins a new game where one ended, and writes down what is seen then. Returns that, the rewards
    /// of the sides that moved and which games ended.
    fn advance<'py, F: Kind>(
        &mut self,
        py: Python<'py>,
        moves: Option<&[Move]>,
    ) -> PyResult<(Bound<'py, PyAny>, Vec<f32>, Vec<bool>)> {
        let arrays = self.arrays::<F>(py);
        let (mut planes, mut globals) =
            (arrays.planes.try_readwrite().map_err(refused)?, arrays.globals.try_readwrite().map_err(refused)?);
        let (mut masks, mut players) =
            (arrays.masks.try_readwrite().map_err(refused)?, arrays.players.try_readwrite().map_err(refused)?);
        let (mut rewards, mut dones) = (vec![0.0; self.slots.len()], vec![false; self.slots.len()]);
        let (start, pool, slots, size) = (&self.start, &self.pool, &mut self.slots, self.rules.size());
        {
            let planes = planes.as_slice_mut().map_err(refused)?;
            let globals = globals.as_slice_mut().map_err(refused)?;
            let masks = masks.as_slice_mut().map_err(refused)?;
            let players = players.as_slice_mut().map_err(refused)?;
            let fill = |game: usize, slot: &mut Slot, (reward, done): (&mut f32, &mut bool), seen: Seen<'_, F>| {
                if let Some(moves) = moves {
                    (*reward, *done) = slot.play(moves[game], start);
                }
                seen.write(&slot.position, size);
            };
            py.detach(|| {
                on(pool, || {
                    let seen = planes
                        .par_chunks_mut(F::planes(size).iter().product())
                        .zip(globals.par_chunks_mut(GLOBALS))
                        .zip(masks.par_chunks_mut(F::mask(size)))
                        .zip(players.par_iter_mut());
                    slots
                        .par_iter_mut()
                        .enumerate()
                        .zip(rewards.par_iter_mut().zip(dones.par_iter_mut()))
                        .zip(seen)
                        .with_min_len(AT_ONCE)
                        .for_each(|(((game, slot), results), (((planes, globals), mask), player))| {
                            fill(game, slot, results, Seen { planes, globals, mask, player });
                        });
                });
            });
        }
        drop((planes, globals, masks, players));
        let seen = tuple(py, F::OBSERVATION, (arrays.planes, arrays.globals, arrays.masks, arrays.players))?;
        Ok((seen, rewards, dones))
    }
}

/// A form of observations that the environment returns.
trait Kind: Form {
    /// The named tuples of `hnefi._tuples`.
    const OBSERVATION: &'static str;
    const STEP: &'static str;

    /// Where an environment keeps its arrays of this form.
    fn kept(env: &mut VectorEnv) -> &mut Vec<Kept<Self>>
    where
        Self: Sized;
}

impl Kind for Plain {
    const OBSERVATION: &'static str = "Observation";
    const STEP: &'static str = "Step";

    fn kept(env: &mut VectorEnv) -> &mut Vec<Kept<Plain>> {
        &mut env.kept
    }
}

impl Kind for Packed {
    const OBSERVATION: &'static str = "PackedObservation";
    const STEP: &'static str = "PackedStep";

    fn kept(env: &mut VectorEnv) -> &mut Vec<Kept<Packed>> {
        &mut env.kept_packed
    }
}

/// What is seen of one game.
struct Seen<'a, F: Form> {
    planes: &'a mut [F::Plane],
    globals: &'a mut [f32],
    mask: &'a mut [F::Mask],
    player: &'a mut i8,
}

impl<F: Form> Seen<'_, F> {
    fn write(self, position: &Board, size: BoardSize) {
        let features = features(position);
        F::write_planes(&features, size, self.planes);
        self.globals.copy_from_slice(&features.globals);
        F::write_mask(position, self.mask);
        *self.player = position.side_to_move().index() as i8;
    }
}

impl Slot {
    /// Plays a legal move. Returns the mover's reward and whether the game ended; then the next one has begun.
    fn play(&mut self, mv: Move, start: &Board) -> (f32, bool) {
        let mover = self.position.side_to_move();
        self.position.advance(mv);
        match self.position.outcome() {
            None => (0.0, false),
            Some(outcome) => {
                self.position.clone_from(start);
                (reward(outcome.result_for(mover)), true)
            }
        }
    }

    /// Plays this many random plies and counts the games won by the attackers, won by the defenders and drawn.
    fn play_at_random(&mut self, plies: u32, start: &Board) -> [u64; 3] {
        let mut ends = [0; 3];
        let Slot { position, rng } = self;
        for _ in 0..plies {
            if let Some(mv) = position.random_move(|count| rng.random_range(0..count)) {
                position.advance(mv);
            }
            if let Some(outcome) = position.outcome() {
                ends[outcome.winner().map_or(2, Side::index)] += 1;
                position.clone_from(start);
            }
        }
        ends
    }
}

/// Runs work on the threads of an environment, or on all cores.
fn on<T: Send>(pool: &Option<rayon::ThreadPool>, work: impl FnOnce() -> T + Send) -> T {
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// An array of whole numbers of any width.
fn whole_numbers<'py>(values: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<i64>>> {
    if let Ok(array) = values.cast::<PyArray1<i64>>()
        && array.is_c_contiguous()
    {
        return Ok(array.clone());
    }
    let numpy = values.py().import("numpy")?;
    let array = numpy.call_method1("asarray", (values,))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    let dimensions: usize = array.getattr("ndim")?.extract()?;
    if !matches!(kind.as_str(), "i" | "u") || dimensions != 1 {
        let (found, shape) = (array.getattr("dtype")?, array.getattr("shape")?);
        return Err(refused(format!("actions of dtype {found} and shape {shape}: expected whole numbers, one a game")));
    }
    let whole = numpy.call_method1("ascontiguousarray", (array, i64::get_dtype(values.py())))?;
    Ok(whole.cast_into::<PyArray1<i64>>()?)
}
