//! What callers give: values of Python and of NumPy.

use std::fmt::Display;
use std::ops::RangeInclusive;

use numpy::{Element, PyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::refused;

/// The most threads that one may ask for.
pub const THREADS: RangeInclusive<usize> = 1..=1024;

/// Every seed.
pub const SEEDS: RangeInclusive<u64> = 0..=u64::MAX;

/// A value as an error shows it: one line, cut off where it is long.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| value.get_type().to_string(), |text| text.to_string());
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(60) {
        line.replace_range(end.., "...");
    }
    line
}

/// A whole number in this range: an `int`, an integer of NumPy, or what else Python counts by.
pub fn whole<T>(value: &Bound<'_, PyAny>, name: &str, range: RangeInclusive<T>) -> PyResult<T>
where
    T: TryFrom<i128> + PartialOrd + Display,
{
    let number = value.extract::<i128>().ok().and_then(|number| T::try_from(number).ok());
    number.filter(|number| range.contains(number)).ok_or_else(|| {
        let (least, most) = (range.start(), range.end());
        refused(format!("{name} = {}: expected a whole number from {least} to {most}", shown(value)))
    })
}

/// The same, or None.
pub fn optional<T>(value: Option<&Bound<'_, PyAny>>, name: &str, range: RangeInclusive<T>) -> PyResult<Option<T>>
where
    T: TryFrom<i128> + PartialOrd + Display,
{
    value.map(|value| whole(value, name, range)).transpose()
}

/// The value of an option: Python's or NumPy's.
#[derive(FromPyObject, serde::Serialize)]
#[serde(untagged)]
pub enum Scalar {
    /// True or False.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// Another number.
    Real(f64),
    /// A text.
    Text(String),
}

impl Scalar {
    /// The value of the option of that name.
    pub fn of(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Scalar> {
        let problem = || format!("{name} = {}: expected a text, a number, True or False", shown(value));
        value.extract().map_err(|_| refused(problem()))
    }
}

impl Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Scalar::Flag(flag) => flag.fmt(f),
            Scalar::Whole(number) => number.fmt(f),
            Scalar::Real(number) => number.fmt(f),
            Scalar::Text(text) => text.fmt(f),
        }
    }
}

/// An array with a value a game, of one of the kinds (NumPy's letters) that `T` can hold.
pub fn one_a_game<'py, T: Element>(
    values: &Bound<'py, PyAny>,
    name: &str,
    kinds: &str,
    expected: &str,
) -> PyResult<Bound<'py, PyArray1<T>>> {
    if let Ok(array) = values.cast::<PyArray1<T>>()
        && array.is_c_contiguous()
    {
        return Ok(array.clone());
    }
    let numpy = values.py().import("numpy")?;
    let array = numpy.call_method1("asarray", (values,))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    let dimensions: usize = array.getattr("ndim")?.extract()?;
    if !kinds.contains(&kind) || dimensions != 1 {
        let (found, shape) = (array.getattr("dtype")?, array.getattr("shape")?);
        return Err(refused(format!("{name} of dtype {found} and shape {shape}: expected {expected}, one a game")));
    }
    let whole = numpy.call_method1("ascontiguousarray", (array, T::get_dtype(values.py())))?;
    Ok(whole.cast_into::<PyArray1<T>>()?)
}
