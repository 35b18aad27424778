//! The compiled half of the Python package `hnefi`; the other half, with the documentation that people read, lies in
//! `python/hnefi/`. Nothing here decides anything: arguments are turned into the crates' types and results into NumPy.

mod arena;
mod arguments;
mod arrays;
mod checkpoint;
mod evaluate;
mod game;
mod observation;
mod player;
mod position;
mod process;
mod records;
mod rules;
mod sampler;
mod search;
mod vector;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An error of the crates, whose text is one line, as Python's `ValueError`.
fn refused(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A value of the crates as Python's dictionaries, lists, numbers and texts.
fn to_python<'py>(py: Python<'py>, value: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).map_err(refused)?;
    py.import("json")?.call_method1("loads", (text,))
}

/// What [`to_python`] made, back again, also with numbers and arrays of NumPy; `name` is the argument's.
fn from_python<T: serde::de::DeserializeOwned>(value: &Bound<'_, PyAny>, name: &str) -> PyResult<T> {
    let fault = |problem: &str| refused(format!("{name} = {}: {problem}", arguments::shown(value)));
    let py = value.py();
    let (json, named) = (py.import("json")?, PyDict::new(py));
    named.set_item("default", py.import("operator")?.call_method1("methodcaller", ("tolist",))?)?;
    let expected = "expected numbers, texts, True, False, None, and lists and dicts of these";
    let text = json.call_method("dumps", (value,), Some(&named)).map_err(|_| fault(expected))?;
    serde_json::from_str(&text.extract::<String>()?).map_err(|error| fault(&error.to_string()))
}

/// One of the named tuples of `hnefi._tuples`.
fn tuple<'py>(py: Python<'py>, name: &str, fields: impl pyo3::call::PyCallArgs<'py>) -> PyResult<Bound<'py, PyAny>> {
    py.import("hnefi._tuples")?.getattr(name)?.call1(fields)
}

/// What this build was compiled for and what it chose when it was started.
#[pyfunction]
fn build_info(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let compiled_for = match (std::env::consts::ARCH, cfg!(target_feature = "avx2")) {
        ("x86_64", true) => "x86_64 with AVX2",
        (arch, _) => arch,
    };
    let info = PyDict::new(py);
    info.set_item("version", env!("CARGO_PKG_VERSION"))?;
    info.set_item("compiled_for", compiled_for)?;
    info.set_item("kernels", hnefi_kernels::Kernels::best().name)?;
    Ok(info)
}

#[pymodule]
mod _hnefi {
    #[pymodule_export]
    use super::arena::{MatchResult, play_match};
    #[pymodule_export]
    use super::build_info;
    #[pymodule_export]
    use super::checkpoint::{Checkpoint, checkpoint_names, save_checkpoint};
    #[pymodule_export]
    use super::evaluate::{search_each, search_one};
    #[pymodule_export]
    use super::game::Game;
    #[pymodule_export]
    use super::player::Player;
    #[pymodule_export]
    use super::position::Position;
    #[pymodule_export]
    use super::records::{GameReader, GameRecord, read_games, write_games};
    #[pymodule_export]
    use super::rules::{Outcome, Rules, rulesets};
    #[pymodule_export]
    use super::sampler::Sampler;
    #[pymodule_export]
    use super::vector::VectorEnv;
    #[pymodule_export]
    use super::vector::encode;
}
