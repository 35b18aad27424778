//! Sums over rows of channels: the stem on its binary input, and global pooling.

use super::vector::Vector;

/// `relu(both biases + sum of the picked rows of table)`, as long as a bias.
///
/// # Safety
/// The CPU has the instruction set of `V`; every picked row lies in `table`, `out` is as long as each bias, and that is
/// a multiple of the panel.
#[inline(always)]
pub(super) unsafe fn sum<V: Vector>(table: &[f32], picked: &[u16], biases: [&[f32]; 2], out: &mut [f32]) {
    // SAFETY: as the caller vouches; the last call takes the channels to their end, a multiple of the lanes.
    unsafe {
        // Eight sums at a time hide the latency of an addition; fewer at a time take what is left of the channels.
        let channel = sum_registers::<V, 8>(table, picked, biases, out, 0);
        let channel = sum_registers::<V, 4>(table, picked, biases, out, channel);
        let channel = sum_registers::<V, 2>(table, picked, biases, out, channel);
        sum_registers::<V, 1>(table, picked, biases, out, channel);
    }
}

/// [`sum`] from `channel` on, `REGISTERS` registers at a time while they fit. Returns the channel after the last one.
///
/// # Safety
/// As for [`sum`].
#[inline(always)]
unsafe fn sum_registers<V: Vector, const REGISTERS: usize>(
    table: &[f32],
    picked: &[u16],
    biases: [&[f32]; 2],
    out: &mut [f32],
    mut channel: usize,
) -> usize {
    while channel + REGISTERS * V::LANES <= out.len() {
        // SAFETY: the registers end inside the row.
        unsafe {
            let [mut sums, others]: [[V; REGISTERS]; 2] = biases
                .map(|bias| std::array::from_fn(|register| V::load(bias.as_ptr().add(channel + register * V::LANES))));
            for (sum, other) in sums.iter_mut().zip(others) {
                *sum = sum.add(other);
            }
            for &row in picked {
                let row = table.as_ptr().add(row as usize * out.len() + channel);
                for (register, sum) in sums.iter_mut().enumerate() {
                    *sum = sum.add(V::load(row.add(register * V::LANES)));
                }
            }
            for (register, sum) in sums.into_iter().enumerate() {
                sum.max(V::splat(0.0)).store(out.as_mut_ptr().add(channel + register * V::LANES));
            }
        }
        channel += REGISTERS * V::LANES;
    }
    channel
}

/// A square of squares in memory, to be pooled.
#[derive(Clone, Copy, Debug)]
pub struct Pool {
    /// Squares along the edge.
    pub side: usize,
    /// Floats from one row of squares to the next.
    pub row_step: usize,
    /// Floats of each square, a multiple of the panel.
    pub channels: usize,
}

impl Pool {
    /// Whether slices of these lengths hold the squares and the result.
    pub(super) fn fits(&self, squares: &[f32], out: &[f32]) -> bool {
        self.side > 0
            && self.channels.is_multiple_of(super::PANEL)
            && super::product::lies_within(self.side - 1, self.row_step, self.side * self.channels, squares.len())
            && out.len() == 3 * self.channels
    }
}

/// Mean, mean scaled by the board's size, and maximum over the squares: `[3][channels]`.
///
/// # Safety
/// The CPU has the instruction set of `V`; [`Pool::fits`] holds and the channels are a multiple of the lanes.
#[inline(always)]
pub(super) unsafe fn pool<V: Vector>(pool: &Pool, squares: &[f32], out: &mut [f32]) {
    let (side, channels) = (pool.side, pool.channels);
    let share = 1.0 / (side * side) as f32;
    let size = (side as f32 - 9.0) / 2.0;
    for channel in (0..channels).step_by(V::LANES) {
        // SAFETY: as the caller vouches.
        unsafe {
            let from = squares.as_ptr().add(channel);
            let (mut sum, mut max) = (V::splat(0.0), V::load(from));
            for row in 0..side {
                for column in 0..side {
                    let value = V::load(from.add(row * pool.row_step + column * channels));
                    sum = sum.add(value);
                    max = max.max(value);
                }
            }
            let mean = sum.mul(V::splat(share));
            let to = out.as_mut_ptr().add(channel);
            mean.store(to);
            mean.mul(V::splat(size)).store(to.add(channels));
            max.store(to.add(2 * channels));
        }
    }
}

/// [`pool`]'s gradient: takes the gradient of the result, `[3][channels]`, to the gradient of the squares, laid out as
/// they are. The gradient of the maximum goes to the first square that has it.
///
/// # Safety
/// As for [`pool`]; `pooled` and `gradient` are as long as its result, and `out` as `squares`.
#[inline(always)]
pub(super) unsafe fn pool_back<V: Vector>(
    pool: &Pool,
    squares: &[f32],
    pooled: &[f32],
    gradient: &[f32],
    out: &mut [f32],
) {
    let (side, channels) = (pool.side, pool.channels);
    let share = 1.0 / (side * side) as f32;
    let size = (side as f32 - 9.0) / 2.0;
    for channel in (0..channels).step_by(V::LANES) {
        // SAFETY: as the caller vouches.
        unsafe {
            let gradient = gradient.as_ptr().add(channel);
            let mean = V::load(gradient.add(channels)).mul_add(V::splat(size), V::load(gradient));
            let mean = mean.mul(V::splat(share));
            let max = V::load(pooled.as_ptr().add(channel + 2 * channels));
            let zero = V::splat(0.0);
            let mut left = V::load(gradient.add(2 * channels));
            for row in 0..side {
                for column in 0..side {
                    let at = channel + row * pool.row_step + column * channels;
                    let value = V::load(squares.as_ptr().add(at));
                    mean.add(left.where_equal(value, max, zero)).store(out.as_mut_ptr().add(at));
                    left = zero.where_equal(value, max, left);
                }
            }
        }
    }
}
