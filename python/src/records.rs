//! Recorded games as objects and arrays.

use std::path::PathBuf;

use hnefi_engine::{BoardSize, Move, Position as Board};
use hnefi_inference::{Features, GLOBALS, Handicap, PLANES, Wdl};
use hnefi_run::{GameReader as Reader, GameRecord as Record, PlyRecord, decode_games, encode_games};
use numpy::ndarray::Array1;
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arguments::{SEEDS, optional, whole};
use crate::arrays::{Form, Plain};
use crate::game::Game;
use crate::observation::{action_of, actions, move_from, move_of, numbers, shaped, texts};
use crate::refused;
use crate::rules::{Outcome, Rules, reward, side_of};

/// The games of a record file (`.hgames`, docs/RECORDS.md), one after the other: an iterator with `len`. Raises
/// ValueError for a damaged file.
#[pyfunction]
pub fn read_games(path: PathBuf) -> PyResult<GameReader> {
    hnefi_run::store::read_games(&path).map(GameReader).map_err(refused)
}

/// Writes games to a new record file. Raises ValueError when there is one already; it stays as it is.
#[pyfunction]
pub fn write_games(path: PathBuf, records: Vec<PyRef<'_, GameRecord>>) -> PyResult<()> {
    let games: Vec<Record> = records.iter().map(|record| record.0.clone()).collect();
    let failed = |error| refused(format!("{}: writing failed: {error}", path.display()));
    let mut file = std::fs::File::create_new(&path).map_err(failed)?;
    std::io::Write::write_all(&mut file, &encode_games(&games)).map_err(failed)
}

/// An iterator over the games of a record file; `len` is how many are to come.
#[pyclass(module = "hnefi")]
pub struct GameReader(Reader<Vec<u8>>);

#[pymethods]
impl GameReader {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self) -> PyResult<Option<GameRecord>> {
        self.0.next().transpose().map(|game| game.map(GameRecord)).map_err(refused)
    }

    fn __len__(&self) -> usize {
        self.0.left() as usize
    }

    /// A place in a file's bytes, which a second reader would have to be given, too.
    fn __reduce__(&self) -> PyResult<()> {
        let problem = "a GameReader is a place in a file: it is neither pickled nor copied; expected the file's path, \
                       to be read again, or a list of its games";
        Err(PyTypeError::new_err(problem))
    }
}

/// GameRecord(ruleset='copenhagen', fen=None, moves=(), *, policies=None, visits=None, values=None, raw=None,
/// playouts=None, trains=None, players=('?', '?'), resigned=None, game=0, seed=0): one recorded game of T plies.
///
/// It begins at the FEN, or at the rules' start, and ends as the moves end it or with the side that `resigned`;
/// otherwise it is unfinished. `policies`: a policy target for each ply, as a dict of moves (texts or numbers) and
/// weights that sum to 1, as an array [A], or None where there is none; `visits`: the same as counts, which are made to
/// sum to 1. `values` and `raw`, [T, 3]: win, draw and loss for the side to move, after a search and by the network
/// alone; None for a third each. `playouts`, [T]: None for the sums of `visits`, or else 1 where there are values, which
/// training asks for. `trains`, [T] bool: which plies are training samples, None for the plies with a policy target.
/// `players`: who played attackers and defenders. `len` counts plies. Raises ValueError for an illegal move, a target
/// that does not sum to 1 and what else no game has, with its ply. Pickled by `to_bytes`.
#[pyclass(module = "hnefi", frozen)]
pub struct GameRecord(pub Record);

