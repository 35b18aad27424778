//! Each quantise kernel of each instruction set against its definition.

use super::super::product::{Outer, Product};
use super::super::tests::{filled, values};
use super::super::{Aligned, Floats, Packed};
use super::portable::bf16;
use super::*;

const CHANNELS: [usize; 6] = [16, 32, 48, 64, 96, 128];

/// Values in their order, out of words.
fn numbers(words: &[u32]) -> Vec<u32> {
    words.iter().flat_map(|word| word.to_le_bytes()).map(u32::from).collect()
}

/// Words out of values.
fn words(all: &[u32]) -> Aligned<u32> {
    let mut words = Aligned::zeros(all.len() / INT8_VALUES);
    for (word, all) in words.iter_mut().zip(all.as_chunks().0) {
        *word = u32::from_le_bytes(all.map(|value| value as u8));
    }
    words
}

fn float_of(number: u32) -> f32 {
    f32::from_bits(number << 16)
}

/// Calls `add(tap, from, output square)` for every pair of squares that a 3x3 kernel connects.
fn taps(side: usize, mut add: impl FnMut(usize, usize, usize)) {
    for square in 0..side * side {
        for tap in 0..TAPS {
            let (row, column) = (square / side + tap / 3, square % side + tap % 3);
            if (1..=side).contains(&row) && (1..=side).contains(&column) {
                add(tap, (row - 1) * side + column - 1, square);
            }
        }
    }
}

/// A bordered board of floats from 0 to 2.
fn trunk(grid: Grid) -> Floats {
    let mut trunk = Floats::zeros(grid.bordered_len());
    for square in 0..grid.side * grid.side {
        for (place, value) in trunk[grid.square(square)..][..grid.channels].iter_mut().zip(values(90 + square as u64)) {
            *place = value + 1.0;
        }
    }
    trunk
}

#[test]
fn eight_bit_convolutions_are_right_bit_by_bit() {
    for channels in CHANNELS {
        let count = channels * channels * TAPS;
        let weights: Vec<f64> = values(1).take(count).map(f64::from).collect();
        let weight = |output: usize, input: usize, tap: usize| weights[(output * channels + input) * TAPS + tap];
        let (packed, steps) = Weights::int8(channels, weight);
        let whole: Vec<i32> = (0..count)
            .map(|at| (weights[at] / f64::from(steps[at / TAPS / channels])).round_ties_even() as i32)
            .collect();
        assert_eq!(whole.iter().map(|weight| weight.abs()).max(), Some(127));
        let (scale, bias) = (filled(channels, 2), filled(channels, 3));
        let finish =
            Epilogue { scale: &scale.iter().map(|s| s.abs() * 1e-4).collect::<Vec<_>>(), bias: &bias, inverse: 21.5 };
        for side in 5..=19 {
            let grid = Grid { side, channels };
            // Extremes too: 0 and 255 are a quarter of the inputs each.
            let inputs: Vec<u32> =
                values(4).take(grid.inner_len()).map(|v| (v * 256.0 + 128.0).clamp(0.0, 255.0) as u32).collect();
            let mut sums = vec![0i32; grid.inner_len()];
            taps(side, |tap, from, square| {
                for output in 0..channels {
                    let term = |input: usize| {
                        inputs[from * channels + input] as i32 * whole[(output * channels + input) * TAPS + tap]
                    };
                    sums[square * channels + output] += (0..channels).map(term).sum::<i32>();
                }
            });
            for add in [false, true] {
                let before = trunk(grid);
                let (mut expected, mut expected_trunk) = (Vec::new(), Floats::zeros(grid.bordered_len()));
                for (at, &sum) in sums.iter().enumerate() {
                    let place = grid.square(at / channels) + at % channels;
                    let mut value = sum as f32 * finish.scale[at % channels] + bias[at % channels];
                    if add {
                        value += before[place];
                    }
                    value = value.max(0.0);
                    expected_trunk[place] = value;
                    expected.push((value * finish.inverse).round_ties_even().min(255.0) as u32);
                }
                assert!(expected.contains(&0) && expected.contains(&255), "the bounds are met");
                for kernels in LowPrecisionKernels::available() {
                    let (mut out, mut found) = (Aligned::zeros(grid.quantised_len()), trunk(grid));
                    let skip = add.then_some(&mut found[..]);
                    kernels.convolve(grid, &packed, &words(&inputs), &finish, skip, &mut out);
                    assert!(numbers(&out) == expected, "{} on {grid:?}, {add}", kernels.name);
                    assert!(!add || *found == *expected_trunk, "trunk, {} on {grid:?}", kernels.name);
                }
            }
        }
    }
}

