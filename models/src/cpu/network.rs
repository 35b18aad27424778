//! The packed network, shared by every evaluator that plays with it.

use super::fold::{CpuNetworkError, Folded, Matrix};
use super::heads::{HeadScratch, Heads, Occupancy};
use super::layers::{Convolution, Dense, Tiles, padded};
use super::stem::Stem;
use crate::kernels::{BLOCK, Floats, Grid, Kernels, POINTS, Pool};
use crate::network::Block as BurnBlock;
use crate::{Features, GLOBALS, Network, PLANES, PolicyIndex};
use hnefi_engine::{BoardSize, Side};

/// A network folded and packed for the CPU kernels. Made once, then shared between threads.
#[derive(Debug)]
pub struct CpuNetwork {
    kernels: &'static Kernels,
    channels: usize,
    /// Tiles that go through the tower together at least, where there are so many.
    rows: usize,
    stem: Stem,
    blocks: Vec<Block>,
    roles: Vec<Heads>,
    occupancy: Occupancy,
}

/// A residual block.
#[derive(Debug)]
struct Block {
    first: Convolution,
    second: Convolution,
    /// From pooled features to the bias of the second convolution, whose own bias it holds too.
    pool: Option<Dense>,
}

/// Activations and intermediate values of one evaluator.
#[derive(Debug)]
pub(super) struct Scratch {
    /// The board size that `trunk` and `inner` are laid out for, with a border of zeros.
    grid: Grid,
    trunk: Floats,
    inner: Floats,
    tiles: Tiles,
    bias: Floats,
    pooled: Floats,
    heads: HeadScratch,
}

impl CpuNetwork {
    /// Folds the norms into the convolutions and packs the weights for the best kernels of this CPU.
    ///
    /// # Errors
    /// When a weight is not finite, or the shapes are none that a [`crate::NetworkConfig`] makes.
    pub fn new(network: &Network) -> Result<CpuNetwork, CpuNetworkError> {
        CpuNetwork::with_kernels(network, Kernels::best())
    }

    /// Name of the kernels it runs on, such as `AVX2`.
    pub fn kernels(&self) -> &'static str {
        self.kernels.name
    }

    /// Packs for particular kernels.
    pub(super) fn with_kernels(network: &Network, kernels: &'static Kernels) -> Result<CpuNetwork, CpuNetworkError> {
        let channels = network.stem.conv.weight.dims()[0];
        let stem = Folded::of("stem", &network.stem, PLANES, channels)?;
        let globals = Matrix::of_linear("globals", &network.globals, GLOBALS)?.with_outputs("globals", channels)?;
        if !(1..=2).contains(&network.roles.len()) {
            let (found, expected) = (vec![network.roles.len()], vec![2]);
            return Err(CpuNetworkError::Shape { part: "roles".to_owned(), found, expected });
        }
        let blocks = network.blocks.iter().enumerate();
        let blocks: Vec<Block> =
            blocks.map(|(index, block)| Block::pack(index, block, channels)).collect::<Result<_, _>>()?;
        let roles = network.roles.iter().enumerate();
        Ok(CpuNetwork {
            kernels,
            channels: padded(channels),
            rows: rows(padded(channels), blocks.len()),
            stem: Stem::pack(&stem, globals),
            blocks,
            roles: roles.map(|(role, heads)| Heads::pack(role, heads, channels)).collect::<Result<_, _>>()?,
            occupancy: Occupancy::pack(&network.occupancy, channels)?,
        })
    }

    /// Most boards of a size that go through the tower together.
    pub(super) fn group(&self, size: BoardSize) -> usize {
        self.rows.div_ceil(self.grid(size).tiles())
    }

    /// The same network with other groups.
    #[cfg(test)]
    pub(super) fn with_rows(self, rows: usize) -> CpuNetwork {
        CpuNetwork { rows, ..self }
    }

    /// Scratch memory for an evaluator of this network.
    pub(super) fn scratch(&self) -> Scratch {
        let sizes = BoardSize::ALL;
        let floats = sizes.iter().map(|&size| self.group(size) * self.grid(size).len()).max().unwrap_or(0);
        let tiles = sizes.iter().map(|&size| Tiles::len(self.grid(size), self.group(size))).max().unwrap_or(0);
        Scratch {
            grid: self.grid(BoardSize::Eleven),
            trunk: Floats::zeros(floats),
            inner: Floats::zeros(floats),
            tiles: Tiles::new(tiles),
            bias: Floats::zeros(self.channels),
            pooled: Floats::zeros(3 * self.channels),
            heads: HeadScratch::new(self.channels, &self.roles),
        }
    }

    fn grid(&self, size: BoardSize) -> Grid {
        Grid { side: size.side(), channels: self.channels }
    }

    /// Prepares the scratch for boards of a size.
    pub(super) fn lay_out(&self, size: BoardSize, scratch: &mut Scratch) {
        let grid = self.grid(size);
        if grid != scratch.grid {
            // What was a square may be border now, and the border is zero.
            scratch.trunk.fill(0.0);
            scratch.inner.fill(0.0);
            scratch.grid = grid;
        }
    }

    /// Enters a position as board `index` of the group.
    pub(super) fn enter(&self, index: usize, features: &Features, scratch: &mut Scratch) {
        let grid = scratch.grid;
        let board = &mut scratch.trunk[index * grid.len()..][..grid.len()];
        self.stem.run(self.kernels, grid, features, &mut scratch.bias, board);
    }

    /// Takes the first `boards` boards through the tower.
    pub(super) fn run_tower(&self, boards: usize, scratch: &mut Scratch) {
        for block in &self.blocks {
            block.run(self.kernels, boards, scratch);
        }
    }

    /// Appends the policy logits at `places` of board `index` to `logits`.
    pub(super) fn policy(
        &self,
        index: usize,
        side: Side,
        places: impl Iterator<Item = PolicyIndex> + Clone,
        scratch: &mut Scratch,
        logits: &mut Vec<f32>,
    ) {
        let board = &scratch.trunk[index * scratch.grid.len()..][..scratch.grid.len()];
        self.heads(side).policy(self.kernels, scratch.grid, board, places, &mut scratch.heads, logits);
    }

    /// Win, draw and loss logits and ln(1 + plies left) of board `index`.
    pub(super) fn value(&self, index: usize, side: Side, scratch: &mut Scratch) -> [f32; 4] {
        let board = &scratch.trunk[index * scratch.grid.len()..][..scratch.grid.len()];
        self.heads(side).value(self.kernels, scratch.grid, board, &mut scratch.heads)
    }

    /// Logits of each square's final content on board `index`.
    pub(super) fn occupancy(&self, index: usize, scratch: &mut Scratch) -> Vec<[f32; 4]> {
        let board = &scratch.trunk[index * scratch.grid.len()..][..scratch.grid.len()];
        self.occupancy.run(self.kernels, scratch.grid, board, &mut scratch.heads)
    }

    /// The heads of the side to move: its own, or those that both share.
    fn heads(&self, side: Side) -> &Heads {
        &self.roles[side.index().min(self.roles.len() - 1)]
    }
}

