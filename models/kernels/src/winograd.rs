//! Winograd's minimal filtering F(4x4, 3x3): a 3x3 convolution as 36 small matrix products.
//!
//! The board is cut into tiles of 4x4 outputs. Each tile needs 6x6 inputs, which the input transform turns into 36
//! values; the weights are transformed in the same way when they are packed. At each point a matrix product mixes the
//! channels, and the output transform makes 4x4 outputs of 36 sums: 36 multiplications where the definition has 144
//! (Lavin and Gray, arXiv 1509.09308).
//!
//! The transforms evaluate and interpolate polynomials at the points 0, ±3/4, ±3/2 and infinity. The customary 0, ±1,
//! ±2 and infinity lose about twice as much precision; all constants here are exact in binary.
//!
//! Every step is linear, so gradients go back through the transposed steps. The gradient of the weights is made point
//! by point too, with 36 multiplications instead of 144.

use super::PANEL;
use super::product::lies_within;
use super::vector::Vector;

/// Values of a transformed tile, and so matrix products of a convolution.
pub const POINTS: usize = EDGE * EDGE;

/// Inputs along the edge of a tile.
pub(super) const EDGE: usize = 6;

/// Outputs along the edge of a tile.
const STEP: usize = 4;

/// The two positive points of evaluation.
pub(super) const A: f32 = 0.75;
pub(super) const B: f32 = 1.5;

/// A square board in memory: channels last, with a border of zeros that covers whole tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Squares along the edge of the board.
    pub side: usize,
    /// Floats of each square.
    pub channels: usize,
}

impl Grid {
    /// Tiles along the edge.
    fn tiles_along(self) -> usize {
        self.side.div_ceil(STEP)
    }

    /// Tiles on the board.
    pub fn tiles(self) -> usize {
        self.tiles_along() * self.tiles_along()
    }

    /// Squares along the edge, the border included.
    fn width(self) -> usize {
        self.tiles_along() * STEP + EDGE - STEP
    }

    /// Floats of a board with its border.
    pub fn bordered_len(self) -> usize {
        self.width() * self.width() * self.channels
    }

    /// Floats from one row of the board to the next.
    pub fn row_step(self) -> usize {
        self.width() * self.channels
    }

    /// Where a square's channels begin; its index is `row * side + column`.
    #[inline]
    pub fn square(self, index: usize) -> usize {
        ((index / self.side + 1) * self.width() + index % self.side + 1) * self.channels
    }

    /// Floats of a board without border.
    pub fn inner_len(self) -> usize {
        self.side * self.side * self.channels
    }

    /// The tiles in their order.
    #[inline(always)]
    fn cut(self) -> impl Iterator<Item = Tile> {
        let along = self.tiles_along();
        (0..self.tiles()).map(move |index| {
            let (top, left) = (index / along * STEP, index % along * STEP);
            Tile { index, top, left, rows: (self.side - top).min(STEP), columns: (self.side - left).min(STEP) }
        })
    }

    /// Whether the channels are whole panels.
    pub(super) fn is_whole(self) -> bool {
        self.channels.is_multiple_of(PANEL)
    }

    /// Whether `transformed` holds this board's tiles at every point, `step` floats from point to point.
    pub(super) fn fits(self, transformed: &[f32], step: usize) -> bool {
        lies_within(POINTS - 1, step, self.tiles() * self.channels, transformed.len())
    }
}

/// A tile of a board.
#[derive(Clone, Copy)]
struct Tile {
    index: usize,
    /// Its first row and column of outputs.
    top: usize,
    left: usize,
    /// How many of its rows and columns of outputs are on the board.
    rows: usize,
    columns: usize,
}

impl Tile {
    /// Where the tile's outputs begin on a board with a border or without, and the floats of a row of squares.
    #[inline(always)]
    fn outputs<const BORDER: bool>(self, grid: Grid) -> (usize, usize) {
        let (border, row) = if BORDER { (1, grid.row_step()) } else { (0, grid.side * grid.channels) };
        ((self.top + border) * row + (self.left + border) * grid.channels, row)
    }

    /// Where the tile's inputs begin on a board with a border.
    #[inline(always)]
    fn inputs(self, grid: Grid) -> usize {
        self.top * grid.row_step() + self.left * grid.channels
    }
}

/// The input transform: every tile of `board`, which has its border of zeros, to `[POINTS][tiles][channels]`, points
/// `step` floats apart.
///
/// # Safety
/// The CPU has the instruction set of `V`; `board` is as long as `grid` says with the border, `grid.fits(out, step)`,
/// and the channels are a multiple of the lanes.
#[inline(always)]
pub(super) unsafe fn input_transform<V: Vector>(grid: Grid, board: &[f32], out: &mut [f32], step: usize) {
    let (row, channels) = (grid.row_step(), grid.channels);
    for tile in grid.cut() {
        for channel in (0..channels).step_by(V::LANES) {
            // SAFETY: the border covers the inputs of every tile; `fits` covers every tile and point.
            unsafe {
                let from = board.as_ptr().add(tile.inputs(grid) + channel);
                let to = out.as_mut_ptr().add(tile.index * channels + channel);
                let mut half = [[V::splat(0.0); EDGE]; EDGE];
                for x in 0..EDGE {
                    let column = std::array::from_fn(|y| V::load(from.add(y * row + x * channels)));
                    for (line, value) in half.iter_mut().zip(evaluate(column)) {
                        line[x] = value;
                    }
                }
                for (y, line) in half.into_iter().enumerate() {
                    for (x, value) in evaluate(line).into_iter().enumerate() {
                        value.store(to.add((y * EDGE + x) * step));
                    }
                }
            }
        }
    }
}