#[pymethods]
impl GameRecord {
    #[new]
    #[pyo3(
        signature = (
            ruleset = None, fen = None, moves = Vec::new(), *, policies = None, visits = None, values = None,
            raw = None, playouts = None, trains = None, players = None, resigned = None, game = None, seed = None
        ),
        text_signature = "(ruleset='copenhagen', fen=None, moves=(), *, policies=None, visits=None, values=None, \
                          raw=None, playouts=None, trains=None, players=('?', '?'), resigned=None, game=0, seed=0)"
    )]
    #[expect(clippy::too_many_arguments, reason = "Python's keywords")]
    fn new(
        ruleset: Option<&Bound<'_, PyAny>>,
        fen: Option<&str>,
        moves: Vec<Bound<'_, PyAny>>,
        policies: Option<&Bound<'_, PyAny>>,
        visits: Option<&Bound<'_, PyAny>>,
        values: Option<&Bound<'_, PyAny>>,
        raw: Option<&Bound<'_, PyAny>>,
        playouts: Option<&Bound<'_, PyAny>>,
        trains: Option<&Bound<'_, PyAny>>,
        players: Option<[String; 2]>,
        resigned: Option<&str>,
        game: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<GameRecord> {
        let played = Game::new(ruleset, fen, moves)?.0;
        let (rules, size) = (*played.rules(), played.rules().size());
        if policies.is_some() && visits.is_some() {
            return Err(refused("policies and visits: expected one of them"));
        }
        let mut plies: Vec<PlyRecord> = played.moves().map(PlyRecord::unsearched).collect();
        each("values", values, &mut plies, chances, |ply, wdl| (ply.searched, ply.playouts) = (wdl, 1))?;
        each("raw", raw, &mut plies, chances, |ply, wdl| ply.raw = wdl)?;
        each("policies", policies, &mut plies, |item| weights(item, size), |ply, weights| ply.policy = weights)?;
        each(
            "visits",
            visits,
            &mut plies,
            |item| weights(item, size),
            |ply, counts| {
                let sum: f32 = counts.iter().map(|&(_, count)| count).sum();
                // One was noted with a value, and a ply without visits keeps it.
                ply.playouts = ply.playouts.max(sum as u32);
                // No entry is left where nothing was visited.
                ply.policy = counts.into_iter().map(|(mv, count)| (mv, count / sum)).collect();
            },
        )?;
        let number = |item: &Bound<'_, PyAny>| whole(item, "a ply's playouts", 0..=u32::MAX);
        each("playouts", playouts, &mut plies, number, |ply, found| ply.playouts = found)?;
        plies.iter_mut().for_each(|ply| ply.trains = !ply.policy.is_empty());
        each("trains", trains, &mut plies, |item| item.extract::<bool>(), |ply, found| ply.trains = found)?;
        let record = Record {
            game: optional(game, "game", 0..=u64::MAX)?.unwrap_or(0),
            seed: optional(seed, "seed", SEEDS)?.unwrap_or(0),
            rules,
            start: played.start_fen(),
            players: players.unwrap_or_else(|| ["?".to_owned(), "?".to_owned()]),
            handicap: Handicap::NONE,
            plies,
            outcome: played.outcome(),
            resigned: resigned.map(side_of).transpose()?,
            would_have_resigned: None,
        };
        record.check().map_err(refused)?;
        Ok(GameRecord(record))
    }

    /// A game from the bytes of a record file that holds it alone. Raises ValueError for others.
    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<GameRecord> {
        let mut games = decode_games("data", data).map_err(refused)?;
        match (games.pop(), games.len()) {
            (Some(game), 0) => Ok(GameRecord(game)),
            (last, others) => {
                Err(refused(format!("data: {} games; expected one", others + usize::from(last.is_some()))))
            }
        }
    }

    /// The bytes of a record file that holds the game alone.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &encode_games(std::slice::from_ref(&self.0)))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<GameRecord>().getattr("from_bytes")?, (self.to_bytes(py),)))
    }

    /// Number of the game within its run.
    #[getter]
    fn game(&self) -> u64 {
        self.0.game
    }

    /// Seed of the run.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed
    }

    /// The rules, the ply cap included.
    #[getter]
    fn rules(&self) -> Rules {
        Rules(self.0.rules)
    }

    /// The FEN that the game began from, None for the standard start.
    #[getter]
    fn start_fen(&self) -> Option<&str> {
        self.0.start.as_deref()
    }

    /// Who played attackers and defenders: checkpoints' ids or players' specs.
    #[getter]
    fn players(&self) -> (&str, &str) {
        let [attackers, defenders] = &self.0.players;
        (attackers, defenders)
    }

    /// The moves played, first to last.
    #[getter]
    fn moves(&self) -> Vec<String> {
        texts(self.0.plies.iter().map(|ply| ply.mv), self.0.rules.size())
    }

    /// How the game ended on the board; None for a resigned or unfinished game.
    #[getter]
    fn outcome(&self) -> Option<Outcome> {
        self.0.outcome.map(Outcome)
    }

    /// The side that resigned, or None.
    #[getter]
    fn resigned(&self) -> Option<&'static str> {
        self.0.resigned.map(|side| side.as_str())
    }

    /// The winner, on the board or by resignation; None for a draw and an unfinished game.
    #[getter]
    fn winner(&self) -> Option<&'static str> {
        self.0.winner().map(|side| side.as_str())
    }

    /// The moves as numbers of the policy index: [T] int64. Raises ValueError when one is illegal.
    fn actions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        // Damaged records may hold moves that no board has.
        self.0.final_position().map_err(refused)?;
        Ok(numbers(py, self.0.plies.iter().map(|ply| ply.mv), self.0.rules.size()))
    }

    /// The game as a `Game`, each move checked. Raises ValueError when one is illegal.
    fn to_game(&self) -> PyResult<Game> {
        let mut game = Game::at(&self.0.rules, self.0.start.as_deref())?;
        self.0.final_position().map_err(refused)?;
        for ply in &self.0.plies {
            game.0.play(ply.mv).map_err(refused)?;
        }
        if let Some(side) = self.0.resigned {
            game.0.resign(side).map_err(refused)?;
        }
        Ok(game)
    }

    /// The game as a dict of arrays with a row for each of its T plies, for training.
    ///
    /// `planes` [T, 32, n, n] float32, `globals` [T, 48] float32, `masks` [T, A] bool, `players` [T] int8: as in
    /// `Observation`, before the move. `actions` [T] int64: the moves played. `policies` [T, A] float32: the policy
    /// targets, rows of zeros where there is none. `rewards` [T] float32: the game's result for the side to move, 1, 0
    /// or -1; NaN for an unfinished game. `raw` and `searched` [T, 3] float32: win, draw and loss for the side to move,
    /// by the network alone and after the search. `playouts` [T] uint32; `trains` [T] bool: whether the ply is a
    /// training sample. Raises ValueError when the record contradicts itself. The interpreter's lock is released.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows = py.detach(|| rows(&self.0)).map_err(refused)?;
        let (count, size) = (self.0.plies.len(), self.0.rules.size());
        let (planes, side) = (rows.planes, size.side());
        let trains: Array1<bool> = self.0.plies.iter().map(|ply| ply.trains).collect();
        let playouts: Array1<u32> = self.0.plies.iter().map(|ply| ply.playouts).collect();
        let chances = |wdl: fn(&PlyRecord) -> Wdl| {
            let flat = self.0.plies.iter().map(wdl).flat_map(|wdl| [wdl.win, wdl.draw, wdl.loss]);
            shaped(py, (count, 3), flat.collect())
        };
        let arrays = PyDict::new(py);
        arrays.set_item("planes", shaped(py, (count, PLANES, side, side), planes)?)?;
        arrays.set_item("globals", shaped(py, (count, GLOBALS), rows.globals)?)?;
        arrays.set_item("masks", shaped(py, (count, actions(size)), rows.masks)?)?;
        arrays.set_item("players", rows.players.into_pyarray(py))?;
        arrays.set_item("actions", numbers(py, self.0.plies.iter().map(|ply| ply.mv), size))?;
        arrays.set_item("policies", shaped(py, (count, actions(size)), rows.policies)?)?;
        arrays.set_item("rewards", rows.rewards.into_pyarray(py))?;
        arrays.set_item("raw", chances(|ply| ply.raw)?)?;
        arrays.set_item("searched", chances(|ply| ply.searched)?)?;
        arrays.set_item("playouts", playouts.into_pyarray(py))?;
        arrays.set_item("trains", trains.into_pyarray(py))?;
        Ok(arrays)
    }

    fn __len__(&self) -> usize {
        self.0.plies.len()
    }

    fn __repr__(&self) -> String {
        let [attackers, defenders] = &self.0.players;
        format!("<GameRecord {}: {attackers} - {defenders}, {} plies>", self.0.game, self.0.plies.len())
    }
}

