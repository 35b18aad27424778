//! Checkpoints: networks that evaluate and search.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hnefi_arena::players::CheckpointSource;
use hnefi_inference::{
    Card, Checkpoint as Saved, Devices, EvalError, EvalRequest, Evaluations, EvaluatorFactory, Handicap, NetworkConfig,
    PrecisionChoice, Wdl, WeightTensor, Weights, pretrained_names,
};
use numpy::ndarray::IxDyn;
use numpy::{IntoPyArray, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use crate::arguments::{SEEDS, THREADS, optional};
use crate::game::position_of;
use crate::observation::{action_of, actions, legal_moves, shaped};
use crate::position::{Position, check_open, one_size};
use crate::process::ALL_CORES;
use crate::vector::positions_of;
use crate::{from_python, refused, search, to_python, tuple};

/// Positions that one evaluator takes at once.
const BATCH: usize = 32;

/// The names of the checkpoints in this package.
#[pyfunction]
pub fn checkpoint_names() -> Vec<&'static str> {
    pretrained_names()
}

/// Checkpoint(path, *, precision='f32'): a network that evaluates and searches on the CPU.
///
/// `path` is a checkpoint's folder, a run's directory (its newest checkpoint) or the name of a shipped checkpoint.
/// `precision` is "f32" (the same results on every machine), "int8" or "auto" (the fastest here).
/// Pickled, it is loaded again from where it lies, and must be the same there. Raises ValueError when there is none, or
/// it is damaged.
#[pyclass(module = "hnefi", frozen)]
pub struct Checkpoint {
    path: PathBuf,
    source: String,
    card: Card,
    precision: PrecisionChoice,
    evaluators: EvaluatorFactory,
}

#[pymethods]
impl Checkpoint {
    #[new]
    #[pyo3(signature = (path, *, precision = "f32"), text_signature = "(path, *, precision='f32')")]
    fn new(py: Python<'_>, path: PathBuf, precision: &str) -> PyResult<Checkpoint> {
        let precision: PrecisionChoice = precision.parse().map_err(refused)?;
        py.detach(|| load(&path, precision)).map_err(refused)
    }

    /// What it was loaded from.
    #[getter]
    fn path(&self) -> String {
        self.path.display().to_string()
    }

    /// SHA-256 of the weights, in hex.
    #[getter]
    fn id(&self) -> &str {
        &self.card.id
    }

    /// The rulesets that it was trained on.
    #[getter]
    fn rulesets(&self) -> Vec<String> {
        self.card.rulesets.clone()
    }