/// The output transform: every tile's outputs of `[POINTS][tiles][channels]` sums, written to `board`. An epilogue
/// `(bias, add)` makes them `relu(outputs + bias)`, with the board's old values added before the ReLU if `add`.
///
/// # Safety
/// As for [`input_transform`]; the bias is `grid.channels` long.
#[inline(always)]
pub(super) unsafe fn output_transform<V: Vector, const BORDER: bool>(
    grid: Grid,
    sums: &[f32],
    step: usize,
    epilogue: Option<(&[f32], bool)>,
    board: &mut [f32],
) {
    let channels = grid.channels;
    for tile in grid.cut() {
        let (corner, row) = tile.outputs::<BORDER>(grid);
        for channel in (0..channels).step_by(V::LANES) {
            // SAFETY: `fits` covers every tile and point; `rows` and `columns` keep the writes on the board.
            unsafe {
                let bias = epilogue.map(|(bias, _)| V::load(bias.as_ptr().add(channel)));
                let to = board.as_mut_ptr().add(corner + channel);
                let values: [[V; STEP]; STEP] = output_tile(sums.as_ptr().add(tile.index * channels + channel), step);
                for (y, line) in values.into_iter().enumerate().take(tile.rows) {
                    for (x, mut value) in line.into_iter().enumerate() {
                        if x < tile.columns {
                            let at: *mut f32 = to.add(y * row + x * channels);
                            if let (Some((_, add)), Some(bias)) = (epilogue, bias) {
                                value = value.add(bias);
                                if add {
                                    value = value.add(V::load(at));
                                }
                                value = value.max(V::splat(0.0));
                            }
                            value.store(at);
                        }
                    }
                }
            }
        }
    }
}

/// [`output_transform`] transposed: takes the gradient of a board without border to the gradient of the sums,
/// `[POINTS][tiles][channels]`.
///
/// # Safety
/// As for [`output_transform`] of a board without border.
#[inline(always)]
pub(super) unsafe fn output_transform_transposed<V: Vector>(grid: Grid, board: &[f32], sums: &mut [f32], step: usize) {
    let channels = grid.channels;
    for tile in grid.cut() {
        let (corner, row) = tile.outputs::<false>(grid);
        for channel in (0..channels).step_by(V::LANES) {
            // SAFETY: `rows` and `columns` keep the reads on the board; `fits` covers every tile and point.
            unsafe {
                let from = board.as_ptr().add(corner + channel);
                let to = sums.as_mut_ptr().add(tile.index * channels + channel);
                let zero = V::splat(0.0);
                let mut half = [[zero; STEP]; EDGE];
                for x in 0..tile.columns {
                    let mut column = [zero; STEP];
                    for (y, value) in column.iter_mut().enumerate().take(tile.rows) {
                        *value = V::load(from.add(y * row + x * channels));
                    }
                    for (line, value) in half.iter_mut().zip(interpolate_transposed(column)) {
                        line[x] = value;
                    }
                }
                for (y, line) in half.into_iter().enumerate() {
                    for (x, value) in interpolate_transposed(line).into_iter().enumerate() {
                        value.store(to.add((y * EDGE + x) * step));
                    }
                }
            }
        }
    }
}

/// [`input_transform`] transposed: adds the gradient of the transformed tiles to the gradient of a board with a border,
/// which gets the gradient of its zeros.
///
/// # Safety
/// As for [`input_transform`].
#[inline(always)]
pub(super) unsafe fn input_transform_transposed<V: Vector>(
    grid: Grid,
    transformed: &[f32],
    step: usize,
    board: &mut [f32],
) {
    let (row, channels) = (grid.row_step(), grid.channels);
    for tile in grid.cut() {
        for channel in (0..channels).step_by(V::LANES) {
            // SAFETY: the border covers the inputs of every tile; `fits` covers every tile and point.
            unsafe {
                let from = transformed.as_ptr().add(tile.index * channels + channel);
                let to = board.as_mut_ptr().add(tile.inputs(grid) + channel);
                let mut half = [[V::splat(0.0); EDGE]; EDGE];
                for x in 0..EDGE {
                    let column = std::array::from_fn(|y| V::load(from.add((y * EDGE + x) * step)));
                    for (line, value) in half.iter_mut().zip(evaluate_transposed(column)) {
                        line[x] = value;
                    }
                }
                for (y, line) in half.into_iter().enumerate() {
                    for (x, value) in evaluate_transposed(line).into_iter().enumerate() {
                        let at = to.add(y * row + x * channels);
                        value.add(V::load(at)).store(at);
                    }
                }
            }
        }
    }
}

