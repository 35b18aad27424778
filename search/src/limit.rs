//! How long a player thinks about a move.

use std::fmt;
use std::time::Duration;

use hnefi_inference::{Precision, PrecisionChoice};

use crate::RootKind;

/// How long a player thinks about a move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// This many playouts; other programs may call them nodes. A network begins a fresh tree each move, usually with a
    /// Gumbel root.
    Playouts(u32),
    /// This much wall-clock time. A network searches with a PUCT root and keeps the tree from move to move.
    Time(Duration),
}

impl Limit {
    /// The number of playouts, where that is the limit.
    pub fn playouts(self) -> Option<u32> {
        match self {
            Limit::Playouts(count) => Some(count),
            Limit::Time(_) => None,
        }
    }

    /// The time, where that is the limit.
    pub fn time(self) -> Option<Duration> {
        match self {
            Limit::Playouts(_) => None,
            Limit::Time(time) => Some(time),
        }
    }

    /// The default precision of a network. With a number of playouts the games can be repeated, on any
    /// machine; where time is the limit they cannot, and speed is strength.
    pub fn usual_precision(self) -> PrecisionChoice {
        match self {
            Limit::Playouts(_) => Precision::F32.into(),
            Limit::Time(_) => PrecisionChoice::Auto,
        }
    }

    /// The default root of a search.
    pub fn usual_root(self) -> RootKind {
        match self {
            Limit::Playouts(_) => RootKind::Gumbel,
            Limit::Time(_) => RootKind::Puct,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Playouts(count) => write!(f, "playouts={count}"),
            Limit::Time(time) => write!(f, "time={}", time.as_secs_f64()),
        }
    }
}
