//! Positions: values that never change.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use hnefi_engine as engine;
use numpy::{PyArray1, PyArray3};
use pyo3::prelude::*;

use crate::arguments::whole;
use crate::observation::{self, actions, move_from};
use crate::refused;
use crate::rules::{Outcome, Rules, rules_of};

/// Position(ruleset='copenhagen', fen=None, moves=()): a position, with the history that the rules need. It never
/// changes: `play` returns the next one.
///
/// It stands where `moves` lead from the FEN, or from the rules' start. Equal positions (`==`, `hash`) have equal legal
/// moves, outcomes and network inputs; history and clocks count. `str` draws the board. Raises ValueError for an
/// unknown ruleset, a FEN that cannot stand on the board or an illegal move, with its ply.
#[pyclass(module = "hnefi", frozen)]
pub struct Position(pub engine::Position, Option<Arc<str>>);

impl Clone for Position {
    fn clone(&self) -> Position {
        Position(self.0.clone(), self.1.clone())
    }

    /// Reuses memory.
    fn clone_from(&mut self, source: &Position) {
        self.0.clone_from(&source.0);
        self.1.clone_from(&source.1);
    }
}

impl Position {
    /// The position of a FEN, None for the rules' start.
    pub fn at(rules: &engine::Rules, fen: Option<&str>) -> PyResult<Position> {
        match fen {
            None => Ok(Position(engine::Position::start(rules), None)),
            Some(text) => Ok(Position(engine::Position::from_fen(rules, text).map_err(refused)?, Some(text.into()))),
        }
    }

    /// A position of a game that began at the rules' start.
    pub fn of(position: engine::Position) -> Position {
        Position(position, None)
    }

    /// The FEN that it began from, None for the rules' start.
    pub fn start(&self) -> Option<&str> {
        self.1.as_deref()
    }

    /// Another position that began where this one did.
    pub fn with(&self, position: engine::Position) -> Position {
        Position(position, self.1.clone())
    }
}

