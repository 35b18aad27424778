//! A direct 3x3 convolution of quantised values on a board without border.
//!
//! A row of the board, or half of one on large boards, by a few registers of output channels stays in registers from
//! the first product to the last rounding. Weights off the board are skipped, which saves a tenth to a quarter of the
//! products.

use super::super::vector::Vector;
use super::super::{Grid, PANEL};
use super::{Epilogue, LowPrecision, TAPS, Weights};

/// Most squares of a row whose sums have room in the registers.
const WIDEST: usize = 11;

/// Convolves `board`, `[squares][words]`, and applies the epilogue. Where there is a `trunk`, a board of floats with a
/// border, the result is added to it before the ReLU and written there; `out` becomes the result, quantised.
///
/// # Safety
/// The CPU has the instruction set of `D`; the side is one of [`SIDES`](super::SIDES), the channels are a multiple of
/// the panel, and all lengths fit `grid`.
#[inline(always)]
pub(super) unsafe fn convolve<D: LowPrecision, const REGISTERS: usize>(
    grid: Grid,
    weights: &Weights,
    board: &[u32],
    epilogue: &Epilogue<'_>,
    trunk: Option<&mut [f32]>,
    out: &mut [u32],
) {
    // SAFETY: as the caller vouches, and both parts lie within the row.
    unsafe {
        match grid.side {
            // Rows of the usual boards are compiled as a whole.
            7 => rows::<D, 7, true, REGISTERS>(grid, 0, weights, board, epilogue, trunk, out),
            9 => rows::<D, 9, true, REGISTERS>(grid, 0, weights, board, epilogue, trunk, out),
            11 => rows::<D, 11, true, REGISTERS>(grid, 0, weights, board, epilogue, trunk, out),
            side => {
                let mut trunk = trunk;
                let half = if side > WIDEST { side.div_ceil(2) } else { side };
                for (left, width) in [(0, half), (half, side - half)] {
                    let trunk = trunk.as_deref_mut();
                    match width {
                        0 => {}
                        5 => rows::<D, 5, false, REGISTERS>(grid, left, weights, board, epilogue, trunk, out),
                        6 => rows::<D, 6, false, REGISTERS>(grid, left, weights, board, epilogue, trunk, out),
                        7 => rows::<D, 7, false, REGISTERS>(grid, left, weights, board, epilogue, trunk, out),
                        8 => rows::<D, 8, false, REGISTERS>(grid, left, weights, board, epilogue, trunk, out),
                        9 => rows::<D, 9, false, REGISTERS>(grid, left, weights, board, epilogue, trunk, out),
                        _ => rows::<D, 10, false, REGISTERS>(grid, left, weights, board, epilogue, trunk, out),
                    }
                }
            }
        }
    }
}

/// [`convolve`] for `WIDTH` squares of each row from column `left` on, which are all of the row if `WHOLE`.
///
/// # Safety
/// As for [`convolve`], and the squares are on the board.
#[inline(always)]
unsafe fn rows<D: LowPrecision, const WIDTH: usize, const WHOLE: bool, const REGISTERS: usize>(
    grid: Grid,
    left: usize,
    weights: &Weights,
    board: &[u32],
    epilogue: &Epilogue<'_>,
    mut trunk: Option<&mut [f32]>,
    out: &mut [u32],
) {
    // Registers side by side are whole panels; a register alone may be a part of one.
    const { assert!(REGISTERS == 1 || D::Vector::LANES == PANEL) };
    let mut channel = 0;
    while channel < grid.channels {
        let wide = REGISTERS > 1 && channel + REGISTERS * D::Vector::LANES <= grid.channels;
        for y in 0..grid.side {
            let trunk = trunk.as_deref_mut();
            // SAFETY: as the caller vouches, and the registers end within the channels.
            unsafe {
                if wide {
                    row::<D, WIDTH, WHOLE, REGISTERS>(grid, [y, left], weights, board, channel, epilogue, trunk, out);
                } else {
                    row::<D, WIDTH, WHOLE, 1>(grid, [y, left], weights, board, channel, epilogue, trunk, out);
                }
            }
        }
        channel += if wide { REGISTERS * D::Vector::LANES } else { D::Vector::LANES };
    }
}

/// `WIDTH` squares of a row, from `[y, left]` on, by `REGISTERS` registers of channels from `channel` on.
///
/// # Safety
/// As for [`convolve`], and the registers end within the channels.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a kernel's operands")]
unsafe fn row<D: LowPrecision, const WIDTH: usize, const WHOLE: bool, const REGISTERS: usize>(
    grid: Grid,
    [y, left]: [usize; 2],
    weights: &Weights,
    board: &[u32],
    channel: usize,
    epilogue: &Epilogue<'_>,
    trunk: Option<&mut [f32]>,
    out: &mut [u32],
) {
    let words = weights.words;
    // SAFETY: rows and columns of the taps are on the board, registers within the channels, and the lengths as vouched
    // for.
    unsafe {
        let sums =
            sums_of::<D, WIDTH, WHOLE, REGISTERS>(grid, [y, left], words, board.as_ptr(), weights.at_channel(channel));
        let (zero, inverse) = (D::Vector::splat(0.0), D::Vector::splat(epilogue.inverse));
        let trunk = trunk.map(|trunk| trunk.as_mut_ptr().add(grid.square(y * grid.side + left)));
        for (register, sums) in sums.iter().enumerate() {
            let channel = channel + register * D::Vector::LANES;
            let scale = D::Vector::load(epilogue.scale.as_ptr().add(channel));
            let bias = D::Vector::load(epilogue.bias.as_ptr().add(channel));
            for (column, sum) in sums.iter().enumerate() {
                let mut value = sum.floats(scale).add(bias);
                if let Some(trunk) = trunk {
                    let at = trunk.add(column * grid.channels + channel);
                    value = value.add(D::Vector::load(at)).max(zero);
                    value.store(at);
                } else {
                    value = value.max(zero);
                }
                let to = out.as_mut_ptr().add((y * grid.side + left + column) * words + channel / D::VALUES);
                D::quantise(value, inverse, to);
            }
        }
    }
}

