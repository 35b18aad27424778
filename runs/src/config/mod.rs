//! The configuration of a run: what may stand in it, and what earlier versions had.

mod retired;

use std::fmt;

pub use retired::forget;

/// One thing that is wrong with a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Full path of the key, such as `train.batch`.
    pub key: String,
    /// What was found, as TOML would write it.
    pub found: String,
    /// What is allowed.
    pub allowed: String,
}

impl Fault {
    /// A fault that no key can be named for.
    pub fn of_whole(problem: &str) -> Fault {
        Fault { key: "configuration".into(), found: problem.into(), allowed: "keys and values as documented".into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}: expected {}", self.key, self.found, self.allowed)
    }
}

/// A value as TOML writes it, shortened when it is long.
pub fn shown(value: &toml::Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text,
    }
}

/// A number, whether it was written with a point or without.
pub fn real(value: &toml::Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|n| n as f64))
}
