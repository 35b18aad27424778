//! Each narrow kernel of each instruction set against its definition.

use super::super::tests::{filled, values};
use super::super::{Aligned, Floats};
use super::dot::bf16;
use super::*;

const CHANNELS: [usize; 6] = [16, 32, 48, 64, 96, 128];

/// Numbers of the arithmetic in their order, out of words.
fn numbers(words: &[u32], numbers: usize) -> Vec<u32> {
    let bits = 32 / numbers;
    words.iter().flat_map(|word| (0..numbers).map(move |at| word >> (bits * at) & (u32::MAX >> (32 - bits)))).collect()
}

/// Words out of numbers.
fn words(all: &[u32], numbers: usize) -> Aligned<u32> {
    let mut words = Aligned::zeros(all.len() / numbers);
    for (word, all) in words.iter_mut().zip(all.chunks_exact(numbers)) {
        *word = all.iter().enumerate().map(|(at, number)| number << (32 / numbers * at)).sum();
    }
    words
}

fn widened(number: u32) -> f32 {
    f32::from_bits(number << 16)
}

/// Says which instruction sets this CPU lacks, so that nobody takes silence for a test.
fn tables(wanted: &str, found: impl Iterator<Item = &'static NarrowKernels>) -> Vec<&'static NarrowKernels> {
    let found: Vec<_> = found.collect();
    if found.iter().all(|kernels| kernels.name != wanted) {
        println!("this CPU lacks {wanted}: its kernels are not tested");
    }
    found
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
    let mut trunk = Floats::zeros(grid.len());
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
        let Int8Weights { weights: packed, steps } = Weights::int8(channels, weight);
        let whole: Vec<i32> = (0..count)
            .map(|at| (weights[at] / f64::from(steps[at / TAPS / channels])).round_ties_even() as i32)
            .collect();
        assert_eq!(whole.iter().map(|weight| weight.abs()).max(), Some(127));
        let (scale, bias) = (filled(channels, 2), filled(channels, 3));
        let finish =
            Finish { scale: &scale.iter().map(|s| s.abs() * 1e-4).collect::<Vec<_>>(), bias: &bias, inverse: 21.5 };
        for side in [7, 9, 11] {
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
                let (mut expected, mut expected_trunk) = (Vec::new(), Floats::zeros(grid.len()));
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
                for kernels in tables(NarrowKernels::INT8, NarrowKernels::int8()) {
                    let (mut out, mut found) = (Aligned::zeros(kernels.board_len(grid)), trunk(grid));
                    let skip = add.then_some(&mut found[..]);
                    kernels.convolve(grid, &packed, &words(&inputs, 4), &finish, skip, &mut out);
                    assert!(numbers(&out, 4) == expected, "{} on {grid:?}, {add}", kernels.name);
                    assert!(!add || *found == *expected_trunk, "trunk, {} on {grid:?}", kernels.name);
                }
            }
        }
    }
}

#[test]
fn bf16_convolutions_round_their_operands_and_nothing_else() {
    for channels in CHANNELS {
        let weights: Vec<f64> = values(11).take(channels * channels * TAPS).map(f64::from).collect();
        let packed = Weights::bf16(channels, |output, input, tap| weights[(output * channels + input) * TAPS + tap]);
        let rounded: Vec<f64> = weights.iter().map(|&w| f64::from(widened(bf16(w as f32).into()))).collect();
        let bias = filled(channels, 13);
        let finish = Finish { scale: &bias, bias: &bias, inverse: 1.0 };
        for side in [7, 9, 11] {
            let grid = Grid { side, channels };
            let inputs: Vec<u32> = values(14).take(grid.inner_len()).map(|v| bf16(v + 1.0).into()).collect();
            let mut sums = vec![0.0; grid.inner_len()];
            taps(side, |tap, from, square| {
                for output in 0..channels {
                    let term = |input: usize| {
                        f64::from(widened(inputs[from * channels + input]))
                            * rounded[(output * channels + input) * TAPS + tap]
                    };
                    sums[square * channels + output] += (0..channels).map(term).sum::<f64>();
                }
            });
            for add in [false, true] {
                let before = trunk(grid);
                for kernels in tables(NarrowKernels::BF16, NarrowKernels::bf16()) {
                    let (mut out, mut found) = (Aligned::zeros(kernels.board_len(grid)), trunk(grid));
                    let skip = add.then_some(&mut found[..]);
                    kernels.convolve(grid, &packed, &words(&inputs, 2), &finish, skip, &mut out);
                    for (at, (&sum, number)) in sums.iter().zip(numbers(&out, 2)).enumerate() {
                        let place = grid.square(at / channels) + at % channels;
                        let skip = if add { f64::from(before[place]) } else { 0.0 };
                        let expected = (sum + f64::from(bias[at % channels]) + skip).max(0.0);
                        let error = 2e-6 * (9 * channels) as f64;
                        let what = format!("{} on {grid:?}", kernels.name);
                        if add {
                            assert!((f64::from(found[place]) - expected).abs() < error, "{what}");
                            assert_eq!(number, u32::from(bf16(found[place])), "{what}: rounded once");
                        } else {
                            let half_a_unit = expected / 256.0;
                            assert!((f64::from(widened(number)) - expected).abs() <= half_a_unit + error, "{what}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn boards_become_narrow_and_wide_again() {
    for side in [7, 9, 11] {
        let grid = Grid { side, channels: 48 };
        let board = trunk(grid);
        let inner = || (0..side * side).flat_map(|square| board[grid.square(square)..][..48].iter().copied());
        for kernels in tables(NarrowKernels::INT8, NarrowKernels::int8()) {
            let (mut out, mut wide) = (Aligned::zeros(kernels.board_len(grid)), Floats::zeros(grid.inner_len()));
            // A step of 1/160: what is above 255 of them is cut off.
            kernels.narrow(grid, &board, 160.0, &mut out);
            kernels.widen(&out, 1.0 / 160.0, &mut wide);
            for ((value, number), wide) in inner().zip(numbers(&out, 4)).zip(wide.iter()) {
                assert_eq!(number, (value * 160.0).round_ties_even().min(255.0) as u32, "{}", kernels.name);
                assert_eq!(*wide, number as f32 * (1.0 / 160.0), "{}", kernels.name);
            }
        }
        for kernels in tables(NarrowKernels::BF16, NarrowKernels::bf16()) {
            let (mut out, mut wide) = (Aligned::zeros(kernels.board_len(grid)), Floats::zeros(grid.inner_len()));
            kernels.narrow(grid, &board, 1.0, &mut out);
            kernels.widen(&out, 1.0, &mut wide);
            for ((value, number), wide) in inner().zip(numbers(&out, 2)).zip(wide.iter()) {
                assert_eq!(number, u32::from(bf16(value)), "{}", kernels.name);
                assert_eq!(*wide, widened(number), "{}", kernels.name);
            }
        }
    }
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
fn weights_of_another_arithmetic_are_refused() {
    let grid = Grid { side: 7, channels: 16 };
    let weights = Weights::bf16(16, |_, _, _| 0.0);
    for kernels in NarrowKernels::int8() {
        let (board, mut out) = (Aligned::zeros(kernels.board_len(grid)), Aligned::zeros(kernels.board_len(grid)));
        let finish = Finish { scale: &[0.0; 16], bias: &[0.0; 16], inverse: 1.0 };
        kernels.convolve(grid, &weights, &board, &finish, None, &mut out);
    }
}
