//! One search, and its report as arrays.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hnefi_arena::players::DEFAULT_PLAYOUTS;
use hnefi_engine::Position as Board;
use hnefi_inference::{Evaluations, Evaluator, Wdl};
use hnefi_search::{
    Limit, RootKind, Search, SearchConfig, SearchReport, Signal, rng_for, run_until, search_on_threads,
};
use numpy::IntoPyArray;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::ThreadPool;
use rayon::prelude::*;

use crate::arguments::{SEEDS, Scalar, optional};
use crate::observation::{action_of, numbers, shaped, texts};
use crate::position::Position;
use crate::process::{LOOK, interruptible};
use crate::{refused, tuple};

/// The one limit that was given, or the usual number of playouts.
pub fn limit(playouts: Option<&Bound<'_, PyAny>>, seconds: Option<f64>) -> PyResult<Limit> {
    match (optional(playouts, "playouts", 1..=u32::MAX)?, seconds) {
        (Some(_), Some(_)) => Err(refused("search: playouts and seconds; expected one limit")),
        (playouts, None) => Ok(Limit::Playouts(playouts.unwrap_or(DEFAULT_PLAYOUTS))),
        (None, Some(seconds)) => match Duration::try_from_secs_f64(seconds) {
            Ok(time) if !time.is_zero() => Ok(Limit::Time(time)),
            _ => Err(refused(format!("seconds = {seconds}: expected a number above 0"))),
        },
    }
}

/// The search's configuration: Gumbel for playouts, PUCT for time, and the settings on top.
pub fn config(limit: Limit, settings: Option<&Bound<'_, PyDict>>) -> PyResult<SearchConfig> {
    let mut config = SearchConfig::default().limited_by(limit);
    for (key, value) in settings.into_iter().flatten() {
        let key: String = key.extract()?;
        config = config.with(&key, &Scalar::of(&key, &value)?.to_string()).map_err(refused)?;
    }
    if matches!(limit, Limit::Time(_)) && config.root == RootKind::Gumbel {
        return Err(refused(
            "root = gumbel: a limit in seconds needs root = puct, Gumbel needs its playouts in advance",
        ));
    }
    Ok(config)
}

/// Playouts, the seed of the noise and the configuration of searches by playouts.
pub fn by_playouts(
    playouts: Option<&Bound<'_, PyAny>>,
    noise: Option<&Bound<'_, PyAny>>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<(u32, Option<u64>, SearchConfig)> {
    let playouts = optional(playouts, "playouts", 1..=u32::MAX)?.unwrap_or(DEFAULT_PLAYOUTS);
    let noise = optional(noise, "noise", SEEDS)?;
    let config = config(Limit::Playouts(playouts), settings)?;
    check_noise(&config, noise)?;
    Ok((playouts, noise, config))
}

/// Refuses a noise that the search would not hear.
pub fn check_noise(config: &SearchConfig, noise: Option<u64>) -> PyResult<()> {
    match (config.root, noise) {
        (RootKind::Puct, Some(seed)) => Err(refused(format!("noise = {seed}: a PUCT root has none; expected None"))),
        _ => Ok(()),
    }
}

/// Searches on one thread for each evaluator. Ctrl-C ends the search and is raised.
pub fn run(
    position: &Board,
    config: SearchConfig,
    limit: Limit,
    noise: Option<u64>,
    evaluators: &mut [Box<dyn Evaluator>],
) -> PyResult<SearchReport> {
    let (playouts, end) = match limit {
        Limit::Playouts(playouts) => (playouts, None),
        Limit::Time(time) => (u32::MAX, Instant::now().checked_add(time)),
    };
    let mut search = Search::new(config);
    let mut rng = noise.map(|seed| rng_for(&[seed]));
    search.begin(position, playouts, rng.as_mut());
    let signal = Signal::default();
    let (watched, searched) = search_on_threads(&mut search, evaluators, &signal, |searching| {
        while !searching.is_over() && end.is_none_or(|end| Instant::now() < end) {
            let look = Instant::now() + LOOK;
            signal.wait(Some(end.map_or(look, |end| end.min(look))));
            Python::attach(|py| py.check_signals())?;
        }
        PyResult::Ok(())
    });
    watched?;
    searched.map_err(refused)?;
    Ok(search.report())
}

