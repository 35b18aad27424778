//! The packed network, shared by every evaluator that plays with it.

use super::block::{Block, BlockScratch};
use super::calibration::{Games, MARGIN, POSITIONS, Peaks};
use super::fold::{CpuNetworkError, Folded, FoldedBlock, Matrix};
use super::heads::{HeadScratch, Heads, Occupancy};
use super::layers::{Tiles, padded};
use super::low_precision::{LowPrecisionScratch, LowPrecisionTower};
use super::stem::{Stem, StemScratch};
use crate::{Features, Handicap, PolicyIndex, Precision, Weights};
use hnefi_engine::{BoardSize, Position, Side};
use hnefi_kernels::{BLOCK, Floats, Grid, Kernels, LowPrecisionKernels, POINTS};

/// A network folded and packed for the CPU kernels. Made once, then shared between threads.
#[derive(Debug)]
pub struct CpuNetwork {
    kernels: &'static Kernels,
    channels: usize,
    /// Tiles that go through the tower together at least, where a request has that many.
    rows: usize,
    stem: Stem,
    tower: Tower,
    /// Of the attackers and of the defenders.
    roles: [Heads; 2],
    occupancy: Occupancy,
}

/// The residual tower.
#[derive(Debug)]
enum Tower {
    Single(Vec<Block>),
    LowPrecision(LowPrecisionTower),
}

/// Intermediate values of the tower.
#[derive(Debug)]
enum TowerScratch {
    Single(BlockScratch),
    LowPrecision(LowPrecisionScratch),
}

/// Activations and intermediate values of one evaluator.
#[derive(Debug)]
pub(super) struct Scratch {
    /// The board size that the boards are laid out for, with a border of zeros.
    grid: Grid,
    trunk: Floats,
    tower: TowerScratch,
    stem: StemScratch,
    heads: HeadScratch,
}

impl CpuNetwork {
    /// Folds the norms into the convolutions and packs the weights for the best kernels of this CPU.
    ///
    /// # Errors
    /// Never in single precision; the type is of [`CpuNetwork::with_precision`].
    pub fn new(weights: &Weights) -> Result<CpuNetwork, CpuNetworkError> {
        CpuNetwork::with_precision(weights, Precision::F32)
    }

    /// [`CpuNetwork::new`] for a tower in that precision, which a CPU without instructions for it has slower kernels
    /// for. For [`Precision::Int8`] the network first plays some hundred plies of its own policy in single precision.
    ///
    /// # Errors
    /// For [`Precision::Int8`] alone, when the activations of those positions are not finite.
    pub fn with_precision(weights: &Weights, precision: Precision) -> Result<CpuNetwork, CpuNetworkError> {
        let int8 = (precision == Precision::Int8).then(LowPrecisionKernels::best);
        CpuNetwork::with_kernels(weights, Kernels::best(), int8)
    }

