//! Matches.

use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError};

use hnefi_arena::players::{Choice, ModelCache, Player, PlayerError, PlayerSpec};
use hnefi_arena::{MatchObserver, MatchParams, play_match_with as play};
use hnefi_engine::{Game, NamedRules, Preset, Rules};
use hnefi_inference::{Card, Devices};
use hnefi_run::GameRecord as Record;
use hnefi_search::{Rng, SearchConfig};
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;

use crate::arguments::{SEEDS, THREADS, optional, shown};
use crate::observation::move_from;
use crate::position::Position;
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

/// A player of a match.
enum MatchPlayer {
    Spec(PlayerSpec),
    /// A function, and what it raised.
    Function(Py<PyAny>, Arc<Mutex<Option<PyErr>>>),
}

impl MatchPlayer {
    fn of(player: &Bound<'_, PyAny>, raised: &Arc<Mutex<Option<PyErr>>>) -> PyResult<MatchPlayer> {
        match player.extract::<String>() {
            Ok(spec) => Ok(MatchPlayer::Spec(spec.parse().map_err(refused)?)),
            Err(_) if player.is_callable() => Ok(MatchPlayer::Function(player.clone().unbind(), Arc::clone(raised))),
            Err(_) => Err(refused(format!("player {}: expected a spec or a function", shown(player)))),
        }
    }

    /// Its spec, or the name of the function or of what can be called.
    fn name(&self, py: Python<'_>) -> String {
        match self {
            MatchPlayer::Spec(spec) => spec.to_string(),
            MatchPlayer::Function(function, _) => {
                let function = function.bind(py);
                let name = function.getattr("__name__").or_else(|_| function.get_type().getattr("__name__"));
                name.map_or_else(|_| shown(function), |name| name.to_string())
            }
        }
    }

    fn build(&self, py: Python<'_>, models: &mut ModelCache) -> PyResult<Box<dyn Player>> {
        match self {
            MatchPlayer::Spec(spec) => spec.build(models).map_err(refused),
            MatchPlayer::Function(function, raised) => {
                let (name, function) = (self.name(py), function.clone_ref(py));
                Ok(Box::new(FunctionPlayer { name, function, raised: Arc::clone(raised) }))
            }
        }
    }
}

/// A player whose moves a function chooses.
struct FunctionPlayer {
    name: String,
    function: Py<PyAny>,
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Player for FunctionPlayer {
    fn name(&self) -> &str {
        &self.name
    }

    fn choose(&mut self, game: &Game, _: &mut Rng) -> Result<Choice, PlayerError> {
        let position = Position::of(game.position().clone());
        let asked = Python::attach(|py| {
            let answer = self.function.call1(py, (position,))?;
            move_from(answer.bind(py), game.rules().size())
        });
        let mv = asked.map_err(|error| {
            let failed = PlayerError::Spec { spec: self.name.clone(), problem: error.to_string() };
            self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            failed
        })?;
        Ok(Choice { mv, wdl: None, playouts: 0, evaluations: 0 })
    }
}

/// The network that a player plays with.
fn card_of<'m>(player: &MatchPlayer, models: &'m mut ModelCache) -> PyResult<Option<&'m Card>> {
    match player {
        MatchPlayer::Spec(PlayerSpec::Model(spec)) => Ok(Some(&models.checkpoint(&spec.path).map_err(refused)?.card)),
        _ => Ok(None),
    }
}

/// The ruleset of the first player whose network was trained for one alone.
fn trained_for(players: &[&MatchPlayer], models: &mut ModelCache) -> PyResult<Option<NamedRules>> {
    for player in players {
        if let Some(card) = card_of(player, models)?
            && let [only] = &card.rulesets[..]
            && let Ok(rules) = only.parse()
        {
            return Ok(Some(rules));
        }
    }
    Ok(None)
}

