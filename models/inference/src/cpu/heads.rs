//! The heads of one role, evaluated only where somebody looks: the policy at the squares that moves start from.

use super::fold::Matrix;
use super::layers::{Dense, padded};
use crate::{POLICY_ROWS, PolicyIndex, Weights};
use hnefi_engine::BoardSize;
use hnefi_kernels::{Floats, Grid, Kernels, PANEL, Packed, Pool, Product};

/// Most squares of a board.
const SQUARES: usize = BoardSize::LARGEST.squares();

/// The heads of one role.
#[derive(Debug)]
pub(super) struct Heads {
    policy_hidden: Dense,
    policy_pool: Dense,
    /// `[POLICY_ROWS][head channels]`, for every direction and distance.
    policy_rows: Floats,
    policy_bias: Vec<f32>,
    /// From the trunk at a move's destination to what is added to its row.
    policy_destination: Packed,
    value_conv: Dense,
    value_hidden: Dense,
    value_out: Dense,
}

/// What the heads need for their intermediate values.
#[derive(Debug)]
pub(super) struct HeadScratch {
    /// Mean, scaled mean and maximum of the trunk.
    trunk: Floats,
    /// The policy's bias in this position.
    bias: Floats,
    /// The trunk at the squares that moves start from, one after the other.
    origins: Floats,
    /// The trunk at the squares that moves go to, one after the other.
    destinations: Floats,
    /// A hidden layer at some or all squares.
    hidden: Floats,
    /// What destinations add to the rows of weights.
    rows: Floats,
    /// Pooled hidden layer of the value.
    pooled: Floats,
    units: Floats,
    answer: Floats,
}

impl HeadScratch {
    /// Scratch for heads of padded widths.
    pub fn new(channels: usize, heads: &[Heads]) -> HeadScratch {
        let head = heads.iter().map(|heads| heads.value_conv.outputs()).max().unwrap_or(0);
        let units = heads.iter().map(|heads| heads.value_hidden.outputs()).max().unwrap_or(0);
        HeadScratch {
            trunk: Floats::zeros(3 * channels),
            bias: Floats::zeros(head),
            origins: Floats::zeros(SQUARES * channels),
            destinations: Floats::zeros(SQUARES * channels),
            hidden: Floats::zeros(SQUARES * head.max(PANEL)),
            rows: Floats::zeros(SQUARES * head.max(PANEL)),
            pooled: Floats::zeros(3 * head),
            units: Floats::zeros(units),
            answer: Floats::zeros(PANEL),
        }
    }
}

impl Heads {
    /// Packs the heads of a role.
    pub fn pack(weights: &Weights, role: usize) -> Heads {
        let pointwise = |name: &str| Matrix::of_pointwise(weights, &format!("roles.{role}.{name}"));
        let linear = |name: &str| Matrix::of_linear(weights, &format!("roles.{role}.{name}"));
        let (hidden, pool, rows) = (pointwise("policy_conv"), linear("policy_pool"), pointwise("policy_out"));
        let (conv, units, out) = (pointwise("value_conv"), linear("value_hidden"), linear("value_out"));
        let width = padded(hidden.columns);
        let mut policy_rows = Floats::zeros(POLICY_ROWS * width);
        for row in 0..POLICY_ROWS {
            for channel in 0..hidden.columns {
                policy_rows[row * width + channel] = rows.weight(channel, row);
            }
        }
        Heads {
            policy_destination: Dense::pack(&pointwise("policy_destination"), 1).weights,
            policy_pool: Dense::pack(&pool, 3),
            policy_rows,
            policy_bias: rows.bias,
            policy_hidden: Dense::pack(&hidden, 1),
            value_conv: Dense::pack(&conv, 1),
            value_hidden: Dense::pack(&units, 3),
            value_out: Dense::pack(&out, 1),
        }
    }