    /// Name of the kernels its tower runs on, such as `AVX2`.
    pub fn kernels(&self) -> &'static str {
        match &self.tower {
            Tower::Single(_) => self.kernels.name,
            Tower::LowPrecision(tower) => tower.kernels(),
        }
    }

    /// Packs for particular kernels; for a tower in int8 with kernels for it.
    pub(super) fn with_kernels(
        weights: &Weights,
        kernels: &'static Kernels,
        int8: Option<&'static LowPrecisionKernels>,
    ) -> Result<CpuNetwork, CpuNetworkError> {
        let config = weights.config();
        let channels = config.channels;
        let (stem, globals) = (Folded::of(weights, "stem"), Matrix::of_linear(weights, "globals"));
        let blocks: Vec<FoldedBlock> = (0..config.blocks).map(|index| FoldedBlock::of(weights, index)).collect();
        let mut packed = CpuNetwork {
            kernels,
            channels: padded(channels),
            rows: rows(padded(channels), blocks.len()),
            stem: Stem::pack(&stem, globals),
            tower: Tower::Single(blocks.iter().map(Block::pack).collect()),
            roles: [Heads::pack(weights, 0), Heads::pack(weights, 1)],
            occupancy: Occupancy::pack(weights),
        };
        if let Some(low) = int8 {
            let peaks = packed.peaks()?;
            packed.tower = Tower::LowPrecision(LowPrecisionTower::new(low, &blocks, channels, &peaks));
        }
        Ok(packed)
    }

    /// The largest activations in games of its own policy, with a margin: before each convolution of the tower in turn,
    /// and behind the last.
    pub(super) fn peaks(&self) -> Result<Vec<Peaks>, CpuNetworkError> {
        let mut peaks = vec![Peaks::default(); 2 * self.blocks() + 1];
        let mut scratch = self.scratch();
        for size in BoardSize::ALL {
            let Some(mut games) = Games::new(size, 0) else { continue };
            for _ in 0..POSITIONS[usize::from(size > BoardSize::ELEVEN)] {
                let reached = self.watch(games.position(), &mut scratch);
                for (peaks, reached) in peaks.iter_mut().zip(reached) {
                    let peak = &mut peaks[size.index()];
                    *peak = peak.max(MARGIN * reached);
                }
                games.go_on(|position, moves, logits| {
                    let places = moves.iter().map(|&mv| PolicyIndex::of(mv, size));
                    self.policy(0, position.side_to_move(), places, &mut scratch, logits);
                });
            }
        }
        for (place, peaks) in peaks.iter_mut().enumerate() {
            // A board that was not played on may reach what smaller ones and the next larger one do.
            for size in BoardSize::ALL.into_iter().filter(|&size| Games::new(size, 0).is_none()) {
                let next = peaks[size.index()..].iter().position(|&peak| peak > 0.0).unwrap_or_default();
                peaks[size.index()] = peaks[..=size.index() + next].iter().copied().fold(0.0, f32::max);
            }
            if let Some(&value) = peaks.iter().find(|peak| !peak.is_finite()) {
                return Err(CpuNetworkError::Overflow { block: place / 2, value });
            }
        }
        Ok(peaks)
    }

    /// Blocks of a tower in single precision; 0 for one in low precision.
    fn blocks(&self) -> usize {
        if let Tower::Single(blocks) = &self.tower { blocks.len() } else { 0 }
    }

    /// Takes a position through a tower in single precision, for its heads to be asked. Returns the largest
    /// activations, in the order of [`CpuNetwork::peaks`].
    pub(super) fn watch(&self, position: &Position, scratch: &mut Scratch) -> Vec<f32> {
        self.lay_out(position.size(), scratch);
        self.enter(0, &Features::of(position, Handicap::NONE), scratch);
        let Scratch { grid, trunk, tower, .. } = scratch;
        let largest = |activations: &[f32]| activations[..grid.bordered_len()].iter().copied().fold(0.0, f32::max);
        let mut reached = vec![largest(trunk)];
        if let (Tower::Single(blocks), TowerScratch::Single(inner)) = (&self.tower, tower) {
            for block in blocks {
                block.run(self.kernels, *grid, 1, trunk, inner);
                reached.extend([largest(&inner.inner), largest(trunk)]);
            }
        }
        reached
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
        let floats = sizes.iter().map(|&size| self.group(size) * self.grid(size).bordered_len()).max().unwrap_or(0);
        let tower = match &self.tower {
            Tower::Single(_) => {
                let tiles = sizes.iter().map(|&size| Tiles::len(self.grid(size), self.group(size))).max().unwrap_or(0);
                TowerScratch::Single(BlockScratch::new(self.channels, floats, tiles))
            }
            Tower::LowPrecision(tower) => {
                let squares = sizes.iter().map(|&size| self.group(size) * size.squares()).max().unwrap_or(0);
                TowerScratch::LowPrecision(tower.scratch(self.channels, squares))
            }
        };
        Scratch {
            grid: self.grid(BoardSize::ELEVEN),
            trunk: Floats::zeros(floats),
            tower,
            stem: self.stem.scratch(),
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
            if let TowerScratch::Single(tower) = &mut scratch.tower {
                tower.inner.fill(0.0);
            }
            scratch.grid = grid;
        }
    }

    /// Enters a position as board `index` of the group.
    pub(super) fn enter(&self, index: usize, features: &Features, scratch: &mut Scratch) {
        let grid = scratch.grid;
        let board = &mut scratch.trunk[index * grid.bordered_len()..][..grid.bordered_len()];
        self.stem.run(self.kernels, grid, features, &mut scratch.stem, board);
    }

    /// Takes the first `boards` boards through the tower.
    pub(super) fn run_tower(&self, boards: usize, scratch: &mut Scratch) {
        let Scratch { grid, trunk, tower, .. } = scratch;
        match (&self.tower, tower) {
            (Tower::Single(blocks), TowerScratch::Single(tower)) => {
                blocks.iter().for_each(|block| block.run(self.kernels, *grid, boards, trunk, tower));
            }
            (Tower::LowPrecision(low), TowerScratch::LowPrecision(tower)) => {
                low.run(self.kernels, *grid, boards, trunk, tower);
            }
            _ => unreachable!("scratch memory of another network"),
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
        let board = &scratch.trunk[index * scratch.grid.bordered_len()..][..scratch.grid.bordered_len()];
        self.heads(side).policy(self.kernels, scratch.grid, board, places, &mut scratch.heads, logits);
    }

    /// Win, draw and loss logits and ln(1 + plies left) of board `index`.
    pub(super) fn value(&self, index: usize, side: Side, scratch: &mut Scratch) -> [f32; 4] {
        let board = &scratch.trunk[index * scratch.grid.bordered_len()..][..scratch.grid.bordered_len()];
        self.heads(side).value(self.kernels, scratch.grid, board, &mut scratch.heads)
    }

    /// Logits of each square's final content on board `index`.
    pub(super) fn occupancy(&self, index: usize, scratch: &mut Scratch) -> Vec<[f32; 4]> {
        let board = &scratch.trunk[index * scratch.grid.bordered_len()..][..scratch.grid.bordered_len()];
        self.occupancy.run(self.kernels, scratch.grid, board, &mut scratch.heads)
    }

    /// The heads of the side to move.
    fn heads(&self, side: Side) -> &Heads {
        &self.roles[side.index()]
    }
}

/// How many tiles share one pass over the weights: the rows of two register blocks while all weights stay in a core's
/// share of the cache, and more beyond, because reading the weights then takes most of the time.
fn rows(channels: usize, blocks: usize) -> usize {
    const CACHE: usize = 12 << 20;
    let tower = 2 * blocks * POINTS * channels * channels * size_of::<f32>();
    if tower <= CACHE { 2 * BLOCK } else { 12 * BLOCK }
}
