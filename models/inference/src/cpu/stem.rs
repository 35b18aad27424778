//! The stem: a 3x3 convolution of binary planes, as a sum of weight rows over the set bits.
//!
//! A square sees about ten set bits that change with the pieces in its neighbourhood, so adding their rows is several
//! times cheaper than multiplying by mostly zeros. What the planes that the rules give ([`plane::FIXED`]) add is the
//! same in every position of a game, and is kept.

use super::fold::{Folded, Matrix};
use super::layers::{Dense, padded};
use crate::encoding::plane::{FIXED, MOVING};
use crate::{Features, GLOBALS};
use hnefi_engine::Bitboard;
use hnefi_kernels::{Floats, Grid, Kernels};

/// Taps of the kernel.
const TAPS: usize = 9;

/// Planes on a square, at most: a whole number of registers, which are copied at once.
const SET: usize = MOVING.len().next_multiple_of(16);

/// Rulesets whose fixed planes are kept.
const RULESETS: usize = 16;

/// The stem's weights.
#[derive(Debug)]
pub(super) struct Stem {
    channels: usize,
    /// `[TAPS][MOVING][channels]`.
    moving: Floats,
    /// `[TAPS][FIXED][channels]`.
    fixed: Vec<f32>,
    /// From the global vector to a bias per channel; holds the convolution's own bias too.
    globals: Dense,
}

/// What the stem needs for its intermediate values.
#[derive(Debug)]
pub(super) struct StemScratch {
    bias: Floats,
    /// By square, with an empty border.
    contents: Vec<Contents>,
    kept: Vec<KeptSums>,
}

/// What the fixed planes of some rules add to every square of a board.
#[derive(Debug)]
struct KeptSums {
    side: usize,
    planes: [Bitboard; FIXED.len()],
    /// `[N * N][channels]`.
    sums: Vec<f32>,
}

/// The moving planes that are set on one square, as the first `count` of `planes`.
#[derive(Clone, Copy, Debug)]
struct Contents {
    planes: [u16; SET],
    count: usize,
}

impl Stem {
    /// Packs the stem's convolution and the layer of the global vector, `[GLOBALS, channels]`.
    pub fn pack(folded: &Folded, mut globals: Matrix) -> Stem {
        let channels = padded(folded.outputs);
        let rows = |planes: &[usize], table: &mut [f32]| {
            for (at, &plane) in planes.iter().enumerate() {
                for output in 0..folded.outputs {
                    for (tap, &weight) in folded.kernel(plane, output).iter().enumerate() {
                        table[(tap * planes.len() + at) * channels + output] = weight as f32;
                    }
                }
            }
        };
        let mut moving = Floats::zeros(TAPS * MOVING.len() * channels);
        let mut fixed = vec![0.0; TAPS * FIXED.len() * channels];
        rows(&MOVING, &mut moving);
        rows(&FIXED, &mut fixed);
        for (bias, own) in globals.bias.iter_mut().zip(&folded.bias) {
            *bias += own;
        }
        Stem { channels, moving, fixed, globals: Dense::pack(&globals, 1) }
    }

    /// Scratch memory for one evaluator.
    pub fn scratch(&self) -> StemScratch {
        StemScratch { bias: Floats::zeros(self.channels), contents: Vec::new(), kept: Vec::new() }
    }

    /// Writes the first activations of a position to `board`.
    pub fn run(
        &self,
        kernels: &Kernels,
        grid: Grid,
        features: &Features,
        scratch: &mut StemScratch,
        board: &mut [f32],
    ) {
        const { assert!(GLOBALS > 0 && TAPS * MOVING.len() <= u16::MAX as usize) };
        let StemScratch { bias, contents, kept } = scratch;
        self.globals.run(kernels, &features.globals, false, bias);
        let sums = self.fixed_sums(grid, features, kept);
        let width = grid.side + 2;
        fill(contents, features, grid.side);
        for (square, sum) in sums.chunks_exact(grid.channels).enumerate() {
            let corner = square / grid.side * width + square % grid.side;
            let mut picked = [0; TAPS * SET];
            let mut count = 0;
            for tap in 0..TAPS {
                let neighbour = &contents[corner + tap / 3 * width + tap % 3];
                // All places are copied, so that the loop has no branch to mispredict; the next tap overwrites the
                // rest.
                for (row, plane) in picked[count..count + SET].iter_mut().zip(neighbour.planes) {
                    *row = plane + (tap * MOVING.len()) as u16;
                }
                count += neighbour.count;
            }
            let begin = grid.square(square);
            kernels.sum(&self.moving, &picked[..count], [bias, sum], &mut board[begin..begin + grid.channels]);
        }
    }

    /// What the fixed planes add, `[N * N][channels]`.
    fn fixed_sums<'a>(&self, grid: Grid, features: &Features, kept: &'a mut Vec<KeptSums>) -> &'a [f32] {
        let planes = FIXED.map(|plane| features.planes[plane]);
        let known = kept.iter().position(|kept| kept.side == grid.side && kept.planes == planes);
        let at = known.unwrap_or_else(|| {
            if kept.len() == RULESETS {
                kept.remove(0);
            }
            kept.push(KeptSums { side: grid.side, planes, sums: self.sums_of(&planes, grid.side) });
            kept.len() - 1
        });
        &kept[at].sums
    }

    fn sums_of(&self, planes: &[Bitboard; FIXED.len()], side: usize) -> Vec<f32> {
        let mut sums = vec![0.0; side * side * self.channels];
        for (at, &plane) in planes.iter().enumerate() {
            for square in plane {
                let (rank, file) = (square.index() / side, square.index() % side);
                for tap in 0..TAPS {
                    // The square that has this one as its neighbour of this tap.
                    let (rank, file) = (rank + 1, file + 1);
                    if let (Some(rank), Some(file)) = (rank.checked_sub(tap / 3), file.checked_sub(tap % 3))
                        && rank < side
                        && file < side
                    {
                        let row = &self.fixed[(tap * FIXED.len() + at) * self.channels..][..self.channels];
                        let sums = &mut sums[(rank * side + file) * self.channels..][..self.channels];
                        sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum += weight);
                    }
                }
            }
        }
        sums
    }
}

/// Turns planes of squares into squares with their planes, row by row with an empty border.
fn fill(contents: &mut Vec<Contents>, features: &Features, side: usize) {
    let width = side + 2;
    contents.clear();
    contents.resize(width * width, Contents { planes: [0; SET], count: 0 });
    for (at, plane) in MOVING.into_iter().enumerate() {
        for square in features.planes[plane] {
            let square = square.index();
            let contents = &mut contents[(square / side + 1) * width + square % side + 1];
            contents.planes[contents.count] = at as u16;
            contents.count += 1;
        }
    }
}
