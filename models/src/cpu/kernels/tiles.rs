//! Winograd's minimal filtering F(4x4, 3x3): a 3x3 convolution as 36 small matrix products.
//!
//! The board is cut into tiles of 4x4 outputs. Each needs 6x6 inputs, which a linear transform turns into 36 values; the
//! weights are transformed alike when they are packed. Point by point the channels then mix by a matrix product, and a last
//! transform makes 4x4 outputs of 36 sums: 36 multiplications where the definition has 144 (Lavin and Gray, arXiv
//! 1509.09308).
//!
//! The transforms evaluate and interpolate polynomials at the points 0, ±3/4, ±3/2 and infinity. The customary 0, ±1, ±2
//! and infinity lose about twice as much precision; all constants here are exact in binary.

use super::vector::Vector;

/// Values of a transformed tile, and so matrix products of a convolution.
pub(crate) const POINTS: usize = EDGE * EDGE;

/// Inputs along the edge of a tile.
const EDGE: usize = 6;

/// Outputs along the edge of a tile.
const STEP: usize = 4;

/// The two positive points of evaluation.
const A: f32 = 0.75;
const B: f32 = 1.5;

/// A square board in memory: channels last, with a border of zeros that covers whole tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
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
    pub fn len(self) -> usize {
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

    /// Whether `transformed` holds this board's tiles at every point, `step` floats from point to point.
    pub(super) fn fits(self, transformed: &[f32], step: usize) -> bool {
        (POINTS - 1) * step + self.tiles() * self.channels <= transformed.len()
    }
}

/// The transform of a 3x3 kernel, row-major, in double precision for packing.
pub(crate) fn transform_kernel(kernel: &[f64; 9]) -> [f64; POINTS] {
    let (a, b) = (f64::from(A), f64::from(B));
    let nodes = [0.0, a, -a, b, -b];
    let mut evaluation = [[0.0, 0.0, 1.0]; EDGE];
    for (node, row) in nodes.iter().zip(&mut evaluation) {
        // Lagrange's denominator is divided out here, where it costs nothing.
        let scale: f64 = nodes.iter().filter(|other| *other != node).map(|other| node - other).product();
        *row = [1.0 / scale, node / scale, node * node / scale];
    }
    std::array::from_fn(|point| {
        let (down, along) = (&evaluation[point / EDGE], &evaluation[point % EDGE]);
        (0..9).map(|tap| down[tap / 3] * kernel[tap] * along[tap % 3]).sum()
    })
}

/// Transforms every tile of `board` to `[POINTS][tiles][channels]`, points `step` floats apart.
///
/// # Safety
/// The CPU has the instruction set of `V`; `board` is `grid.len()` long, `grid.fits(out, step)`, and the channels are a
/// multiple of the lanes.
#[inline(always)]
pub(super) unsafe fn scatter<V: Vector>(grid: Grid, board: &[f32], out: &mut [f32], step: usize) {
    let (along, channels, row) = (grid.tiles_along(), grid.channels, grid.row_step());
    for tile in 0..grid.tiles() {
        let corner = tile / along * STEP * row + tile % along * STEP * channels;
        for channel in (0..channels).step_by(V::LANES) {
            // SAFETY: the width covers six squares from every tile's corner on, and `fits` covers every tile and point.
            unsafe {
                let from = board.as_ptr().add(corner + channel);
                let to = out.as_mut_ptr().add(tile * channels + channel);
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

/// Makes every tile's outputs of `[POINTS][tiles][channels]` sums, adds `bias` and, where `add` says so, what the board
/// holds, and writes what is positive to the board.
///
/// # Safety
/// As for [`scatter`]; `bias` is `grid.channels` long.
#[inline(always)]
pub(super) unsafe fn gather<V: Vector>(
    grid: Grid,
    sums: &[f32],
    step: usize,
    bias: &[f32],
    add: bool,
    board: &mut [f32],
) {
    let (along, channels, row) = (grid.tiles_along(), grid.channels, grid.row_step());
    for tile in 0..grid.tiles() {
        let (top, left) = (tile / along * STEP, tile % along * STEP);
        let corner = (top + 1) * row + (left + 1) * channels;
        let (rows, columns) = ((grid.side - top).min(STEP), (grid.side - left).min(STEP));
        for channel in (0..channels).step_by(V::LANES) {
            // SAFETY: `fits` covers every tile and point; `rows` and `columns` keep the writes on the board.
            unsafe {
                let from = sums.as_ptr().add(tile * channels + channel);
                let to = board.as_mut_ptr().add(corner + channel);
                let bias = V::load(bias.as_ptr().add(channel));
                let mut half = [[V::splat(0.0); EDGE]; STEP];
                for x in 0..EDGE {
                    let column = std::array::from_fn(|y| V::load(from.add((y * EDGE + x) * step)));
                    for (line, value) in half.iter_mut().zip(interpolate(column)) {
                        line[x] = value;
                    }
                }
                for (y, line) in half.into_iter().enumerate().take(rows) {
                    for (x, value) in interpolate(line).into_iter().enumerate() {
                        if x < columns {
                            let at = to.add(y * row + x * channels);
                            let mut value = value.add(bias);
                            if add {
                                value = value.add(V::load(at));
                            }
                            value.max(V::splat(0.0)).store(at);
                        }
                    }
                }
            }
        }
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
