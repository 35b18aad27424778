//! Positions as arrays, and moves as numbers.

use hnefi_engine::{BoardSize, Move, MoveList, Position};
use hnefi_inference::{Features, GLOBALS, Handicap, PLANES, PolicyIndex, policy_planes};
use numpy::ndarray::{Array, Array1, Dimension, StrideShape};
use numpy::{Element, IntoPyArray, PyArray, PyArray1, PyArray3};
use pyo3::prelude::*;

use crate::arguments::shown;
use crate::refused;

/// Length of the policy index on a board.
pub fn actions(size: BoardSize) -> usize {
    policy_planes(size.side()) * size.squares()
}

/// A move's place in the policy index.
pub fn action_of(mv: Move, size: BoardSize) -> usize {
    PolicyIndex::of(mv, size).flat(size)
}

/// The move at a place of the policy index.
pub fn move_of(action: i64, size: BoardSize) -> Result<Move, String> {
    let count = actions(size);
    let index = usize::try_from(action).ok().filter(|&index| index < count);
    let index = index.ok_or_else(|| format!("action {action}: expected 0 to {} on this board", count - 1))?;
    let mv = PolicyIndex::from_flat(index, size).to_move(size);
    mv.ok_or_else(|| format!("action {action}: the move would leave the board"))
}

/// The move that an argument means on a board of this size: a text such as `d6f6` or a number of the policy index.
pub fn move_from(argument: &Bound<'_, PyAny>, size: BoardSize) -> PyResult<Move> {
    if let Ok(text) = argument.extract::<String>() {
        return Move::parse(&text, size).map_err(refused);
    }
    let expected = || format!("move {}: expected a text such as d6f6 or a number of the policy index", shown(argument));
    move_of(argument.extract().map_err(|_| refused(expected()))?, size).map_err(refused)
}

/// The legal moves in generation order.
pub fn legal_moves(position: &Position) -> MoveList {
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    moves
}

/// Moves as texts.
pub fn texts(moves: impl IntoIterator<Item = Move>, size: BoardSize) -> Vec<String> {
    moves.into_iter().map(|mv| mv.text(size)).collect()
}

/// Moves as an array of numbers.
pub fn numbers(py: Python<'_>, moves: impl IntoIterator<Item = Move>, size: BoardSize) -> Bound<'_, PyArray1<i64>> {
    moves.into_iter().map(|mv| action_of(mv, size) as i64).collect::<Array1<i64>>().into_pyarray(py)
}

/// `[PLANES, N, N]`, made once and handed over.
pub fn planes<'py>(py: Python<'py>, position: &Position) -> PyResult<Bound<'py, PyArray3<f32>>> {
    let (side, squares) = (position.size().side(), position.size().squares());
    let mut values = vec![0.0; PLANES * squares];
    Features::of(position, Handicap::NONE).write_planes(squares, &mut values);
    shaped(py, (PLANES, side, side), values)
}

/// `[GLOBALS]`.
pub fn globals<'py>(py: Python<'py>, position: &Position) -> Bound<'py, PyArray1<f32>> {
    const _: () = assert!(GLOBALS == 48, "the documentation says 48");
    Features::of(position, Handicap::NONE).globals.to_vec().into_pyarray(py)
}

/// `[actions]`, true for these moves.
pub fn mask_of<'py>(py: Python<'py>, moves: &[Move], size: BoardSize) -> Bound<'py, PyArray1<bool>> {
    let mut mask = vec![false; actions(size)];
    for &mv in moves {
        mask[action_of(mv, size)] = true;
    }
    mask.into_pyarray(py)
}

/// An array of this shape.
pub fn shaped<T: Element, D: Dimension>(
    py: Python<'_>,
    shape: impl Into<StrideShape<D>>,
    values: Vec<T>,
) -> PyResult<Bound<'_, PyArray<T, D>>> {
    Ok(Array::from_shape_vec(shape, values).map_err(refused)?.into_pyarray(py))
}
