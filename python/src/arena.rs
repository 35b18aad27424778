//! Matches.

use hnefi_arena::players::{ModelCache, PlayerSpec};
use hnefi_arena::{MatchObserver, MatchParams, play_match as play};
use hnefi_inference::DeviceChoice;
use hnefi_run::GameRecord as Record;
use hnefi_search::SearchConfig;
use pyo3::prelude::*;

use crate::arguments::{SEEDS, THREADS, optional};
use crate::records::GameRecord;
use crate::rules::rules_of;
use crate::{from_python, refused, to_python};

/// MatchResult(summary, records): the result of a match from the view of its first player, A.
#[pyclass(module = "hnefi", frozen)]
pub struct MatchResult {
    result: hnefi_arena::MatchResult,
    records: Vec<Record>,
}

#[pymethods]
impl MatchResult {
    #[new]
    fn new(summary: &Bound<'_, PyAny>, records: Vec<PyRef<'_, GameRecord>>) -> PyResult<MatchResult> {
        let records = records.iter().map(|record| record.0.clone()).collect();
        Ok(MatchResult { result: from_python(summary, "summary")?, records })
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Vec<GameRecord>)> {
        Ok((self.summary(py)?, self.records()))
    }

    /// Games counted.
    #[getter]
    fn games(&self) -> u32 {
        self.result.games
    }

    /// Games that A won.
    #[getter]
    fn wins(&self) -> u32 {
        self.result.wins
    }

    /// Games that nobody won.
    #[getter]
    fn draws(&self) -> u32 {
        self.result.draws
    }

    /// Games that B won.
    #[getter]
    fn losses(&self) -> u32 {
        self.result.losses
    }

    /// A's points a game, 0..1: a win 1, a draw one half.
    #[getter]
    fn score(&self) -> f64 {
        self.result.score
    }

    /// The games, in order: a list of `GameRecord`. A leads the attackers in games 0, 2, 4, ...
    #[getter]
    fn records(&self) -> Vec<GameRecord> {
        self.records.iter().cloned().map(GameRecord).collect()
    }

    /// Everything `hnefi match --json` ends with: counts by side, Elo with intervals, how the games ended. A dict.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.result)
    }

    fn __repr__(&self) -> String {
        let hnefi_arena::MatchResult { a, b, wins, draws, losses, .. } = &self.result;
        format!("<MatchResult {a} - {b}: +{wins} ={draws} -{losses}>")
    }
}

/// Keeps the games and hears Ctrl-C.
#[derive(Default)]
struct Watcher {
    records: Vec<Record>,
    interrupt: Option<PyErr>,
}

impl MatchObserver for Watcher {
    fn game_finished(&mut self, game: &Record, _: &hnefi_arena::MatchResult) {
        self.records.push(game.clone());
    }

    fn should_stop(&mut self) -> bool {
        self.interrupt = Python::attach(|py| py.check_signals().err());
        self.interrupt.is_some()
    }
}

/// Plays a match between two players, in pairs that share a random opening with the sides swapped. Returns a
/// `MatchResult`.
///
/// Players are specs: "random", "alphabeta:DEPTH", "rollout:N",
/// "model:PATH[,playouts=N|,time=SECONDS][,precision=P][,threads=N][,search.KEY=VALUE]" with the path of a checkpoint
/// or a run or the name of a shipped checkpoint, "uci:COMMAND" and "htp:COMMAND" for external programs. `games` is
/// even. `threads`: games at once, None for one a core. `opening_plies`: random plies before the players take over.
/// `ply_cap`: plies after which a game is a draw, None for self-play's. Players without clocks, on one thread each,
/// give the same result again. Raises ValueError for a spec or a number that cannot be. Ctrl-C ends the match. The
/// interpreter's lock is released.
#[pyfunction(name = "match")]
#[pyo3(
    signature = (
        a, b, games = None, ruleset = None, *, seed = None, threads = None, opening_plies = None, ply_cap = None
    ),
    text_signature = "(a, b, games=100, ruleset='copenhagen', *, \
                      seed=0, threads=None, opening_plies=4, ply_cap=None)"
)]
#[expect(clippy::too_many_arguments, reason = "Python's keywords")]
pub fn play_match(
    py: Python<'_>,
    a: &str,
    b: &str,
    games: Option<&Bound<'_, PyAny>>,
    ruleset: Option<&Bound<'_, PyAny>>,
    seed: Option<&Bound<'_, PyAny>>,
    threads: Option<&Bound<'_, PyAny>>,
    opening_plies: Option<&Bound<'_, PyAny>>,
    ply_cap: Option<&Bound<'_, PyAny>>,
) -> PyResult<MatchResult> {
    let rules = ruleset.map_or_else(|| Ok(hnefi_engine::Preset::Copenhagen.rules()), rules_of)?;
    let players: [PlayerSpec; 2] = [a.parse().map_err(refused)?, b.parse().map_err(refused)?];
    let games = optional(games, "games", 0..=u32::MAX)?.unwrap_or(100);
    let usual = MatchParams::new(rules, games, optional(seed, "seed", SEEDS)?.unwrap_or(0));
    let params = MatchParams {
        threads: optional(threads, "threads", THREADS)?.unwrap_or(usual.threads),
        ply_cap: optional(ply_cap, "ply_cap", 0..=u16::MAX)?.unwrap_or(usual.ply_cap),
        opening_plies: optional(opening_plies, "opening_plies", 0..=u32::MAX)?.unwrap_or(4),
        ..usual
    };
    let mut watcher = Watcher::default();
    let mut models = ModelCache::new(DeviceChoice::Cpu, SearchConfig::default());
    let result = py.detach(|| play(&players[0], &players[1], &params, &mut models, &mut watcher));
    match watcher.interrupt {
        Some(interrupt) => Err(interrupt),
        None => Ok(MatchResult { result: result.map_err(refused)?, records: watcher.records }),
    }
}
