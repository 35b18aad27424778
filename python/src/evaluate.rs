//! Searches that ask a function of Python: many positions' searches advance together, and their leaves go to it at
//! once.

use hnefi_engine::BoardSize;
use hnefi_inference::{Evaluation, UniformEvaluator, Wdl};
use hnefi_search::{LeafId, Search, SearchConfig, SearchReport, Selection, rng_for};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rayon::ThreadPool;
use rayon::prelude::*;

use crate::arguments::{optional, shown};
use crate::game::position_of;
use crate::observation::{action_of, actions};
use crate::position::{Position, check_open, one_size};
use crate::process::ALL_CORES;
use crate::vector::positions_of;
use crate::{refused, search};

/// How far three chances may miss a sum of 1: what half precision loses.
const ROUNDED: f32 = 1e-2;

/// Searches a position by an evaluator of one's own. Returns a `SearchResult`.
///
/// As `search_each` with one position, with the noise of `Checkpoint.search`. `leaves` above 1 make batches: this number
/// of playouts is under way at once, each of which avoids the others' moves.
#[pyfunction(name = "search")]
#[pyo3(
    signature = (position, evaluate, playouts = None, *, noise = None, leaves = None, **settings),
    text_signature = "(position, evaluate, playouts=64, *, noise=None, leaves=1, **settings)"
)]
pub fn search_one<'py>(
    position: &Bound<'py, PyAny>,
    evaluate: &Bound<'py, PyAny>,
    playouts: Option<&Bound<'py, PyAny>>,
    noise: Option<&Bound<'py, PyAny>>,
    leaves: Option<&Bound<'py, PyAny>>,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let asked = Asked::of(evaluate, playouts, noise, leaves, settings)?;
    let position = position_of(position)?;
    let mut found = asked.reports(&[position], |seed, _| vec![seed])?;
    Ok(found.remove(0))
}

/// Searches N positions of one board size by an evaluator of one's own. Returns N `SearchResult`s.
///
/// `evaluate` is called with a list of positions, the leaves of all searches, and returns two arrays or what NumPy
/// makes arrays of: values [n, 3], chances of win, draw and loss for the side to move, and priors [n, A], numbers from
/// 0 on, of which the legal moves' are scaled to sum to 1. It may return the expected plies to the end of the game,
/// [n], between them, as `Checkpoint.evaluate` does, which is such a function; without them a shorter win is not
/// preferred. `encode` makes a network's input of the positions. The searches advance together, each with `leaves`
/// leaves in a batch; with 1 they are the same as `Checkpoint.search_each`'s, whose other arguments these are. What
/// `evaluate` raises ends the searches and is raised, as is Ctrl-C. Raises ValueError for an answer of another shape or
/// that is no number.
#[pyfunction]
#[pyo3(
    signature = (positions, evaluate, playouts = None, *, noise = None, leaves = None, **settings),
    text_signature = "(positions, evaluate, playouts=64, *, noise=None, leaves=1, **settings)"
)]
pub fn search_each<'py>(
    positions: &Bound<'py, PyAny>,
    evaluate: &Bound<'py, PyAny>,
    playouts: Option<&Bound<'py, PyAny>>,
    noise: Option<&Bound<'py, PyAny>>,
    leaves: Option<&Bound<'py, PyAny>>,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let asked = Asked::of(evaluate, playouts, noise, leaves, settings)?;
    asked.reports(&positions_of(positions)?, |seed, index| vec![seed, index])
}

/// What was asked for, beside the positions.
struct Asked<'a, 'py> {
    evaluate: &'a Bound<'py, PyAny>,
    config: SearchConfig,
    playouts: u32,
    noise: Option<u64>,
    leaves: usize,
}

/// A search and its leaves in the batch.
struct Advancing {
    search: Search,
    leaves: Vec<LeafId>,
}

impl<'a, 'py> Asked<'a, 'py> {
    fn of(
        evaluate: &'a Bound<'py, PyAny>,
        playouts: Option<&Bound<'py, PyAny>>,
        noise: Option<&Bound<'py, PyAny>>,
        leaves: Option<&Bound<'py, PyAny>>,
        settings: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Asked<'a, 'py>> {
        if !evaluate.is_callable() {
            return Err(refused(format!("evaluate = {}: expected a function", shown(evaluate))));
        }
        let (playouts, noise, config) = search::by_playouts(playouts, noise, settings)?;
        let leaves = optional(leaves, "leaves", 1..=4096)?.unwrap_or(1);
        Ok(Asked { evaluate, config, playouts, noise, leaves })
    }

    fn reports(
        &self,
        positions: &[Position],
        seeds: impl Fn(u64, u64) -> Vec<u64>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let py = self.evaluate.py();
        let Some(size) = one_size(positions).map_err(refused)? else { return Ok(Vec::new()) };
        check_open(positions).map_err(refused)?;
        let begin = |(index, position): (usize, &Position)| {
            let mut search = Search::new(self.config.clone());
            let mut rng = self.noise.map(|seed| rng_for(&seeds(seed, index as u64)));
            search.begin(&position.0, self.playouts, rng.as_mut());
            Advancing { search, leaves: Vec::new() }
        };
        let mut searches: Vec<Advancing> = positions.iter().enumerate().map(begin).collect();
        let pool = ALL_CORES.get(py)?;
        let most = self.leaves;
        loop {
            py.check_signals()?;
            let batch = py.detach(|| pool.install(|| select(&mut searches, positions, most)));
            if batch.is_empty() {
                break;
            }
            let count = batch.len();
            let answer = self.evaluate.call1((PyList::new(py, batch)?,))?;
            Answer::of(&answer, count, size)?.give(&pool, &mut searches, size)?;
        }
        let reports: Vec<SearchReport> =
            py.detach(|| pool.install(|| searches.par_iter().map(|one| one.search.report()).collect()));
        reports.iter().zip(positions).map(|(report, position)| search::report(py, report, &position.0)).collect()
    }
}

/// Selects the next leaves of every search, and returns their positions.
fn select(searches: &mut [Advancing], positions: &[Position], most: usize) -> Vec<Position> {
    let selected = searches.par_iter_mut().zip(positions).flat_map_iter(|(Advancing { search, leaves }, root)| {
        leaves.clear();
        while leaves.len() < most {
            match search.select_leaf() {
                Selection::Leaf(leaf) => leaves.push(leaf),
                Selection::Settled => {}
                Selection::Blocked | Selection::Finished => break,
            }
        }
        leaves.iter().map(|&leaf| root.with(search.request(leaf).position.clone()))
    });
    selected.collect()
}

/// What the function answered.
struct Answer<'py> {
    values: PyReadonlyArray2<'py, f32>,
    plies_left: Option<PyReadonlyArray1<'py, f32>>,
    priors: PyReadonlyArray2<'py, f32>,
}

