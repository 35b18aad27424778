//! The stem: a 3x3 convolution of binary planes, as a sum of weight rows over the set bits.
//!
//! A square sees about twenty set bits in its neighbourhood of 9 x 16, so adding their rows is several times cheaper
//! than multiplying by mostly zeros.

use super::fold::{Folded, Matrix};
use super::layers::{Dense, padded};
use crate::{Features, GLOBALS, PLANES};
use hnefi_kernels::{Floats, Grid, Kernels};

/// Taps of the kernel.
const TAPS: usize = 9;

/// Squares along the edge of the largest board with a border of one.
const WIDTH: usize = 13;

/// The stem's weights.
#[derive(Debug)]
pub(super) struct Stem {
    /// `[TAPS][PLANES][channels]`.
    table: Floats,
    /// From the global vector to a bias per channel; holds the convolution's own bias too.
    globals: Dense,
}

/// The planes that are set on one square, as the first `count` of `planes`.
#[derive(Clone, Copy)]
struct Contents {
    planes: [u16; PLANES],
    count: usize,
}

impl Stem {
    /// Packs the stem's convolution and the layer of the global vector, `[GLOBALS, channels]`.
    pub fn pack(folded: &Folded, mut globals: Matrix) -> Stem {
        let channels = padded(folded.outputs);
        let mut table = Floats::zeros(TAPS * PLANES * channels);
        for plane in 0..PLANES {
            for output in 0..folded.outputs {
                for (tap, &weight) in folded.kernel(plane, output).iter().enumerate() {
                    table[(tap * PLANES + plane) * channels + output] = weight as f32;
                }
            }
        }
        for (bias, own) in globals.bias.iter_mut().zip(&folded.bias) {
            *bias += own;
        }
        Stem { table, globals: Dense::pack(&globals, 1) }
    }

    /// Writes the first activations of a position to `board`. `bias` is scratch of one board square's length.
    pub fn run(&self, kernels: &Kernels, grid: Grid, features: &Features, bias: &mut [f32], board: &mut [f32]) {
        const { assert!(GLOBALS > 0 && TAPS * PLANES <= u16::MAX as usize) };
        self.globals.run(kernels, &features.globals, false, bias);
        let contents = contents(&features.planes.map(|plane| plane.0), grid.side);
        for square in 0..grid.side * grid.side {
            let corner = square / grid.side * WIDTH + square % grid.side;
            let mut picked = [0; TAPS * PLANES];
            let mut count = 0;
            for tap in 0..TAPS {
                let neighbour = &contents[corner + tap / 3 * WIDTH + tap % 3];
                // All places are copied, so that the loop has no branch to mispredict; the next tap overwrites the
                // rest.
                for (row, plane) in picked[count..count + PLANES].iter_mut().zip(neighbour.planes) {
                    *row = plane + (tap * PLANES) as u16;
                }
                count += neighbour.count;
            }
            let begin = grid.square(square);
            kernels.sum(&self.table, &picked[..count], bias, &mut board[begin..begin + grid.channels]);
        }
    }
}

/// Turns planes of squares into squares with their planes, row by row with an empty border.
fn contents(planes: &[u128; PLANES], side: usize) -> [Contents; WIDTH * WIDTH] {
    let mut squares = [Contents { planes: [0; PLANES], count: 0 }; WIDTH * WIDTH];
    for (plane, &bits) in planes.iter().enumerate() {
        let mut bits = bits;
        while bits != 0 {
            let square = bits.trailing_zeros() as usize;
            let contents = &mut squares[(square / side + 1) * WIDTH + square % side + 1];
            contents.planes[contents.count] = plane as u16;
            contents.count += 1;
            bits &= bits - 1;
        }
    }
    squares
}