    /// What is known of it: shape, training, encoding. A dict.
    fn card<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.card)
    }

    /// The weights by name, as float32 arrays (docs/NETWORK.md). Raises ValueError where they are no longer the same.
    fn tensors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let loaded = CheckpointSource::of(Path::new(&self.source)).and_then(|source| source.load()).map_err(refused)?;
        if loaded.card.id != self.card.id {
            return Err(refused(format!("checkpoint {}: changed since it was loaded", self.source)));
        }
        let tensors = PyDict::new(py);
        for (name, tensor) in loaded.weights.tensors() {
            tensors.set_item(name, shaped(py, IxDyn(&tensor.shape), tensor.values.clone())?)?;
        }
        Ok(tensors)
    }

    /// Evaluates N positions of one board size, as a sequence of `Position` and `Game` or a `VectorEnv`. Returns an
    /// `Evaluation`, from each side to move.
    ///
    /// Runs on all cores; the answer to a position does not depend on the others. Raises ValueError for no positions,
    /// several board sizes and a finished game. The interpreter's lock is released.
    fn evaluate<'py>(&self, py: Python<'py>, positions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let positions = positions_of(positions)?;
        let pool = ALL_CORES.get(py)?;
        let [values, plies_left, priors] = py.detach(|| pool.install(|| self.answers(&positions))).map_err(refused)?;
        let (count, width) = (positions.len(), priors.len() / positions.len());
        let (values, priors) = (shaped(py, (count, 3), values)?, shaped(py, (count, width), priors)?);
        tuple(py, "Evaluation", (values, plies_left.into_pyarray(py), priors))
    }

    /// Searches a position and returns a `SearchResult`, from the side to move.
    ///
    /// One limit: `playouts` (64 when nothing is given; Gumbel root, the same result again on one thread) or `seconds`
    /// (PUCT root). `threads` search one tree. With `noise`, a seed, a Gumbel root explores as self-play does.
    /// `settings` are keys of the search such as `root="puct"`, `c_puct=1.5`, `c_scale=0.3` (docs/CONFIGURATION.md,
    /// without `search.`). Raises ValueError when the game is over or a setting cannot be. Ctrl-C ends the search. The
    /// interpreter's lock is released.
    #[pyo3(
        signature = (position, playouts = None, *, seconds = None, threads = None, noise = None, **settings),
        text_signature = "($self, position, playouts=None, *, seconds=None, threads=1, noise=None, **settings)"
    )]
    #[expect(clippy::too_many_arguments, reason = "Python's keywords")]
    fn search<'py>(
        &self,
        py: Python<'py>,
        position: &Bound<'py, PyAny>,
        playouts: Option<&Bound<'py, PyAny>>,
        seconds: Option<f64>,
        threads: Option<&Bound<'py, PyAny>>,
        noise: Option<&Bound<'py, PyAny>>,
        settings: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let position = position_of(position)?.0;
        if position.outcome().is_some() {
            return Err(refused(format!("search: the game is over ({})", position.fen())));
        }
        let threads = optional(threads, "threads", THREADS)?.unwrap_or(1);
        let noise = optional(noise, "noise", SEEDS)?;
        let limit = search::limit(playouts, seconds)?;
        let config = search::config(limit, settings)?;
        search::check_noise(&config, noise)?;
        let report = py.detach(|| {
            let mut own: Vec<_> = (0..threads).map(|_| (self.evaluators)()).collect();
            search::run(&position, config, limit, noise, &mut own)
        })?;
        search::report(py, &report, &position)
    }

    /// Searches N positions, as a sequence of `Position` and `Game` or a `VectorEnv`, each by itself, on all cores.
    /// Returns N `SearchResult`s: with `noise`, a seed, what self-play needs. All else is as for `search`.
    #[pyo3(
        signature = (positions, playouts = None, *, noise = None, **settings),
        text_signature = "($self, positions, playouts=64, *, noise=None, **settings)"
    )]
    fn search_each<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        playouts: Option<&Bound<'py, PyAny>>,
        noise: Option<&Bound<'py, PyAny>>,
        settings: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let positions = positions_of(positions)?;
        check_open(&positions).map_err(refused)?;
        let (playouts, noise, config) = search::by_playouts(playouts, noise, settings)?;
        let pool = ALL_CORES.get(py)?;
        let reports =
            py.detach(|| search::run_each(&pool, &positions, &config, playouts, noise, || (self.evaluators)()))?;
        reports.iter().zip(&positions).map(|(report, position)| search::report(py, report, &position.0)).collect()
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((&str,), Bound<'py, PyDict>)> {
        let named = PyDict::new(py);
        named.set_item("precision", self.precision.to_string())?;
        Ok(((&self.source,), named))
    }

    fn __getstate__(&self) -> &str {
        self.id()
    }

    fn __setstate__(&self, id: &str) -> PyResult<()> {
        if id == self.id() {
            return Ok(());
        }
        Err(refused(format!(
            "checkpoint {}: weights {}; expected {id}, as when it was pickled",
            self.source,
            self.id()
        )))
    }

    fn __repr__(&self) -> String {
        format!("<Checkpoint {} ({}), {}>", self.path.display(), self.card.rulesets.join(", "), self.precision)
    }
}