/// Warns of networks that were not trained on these rules.
fn warn_of_foreign(py: Python<'_>, players: &[&MatchPlayer], rules: Rules, models: &mut ModelCache) -> PyResult<()> {
    for player in players {
        let foreign = card_of(player, models)?.and_then(|card| card.foreign_to(rules));
        if let Some(text) = foreign.and_then(|text| CString::new(text).ok()) {
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)?;
        }
    }
    Ok(())
}

/// Plays a match between two players, in pairs that share a random opening with the sides swapped. Returns a
/// `MatchResult`.
///
/// Players are specs: "random", "alphabeta:DEPTH", "rollout:N",
/// "model:PATH[,playouts=N|,time=SECONDS][,precision=P][,threads=N][,search.KEY=VALUE]" with the path of a checkpoint
/// or a run or the name of a shipped checkpoint, "uci:COMMAND" for an external program. A player may be a function,
/// too: it is given a `Position` and returns a move, from several threads where `threads` is above 1; what it raises
/// ends the match and is raised. `games` is even. `ruleset`: None for the ruleset of the first network that was trained
/// for one alone, else Brandubh; by rules that a network was not trained on it plays with a warning. `threads`: games
/// at once, None for one a core. `opening_plies`: random plies before the players take over. `ply_cap`: plies after
/// which a game is a draw, 0 for none; None takes the rules' own or, if they have none, self-play's. Players without
/// clocks, on one thread each, give the same result again. Raises ValueError for a spec or a number that cannot be.
/// Ctrl-C ends the match. The interpreter's lock is released.
#[pyfunction(name = "match")]
#[pyo3(
    signature = (
        a, b, games = None, ruleset = None, *, seed = None, threads = None, opening_plies = None, ply_cap = None
    ),
    text_signature = "(a, b, games=100, ruleset=None, *, \
                      seed=0, threads=None, opening_plies=4, ply_cap=None)"
)]
#[expect(clippy::too_many_arguments, reason = "Python's keywords")]
pub fn play_match(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    games: Option<&Bound<'_, PyAny>>,
    ruleset: Option<&Bound<'_, PyAny>>,
    seed: Option<&Bound<'_, PyAny>>,
    threads: Option<&Bound<'_, PyAny>>,
    opening_plies: Option<&Bound<'_, PyAny>>,
    ply_cap: Option<&Bound<'_, PyAny>>,
) -> PyResult<MatchResult> {
    let raised = Arc::default();
    let [a, b] = [MatchPlayer::of(a, &raised)?, MatchPlayer::of(b, &raised)?];
    let mut models = ModelCache::new(Devices::cpu(), SearchConfig::default());
    let rules = match ruleset {
        Some(ruleset) => rules_of(ruleset)?,
        None => trained_for(&[&a, &b], &mut models)?.unwrap_or(Preset::Brandubh.into()).rules(),
    };
    warn_of_foreign(py, &[&a, &b], rules, &mut models)?;
    let games = optional(games, "games", 0..=u32::MAX)?.unwrap_or(100);
    let usual = MatchParams::new(rules, games, optional(seed, "seed", SEEDS)?.unwrap_or(0));
    let params = MatchParams {
        threads: optional(threads, "threads", THREADS)?.unwrap_or(usual.threads),
        ply_cap: optional(ply_cap, "ply_cap", 0..=u16::MAX)?.unwrap_or(usual.ply_cap),
        opening_plies: optional(opening_plies, "opening_plies", 0..=u32::MAX)?.unwrap_or(4),
        ..usual
    };
    let mut watcher = Watcher::default();
    params.check().map_err(refused)?;
    let pair = |_| Ok([a.build(py, &mut models)?, b.build(py, &mut models)?]);
    let players = (0..params.workers()).map(pair).collect::<PyResult<Vec<_>>>()?;
    let names = [a.name(py), b.name(py)];
    let result = py.detach(|| play([&names[0], &names[1]], players, &params, &mut watcher));
    let raised = raised.lock().unwrap_or_else(PoisonError::into_inner).take();
    match watcher.interrupt.or(raised) {
        Some(error) => Err(error),
        None => Ok(MatchResult { result: result.map_err(refused)?, records: watcher.records }),
    }
}
