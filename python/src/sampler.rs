//! The samples of training.

use std::borrow::Borrow;

use hnefi_inference::{GLOBALS, PLANES};
use hnefi_run::GameRecord as Record;
use hnefi_run::sample::{CONTENTS, Sampler as Drawn, ValueTarget};
use numpy::IntoPyArray;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::arguments::{SEEDS, optional, whole};
use crate::observation::{actions, shaped};
use crate::records::GameRecord;
use crate::{refused, tuple};

/// A record that Python holds.
struct Held(Py<GameRecord>);

impl Borrow<Record> for Held {
    fn borrow(&self) -> &Record {
        &self.0.get().0
    }
}

/// Sampler(games, seed=1, *, value_lambda=1.0, value_fade=0.0): the samples that `hnefi train` draws.
///
/// `games` are `GameRecord`s. Only plies that train are drawn, of games that have ended, each with one of the eight
/// symmetries. `seed` and the number of the step decide what is drawn. A ply's value target is `value_lambda` of the
/// next ply's target, in the end the result, and for the rest its own searched value; a ply without one, and a random
/// move of a handicapped side, has the next ply's target. What is n plies ahead has weight exp(-value_fade * n). Raises
/// ValueError for a share outside 0..1 and a fade below 0. `len` counts the plies.
#[pyclass(module = "hnefi", frozen)]
pub struct Sampler(Drawn<Held>);

#[pymethods]
impl Sampler {
    #[new]
    #[pyo3(
        signature = (games, seed = None, *, value_lambda = 1.0, value_fade = 0.0),
        text_signature = "(games, seed=1, *, value_lambda=1.0, value_fade=0.0)"
    )]
    fn new(
        py: Python<'_>,
        games: Vec<Py<GameRecord>>,
        seed: Option<&Bound<'_, PyAny>>,
        value_lambda: f32,
        value_fade: f32,
    ) -> PyResult<Sampler> {
        let seed = optional(seed, "seed", SEEDS)?.unwrap_or(1);
        if !(0.0..=1.0).contains(&value_lambda) {
            return Err(refused(format!("value_lambda = {value_lambda}: expected a share from 0 to 1")));
        }
        if !(value_fade >= 0.0 && value_fade.is_finite()) {
            return Err(refused(format!("value_fade = {value_fade}: expected a number from 0 on")));
        }
        let target = ValueTarget { lambda: value_lambda, fade: value_fade };
        let games: Vec<Held> = games.into_iter().map(Held).collect();
        Ok(Sampler(py.detach(|| Drawn::new(games, seed, target))))
    }

    /// A second one would hold the games once more.
    fn __reduce__(&self) -> PyResult<()> {
        let problem = "a Sampler holds as many games as a window: it is neither pickled nor copied; expected its games";
        Err(PyTypeError::new_err(problem))
    }

    fn __len__(&self) -> usize {
        self.0.plies()
    }

    /// The batch of a step: `rows` samples of one board size, as `Samples`. The interpreter's lock is released. Raises
    /// ValueError where there is no ply to draw.
    #[pyo3(signature = (step, rows = None), text_signature = "($self, step, rows=256)")]
    fn batch<'py>(
        &self,
        py: Python<'py>,
        step: &Bound<'py, PyAny>,
        rows: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let step = whole(step, "step", SEEDS)?;
        let rows = optional(rows, "rows", 1..=1 << 16)?.unwrap_or(256);
        if self.0.plies() == 0 {
            return Err(refused("no ply of these games trains: expected at least one"));
        }
        let batch = py.detach(|| self.0.batch(step, rows, 1)).map_err(refused)?.remove(0);
        let (side, width) = (batch.size.side(), actions(batch.size));
        let (mut masks, mut policies) = (vec![false; rows * width], vec![0.0; rows * width]);
        for (place, &index) in
            batch.policy_index.iter().enumerate().filter(|&(place, _)| batch.policy_bar[place] == 0.0)
        {
            let at = place / batch.moves * width + index as usize;
            (masks[at], policies[at]) = (true, batch.policy_target[place]);
        }
        let fields = (
            shaped(py, (rows, PLANES, side, side), batch.planes)?,
            shaped(py, (rows, GLOBALS), batch.globals)?,
            shaped(py, (rows, width), masks)?,
            shaped(py, (rows, width), policies)?,
            batch.policy_weight.into_pyarray(py),
            shaped(py, (rows, 3), batch.value)?,
            batch.moves_left.into_pyarray(py),
            shaped(py, (rows, CONTENTS, side, side), batch.occupancy)?,
            batch.end_weight.into_pyarray(py),
        );
        tuple(py, "Samples", fields)
    }
}
