//! A direct 3x3 convolution of quantised values on a board without border.
//!
//! A row of the board by a few registers of output channels stays in registers from the first product to the last
//! rounding. Weights off the board are skipped, which saves a tenth to a quarter of the products.

use super::super::vector::Vector;
use super::super::{Grid, PANEL};
use super::{Epilogue, LowPrecision, TAPS, Weights};

/// Convolves `board`, `[squares][words]`, and applies the epilogue. Where there is a `trunk`, a board of floats with a
/// border, the result is added to it before the ReLU and written there; `out` becomes the result, quantised.
///
/// # Safety
/// The CPU has the instruction set of `D`; the side is 7, 9 or 11, the channels are a multiple of the panel, and all
/// lengths fit `grid`.
#[inline(always)]
pub(super) unsafe fn convolve<D: LowPrecision, const REGISTERS: usize>(
    grid: Grid,
    weights: &Weights,
    board: &[u32],
    epilogue: &Epilogue<'_>,
    trunk: Option<&mut [f32]>,
    out: &mut [u32],
) {
    // SAFETY: as the caller vouches.
    unsafe {
        match grid.side {
            7 => rows::<D, 7, REGISTERS>(grid, weights, board, epilogue, trunk, out),
            9 => rows::<D, 9, REGISTERS>(grid, weights, board, epilogue, trunk, out),
            _ => rows::<D, 11, REGISTERS>(grid, weights, board, epilogue, trunk, out),
        }
    }
}

/// [`convolve`] for one side.
///
/// # Safety
/// As for [`convolve`], and `grid.side` is `SIDE`.
#[inline(always)]
unsafe fn rows<D: LowPrecision, const SIDE: usize, const REGISTERS: usize>(
    grid: Grid,
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
        for y in 0..SIDE {
            let trunk = trunk.as_deref_mut();
            // SAFETY: as the caller vouches, and the registers end within the channels.
            unsafe {
                if wide {
                    row::<D, SIDE, REGISTERS>(grid, weights, board, y, channel, epilogue, trunk, out);
                } else {
                    row::<D, SIDE, 1>(grid, weights, board, y, channel, epilogue, trunk, out);
                }
            }
        }
        channel += if wide { REGISTERS * D::Vector::LANES } else { D::Vector::LANES };
    }
}

/// Row `y` of the board by `REGISTERS` registers of channels from `channel` on.
///
/// # Safety
/// As for [`convolve`], and the registers end within the channels.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a kernel's operands")]
unsafe fn row<D: LowPrecision, const SIDE: usize, const REGISTERS: usize>(
    grid: Grid,
    weights: &Weights,
    board: &[u32],
    y: usize,
    channel: usize,
    epilogue: &Epilogue<'_>,
    trunk: Option<&mut [f32]>,
    out: &mut [u32],
) {
    let words = weights.words;
    // SAFETY: rows and columns of the taps are on the board, registers within the channels, and the lengths as vouched
    // for.
    unsafe {
        let sums = sums_of::<D, SIDE, REGISTERS>(words, board.as_ptr(), weights.at_channel(channel), y);
        let (zero, inverse) = (D::Vector::splat(0.0), D::Vector::splat(epilogue.inverse));
        let trunk = trunk.map(|trunk| trunk.as_mut_ptr().add(grid.square(y * SIDE)));
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
                let to = out.as_mut_ptr().add((y * SIDE + column) * words + channel / D::VALUES);
                D::quantise(value, inverse, to);
            }
        }
    }
}

/// The sums of products of row `y`, apart from what follows, so that the compiler keeps them in registers.
///
/// # Safety
/// The CPU has the instruction set of `D`; `board` has `SIDE * SIDE * words` words, and `weights` is where the weights
/// of `REGISTERS` registers of channels begin.
#[inline(always)]
unsafe fn sums_of<D: LowPrecision, const SIDE: usize, const REGISTERS: usize>(
    words: usize,
    board: *const u32,
    weights: *const u32,
    y: usize,
) -> [[D; SIDE]; REGISTERS] {
    // SAFETY: rows of the taps are on the board, and the lengths as vouched for.
    unsafe {
        let mut sums = [[D::zero(); SIDE]; REGISTERS];
        for tap_row in usize::from(y == 0)..(SIDE + 1 - y).min(3) {
            let from = board.add((y + tap_row - 1) * SIDE * words);
            let taps = weights.add(3 * tap_row * words * PANEL);
            tap::<D, SIDE, REGISTERS, 0>(words, from, taps, &mut sums);
            tap::<D, SIDE, REGISTERS, 1>(words, from, taps.add(words * PANEL), &mut sums);
            tap::<D, SIDE, REGISTERS, 2>(words, from, taps.add(2 * words * PANEL), &mut sums);
        }
        sums
    }
}

/// Adds the products of one column of the kernel, 0 to 2, to a row of sums.
///
/// # Safety
/// The CPU has the instruction set of `D`; `from` is a row of `SIDE` squares, and `taps` are the words of weights of
/// the first register; the words of each further register follow at [`TAPS`] times a panel's.
#[inline(always)]
unsafe fn tap<D: LowPrecision, const SIDE: usize, const REGISTERS: usize, const COLUMN: usize>(
    words: usize,
    from: *const u32,
    taps: *const u32,
    sums: &mut [[D; SIDE]; REGISTERS],
) {
    // The outputs whose neighbour in this direction is on the board.
    let columns = usize::from(COLUMN == 0)..SIDE - usize::from(COLUMN == 2);
    // SAFETY: as the caller vouches; `columns` keeps the neighbours within the row.
    unsafe {
        for word in 0..words {
            let mut weights = [D::load(taps.add(word * PANEL)); REGISTERS];
            for (register, weights) in weights.iter_mut().enumerate().skip(1) {
                *weights = D::load(taps.add((register * TAPS * words + word) * PANEL));
            }
            for column in columns.clone() {
                let inputs = D::splat(from.add((column + COLUMN - 1) * words + word));
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
