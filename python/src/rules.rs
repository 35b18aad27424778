//! Rules and outcomes.

use hnefi_engine as engine;
use hnefi_inference::names;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;

use crate::arguments::{Scalar, shown};
use crate::{from_python, refused, to_python};

/// The names of the published rulesets, for `Rules`, `Position`, `Game`, `VectorEnv` and `match`.
#[pyfunction]
pub fn rulesets() -> Vec<String> {
    engine::NamedRules::published().map(|rules| rules.name()).collect()
}

/// Rules(ruleset='copenhagen', **options): a published ruleset, with other values for some of its options.
///
/// `Rules("brandubh", king_capture="weak", speed={"king": 1})`. A rules record or a file with one stands for a ruleset.
/// `options()` lists all options; docs/RULES.md says what they mean. Raises ValueError for an unknown ruleset, option or
/// value.
#[pyclass(module = "hnefi", frozen, eq, hash)]
#[derive(Clone, Copy, PartialEq, Hash)]
pub struct Rules(pub engine::Rules);

#[pymethods]
impl Rules {
    #[new]
    #[pyo3(signature = (ruleset = "copenhagen", **options), text_signature = "(ruleset='copenhagen', **options)")]
    fn new(ruleset: &str, options: Option<&Bound<'_, PyDict>>) -> PyResult<Rules> {
        let mut rules = names::ruleset(ruleset).map_err(refused)?.rules();
        for (key, value) in options.into_iter().flatten() {
            let key: String = key.extract()?;
            let fault = |problem: String| refused(format!("{key} = {}: {problem}", shown(&value)));
            let mut all = serde_json::to_value(rules).map_err(refused)?;
            let known = || all.as_object().into_iter().flat_map(|all| all.keys().map(String::as_str));
            if !known().any(|known| known == key) {
                let meant = names::did_you_mean(&key, known());
                return Err(fault(format!(
                    "no such option; expected one of {}{meant}",
                    known().collect::<Vec<_>>().join(", ")
                )));
            }
            match (&mut all[&key], option(&key, &value)?) {
                // Of what has parts, those that are given.
                (Value::Object(usual), Value::Object(given)) => usual.extend(given),
                (usual, given) => *usual = given,
            }
            // Rust's names of numbers are no help to whoever writes Python.
            let plain = |problem: String| problem.replace("u16", "0 to 65535").replace("u8", "0 to 255");
            rules = serde_json::from_value(all).map_err(|error| fault(plain(error.to_string())))?;
        }
        match rules.faults().into_iter().next() {
            Some(fault) => Err(refused(fault)),
            None => Ok(Rules(rules)),
        }
    }

    /// The published ruleset that these rules are, the ply cap apart; None for a mixture of one's own.
    #[getter]
    fn ruleset(&self) -> Option<String> {
        let named = engine::NamedRules::from(self.0);
        named.is_published().then(|| named.name())
    }

    /// Squares along one edge, n: 5 to 19.
    #[getter]
    fn size(&self) -> usize {
        self.0.size().side()
    }

    /// All options with their values: str, int, bool, lists and dicts of these.
    fn options<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0)
    }

    /// The ruleset, and the options that it has otherwise.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((&'static str,), Bound<'py, PyDict>)> {
        let preset = self.0.preset().unwrap_or(engine::Preset::Copenhagen);
        let usual = Rules(preset.rules()).options(py)?;
        let others = PyDict::new(py);
        for item in self.options(py)?.cast::<PyDict>()? {
            if !usual.get_item(&item.0)?.eq(&item.1)? {
                others.set_item(item.0, item.1)?;
            }
        }
        Ok(((preset.name(),), others))
    }

    pub fn __repr__(&self) -> String {
        let cap = if self.0.ply_cap > 0 { format!(", ply_cap={}", self.0.ply_cap) } else { String::new() };
        match self.ruleset() {
            Some(name) => format!("Rules({name:?}{cap})"),
            None => format!("<Rules of one's own on {0}x{0}{cap}>", self.size()),
        }
    }
}

/// The value of an option: a text, a number, True or False, or a list or dict of these.
fn option(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_instance_of::<PyDict>() || value.is_instance_of::<PyList>() {
        return from_python(value, name);
    }
    serde_json::to_value(Scalar::of(name, value)?).map_err(refused)
}

/// The rules that an argument names: a `Rules` or the name of a published ruleset.
pub fn rules_of(argument: &Bound<'_, PyAny>) -> PyResult<engine::Rules> {
    if let Ok(rules) = argument.cast::<Rules>() {
        return Ok(rules.get().0);
    }
    let name: String = argument
        .extract()
        .map_err(|_| refused(format!("ruleset {}: expected the name of a ruleset or hnefi.Rules", shown(argument))))?;
    Ok(names::ruleset(&name).map_err(refused)?.rules())
}

/// A side by name.
pub fn side_of(name: &str) -> PyResult<engine::Side> {
    name.parse().map_err(refused)
}

/// Outcome(winner, reason): how a game ended on the board.
#[pyclass(module = "hnefi", frozen, eq, hash)]
#[derive(Clone, Copy, PartialEq, Hash)]
pub struct Outcome(pub engine::Outcome);

#[pymethods]
impl Outcome {
    #[new]
    #[pyo3(signature = (winner, reason))]
    fn new(winner: Option<&str>, reason: &str) -> PyResult<Outcome> {
        let text = format!("{} by {reason}", winner.unwrap_or("draw"));
        text.parse().map(Outcome).map_err(refused)
    }

    fn __getnewargs__(&self) -> (Option<&'static str>, &'static str) {
        (self.winner(), self.reason())
    }

    /// The winner, "attackers" or "defenders"; None for a draw.
    #[getter]
    fn winner(&self) -> Option<&'static str> {
        self.0.winner().map(engine::Side::as_str)
    }

    /// Why the game ended, such as "king_escaped", "king_captured", "repetition" or "ply_cap".
    #[getter]
    fn reason(&self) -> &'static str {
        self.0.reason().as_str()
    }

    /// What it is to a side: 1.0 a win, 0.0 a draw, -1.0 a loss.
    fn reward(&self, side: &str) -> PyResult<f32> {
        Ok(reward(self.0.result_for(side_of(side)?)))
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<Outcome {}>", self.0)
    }
}

/// 1 for a win, 0 for a draw, -1 for a loss.
pub fn reward(result: engine::GameResult) -> f32 {
    match result {
        engine::GameResult::Win => 1.0,
        engine::GameResult::Draw => 0.0,
        engine::GameResult::Loss => -1.0,
    }
}