    /// Appends the policy logit of each place to `logits`.
    pub fn policy(
        &self,
        kernels: &Kernels,
        grid: Grid,
        board: &[f32],
        places: impl Iterator<Item = PolicyIndex> + Clone,
        scratch: &mut HeadScratch,
        logits: &mut Vec<f32>,
    ) {
        let (channels, width) = (grid.channels, self.policy_hidden.outputs());
        let (origins, count) = gather(grid, board, places.clone().map(|place| place.square), &mut scratch.origins);
        let pool = Pool { side: grid.side, row_step: grid.row_step(), channels };
        kernels.pool(&pool, &board[grid.square(0)..], &mut scratch.trunk);
        let bias = &mut scratch.bias[..width];
        self.policy_pool.run(kernels, &scratch.trunk, false, bias);
        for (bias, own) in bias.iter_mut().zip(self.policy_hidden.bias.iter()) {
            *bias += own;
        }
        let product = Product { matrices: 1, rows: count, left_step: 0, out_step: 0, relu: true };
        kernels.multiply(&product, &scratch.origins, &self.policy_hidden.weights, Some(bias), &mut scratch.hidden);
        let hidden = |place: PolicyIndex| &scratch.hidden[usize::from(origins[place.square]) * width..][..width];
        let weights = |place: PolicyIndex| &self.policy_rows[place.row() * width..][..width];

        let to = |place: PolicyIndex| place.destination(grid.side);
        let (destinations, count) = gather(grid, board, places.clone().filter_map(to), &mut scratch.destinations);
        let product = Product { rows: count, relu: false, ..product };
        kernels.multiply(&product, &scratch.destinations, &self.policy_destination, None, &mut scratch.rows);
        logits.extend(places.map(|place| {
            let logit = self.policy_bias[place.row()] + dot(hidden(place), weights(place));
            let row = |to: usize| &scratch.rows[usize::from(destinations[to]) * width..][..width];
            to(place).map_or(logit, |to| logit + dot(hidden(place), row(to)))
        }));
    }

    /// Win, draw and loss logits of the side to move, and ln(1 + plies left).
    pub fn value(&self, kernels: &Kernels, grid: Grid, board: &[f32], scratch: &mut HeadScratch) -> [f32; 4] {
        let width = self.value_conv.outputs();
        let conv = &self.value_conv;
        every_square(kernels, grid, board, conv, true, &mut scratch.hidden);
        let pool = Pool { side: grid.side, row_step: grid.side * width, channels: width };
        let (pooled, units) = (&mut scratch.pooled[..3 * width], &mut scratch.units[..self.value_hidden.outputs()]);
        kernels.pool(&pool, &scratch.hidden, pooled);
        self.value_hidden.run(kernels, pooled, true, units);
        self.value_out.run(kernels, units, false, &mut scratch.answer);
        [scratch.answer[0], scratch.answer[1], scratch.answer[2], scratch.answer[3]]
    }
}

/// The head that predicts what will stand on each square.
#[derive(Debug)]
pub(super) struct Occupancy {
    layer: Dense,
}

impl Occupancy {
    /// Packs the head.
    pub fn pack(weights: &Weights) -> Occupancy {
        let matrix = Matrix::of_pointwise(weights, "occupancy");
        Occupancy { layer: Dense::pack(&matrix, 1) }
    }

    /// Logits of each square's final content, `[N*N][empty, attacker, defender, king]`.
    pub fn run(&self, kernels: &Kernels, grid: Grid, board: &[f32], scratch: &mut HeadScratch) -> Vec<[f32; 4]> {
        every_square(kernels, grid, board, &self.layer, false, &mut scratch.hidden);
        let squares = scratch.hidden.chunks_exact(self.layer.outputs()).take(grid.side * grid.side);
        squares.map(|square| [square[0], square[1], square[2], square[3]]).collect()
    }
}

/// Applies a layer at every square of a board: `[N*N][outputs]`, without the border.
fn every_square(kernels: &Kernels, grid: Grid, board: &[f32], layer: &Dense, relu: bool, out: &mut [f32]) {
    let product = Product {
        matrices: grid.side,
        rows: grid.side,
        left_step: grid.row_step(),
        out_step: grid.side * layer.outputs(),
        relu,
    };
    kernels.multiply(&product, &board[grid.square(0)..], &layer.weights, Some(&layer.bias), out);
}

/// Copies the trunk at some squares, each once, into `to`. Returns where each square's copy is, and their number.
fn gather(grid: Grid, board: &[f32], squares: impl Iterator<Item = usize>, to: &mut [f32]) -> ([u16; SQUARES], usize) {
    let channels = grid.channels;
    let mut slots = [u16::MAX; SQUARES];
    let mut count = 0;
    for square in squares {
        if slots[square] == u16::MAX {
            slots[square] = count as u16;
            to[count * channels..][..channels].copy_from_slice(&board[grid.square(square)..][..channels]);
            count += 1;
        }
    }
    (slots, count)
}

/// Product of two rows of whole panels, in a panel of sums, so that the compiler uses vectors.
fn dot(left: &[f32], right: &[f32]) -> f32 {
    let mut sums = [0.0; PANEL];
    for (left, right) in left.chunks_exact(PANEL).zip(right.chunks_exact(PANEL)) {
        for lane in 0..PANEL {
            sums[lane] += left[lane] * right[lane];
        }
    }
    sums.iter().sum()
}
