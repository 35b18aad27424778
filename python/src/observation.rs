//! Positions as arrays, and moves as numbers.

use hnefi_engine::{Bitboard, BoardSize, Move, MoveList, Position};
use hnefi_inference::{Features, GLOBALS, Handicap, PLANES, PolicyIndex, policy_planes};
use numpy::ndarray::{Array1, Array3};
use numpy::{Element, IntoPyArray, PyArray1, PyArray3};
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

/// A form that observations have in memory.
pub trait Form: 'static {
    /// A value of the planes.
    type Plane: Element;
    /// A value of the mask.
    type Mask: Element;

    /// The shape of a game's planes.
    fn planes(size: BoardSize) -> Vec<usize>;

    /// The length of a game's mask.
    fn mask(size: BoardSize) -> usize;

    /// Writes a game's planes.
    fn write_planes(features: &Features, size: BoardSize, planes: &mut [Self::Plane]);

    /// Writes which moves are legal.
    fn write_mask(position: &Position, mask: &mut [Self::Mask]);
}

/// Eight squares for every byte of a set, as flags and as numbers.
const FLAGS: [[bool; 8]; 256] = {
    let mut table = [[false; 8]; 256];
    let mut at = 0;
    while at < 256 * 8 {
        table[at / 8][at % 8] = (at / 8) & (1 << (at % 8)) != 0;
        at += 1;
    }
    table
};
const ONES: [[f32; 8]; 256] = {
    let mut table = [[0.0; 8]; 256];
    let mut at = 0;
    while at < 256 * 8 {
        table[at / 8][at % 8] = if FLAGS[at / 8][at % 8] { 1.0 } else { 0.0 };
        at += 1;
    }
    table
};

/// Writes what the table says of every square.
fn spread<T: Copy>(set: Bitboard, table: &[[T; 8]; 256], values: &mut [T]) {
    let (eights, rest) = values.as_chunks_mut::<8>();
    let bytes = |at: usize| set.0[at / 8].to_le_bytes()[at % 8];
    let count = eights.len();
    for (at, eight) in eights.iter_mut().enumerate() {
        let byte = bytes(at);
        *eight = table[usize::from(byte)];
    }
    rest.copy_from_slice(&table[usize::from(bytes(count))][..rest.len()]);
}

/// A value a square and a value a move: what networks are fed.
pub struct Plain;

impl Form for Plain {
    type Plane = f32;
    type Mask = bool;

    fn planes(size: BoardSize) -> Vec<usize> {
        vec![PLANES, size.side(), size.side()]
    }

    fn mask(size: BoardSize) -> usize {
        actions(size)
    }

    fn write_planes(features: &Features, size: BoardSize, planes: &mut [f32]) {
        for (plane, values) in features.planes.iter().zip(planes.chunks_exact_mut(size.squares())) {
            spread(*plane, &ONES, values);
        }
    }

    fn write_mask(position: &Position, mask: &mut [bool]) {
        let planes = mask.chunks_exact_mut(position.size().squares());
        position
            .legal_origins()
            .into_iter()
            .flatten()
            .zip(planes)
            .for_each(|(origins, flags)| spread(origins, &FLAGS, flags));
    }
}

/// Eight squares or moves a byte, the first in the lowest bit. A plane begins with a byte of its own.
pub struct Packed;

impl Form for Packed {
    type Plane = u8;
    type Mask = u8;

    fn planes(size: BoardSize) -> Vec<usize> {
        vec![PLANES, size.squares().div_ceil(8)]
    }

    fn mask(size: BoardSize) -> usize {
        // Four directions by N - 1 distances by N squares a side squared: a multiple of 8 for even and odd N.
        actions(size) / 8
    }

    fn write_planes(features: &Features, size: BoardSize, planes: &mut [u8]) {
        let bytes = size.squares().div_ceil(8);
        for (plane, packed) in features.planes.iter().zip(planes.chunks_exact_mut(bytes)) {
            packed.fill(0);
            for square in *plane {
                packed[square.index() / 8] |= 1 << (square.index() % 8);
            }
        }
    }

    fn write_mask(position: &Position, mask: &mut [u8]) {
        mask.fill(0);
        let squares = position.size().squares();
        for (plane, origins) in position.legal_origins().into_iter().flatten().enumerate() {
            for square in origins {
                let bit = plane * squares + square.index();
                mask[bit / 8] |= 1 << (bit % 8);
            }
        }
    }
}

/// `[PLANES, N, N]`, made once and handed over.
pub fn planes<'py>(py: Python<'py>, position: &Position) -> PyResult<Bound<'py, PyArray3<f32>>> {
    let (side, squares) = (position.size().side(), position.size().squares());
    let mut values = vec![0.0; PLANES * squares];
    Features::of(position, Handicap::NONE).write_planes(squares, &mut values);
    Ok(Array3::from_shape_vec((PLANES, side, side), values).map_err(refused)?.into_pyarray(py))
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
