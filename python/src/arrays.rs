//! The arrays of observations: of an environment, and of any positions.

use hnefi_engine::{Bitboard, BoardSize, Position as Board};
use hnefi_inference::{Features, GLOBALS, Handicap, PLANES};
use numpy::ndarray::Dimension;
use numpy::{Element, PyArray, PyArray1, PyArray2, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::ThreadPool;
use rayon::prelude::*;

use crate::arguments::shown;
use crate::observation::actions;
use crate::{refused, tuple};

/// Games that a thread takes at once.
pub const AT_ONCE: usize = 16;

/// A form that observations have in memory.
pub trait Form: Sized + 'static {
    /// The named tuples of `hnefi._tuples`.
    const OBSERVATION: &'static str;
    const STEP: &'static str;

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
    fn write_mask(position: &Board, mask: &mut [Self::Mask]);

    /// Where an environment keeps its arrays of this form.
    fn kept(kept: &mut AllKept) -> &mut Kept<Self>;
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
    const OBSERVATION: &'static str = "Observation";
    const STEP: &'static str = "Step";

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

    fn write_mask(position: &Board, mask: &mut [bool]) {
        let planes = mask.chunks_exact_mut(position.size().squares());
        position
            .legal_origins()
            .into_iter()
            .flatten()
            .zip(planes)
            .for_each(|(origins, flags)| spread(origins, &FLAGS, flags));
    }

    fn kept(kept: &mut AllKept) -> &mut Kept<Plain> {
        &mut kept.plain
    }
}

/// Eight squares or moves a byte, the first in the lowest bit. A plane begins with a byte of its own.
pub struct Packed;

impl Form for Packed {
    const OBSERVATION: &'static str = "PackedObservation";
    const STEP: &'static str = "PackedStep";

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

    fn write_mask(position: &Board, mask: &mut [u8]) {
        mask.fill(0);
        let squares = position.size().squares();
        for (plane, origins) in position.legal_origins().into_iter().flatten().enumerate() {
            for square in origins {
                let bit = plane * squares + square.index();
                mask[bit / 8] |= 1 << (bit % 8);
            }
        }
    }

    fn kept(kept: &mut AllKept) -> &mut Kept<Packed> {
        &mut kept.packed
    }
}

/// The arrays that an environment keeps from step to step: the newest, and those before, which nobody else may hold any
/// more and which are then written anew. Fresh memory costs as much as what is written to it.
#[derive(Default)]
pub struct AllKept {
    plain: Kept<Plain>,
    packed: Kept<Packed>,
}

/// Arrays of one form.
pub struct Kept<F: Form>([Option<Arrays<F>>; 2]);

impl<F: Form> Default for Kept<F> {
    fn default() -> Kept<F> {
        Kept([None, None])
    }
}

impl<F: Form> Kept<F> {
    /// The arrays to write the next observation of so many games to: without `copy` always the same.
    pub fn next(&mut self, py: Python<'_>, count: usize, size: BoardSize, copy: bool) -> Arrays<F> {
        let free = |kept: &&Arrays<F>| !copy || kept.is_free(py, count, size);
        if let Some(kept) = self.0.iter().flatten().find(free) {
            return kept.clone_ref(py);
        }
        let fresh = Arrays::new(py, count, size);
        self.0.rotate_right(1);
        self.0[0] = Some(fresh.clone_ref(py));
        fresh
    }
}

/// The arrays of an observation.
pub struct Arrays<F: Form> {
    planes: Py<PyArrayDyn<F::Plane>>,
    globals: Py<PyArray2<f32>>,
    masks: Py<PyArray2<F::Mask>>,
    players: Py<PyArray1<i8>>,
}

impl<F: Form> Arrays<F> {
    /// Arrays of zeros for so many games.
    pub fn new(py: Python<'_>, count: usize, size: BoardSize) -> Arrays<F> {
        Arrays {
            planes: PyArray::zeros(py, planes_of::<F>(count, size), false).unbind(),
            globals: PyArray::zeros(py, [count, GLOBALS], false).unbind(),
            masks: PyArray::zeros(py, [count, F::mask(size)], false).unbind(),
            players: PyArray::zeros(py, [count], false).unbind(),
        }
    }

