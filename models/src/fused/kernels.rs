//! Direct 3x3 convolutions on small square boards and their weight gradients, in safe Rust that the compiler vectorises.
//!
//! Activations are channels-last, `[N, N, C]` a board, without padding: taps that fall off the board are skipped by constant
//! loop bounds. A tile is up to six neighbouring positions of one row by [`LANES`] output channels: twelve 8-lane
//! accumulators, which with two weight vectors and one broadcast fill AVX2's sixteen registers.

/// Output channels of a tile.
pub const LANES: usize = 16;

/// The output channels of one tile, for one input channel of one tap or as an accumulator.
pub type Row = [f32; LANES];

/// Fused where the target has it; otherwise two roundings, because a library call a step would be ruinous.
#[inline(always)]
fn multiply_add(a: f32, b: f32, c: f32) -> f32 {
    if cfg!(any(target_feature = "fma", target_arch = "aarch64")) { a.mul_add(b, c) } else { a * b + c }
}

/// Weights `[cout, cin, 3, 3]` as `[cout / LANES][tap][cin]` rows.
pub fn pack(weights: &[f32], cin: usize, cout: usize) -> Vec<Row> {
    let mut packed = vec![[0.0; LANES]; cout / LANES * 9 * cin];
    for o in 0..cout {
        for i in 0..cin {
            for tap in 0..9 {
                packed[(o / LANES * 9 + tap) * cin + i][o % LANES] = weights[(o * cin + i) * 9 + tap];
            }
        }
    }
    packed
}

/// The weights that carry a gradient back through the convolution: taps turned by 180 degrees, channels exchanged.
pub fn pack_transposed(weights: &[f32], cin: usize, cout: usize) -> Vec<Row> {
    let mut packed = vec![[0.0; LANES]; cin / LANES * 9 * cout];
    for o in 0..cout {
        for i in 0..cin {
            for tap in 0..9 {
                packed[(i / LANES * 9 + 8 - tap) * cout + o][i % LANES] = weights[(o * cin + i) * 9 + tap];
            }
        }
    }
    packed
}

/// Undoes [`pack`].
pub fn unpack(packed: &[Row], cin: usize, cout: usize) -> Vec<f32> {
    let mut weights = vec![0.0; cout * cin * 9];
    for o in 0..cout {
        for i in 0..cin {
            for tap in 0..9 {
                weights[(o * cin + i) * 9 + tap] = packed[(o / LANES * 9 + tap) * cin + i][o % LANES];
            }
        }
    }
    weights
}

/// Adds one tap to a tile: `acc[j] += input[j - LO] . weights` for the positions `LO..J - HI`; the others are off the board.
#[inline(always)]
fn add_tap<const CIN: usize, const J: usize, const LO: usize, const HI: usize>(
    input: &[f32],
    weights: &[Row],
    acc: &mut [Row; J],
) {
    let input = &input[..(J - LO - HI) * CIN];
    let weights = &weights[..CIN];
    for (i, weights) in weights.iter().enumerate() {
        for j in LO..J - HI {
            let x = input[(j - LO) * CIN + i];
            for lane in 0..LANES {
                acc[j][lane] = multiply_add(x, weights[lane], acc[j][lane]);
            }
        }
    }
}

/// One tile: `J` positions from `column` of row `y`. `LEFT` and `RIGHT` say whether it touches that edge of the board.
#[inline(always)]
fn tile<const N: usize, const CIN: usize, const J: usize, const LEFT: bool, const RIGHT: bool>(
    input: &[f32],
    weights: &[Row],
    y: usize,
    column: usize,
) -> [Row; J] {
    let mut acc = [[0.0; LANES]; J];
    for ky in 0..3 {
        if (ky == 0 && y == 0) || (ky == 2 && y == N - 1) {
            continue;
        }
        let row = &input[(y + ky - 1) * N * CIN..(y + ky) * N * CIN];
        let taps = &weights[ky * 3 * CIN..(ky + 1) * 3 * CIN];
        if LEFT {
            add_tap::<CIN, J, 1, 0>(row, &taps[..CIN], &mut acc);
        } else {
            add_tap::<CIN, J, 0, 0>(&row[(column - 1) * CIN..], &taps[..CIN], &mut acc);
        }
        add_tap::<CIN, J, 0, 0>(&row[column * CIN..], &taps[CIN..2 * CIN], &mut acc);
        if RIGHT {
            add_tap::<CIN, J, 0, 1>(&row[(column + 1) * CIN..], &taps[2 * CIN..], &mut acc);
        } else {
            add_tap::<CIN, J, 0, 0>(&row[(column + 1) * CIN..], &taps[2 * CIN..], &mut acc);
        }
    }
    acc
}