#[test]
fn boards_are_quantised_and_dequantised() {
    for side in 5..=19 {
        let grid = Grid { side, channels: 48 };
        let mut board = trunk(grid);
        // Cut off, too, though its whole number has more than 32 bits.
        board[grid.square(3)] = 1e30;
        let inner = || (0..side * side).flat_map(|square| board[grid.square(square)..][..48].iter().copied());
        for kernels in LowPrecisionKernels::available() {
            let (mut out, mut wide) = (Aligned::zeros(grid.quantised_len()), Floats::zeros(grid.inner_len()));
            // A step of 1/160: what is above 255 of them is cut off.
            kernels.quantise(grid, &board, 160.0, &mut out);
            kernels.dequantise(&out, 1.0 / 160.0, &mut wide);
            for ((value, number), wide) in inner().zip(numbers(&out)).zip(wide.iter()) {
                assert_eq!(number, (value * 160.0).round_ties_even().min(255.0) as u32, "{}", kernels.name);
                assert_eq!(*wide, number as f32 * (1.0 / 160.0), "{}", kernels.name);
            }
        }
    }
}

/// A float as the bf16 nearest to it.
fn rounded(value: f32) -> f32 {
    float_of(bf16(value).into())
}

#[test]
fn operands_of_products_are_rounded_in_pairs() {
    for kernels in Bf16Kernels::available() {
        for (rows, channels) in [(1, 16), (2, 48), (7, 32), (9, 64)] {
            let floats = filled(rows * channels, 21);
            let at = |row: usize, channel: usize| {
                if row < rows { u32::from(bf16(floats[row * channels + channel])) } else { 0 }
            };
            let mut neighbours = vec![0; rows * channels / 2];
            kernels.round(&floats, &mut neighbours);
            for (index, word) in neighbours.into_iter().enumerate() {
                let (row, channel) = (2 * index / channels, 2 * index % channels);
                assert_eq!(word, at(row, channel) | at(row, channel + 1) << 16, "{rows} by {channels}, word {index}");
            }
            let mut pairs = vec![0; rows.div_ceil(2) * channels];
            kernels.pair_rows(channels, &floats, &mut pairs);
            for (index, word) in pairs.into_iter().enumerate() {
                let (row, channel) = (index / channels * 2, index % channels);
                assert_eq!(word, at(row, channel) | at(row + 1, channel) << 16, "{rows} by {channels}, pair {index}");
            }
        }
    }
}

#[test]
fn bf16_products_round_their_operands_and_nothing_else() {
    for kernels in Bf16Kernels::available() {
        for (rows, depth, columns) in [(1usize, 48, 16), (5, 16, 32), (8, 6, 80), (13, 64, 64), (27, 32, 96)] {
            let (matrices, gap) = (3, 16);
            let (left_step, out_step) = ((rows * depth).next_multiple_of(PANEL) + gap, rows * columns + 7);
            let left = filled(matrices * left_step, 22);
            let mut right = Packed::zeros(matrices, depth, columns);
            let weights: Vec<f32> = values(23).take(matrices * depth * columns).collect();
            for (at, &weight) in weights.iter().enumerate() {
                right.set(at / columns / depth, at / columns % depth, at % columns, weight);
            }
            let mut words = vec![0; left.len() / 2];
            kernels.round(&left, &mut words);
            let mut out = filled(matrices * out_step, 24);
            let before = out.to_vec();
            let product = Product { matrices, rows, left_step: left_step / 2, out_step, relu: false };
            kernels.multiply(&product, &words, &right.rounded(), &mut out);
            for (at, &found) in out.iter().enumerate() {
                let (matrix, row, column) = (at / out_step, at % out_step / columns, at % out_step % columns);
                if row >= rows {
                    assert_eq!(found, before[at], "the gap is left alone");
                    continue;
                }
                let term = |k: usize| {
                    f64::from(rounded(left[matrix * left_step + row * depth + k]))
                        * f64::from(rounded(weights[(matrix * depth + k) * columns + column]))
                };
                let expected: f64 = (0..depth).map(term).sum();
                assert!((f64::from(found) - expected).abs() < 1e-5 * depth as f64, "{found} for {expected}");
            }
        }
    }
}