/// The sums of products of a part of a row, apart from what follows, so that the compiler keeps them in registers.
///
/// # Safety
/// The CPU has the instruction set of `D`; `board` has `words` words a square of the grid, and `weights` is where the
/// weights of `REGISTERS` registers of channels begin.
#[inline(always)]
unsafe fn sums_of<D: LowPrecision, const WIDTH: usize, const WHOLE: bool, const REGISTERS: usize>(
    grid: Grid,
    [y, left]: [usize; 2],
    words: usize,
    board: *const u32,
    weights: *const u32,
) -> [[D; WIDTH]; REGISTERS] {
    let side = if WHOLE { WIDTH } else { grid.side };
    let ends = [left == 0, left + WIDTH == side];
    // SAFETY: rows of the taps are on the board, and the lengths as vouched for.
    unsafe {
        let mut sums = [[D::zero(); WIDTH]; REGISTERS];
        for tap_row in usize::from(y == 0)..(side + 1 - y).min(3) {
            let from = board.add(((y + tap_row - 1) * side + left) * words);
            let taps = weights.add(3 * tap_row * words * PANEL);
            tap::<D, WIDTH, WHOLE, REGISTERS, 0>(words, ends, from, taps, &mut sums);
            tap::<D, WIDTH, WHOLE, REGISTERS, 1>(words, ends, from, taps.add(words * PANEL), &mut sums);
            tap::<D, WIDTH, WHOLE, REGISTERS, 2>(words, ends, from, taps.add(2 * words * PANEL), &mut sums);
        }
        sums
    }
}

/// Adds the products of one column of the kernel, 0 to 2, to a row of sums. `ends` says whether the row begins and ends
/// at the edge of the board.
///
/// # Safety
/// The CPU has the instruction set of `D`; `from` is a row of `WIDTH` squares, and `taps` are the words of weights of
/// the first register; the words of each further register follow at [`TAPS`] times a panel's.
#[inline(always)]
unsafe fn tap<D: LowPrecision, const WIDTH: usize, const WHOLE: bool, const REGISTERS: usize, const COLUMN: usize>(
    words: usize,
    ends: [bool; 2],
    from: *const u32,
    taps: *const u32,
    sums: &mut [[D; WIDTH]; REGISTERS],
) {
    // The outputs whose neighbour in this direction is on the board.
    let columns = usize::from(WHOLE && COLUMN == 0)..WIDTH - usize::from(WHOLE && COLUMN == 2);
    let is_off =
        |column: usize| (COLUMN == 0 && column == 0 && ends[0]) || (COLUMN == 2 && column == WIDTH - 1 && ends[1]);
    // SAFETY: as the caller vouches; the neighbours of the columns that are not skipped are within the board's row.
    unsafe {
        for word in 0..words {
            let mut weights = [D::load(taps.add(word * PANEL)); REGISTERS];
            for (register, weights) in weights.iter_mut().enumerate().skip(1) {
                *weights = D::load(taps.add((register * TAPS * words + word) * PANEL));
            }
            for column in columns.clone() {
                if !WHOLE && is_off(column) {
                    continue;
                }
                let inputs = D::splat(from.add((column + COLUMN) * words + word).sub(words));
                for (sums, weights) in sums.iter_mut().zip(weights) {
                    sums[column] = sums[column].add_products(inputs, weights);
                }
            }
        }
    }
}

/// The squares of a bordered board of floats, none of them negative, quantised on a board without border.
///
/// # Safety
/// The CPU has the instruction set of `D`, and all lengths fit `grid`.
#[inline(always)]
pub(super) unsafe fn quantise<D: LowPrecision>(grid: Grid, board: &[f32], inverse: f32, out: &mut [u32]) {
    // SAFETY: as the caller vouches.
    unsafe {
        let inverse = D::Vector::splat(inverse);
        for square in 0..grid.side * grid.side {
            let from = board.as_ptr().add(grid.square(square));
            let to = out.as_mut_ptr().add(square * grid.channels / D::VALUES);
            for channel in (0..grid.channels).step_by(D::Vector::LANES) {
                D::quantise(D::Vector::load(from.add(channel)), inverse, to.add(channel / D::VALUES));
            }
        }
    }
}

/// Quantised values as floats.
///
/// # Safety
/// The CPU has the instruction set of `D`; `out` is a multiple of the panel and `D::VALUES` times as long as
/// `quantised`.
#[inline(always)]
pub(super) unsafe fn dequantise<D: LowPrecision>(quantised: &[u32], step: f32, out: &mut [f32]) {
    // SAFETY: as the caller vouches.
    unsafe {
        let step = D::Vector::splat(step);
        for at in (0..out.len()).step_by(D::Vector::LANES) {
            D::dequantise(quantised.as_ptr().add(at / D::VALUES), step).store(out.as_mut_ptr().add(at));
        }
    }
}