/// Sets what `read` makes of the entry of each ply; nothing where nothing was given.
fn each<'py, T>(
    name: &str,
    given: Option<&Bound<'py, PyAny>>,
    plies: &mut [PlyRecord],
    read: impl Fn(&Bound<'py, PyAny>) -> PyResult<T>,
    set: impl Fn(&mut PlyRecord, T),
) -> PyResult<()> {
    let Some(given) = given else { return Ok(()) };
    let entries = given.try_iter()?.collect::<PyResult<Vec<_>>>()?;
    if entries.len() != plies.len() {
        let (found, count) = (entries.len(), plies.len());
        return Err(refused(format!("{name}: {found} entries; expected one for each of {count} moves")));
    }
    for (ply, (played, entry)) in plies.iter_mut().zip(entries).enumerate() {
        let named = |error: PyErr| refused(format!("{name}, ply {ply}: {}", error.value(entry.py())));
        set(played, read(&entry).map_err(named)?);
    }
    Ok(())
}

/// Win, draw and loss.
fn chances(entry: &Bound<'_, PyAny>) -> PyResult<Wdl> {
    let [win, draw, loss] = entry.extract()?;
    Ok(Wdl { win, draw, loss })
}

/// The weights of moves: a dict, an array [A], or None.
fn weights(entry: &Bound<'_, PyAny>, size: BoardSize) -> PyResult<Vec<(Move, f32)>> {
    if entry.is_none() {
        return Ok(Vec::new());
    }
    if let Ok(entries) = entry.cast::<PyDict>() {
        let mut found = Vec::with_capacity(entries.len());
        for (mv, weight) in entries {
            found.push((move_from(&mv, size)?, weight.extract()?));
        }
        found.retain(|&(_, weight)| weight != 0.0);
        return Ok(found);
    }
    let dense: Vec<f32> = entry.extract()?;
    if dense.len() != actions(size) {
        return Err(refused(format!("{} weights; expected {}", dense.len(), actions(size))));
    }
    let set = (0..).zip(dense).filter(|&(_, weight)| weight != 0.0);
    set.map(|(action, weight)| Ok((move_of(action, size).map_err(refused)?, weight))).collect()
}