/// The outputs of one tile and one register of channels.
///
/// # Safety
/// The CPU has the instruction set of `V`; a register can be loaded from `from` at every point.
#[inline(always)]
unsafe fn output_tile<V: Vector>(from: *const f32, step: usize) -> [[V; STEP]; STEP] {
    // SAFETY: as the caller vouches.
    unsafe {
        let mut half = [[V::splat(0.0); EDGE]; STEP];
        for x in 0..EDGE {
            let column = std::array::from_fn(|y| V::load(from.add((y * EDGE + x) * step)));
            for (line, value) in half.iter_mut().zip(interpolate(column)) {
                line[x] = value;
            }
        }
        let mut values = [[V::splat(0.0); STEP]; STEP];
        for (line, half) in values.iter_mut().zip(half) {
            *line = interpolate(half);
        }
        values
    }
}

/// Six inputs to their values at the six points.
///
/// # Safety
/// The CPU has the instruction set of `V`.
#[inline(always)]
unsafe fn evaluate<V: Vector>(d: [V; EDGE]) -> [V; EDGE] {
    // SAFETY: as the caller vouches.
    unsafe {
        let (product, sum) = (V::splat(A * A * B * B), V::splat(-(A * A + B * B)));
        let (minus_aa, minus_bb) = (V::splat(-A * A), V::splat(-B * B));
        let even_a = d[2].mul_add(minus_bb, d[4]);
        let odd_a = d[1].mul_add(minus_bb, d[3]);
        let even_b = d[2].mul_add(minus_aa, d[4]);
        let odd_b = d[1].mul_add(minus_aa, d[3]);
        [
            d[0].mul_add(product, d[2].mul_add(sum, d[4])),
            odd_a.mul_add(V::splat(A), even_a),
            odd_a.mul_add(V::splat(-A), even_a),
            odd_b.mul_add(V::splat(B), even_b),
            odd_b.mul_add(V::splat(-B), even_b),
            d[1].mul_add(product, d[3].mul_add(sum, d[5])),
        ]
    }
}

/// Sums at the six points to four outputs.
///
/// # Safety
/// The CPU has the instruction set of `V`.
#[inline(always)]
unsafe fn interpolate<V: Vector>(m: [V; EDGE]) -> [V; STEP] {
    // SAFETY: as the caller vouches.
    unsafe {
        let (even_a, odd_a) = (m[1].add(m[2]), m[1].sub(m[2]));
        let (even_b, odd_b) = (m[3].add(m[4]), m[3].sub(m[4]));
        [
            m[0].add(even_a).add(even_b),
            odd_a.mul_add(V::splat(A), odd_b.mul(V::splat(B))),
            even_a.mul_add(V::splat(A * A), even_b.mul(V::splat(B * B))),
            odd_a.mul_add(V::splat(A * A * A), odd_b.mul_add(V::splat(B * B * B), m[5])),
        ]
    }
}

/// [`evaluate`] transposed.
///
/// # Safety
/// The CPU has the instruction set of `V`.
#[inline(always)]
unsafe fn evaluate_transposed<V: Vector>(v: [V; EDGE]) -> [V; EDGE] {
    // SAFETY: as the caller vouches.
    unsafe {
        let (product, sum) = (V::splat(A * A * B * B), V::splat(-(A * A + B * B)));
        let (minus_aa, minus_bb) = (V::splat(-A * A), V::splat(-B * B));
        let (even_a, odd_a) = (v[1].add(v[2]), v[1].sub(v[2]).mul(V::splat(A)));
        let (even_b, odd_b) = (v[3].add(v[4]), v[3].sub(v[4]).mul(V::splat(B)));
        [
            v[0].mul(product),
            odd_a.mul_add(minus_bb, odd_b.mul_add(minus_aa, v[5].mul(product))),
            even_a.mul_add(minus_bb, even_b.mul_add(minus_aa, v[0].mul(sum))),
            v[5].mul_add(sum, odd_a.add(odd_b)),
            v[0].add(even_a).add(even_b),
            v[5],
        ]
    }
}

/// [`interpolate`] transposed.
///
/// # Safety
/// The CPU has the instruction set of `V`.
#[inline(always)]
unsafe fn interpolate_transposed<V: Vector>(y: [V; STEP]) -> [V; EDGE] {
    // SAFETY: as the caller vouches.
    unsafe {
        let even_a = y[2].mul_add(V::splat(A * A), y[0]);
        let odd_a = y[3].mul_add(V::splat(A * A * A), y[1].mul(V::splat(A)));
        let even_b = y[2].mul_add(V::splat(B * B), y[0]);
        let odd_b = y[3].mul_add(V::splat(B * B * B), y[1].mul(V::splat(B)));
        [y[0], even_a.add(odd_a), even_a.sub(odd_a), even_b.add(odd_b), even_b.sub(odd_b), y[3]]
    }
}