#[pymethods]
impl Position {
    #[new]
    #[pyo3(
        signature = (ruleset = None, fen = None, moves = Vec::new()),
        text_signature = "(ruleset='copenhagen', fen=None, moves=())"
    )]
    fn new(ruleset: Option<&Bound<'_, PyAny>>, fen: Option<&str>, moves: Vec<Bound<'_, PyAny>>) -> PyResult<Position> {
        let (start, game) = played(ruleset, fen, moves)?;
        Ok(start.with(game.position().clone()))
    }

    /// The rules in force.
    #[getter]
    fn rules(&self) -> Rules {
        Rules(*self.0.rules())
    }

    /// Squares along one edge, n.
    #[getter]
    fn size(&self) -> usize {
        self.0.size().side()
    }

    /// Rows from the top and the side to move: "3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 a".
    #[getter]
    fn fen(&self) -> String {
        self.0.fen()
    }

    /// "attackers" or "defenders"; also after the game's end.
    #[getter]
    fn side_to_move(&self) -> &'static str {
        self.0.side_to_move().as_str()
    }

    /// Plies played since the start.
    #[getter]
    fn ply(&self) -> u32 {
        self.0.ply()
    }

    /// Plies played since the last capture, or since the start.
    #[getter]
    fn plies_since_capture(&self) -> u32 {
        self.0.plies_since_capture()
    }

    /// How often this position has occurred, by the rules' comparison, itself included.
    #[getter]
    fn occurrences(&self) -> u32 {
        self.0.occurrences()
    }

    /// The move that led here, None at the start.
    #[getter]
    fn last_move(&self) -> Option<String> {
        self.0.last_move().map(|mv| mv.text(self.0.size()))
    }

    /// How the game ended, None while it goes on.
    #[getter]
    fn outcome(&self) -> Option<Outcome> {
        self.0.outcome().map(Outcome)
    }

    /// The legal moves as texts, in generation order; empty when the game is over.
    fn legal_moves(&self) -> Vec<String> {
        observation::texts(observation::legal_moves(&self.0).iter().copied(), self.0.size())
    }

    /// The legal moves as numbers of the policy index: [k] int64, in the order of `legal_moves`.
    fn legal_actions<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        observation::numbers(py, observation::legal_moves(&self.0).iter().copied(), self.0.size())
    }

    /// Where the policy index holds a legal move: [4 * (n - 1) * n * n] bool.
    fn action_mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        observation::mask_of(py, observation::legal_moves(&self.0).as_slice(), self.0.size())
    }

    /// What a network sees of the board: [32, n, n] float32 of 0 and 1, rank 1 and file a first.
    ///
    /// Planes are absolute, not of the side to move: attackers, defenders, king, throne, goals, board, the king's reach
    /// in one and in two moves, open lines, squares where attackers and defenders could capture, the edge flood, the
    /// last move's origin and destination, attackers and defenders at risk (docs/NETWORK.md). The array is made once
    /// and handed over.
    fn planes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f32>>> {
        observation::planes(py, &self.0)
    }

    /// What a network sees beside the board: [48] float32 in 0..1. The first is 1 when the attackers are to move; then
    /// board size, the rules' options and clocks (docs/NETWORK.md).
    fn globals<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        observation::globals(py, &self.0)
    }

    /// Whether a move, as text or number, is legal here. Raises ValueError for what is no move of this board.
    fn is_legal(&self, r#move: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.0.is_legal(move_from(r#move, self.0.size())?))
    }

    /// The position after a legal move, given as text or number. Raises ValueError for an illegal one and names the
    /// rule.
    fn play(&self, r#move: &Bound<'_, PyAny>) -> PyResult<Position> {
        let mut next = self.clone();
        next.0.play(move_from(r#move, self.0.size())?).map_err(refused)?;
        Ok(next)
    }

    /// The move of a number of the policy index, such as "d6f6". Raises ValueError when it would leave the board.
    fn move_text(&self, action: &Bound<'_, PyAny>) -> PyResult<String> {
        let size = self.0.size();
        observation::move_of(whole(action, "action", 0..=actions(size) as i64 - 1)?, size)
            .map(|mv| mv.text(size))
            .map_err(refused)
    }

    /// The number of a move in the policy index. Raises ValueError for a move that is no straight line on this board.
    fn action(&self, r#move: &str) -> PyResult<usize> {
        let size = self.0.size();
        let mv = engine::Move::parse(r#move, size).map_err(refused)?;
        let (a, b) = (mv.from().file_and_rank(size), mv.to().file_and_rank(size));
        if mv.from() == mv.to() || (a.0 != b.0 && a.1 != b.1) {
            return Err(refused(format!("move {move:?}: expected a straight line from one square to another")));
        }
        Ok(observation::action_of(mv, size))
    }

    /// How many lines of `depth` plies there are from here: the standard test of a rules engine. The interpreter's lock
    /// is released; Ctrl-C ends it after the move of this position that is counted.
    fn perft(&self, py: Python<'_>, depth: &Bound<'_, PyAny>) -> PyResult<u64> {
        let depth = whole(depth, "depth", 0..=u32::MAX)?;
        if depth < 2 {
            return Ok(engine::perft(&mut self.0.clone(), depth));
        }
        let mut moves = engine::MoveList::new();
        self.0.legal_moves(&mut moves);
        moves.iter().try_fold(0, |count, &mv| {
            py.check_signals()?;
            let mut after = self.0.clone();
            after.advance(mv);
            Ok(count + py.detach(|| engine::perft(&mut after, depth - 1)))
        })
    }

    fn __getnewargs__(&self) -> (Rules, Option<&str>, Vec<String>) {
        (self.rules(), self.start(), observation::texts(self.0.moves(), self.0.size()))
    }

    fn __eq__(&self, other: &Position) -> bool {
        self.0.state_key() == other.0.state_key()
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.state_key().hash(&mut hasher);
        hasher.finish()
    }

    fn __str__(&self) -> String {
        self.0.diagram()
    }

    fn __repr__(&self) -> String {
        format!("<Position {}>", self.0.fen())
    }
}

/// Where moves from a FEN or from the rules' start begin, and the game that they make.
pub fn played(
    ruleset: Option<&Bound<'_, PyAny>>,
    fen: Option<&str>,
    moves: Vec<Bound<'_, PyAny>>,
) -> PyResult<(Position, engine::Game)> {
    let rules = ruleset.map_or_else(|| Ok(engine::Preset::Copenhagen.rules()), rules_of)?;
    let start = Position::at(&rules, fen)?;
    let mut game = engine::Game::from_position(start.0.clone());
    for (ply, mv) in moves.iter().enumerate() {
        let mv = move_from(mv, rules.size())?;
        game.play(mv).map_err(|error| refused(format!("ply {ply}: {error}")))?;
    }
    Ok((start, game))
}

/// Refuses games that are over.
pub fn check_open(positions: &[Position]) -> Result<(), String> {
    let over = |index: &usize| positions[*index].0.outcome().is_some();
    (0..positions.len()).find(over).map_or(Ok(()), |index| {
        let fen = positions[index].0.fen();
        Err(format!("position {index}: the game is over ({fen}); expected one that goes on"))
    })
}

/// The board's size of all positions, None where there is none.
pub fn one_size(positions: &[Position]) -> Result<Option<engine::BoardSize>, String> {
    let Some(size) = positions.first().map(|first| first.0.size()) else { return Ok(None) };
    match positions.iter().position(|position| position.0.size() != size) {
        None => Ok(Some(size)),
        Some(index) => {
            let (a, b) = (positions[index].0.size().side(), size.side());
            Err(format!("position {index}: a board of {a}x{a} beside one of {b}x{b}; expected one size"))
        }
    }
}