/// A row for each ply.
#[derive(Default)]
struct Rows {
    planes: Vec<f32>,
    globals: Vec<f32>,
    masks: Vec<bool>,
    policies: Vec<f32>,
    rewards: Vec<f32>,
    players: Vec<i8>,
}

fn rows(record: &Record) -> Result<Rows, String> {
    record.check().map_err(|error| error.to_string())?;
    let (size, mut rows) = (record.rules.size(), Rows::default());
    let ending = record.ending();
    let mut replay = record.replay().map_err(|error| error.to_string())?;
    while let Some(ply) = replay.ply() {
        let position: &Board = replay.position();
        let seen = Features::of(position, record.handicap);
        let (squares, planes, actions_there) = (size.squares(), rows.planes.len(), rows.masks.len());
        rows.planes.resize(planes + PLANES * squares, 0.0);
        seen.write_planes(squares, &mut rows.planes[planes..]);
        rows.globals.extend_from_slice(&seen.globals);
        rows.masks.resize(actions_there + actions(size), false);
        Plain::write_mask(position, &mut rows.masks[actions_there..]);
        rows.policies.resize(actions_there + actions(size), 0.0);
        for &(mv, weight) in &ply.policy {
            rows.policies[actions_there + action_of(mv, size)] = weight;
        }
        let mover = position.side_to_move();
        rows.players.push(mover.index() as i8);
        rows.rewards.push(ending.map_or(f32::NAN, |ending| reward(ending.result_for(mover))));
        replay.step().map_err(|error| error.to_string())?;
    }
    Ok(rows)
}
