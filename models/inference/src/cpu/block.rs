//! A residual block in single precision.

use super::fold::FoldedBlock;
use super::layers::{Convolution, Dense, Tiles};
use hnefi_kernels::{Floats, Grid, Kernels, Pool};

/// A residual block, its convolutions by Winograd's method.
#[derive(Debug)]
pub(super) struct Block {
    first: Convolution,
    second: Convolution,
    /// From pooled features to the bias of the second convolution, whose own bias it holds too.
    pool: Option<Dense>,
}

/// What blocks need for their intermediate values.
#[derive(Debug)]
pub(super) struct BlockScratch {
    /// The boards between the two convolutions, each with a border of zeros.
    pub inner: Floats,
    tiles: Tiles,
    bias: Floats,
    pooled: Floats,
}

impl BlockScratch {
    /// Room for a group's boards, `floats` together, and for its tiles, [`Tiles::len`] floats.
    pub fn new(channels: usize, floats: usize, tiles: usize) -> BlockScratch {
        BlockScratch {
            inner: Floats::zeros(floats),
            tiles: Tiles::new(tiles),
            bias: Floats::zeros(channels),
            pooled: Floats::zeros(3 * channels),
        }
    }
}

impl Block {
    /// Transforms and packs a block.
    pub fn pack(block: &FoldedBlock) -> Block {
        Block {
            first: Convolution::pack(&block.first),
            second: Convolution::pack(&block.second),
            pool: block.pool.as_ref().map(|pool| Dense::pack(pool, 3)),
        }
    }

    /// Takes `boards` boards, which lie one after the other in `trunk`, through the block.
    pub fn run(&self, kernels: &Kernels, grid: Grid, boards: usize, trunk: &mut [f32], scratch: &mut BlockScratch) {
        let BlockScratch { inner, tiles, bias, pooled } = scratch;
        let (first, second) = (&self.first, &self.second);
        first.run(kernels, grid, boards, trunk, tiles);
        for (index, inner) in inner.chunks_exact_mut(grid.bordered_len()).take(boards).enumerate() {
            Convolution::finish(kernels, grid, boards, index, tiles, &first.bias, false, inner);
        }
        second.run(kernels, grid, boards, inner, tiles);
        for (index, trunk) in trunk.chunks_exact_mut(grid.bordered_len()).take(boards).enumerate() {
            let bias = match &self.pool {
                None => &second.bias,
                Some(layer) => {
                    let inner = &inner[index * grid.bordered_len()..][..grid.bordered_len()];
                    let pool = Pool { side: grid.side, row_step: grid.row_step(), channels: grid.channels };
                    kernels.pool(&pool, &inner[grid.square(0)..], pooled);
                    layer.run(kernels, pooled, false, bias);
                    &*bias
                }
            };
            Convolution::finish(kernels, grid, boards, index, tiles, bias, true, trunk);
        }
    }
}
