//! Games: what was played, and where it stands.

use hnefi_engine as engine;
use numpy::{PyArray1, PyArray3};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::arguments::shown;
use crate::observation::{self, move_from};
use crate::position::{Position, played};
use crate::refused;
use crate::rules::{Outcome, Rules, reward, side_of};

/// Game(ruleset='copenhagen', fen=None, moves=()): a game from its start to where it stands.
///
/// `moves` are played at once. `len` counts plies, `str` draws the board. Raises ValueError for an unknown ruleset, a
/// FEN that cannot stand or an illegal move, with its ply.
#[pyclass(module = "hnefi")]
pub struct Game(pub engine::Game, Position);

#[pymethods]
impl Game {
    #[new]
    #[pyo3(
        signature = (ruleset = None, fen = None, moves = Vec::new()),
        text_signature = "(ruleset='copenhagen', fen=None, moves=())"
    )]
    pub fn new(ruleset: Option<&Bound<'_, PyAny>>, fen: Option<&str>, moves: Vec<Bound<'_, PyAny>>) -> PyResult<Game> {
        let (start, game) = played(ruleset, fen, moves)?;
        Ok(Game(game, start))
    }

    /// The rules in force.
    #[getter]
    fn rules(&self) -> Rules {
        Rules(*self.0.rules())
    }

    /// The FEN that the game began from, None for the standard start.
    #[getter]
    fn start_fen(&self) -> Option<String> {
        self.0.start_fen()
    }

    /// The position on the board, as an independent value.
    #[getter]
    pub fn position(&self) -> Position {
        self.1.with(self.0.position().clone())
    }

    /// The FEN of the position on the board.
    #[getter]
    fn fen(&self) -> String {
        self.0.position().fen()
    }

    /// "attackers" or "defenders"; also after the game's end.
    #[getter]
    fn side_to_move(&self) -> &'static str {
        self.0.position().side_to_move().as_str()
    }

    /// The moves played, first to last.
    #[getter]
    fn moves(&self) -> Vec<String> {
        observation::texts(self.0.moves(), self.0.rules().size())
    }

    /// For each ply the squares that it emptied by capture.
    #[getter]
    fn captures(&self) -> Vec<Vec<String>> {
        let size = self.0.rules().size();
        self.0.plies().iter().map(|ply| names(ply.captured, size)).collect()
    }

    /// How the game ended by the rules; None while it goes on there, also after a resignation.
    #[getter]
    fn outcome(&self) -> Option<Outcome> {
        self.0.outcome().map(Outcome)
    }

    /// The side that resigned, or None.
    #[getter]
    fn resigned(&self) -> Option<&'static str> {
        match self.0.ending() {
            Some(engine::Ending::Resigned(side)) => Some(side.as_str()),
            _ => None,
        }
    }

    /// Whether the game has ended, by the rules or by resignation.
    #[getter]
    fn is_over(&self) -> bool {
        self.0.ending().is_some()
    }

    /// The winner, by the rules or by resignation; None for a draw and while the game goes on.
    #[getter]
    fn winner(&self) -> Option<&'static str> {
        self.0.ending().and_then(engine::Ending::winner).map(engine::Side::as_str)
    }

    /// What the game came to for a side: 1.0 a win, 0.0 a draw, -1.0 a loss; None while it goes on.
    fn reward(&self, side: &str) -> PyResult<Option<f32>> {
        Ok(self.0.result_for(side_of(side)?).map(reward))
    }

    /// The legal moves as texts, in generation order; empty when the game is over.
    fn legal_moves(&self) -> Vec<String> {
        observation::texts(self.open_moves().iter().copied(), self.0.rules().size())
    }

    /// The legal moves as numbers of the policy index: [k] int64, in the order of `legal_moves`.
    fn legal_actions<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        observation::numbers(py, self.open_moves().iter().copied(), self.0.rules().size())
    }

    /// Where the policy index holds a legal move: [4 * (n - 1) * n * n] bool; all False when the game is over.
    fn action_mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        observation::mask_of(py, self.open_moves().as_slice(), self.0.rules().size())
    }

    /// `Position.planes` of the position on the board: [32, n, n] float32.
    fn planes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f32>>> {
        observation::planes(py, self.0.position())
    }

    /// `Position.globals` of the position on the board: [48] float32.
    fn globals<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        observation::globals(py, self.0.position())
    }

    /// Plays a move, given as text or number, and returns the squares that it emptied by capture.
    ///
    /// Raises ValueError for an illegal move and names the rule; nothing has changed then.
    fn play(&mut self, r#move: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let size = self.0.rules().size();
        let ply = self.0.play(move_from(r#move, size)?).map_err(refused)?;
        Ok(names(ply.captured, size))
    }

    /// Takes back the last ply, with the resignation that may have followed it, and returns its move; None when nothing
    /// was played.
    fn undo(&mut self) -> Option<String> {
        let size = self.0.rules().size();
        self.0.undo().map(|ply| ply.mv.text(size))
    }

    /// One side gives up, whichever side is to move. Raises ValueError when the game is over.
    fn resign(&mut self, side: &str) -> PyResult<()> {
        self.0.resign(side_of(side)?).map_err(refused)
    }

    /// The position after `ply` plies, 0 for the start. Raises IndexError when the game has not come so far.
    fn position_at(&self, ply: &Bound<'_, PyAny>) -> PyResult<Position> {
        let played = self.0.len();
        let missing = || PyIndexError::new_err(format!("ply {}: expected 0 to {played}", shown(ply)));
        let position = ply.extract().ok().and_then(|ply| self.0.position_at(ply));
        position.map(|position| self.1.with(position)).ok_or_else(missing)
    }

    /// Every position from the start to the present one: one more than plies.
    fn positions(&self) -> Vec<Position> {
        self.0.positions().map(|position| self.1.with(position)).collect()
    }

    /// An independent copy of the game.
    fn copy(&self) -> Game {
        Game(self.0.clone(), self.1.clone())
    }

    fn __getnewargs__(&self) -> (Rules, Option<String>, Vec<String>) {
        (self.rules(), self.start_fen(), self.moves())
    }

    fn __getstate__(&self) -> Option<&'static str> {
        self.resigned()
    }

    fn __setstate__(&mut self, resigned: Option<&str>) -> PyResult<()> {
        resigned.map_or(Ok(()), |side| self.resign(side))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __str__(&self) -> String {
        self.0.position().diagram()
    }

    fn __repr__(&self) -> String {
        format!("<Game of {} plies, {}>", self.0.len(), self.0.position().fen())
    }
}

impl Game {
    /// A game that begins with a FEN, None for the rules' start.
    pub fn at(rules: &engine::Rules, fen: Option<&str>) -> PyResult<Game> {
        let start = Position::at(rules, fen)?;
        Ok(Game(engine::Game::from_position(start.0.clone()), start))
    }

    /// The legal moves; none once somebody has resigned.
    fn open_moves(&self) -> engine::MoveList {
        match self.0.ending() {
            Some(_) => engine::MoveList::new(),
            None => observation::legal_moves(self.0.position()),
        }
    }
}

/// The names of squares.
fn names(squares: engine::Bitboard, size: engine::BoardSize) -> Vec<String> {
    squares.into_iter().map(|square| square.name(size)).collect()
}

/// The position of a `Position` or a `Game`.
pub fn position_of(argument: &Bound<'_, PyAny>) -> PyResult<Position> {
    if let Ok(position) = argument.cast::<Position>() {
        return Ok(position.get().clone());
    }
    if let Ok(game) = argument.cast::<Game>() {
        let game = game.try_borrow()?;
        if let Some(side) = game.resigned() {
            let fen = game.fen();
            let problem = format!("the game is over, {side} resigned; expected one that goes on, or its `position`");
            return Err(refused(format!("position {fen}: {problem}")));
        }
        return Ok(game.position());
    }
    Err(refused(format!("position {}: expected hnefi.Position or hnefi.Game", shown(argument))))
}