    /// Whether these are the shapes for this number of games, in C's order.
    fn fit(&self, py: Python<'_>, count: usize, size: BoardSize) -> bool {
        self.planes.bind(py).shape() == planes_of::<F>(count, size)
            && self.globals.bind(py).shape() == [count, GLOBALS]
            && self.masks.bind(py).shape() == [count, F::mask(size)]
            && self.players.bind(py).shape() == [count]
            && self.planes.bind(py).is_c_contiguous()
            && self.globals.bind(py).is_c_contiguous()
            && self.masks.bind(py).is_c_contiguous()
            && self.players.bind(py).is_c_contiguous()
    }

    /// The named tuple of them.
    pub fn named(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        tuple(py, F::OBSERVATION, (self.planes, self.globals, self.masks, self.players))
    }

    fn clone_ref(&self, py: Python<'_>) -> Arrays<F> {
        Arrays {
            planes: self.planes.clone_ref(py),
            globals: self.globals.clone_ref(py),
            masks: self.masks.clone_ref(py),
            players: self.players.clone_ref(py),
        }
    }

    /// Whether nobody else holds them, and they are as they were made.
    fn is_free(&self, py: Python<'_>, count: usize, size: BoardSize) -> bool {
        is_free(self.planes.bind(py), &planes_of::<F>(count, size))
            && is_free(self.globals.bind(py), &[count, GLOBALS])
            && is_free(self.masks.bind(py), &[count, F::mask(size)])
            && is_free(self.players.bind(py), &[count])
    }

    /// Writes what is seen of the boards, one a game. The interpreter's lock is released.
    pub fn write<'a>(
        &self,
        py: Python<'_>,
        pool: &ThreadPool,
        size: BoardSize,
        boards: impl IndexedParallelIterator<Item = &'a Board>,
    ) -> PyResult<()> {
        let (planes, globals) = (self.planes.bind(py), self.globals.bind(py));
        let (masks, players) = (self.masks.bind(py), self.players.bind(py));
        let mut planes = planes.try_readwrite().map_err(refused)?;
        let mut globals = globals.try_readwrite().map_err(refused)?;
        let mut masks = masks.try_readwrite().map_err(refused)?;
        let mut players = players.try_readwrite().map_err(refused)?;
        let seen = planes
            .as_slice_mut()
            .map_err(refused)?
            .par_chunks_mut(F::planes(size).iter().product())
            .zip(globals.as_slice_mut().map_err(refused)?.par_chunks_mut(GLOBALS))
            .zip(masks.as_slice_mut().map_err(refused)?.par_chunks_mut(F::mask(size)))
            .zip(players.as_slice_mut().map_err(refused)?);
        let each = boards.zip(seen).with_min_len(AT_ONCE);
        py.detach(|| {
            pool.install(|| {
                each.for_each(|(board, (((planes, globals), mask), player))| {
                    let features = Features::of(board, Handicap::NONE);
                    F::write_planes(&features, size, planes);
                    globals.copy_from_slice(&features.globals);
                    F::write_mask(board, mask);
                    *player = board.side_to_move().index() as i8;
                });
            });
        });
        Ok(())
    }
}

impl Arrays<Plain> {
    /// Those of an `Observation` of `count` positions.
    pub fn given(out: &Bound<'_, PyAny>, count: usize, size: BoardSize) -> PyResult<Arrays<Plain>> {
        let given = out.extract().map(|(planes, globals, masks, players)| Arrays { planes, globals, masks, players });
        let fits = given.ok().filter(|arrays: &Arrays<Plain>| arrays.fit(out.py(), count, size));
        let expected = || format!("expected the Observation of {count} positions of {0}x{0} squares", size.side());
        fits.ok_or_else(|| refused(format!("out = {}: {}", shown(out), expected())))
    }
}

/// The shape of the planes of so many games.
fn planes_of<F: Form>(count: usize, size: BoardSize) -> Vec<usize> {
    [&[count][..], &F::planes(size)].concat()
}

#[expect(deprecated, reason = "the new way to ask for the count is unsafe")]
fn is_free<T: Element, D: Dimension>(array: &Bound<'_, PyArray<T, D>>, shape: &[usize]) -> bool {
    array.get_refcnt() == 1 && array.shape() == shape && array.try_readwrite().is_ok()
}