/// Writes a checkpoint that everything here reads: a new folder with `model.safetensors` and `card.json`.
///
/// `tensors` are the arrays of a network by name, as `Checkpoint.tensors` returns them (docs/NETWORK.md). `card` is a
/// dict like `Checkpoint.card`, of which "network", the shape, is needed; id, format and encoding are set here.
/// Raises ValueError for a tensor too many, too few, of another shape or with a number that is not finite, and where
/// the folder exists.
#[pyfunction]
pub fn save_checkpoint(
    py: Python<'_>,
    path: PathBuf,
    tensors: BTreeMap<String, Bound<'_, PyAny>>,
    card: BTreeMap<String, Bound<'_, PyAny>>,
) -> PyResult<()> {
    let network = card.get("network").ok_or_else(|| refused("card: no \"network\"; expected the network's shape"))?;
    let network: NetworkConfig = from_python(network, "network")?;
    network.check_bounds().map_err(refused)?;
    let whole = to_python(py, &Card::new(network))?;
    for (key, value) in &card {
        if !whole.contains(key)? {
            return Err(refused(format!("card: {key:?} is no part of a card; expected such as \"rulesets\"")));
        }
        whole.set_item(key, value)?;
    }
    let card: Card = from_python(&whole, "card")?;
    let read = |(name, value): (&String, &Bound<'_, PyAny>)| {
        let array = value.py().import("numpy")?.call_method1("ascontiguousarray", (value, "float32"))?;
        let array = array.cast_into::<PyArrayDyn<f32>>()?;
        let values = array.try_readonly().map_err(refused)?.as_slice().map_err(refused)?.to_vec();
        PyResult::Ok((name.clone(), WeightTensor { shape: array.shape().to_vec(), values }))
    };
    let tensors = tensors.iter().map(read).collect::<PyResult<_>>()?;
    let weights = Weights::new(&network, tensors).map_err(refused)?;
    Saved::new(card, weights).and_then(|saved| saved.save(&path)).map_err(refused)
}

fn load(path: &Path, precision: PrecisionChoice) -> Result<Checkpoint, String> {
    let source = CheckpointSource::of(path).map_err(|error| error.to_string())?;
    let checkpoint = source.load().map_err(|error| error.to_string())?;
    let evaluators = Devices::cpu().evaluators(&checkpoint.weights, precision);
    let evaluators = evaluators.map_err(|error| error.to_string())?;
    let source = source.to_string();
    Ok(Checkpoint { path: path.to_owned(), source, card: checkpoint.card, precision, evaluators })
}

impl Checkpoint {
    /// What the network says of some positions: values, plies left and priors.
    fn answers(&self, positions: &[Position]) -> Result<[Vec<f32>; 3], String> {
        let size = one_size(positions)?.ok_or("no positions: expected at least one")?;
        let count = positions.len();
        check_open(positions)?;
        let width = actions(size);
        let (mut values, mut plies_left) = (vec![0.0; 3 * count], vec![0.0; count]);
        let mut priors = vec![0.0; width * count];
        // As many pieces as threads, so that an evaluator's memory is made once a thread.
        let piece = count.div_ceil(rayon::current_num_threads()).max(1);
        let pieces = positions
            .par_chunks(piece)
            .zip(values.par_chunks_mut(3 * piece))
            .zip(plies_left.par_chunks_mut(piece))
            .zip(priors.par_chunks_mut(width * piece));
        pieces
            .try_for_each(|(((positions, values), plies_left), priors)| -> Result<(), EvalError> {
                let (mut evaluator, mut answers) = ((self.evaluators)(), Evaluations::new());
                for (batch, positions) in positions.chunks(BATCH).enumerate() {
                    let moves: Vec<_> = positions.iter().map(|position| legal_moves(&position.0)).collect();
                    let request =
                        |(position, moves)| EvalRequest { position, moves, handicap: Handicap::NONE, auxiliary: false };
                    let lists = moves.iter().map(|moves| moves.as_slice());
                    let boards = positions.iter().map(|position| &position.0);
                    let requests: Vec<_> = boards.zip(lists).map(request).collect();
                    evaluator.evaluate(&requests, &mut answers)?;
                    for (index, moves) in moves.iter().enumerate() {
                        let (answer, row) = (answers.get(index), batch * BATCH + index);
                        let Wdl { win, draw, loss } = answer.wdl;
                        values[3 * row..][..3].copy_from_slice(&[win, draw, loss]);
                        plies_left[row] = answer.moves_left;
                        for (&mv, &prior) in moves.iter().zip(answers.priors(index)) {
                            priors[width * row + action_of(mv, size)] = prior;
                        }
                    }
                }
                Ok(())
            })
            .map_err(|error| error.to_string())?;
        Ok([values, plies_left, priors])
    }
}
