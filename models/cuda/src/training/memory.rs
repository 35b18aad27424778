//! Memory of a step.

use hnefi_inference::{PLANES, POLICY_ROWS};

use crate::card::{Buffer, CardError, Stream};
use crate::layers::{Boards, GRADIENT_ROWS, Sizes};

/// Memory of a step for batches of up to a number of boards of one size.
pub(super) struct Scratch {
    pub boards: Boards,
    /// What the host sends.
    pub input: Buffer,
    /// `[rows, channels]` of every layer: convolved, and activated.
    pub convolved: Vec<Buffer>,
    pub activated: Vec<Buffer>,
    /// `[rows, channels]`: gradients of a block's outputs, of what its layers made, of what is between its layers.
    pub outer: Buffer,
    pub convolved_gradient: Buffer,
    pub inner: Buffer,
    /// `[rows, width]` each.
    pub heads: Buffer,
    pub heads_gradient: Buffer,
    /// `[boards, 3, channels]`, of every layer that pools, then of the whole tower.
    pub pooled: Vec<Buffer>,
    pub pooled_gradient: Buffer,
    /// `[boards, channels]`.
    pub bias: Buffer,
    pub bias_gradient: Buffer,
    /// `[boards, 2, units]` each.
    pub policy_bias: Buffer,
    pub policy_bias_gradient: Buffer,
    /// Of the value head, `[boards, 3 units]`, `[boards, hidden]` twice, `[boards, 4]`.
    pub value_pooled: Buffer,
    pub value_hidden: Buffer,
    pub hidden_gradient: Buffer,
    pub value_gradient: Buffer,
    /// Of each board its losses, `[boards, 4]`, and of each move its logit's gradient.
    pub losses: Buffer,
    pub move_gradients: Buffer,
    /// Sums of parts of the batch.
    pub partial: Buffer,
}

/// Parts in which sums over a batch are made: enough to keep a card busy, and the same on every card.
pub(super) fn parts(boards: Boards) -> usize {
    boards.count.div_ceil(8).clamp(1, 64)
}

/// How the gradients of a convolution's weights are made (`kernels/training.h`).
#[derive(Clone, Copy)]
pub(super) struct WeightGradient {
    pub wide: usize,
    pub groups: usize,
    pub parts: usize,
    pub blocks: usize,
}

impl WeightGradient {
    pub fn of(boards: Boards, cin: usize, cout: usize) -> WeightGradient {
        let sixteens = cin / 16;
        let wide = (1..=8).rev().find(|wide| sixteens.is_multiple_of(*wide)).expect("one divides all");
        let blocks = sixteens / wide * (cout / 32);
        let parts = (256 / blocks).clamp(1, boards.rows().div_ceil(GRADIENT_ROWS));
        WeightGradient { wide, groups: 8 / wide, parts, blocks }
    }

    /// Floats of all parts together.
    fn floats(self, cin: usize, cout: usize, taps: usize) -> usize {
        self.parts * self.groups * taps * cin * cout
    }
}

impl Scratch {
    pub fn new(
        stream: &Stream,
        sizes: &Sizes,
        boards: Boards,
        words: usize,
        moves: usize,
    ) -> Result<Scratch, CardError> {
        let Sizes { config, channels, units, width, hidden } = *sizes;
        let (rows, count) = (boards.rows(), boards.count);
        let layers = 1 + 2 * config.blocks;
        let pools = 1 + (0..config.blocks).filter(|&block| config.block_pools(block)).count();
        let halves = |columns: usize| stream.allocate(2 * rows * columns);
        let floats = |columns: usize| stream.allocate(4 * count * columns);
        let many = |number: usize, make: &dyn Fn() -> Result<Buffer, CardError>| -> Result<Vec<Buffer>, CardError> {
            (0..number).map(|_| make()).collect()
        };
        let weights = |cin, cout, taps| WeightGradient::of(boards, cin, cout).floats(cin, cout, taps);
        let partial = [
            weights(PLANES, channels, 9),
            weights(channels, channels, 9),
            weights(channels, width, 1),
            parts(boards) * (2 * channels).max(width),
            parts(boards) * 2 * POLICY_ROWS * (units + 1),
        ];
        Ok(Scratch {
            boards,
            input: stream.allocate(4 * (words + words / 4))?,
            convolved: many(layers, &|| halves(channels))?,
            activated: many(layers, &|| halves(channels))?,
            outer: halves(channels)?,
            convolved_gradient: halves(channels)?,
            inner: halves(channels)?,
            heads: halves(width)?,
            heads_gradient: halves(width)?,
            pooled: many(pools, &|| floats(3 * channels))?,
            pooled_gradient: floats(3 * channels)?,
            bias: floats(channels)?,
            bias_gradient: floats(channels)?,
            policy_bias: floats(2 * units)?,
            policy_bias_gradient: floats(2 * units)?,
            value_pooled: floats(3 * units)?,
            value_hidden: floats(hidden)?,
            hidden_gradient: floats(hidden)?,
            value_gradient: floats(4)?,
            losses: floats(4)?,
            move_gradients: stream.allocate(4 * (moves + moves / 4))?,
            partial: stream.allocate(4 * partial.into_iter().max().unwrap_or(0))?,
        })
    }
}