impl Block {
    fn pack(index: usize, block: &BurnBlock, channels: usize) -> Result<Block, CpuNetworkError> {
        let part = |name: &str| format!("block {index} {name}");
        let first = Folded::of(&part("first"), &block.first, channels, channels)?;
        let second = Folded::of(&part("second"), &block.second, channels, channels)?;
        let pool = match &block.pool {
            None => None,
            Some(pool) => {
                let pool = Matrix::of_linear(&part("pool"), pool, 3 * channels)?;
                let mut pool = pool.with_outputs(&part("pool"), channels)?;
                for (bias, own) in pool.bias.iter_mut().zip(&second.bias) {
                    *bias += own;
                }
                Some(Dense::pack(&pool, 3))
            }
        };
        Ok(Block { first: Convolution::pack(&first), second: Convolution::pack(&second), pool })
    }

    fn run(&self, kernels: &Kernels, boards: usize, scratch: &mut Scratch) {
        let Scratch { grid, trunk, inner, tiles, bias, pooled, .. } = scratch;
        let grid = *grid;
        let (first, second) = (&self.first, &self.second);
        first.run(kernels, grid, boards, trunk, tiles);
        for (index, inner) in inner.chunks_exact_mut(grid.len()).take(boards).enumerate() {
            Convolution::finish(kernels, grid, boards, index, tiles, &first.bias, false, inner);
        }
        second.run(kernels, grid, boards, inner, tiles);
        for (index, trunk) in trunk.chunks_exact_mut(grid.len()).take(boards).enumerate() {
            let bias = match &self.pool {
                None => &second.bias,
                Some(layer) => {
                    let inner = &inner[index * grid.len()..][..grid.len()];
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

/// How many tiles share one pass over the weights: two register blocks' worth while all weights stay in a core's share of the
/// cache, and more beyond that, where reading them is what takes the time.
fn rows(channels: usize, blocks: usize) -> usize {
    const CACHE: usize = 12 << 20;
    let tower = 2 * blocks * POINTS * channels * channels * size_of::<f32>();
    if tower <= CACHE { 2 * BLOCK } else { 12 * BLOCK }
}
