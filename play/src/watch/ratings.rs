//! How strong a run's checkpoints are, by the matches on its ladder.

use hnefi_arena::ladder;
use hnefi_arena::ladder::Standings;
use hnefi_run::Run;
use serde::Serialize;

/// Elo per side of one checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Strength {
    /// Generation of the checkpoint.
    pub generation: u32,
    /// With the attackers.
    pub attackers: f64,
    /// With the defenders.
    pub defenders: f64,
    /// Over both sides.
    pub overall: f64,
    /// Half the 95 % interval of `overall`.
    pub error: f64,
    /// Half the 95 % interval of `attackers`.
    pub attackers_error: f64,
    /// Half the 95 % interval of `defenders`.
    pub defenders_error: f64,
}

/// What is known about the strength of a run's checkpoints.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Strengths {
    /// Whose strength is zero.
    pub zero: Option<String>,
    /// Checkpoints in order of their generations.
    pub checkpoints: Vec<Strength>,
}

/// Ratings fitted to the matches that are there now; empty without any.
pub fn strengths(run: &Run) -> Strengths {
    let matches = ladder::matches(run.store()).unwrap_or_default();
    let standings = Standings::fit(&matches);
    let strength = |(generation, standing): (u32, &ladder::Standing)| Strength {
        generation,
        attackers: standing.attackers.elo,
        defenders: standing.defenders.elo,
        overall: standing.overall.elo,
        error: standing.overall.error,
        attackers_error: standing.attackers.error,
        defenders_error: standing.defenders.error,
    };
    Strengths {
        zero: standings.zero.as_ref().map(ToString::to_string),
        checkpoints: standings.checkpoints().into_iter().map(strength).collect(),
    }
}