/// Searches every position by itself, each on one thread of the pool. The n-th position has noise of its own. Ctrl-C
/// ends the work and is raised.
pub fn run_each(
    pool: &ThreadPool,
    positions: &[Position],
    config: &SearchConfig,
    playouts: u32,
    noise: Option<u64>,
    evaluator: impl Fn() -> Box<dyn Evaluator> + Sync,
) -> PyResult<Vec<SearchReport>> {
    let own = || (Search::new(config.clone()), evaluator(), Evaluations::new());
    interruptible(|stopped| {
        let search = |(search, evaluator, scratch): &mut (Search, Box<dyn Evaluator>, Evaluations),
                      at: (usize, &Position)| {
            if stopped.load(Ordering::Relaxed) {
                return Err("interrupted".to_owned());
            }
            let (index, position) = at;
            let mut rng = noise.map(|seed| rng_for(&[seed, index as u64]));
            search.begin(&position.0, playouts, rng.as_mut());
            run_until(search, evaluator.as_mut(), scratch, stopped).map_err(|error| error.to_string())?;
            if stopped.load(Ordering::Relaxed) { Err("interrupted".to_owned()) } else { Ok(search.report()) }
        };
        let each = positions.par_iter().enumerate().map_init(own, search);
        let reports: Result<Vec<_>, String> = pool.install(|| each.collect());
        reports.map_err(refused)
    })
}

/// The report as a `SearchResult`.
pub fn report<'py>(py: Python<'py>, report: &SearchReport, position: &Board) -> PyResult<Bound<'py, PyAny>> {
    let (size, count) = (position.size(), report.moves.len());
    let chances = |wdl: Wdl| (wdl.win, wdl.draw, wdl.loss);
    let moves = || report.moves.iter().map(|root| root.mv);
    let visits: Vec<u32> = report.moves.iter().map(|root| root.visits).collect();
    let priors: Vec<f32> = report.moves.iter().map(|root| root.prior).collect();
    let policy: Vec<f32> = report.policy_target.iter().map(|&(_, weight)| weight).collect();
    let unknown = Wdl { win: f32::NAN, draw: f32::NAN, loss: f32::NAN };
    let known = report.moves.iter().map(|root| root.wdl.unwrap_or(unknown));
    let values: Vec<f32> = known.flat_map(|wdl| [wdl.win, wdl.draw, wdl.loss]).collect();
    let values = shaped(py, (count, 3), values)?;
    let proven = report.proven.map(|proven| {
        let result = match proven.wdl() {
            Wdl::WIN => "win",
            Wdl::LOSS => "loss",
            _ => "draw",
        };
        (result, proven.plies)
    });
    let best = action_of(report.best, size);
    let found = (
        (report.best.text(size), best, chances(report.wdl), chances(report.raw)),
        (texts(moves(), size), numbers(py, moves(), size), visits.into_pyarray(py), priors.into_pyarray(py)),
        (values, policy.into_pyarray(py), texts(report.pv.iter().copied(), size)),
        (report.playouts, report.evaluations, report.nodes, report.max_depth, proven),
    );
    tuple(py, "SearchResult", flat(py, found)?)
}

/// The fields of nested tuples one after the other.
fn flat<'py>(py: Python<'py>, groups: impl IntoPyObject<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
    let groups = groups.into_bound_py_any(py)?;
    let mut fields = Vec::new();
    for group in groups.try_iter()? {
        for field in group?.try_iter()? {
            fields.push(field?);
        }
    }
    pyo3::types::PyTuple::new(py, fields)
}