impl<'py> Answer<'py> {
    fn of(answer: &Bound<'py, PyAny>, count: usize, size: BoardSize) -> PyResult<Answer<'py>> {
        // What a generator raises is the function's.
        let parts = match answer.try_iter() {
            Ok(items) => items.collect::<PyResult<Vec<_>>>()?,
            Err(_) => Vec::new(),
        };
        let (values, plies_left, priors) = match &parts[..] {
            [values, priors] => (values, None, priors),
            [values, plies_left, priors] => (values, Some(plies_left), priors),
            _ => {
                let expected = "expected (values, priors) or (values, plies_left, priors)";
                return Err(refused(format!("evaluate returned {}: {expected}", shown(answer))));
            }
        };
        let rows = |array, name, width| {
            let array = array_of(array, name, &[count, width])?.cast_into::<PyArray2<f32>>()?;
            PyResult::Ok(array.readonly())
        };
        let plies_left = plies_left.map(|array| {
            let array = array_of(array, "plies_left", &[count])?.cast_into::<PyArray1<f32>>()?;
            PyResult::Ok(array.readonly())
        });
        let (values, priors) = (rows(values, "values", 3)?, rows(priors, "priors", actions(size))?);
        Ok(Answer { values, plies_left: plies_left.transpose()?, priors })
    }

    /// Gives every leaf its answer.
    fn give(&self, pool: &ThreadPool, searches: &mut [Advancing], size: BoardSize) -> PyResult<()> {
        let values = self.values.as_slice().map_err(refused)?;
        let priors = self.priors.as_slice().map_err(refused)?;
        let plies_left = self.plies_left.as_ref().map(|plies| plies.as_slice()).transpose().map_err(refused)?;
        let mut first = 0;
        let numbered: Vec<_> = searches
            .iter_mut()
            .map(|one| {
                let begin = first;
                first += one.leaves.len();
                (begin, one)
            })
            .collect();
        let give = |(first, Advancing { search, leaves }): (usize, &mut Advancing)| -> Result<(), String> {
            let mut scaled = Vec::new();
            for (row, &leaf) in (first..).zip(&*leaves) {
                let named = |problem| format!("evaluate: position {row}: {problem}");
                let wdl = chances([values[3 * row], values[3 * row + 1], values[3 * row + 2]]).map_err(named)?;
                let plies = plies_left.map_or(UniformEvaluator::MOVES_LEFT, |plies| plies[row]);
                if !(plies >= 0.0 && plies.is_finite()) {
                    return Err(named(format!("plies_left {plies}: expected a number from 0 on")));
                }
                let priors = &priors[row * actions(size)..][..actions(size)];
                let moves = search.request(leaf).moves;
                scaled.clear();
                scaled.extend(moves.iter().map(|&mv| priors[action_of(mv, size)]));
                if let Some(at) = scaled.iter().position(|&prior| !(prior >= 0.0 && prior.is_finite())) {
                    let (prior, mv) = (scaled[at], moves[at].text(size));
                    return Err(named(format!("prior {prior} of {mv}: expected a number from 0 on")));
                }
                let sum: f32 = scaled.iter().sum();
                if !(sum > 0.0 && sum.is_finite()) {
                    return Err(named(format!("priors of the legal moves sum to {sum}: expected a sum above 0")));
                }
                scaled.iter_mut().for_each(|prior| *prior /= sum);
                search.expand(leaf, &Evaluation::new(wdl, plies), &scaled);
            }
            Ok(())
        };
        let given: Vec<_> = self.priors.py().detach(|| pool.install(|| numbered.into_par_iter().map(give).collect()));
        given.into_iter().collect::<Result<(), String>>().map_err(refused)
    }
}

/// What NumPy makes of it, in single precision and in order, if it has this shape.
fn array_of<'py>(value: &Bound<'py, PyAny>, name: &str, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let array = value.py().import("numpy")?.call_method1("ascontiguousarray", (value, "float32"))?;
    let found = array.cast::<numpy::PyUntypedArray>()?.shape();
    if found != shape {
        return Err(refused(format!("evaluate: {name} of shape {found:?}: expected {shape:?}")));
    }
    Ok(array)
}

/// Chances of win, draw and loss, scaled to sum to 1.
fn chances(found: [f32; 3]) -> Result<Wdl, String> {
    let sum: f32 = found.iter().sum();
    if found.iter().all(|&chance| chance >= 0.0) && (sum - 1.0).abs() <= ROUNDED {
        let [win, draw, loss] = found.map(|chance| chance / sum);
        return Ok(Wdl { win, draw, loss });
    }
    Err(format!("values {found:?}: expected chances of win, draw and loss, which sum to 1"))
}