#[inline(always)]
fn store<const J: usize>(acc: &[Row; J], out: &mut [f32], cout: usize) {
    for (j, row) in acc.iter().enumerate() {
        out[j * cout..j * cout + LANES].copy_from_slice(row);
    }
}

/// Convolves one board: `input` is `[N, N, CIN]`, `out` is `[N, N, cout]`, `weights` come from [`pack`].
///
/// # Panics
/// When a length does not fit.
pub fn convolve<const N: usize, const CIN: usize>(input: &[f32], weights: &[Row], cout: usize, out: &mut [f32]) {
    assert_eq!(input.len(), N * N * CIN);
    assert_eq!(out.len(), N * N * cout);
    assert_eq!(weights.len(), cout / LANES * 9 * CIN);
    for (block, weights) in weights.chunks_exact(9 * CIN).enumerate() {
        for y in 0..N {
            let out = &mut out[y * N * cout + block * LANES..];
            match N {
                7 => {
                    store(&tile::<N, CIN, 4, true, false>(input, weights, y, 0), out, cout);
                    store(&tile::<N, CIN, 3, false, true>(input, weights, y, 4), &mut out[4 * cout..], cout);
                }
                9 => {
                    store(&tile::<N, CIN, 5, true, false>(input, weights, y, 0), out, cout);
                    store(&tile::<N, CIN, 4, false, true>(input, weights, y, 5), &mut out[5 * cout..], cout);
                }
                11 => {
                    store(&tile::<N, CIN, 6, true, false>(input, weights, y, 0), out, cout);
                    store(&tile::<N, CIN, 5, false, true>(input, weights, y, 6), &mut out[6 * cout..], cout);
                }
                other => unreachable!("no kernel for boards of side {other}"),
            }
        }
    }
}

/// Input channels of a weight-gradient tile: with [`LANES`] output channels eight accumulators, enough to hide the latency.
const INPUTS: usize = 4;

/// The gradient of one tap's weights for [`INPUTS`] input and [`LANES`] output channels, summed over one board.
#[inline(always)]
fn gradient_tile<const N: usize, const CIN: usize, const COUT: usize>(
    x: &[f32],
    g: &[f32],
    (ky, kx): (usize, usize),
    (input, output): (usize, usize),
) -> [Row; INPUTS] {
    let mut acc = [[0.0; LANES]; INPUTS];
    let rows = usize::from(ky == 0)..N - usize::from(ky == 2);
    let (first, count) = (usize::from(kx == 0), N - usize::from(kx != 1));
    for y in rows {
        let xs = &x[((y + ky - 1) * N + first + kx - 1) * CIN + input..];
        let gs = &g[(y * N + first) * COUT + output..];
        for p in 0..count {
            let xs = &xs[p * CIN..p * CIN + INPUTS];
            let gs = &gs[p * COUT..p * COUT + LANES];
            for r in 0..INPUTS {
                for lane in 0..LANES {
                    acc[r][lane] = multiply_add(xs[r], gs[lane], acc[r][lane]);
                }
            }
        }
    }
    acc
}

/// Adds one board's weight gradient to `sum` (packed as by [`pack`]): `x` is the input `[N, N, CIN]`, `g` the gradient of the
/// output `[N, N, COUT]`.
///
/// # Panics
/// When a length does not fit.
pub fn add_weight_gradient<const N: usize, const CIN: usize, const COUT: usize>(x: &[f32], g: &[f32], sum: &mut [Row]) {
    assert_eq!(x.len(), N * N * CIN);
    assert_eq!(g.len(), N * N * COUT);
    assert_eq!(sum.len(), COUT / LANES * 9 * CIN);
    for (index, sum) in sum.chunks_exact_mut(CIN).enumerate() {
        let (block, tap) = (index / 9, index % 9);
        for input in (0..CIN).step_by(INPUTS) {
            let tile = gradient_tile::<N, CIN, COUT>(x, g, (tap / 3, tap % 3), (input, block * LANES));
            for (sum, row) in sum[input..].iter_mut().zip(&tile) {
                for lane in 0..LANES {
                    sum[lane] += row[lane];
                }
            }
        }
    }
}