#[test]
fn bf16_outer_products_round_their_operands_and_nothing_else() {
    for kernels in Bf16Kernels::available() {
        for (rows, left_columns, right_columns) in [(1usize, 16, 16), (9, 32, 48), (18, 48, 32), (27, 64, 64)] {
            let (matrices, pairs) = (2, rows.div_ceil(2));
            let [left, right] = [(left_columns, 25), (right_columns, 26)]
                .map(|(columns, seed)| filled(matrices * rows * columns, seed));
            let paired = |columns: usize, floats: &[f32]| {
                let mut words = vec![0; matrices * pairs * columns];
                let matrix = floats.chunks_exact(rows * columns).zip(words.chunks_exact_mut(pairs * columns));
                matrix.for_each(|(floats, words)| kernels.pair_rows(columns, floats, words));
                words
            };
            let (left_step, right_step) = (pairs * left_columns, pairs * right_columns);
            let outer = Outer { matrices, rows: pairs, left_columns, right_columns, left_step, right_step };
            let mut out = filled(matrices * left_columns * right_columns, 27);
            let before = out.to_vec();
            kernels.add_outer(&outer, &paired(left_columns, &left), &paired(right_columns, &right), &mut out);
            for (at, &found) in out.iter().enumerate() {
                let (line, column) = (at / right_columns, at % right_columns);
                let (matrix, line) = (line / left_columns, line % left_columns);
                let term = |row: usize| {
                    f64::from(rounded(left[(matrix * rows + row) * left_columns + line]))
                        * f64::from(rounded(right[(matrix * rows + row) * right_columns + column]))
                };
                let expected = f64::from(before[at]) + (0..rows).map(term).sum::<f64>();
                assert!((f64::from(found) - expected).abs() < 1e-5 * rows as f64, "{found} for {expected}");
            }
        }
    }
}

#[test]
#[should_panic = "does not fit its operands"]
fn a_bf16_product_beyond_its_operands_is_refused() {
    let product = Product { matrices: 2, rows: 4, left_step: 0, out_step: 64, relu: false };
    Bf16Kernels::best().multiply(&product, &[0; 32], &Packed::zeros(2, 8, 16), &mut [0.0; 127]);
}

#[test]
fn bf16_is_the_nearest_and_of_two_the_even_one() {
    for (value, expected) in
        [(0.0, 0), (1.0, 0x3f80), (-2.0, 0xc000), (f32::INFINITY, 0x7f80), (f32::MAX, 0x7f80), (3.0e-39, 0x0021)]
    {
        assert_eq!(bf16(value), expected, "{value}");
    }
    let ulp = 1.0 / 128.0;
    assert_eq!([0.5, 0.51, 1.49, 1.5, 2.5].map(|part| bf16(1.0 + part * ulp) - 0x3f80), [0, 1, 1, 2, 2]);
}

#[test]
#[should_panic(expected = "weights of")]
fn weights_of_another_size_are_refused() {
    let grid = Grid { side: 7, channels: 16 };
    let (weights, _) = Weights::int8(32, |_, _, _| 0.0);
    for kernels in LowPrecisionKernels::available() {
        let (board, mut out) = (Aligned::zeros(grid.quantised_len()), Aligned::zeros(grid.quantised_len()));
        let finish = Epilogue { scale: &[0.0; 16], bias: &[0.0; 16], inverse: 1.0 };
        kernels.convolve(grid, &weights, &board, &finish, None, &mut out);
    }
}
