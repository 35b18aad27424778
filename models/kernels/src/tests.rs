//! Each kernel of each instruction set against its definition in double precision.

use super::*;

/// Numbers in -1..1 without a pattern that a kernel could be right on by luck.
pub(super) fn values(seed: u64) -> impl Iterator<Item = f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    })
}

pub(super) fn filled(len: usize, seed: u64) -> Floats {
    let mut floats = Floats::zeros(len);
    for (place, value) in floats.iter_mut().zip(values(seed)) {
        *place = value;
    }
    floats
}

fn assert_near(found: f32, expected: f64, scale: f64, what: &str) {
    let difference = (f64::from(found) - expected).abs();
    assert!(difference <= 2e-6 * scale, "{what}: found {found}, expected {expected}");
}

#[test]
fn buffers_begin_on_a_cache_line() {
    for len in [0, 1, 17, 5000] {
        let floats = Floats::zeros(len);
        assert_eq!((floats.as_ptr() as usize % 64, floats.len()), (0, len));
    }
}

#[test]
fn products_are_sums_of_products() {
    for kernels in Kernels::available() {
        for (rows, depth, columns) in
            [(1, 48, 16), (4, 16, 32), (8, 7, 80), (9, 32, 16), (11, 5, 48), (13, 64, 64), (36, 32, 96)]
        {
            let (matrices, gap) = (3, 7);
            let (left_step, out_step) = (rows * depth + gap, rows * columns + gap);
            let left = filled(matrices * left_step, 1);
            let weights: Vec<f32> = values(2).take(matrices * depth * columns).collect();
            let mut right = Packed::zeros(matrices, depth, columns);
            for (at, &weight) in weights.iter().enumerate() {
                right.set(at / columns / depth, at / columns % depth, at % columns, weight);
            }
            let bias = filled(columns, 3);
            let mut out = filled(matrices * out_step, 4);
            let before = out.to_vec();
            let product = Product { matrices, rows, left_step, out_step, relu: true };
            kernels.multiply(&product, &left, &right, Some(&bias), &mut out);
            for matrix in 0..matrices {
                for row in 0..rows {
                    for column in 0..columns {
                        let term = |k: usize| {
                            let weight = weights[(matrix * depth + k) * columns + column];
                            f64::from(left[matrix * left_step + row * depth + k]) * f64::from(weight)
                        };
                        let expected = (0..depth).map(term).sum::<f64>() + f64::from(bias[column]);
                        let found = out[matrix * out_step + row * columns + column];
                        assert_near(found, expected.max(0.0), depth as f64, kernels.name);
                    }
                }
                let gap = matrix * out_step + rows * columns..(matrix + 1) * out_step;
                assert_eq!(out[gap.clone()], before[gap], "nothing is written between results");
            }
        }
    }
}

#[test]
fn tiles_make_a_convolution() {
    for kernels in Kernels::available() {
        for side in 5..=19 {
            for add in [false, true] {
                convolve_and_compare(kernels, Grid { side, channels: 32 }, add);
            }
        }
    }
}

fn convolve_and_compare(kernels: &Kernels, grid: Grid, add: bool) {
    let Grid { side, channels } = grid;
    let weights: Vec<f32> = values(5).take(channels * channels * 9).collect();
    let kernel = |input: usize, output: usize, tap: usize| f64::from(weights[(output * channels + input) * 9 + tap]);
    let mut packed = Packed::zeros(POINTS, channels, channels);
    for input in 0..channels {
        for output in 0..channels {
            let taps = std::array::from_fn(|tap| kernel(input, output, tap));
            for (point, value) in filters::transform_kernel(&taps).into_iter().enumerate() {
                packed.set(point, input, output, value as f32);
            }
        }
    }
    let mut board = Floats::zeros(grid.bordered_len());
    let mut old = Floats::zeros(grid.bordered_len());
    for square in 0..side * side {
        let begin = grid.square(square);
        board[begin..begin + channels].copy_from_slice(&filled(channels, square as u64));
        old[begin..begin + channels].copy_from_slice(&filled(channels, square as u64 + 1000));
    }
    let bias = filled(channels, 6);
    let step = grid.tiles() * channels + PANEL;
    let (mut transformed, mut sums) = (Floats::zeros(POINTS * step), Floats::zeros(POINTS * step));
    kernels.input_transform(grid, &board, &mut transformed, step);
    let product = Product { matrices: POINTS, rows: grid.tiles(), left_step: step, out_step: step, relu: false };
    kernels.multiply(&product, &transformed, &packed, None, &mut sums);
    let mut out = Floats::zeros(grid.bordered_len());
    out.copy_from_slice(&old);
    kernels.output_transform_relu(grid, &sums, step, &bias, add, &mut out);

    let mut written = vec![false; grid.bordered_len()];
    for square in 0..side * side {
        for output in 0..channels {
            let mut expected = f64::from(bias[output]);
            for tap in 0..9 {
                let (row, column) = (square / side + tap / 3, square % side + tap % 3);
                if (1..=side).contains(&row) && (1..=side).contains(&column) {
                    let from = grid.square((row - 1) * side + column - 1);
                    expected += (0..channels)
                        .map(|input| f64::from(board[from + input]) * kernel(input, output, tap))
                        .sum::<f64>();
                }
            }
            let at = grid.square(square) + output;
            if add {
                expected += f64::from(old[at]);
            }
            assert_near(out[at], expected.max(0.0), 9.0 * channels as f64, kernels.name);
            written[at] = true;
        }
    }
    let border = (0..grid.bordered_len()).filter(|&at| !written[at]).all(|at| out[at] == 0.0);
    assert!(border, "the border stays zero");
}

#[test]
fn picked_rows_are_summed() {
    for kernels in Kernels::available() {
        for channels in [16, 32, 48, 64, 112] {
            let (table, bias, other) = (filled(40 * channels, 7), filled(channels, 8), filled(channels, 6));
            let picked = [3, 39, 0, 11, 11];
            let mut out = filled(channels, 9);
            kernels.sum(&table, &picked, [&bias, &other], &mut out);
            for channel in 0..channels {
                let row = |&row: &u16| f64::from(table[usize::from(row) * channels + channel]);
                let biases = f64::from(bias[channel]) + f64::from(other[channel]);
                let expected = biases + picked.iter().map(row).sum::<f64>();
                assert_near(out[channel], expected.max(0.0), 6.0, kernels.name);
            }
        }
    }
}

#[test]
#[should_panic(expected = "beyond the table")]
fn a_row_beyond_the_table_is_refused() {
    let mut out = Floats::zeros(16);
    Kernels::best().sum(&filled(40 * 16, 1), &[40], [&filled(16, 2); 2], &mut out);
}

#[test]
#[should_panic(expected = "does not fit")]
fn a_product_beyond_its_operands_is_refused() {
    let product = Product { matrices: 2, rows: 3, left_step: 12, out_step: 48, relu: false };
    let (left, right, mut out) = (filled(23, 1), Packed::zeros(1, 4, 16), Floats::zeros(96));
    Kernels::best().multiply(&product, &left, &right, None, &mut out);
}

#[test]
fn pooling_is_over_the_squares_alone() {
    for kernels in Kernels::available() {
        for (side, scale) in [(5, -2.0), (7, -1.0), (8, -0.5), (9, 0.0), (11, 1.0), (19, 5.0)] {
            let (channels, row_step) = (16, (side + 2) * 16);
            let squares = filled(side * row_step, 10);
            let mut out = filled(3 * channels, 11);
            kernels.pool(&Pool { side, row_step, channels }, &squares, &mut out);
            for channel in 0..channels {
                let of = |at: usize| f64::from(squares[at / side * row_step + at % side * channels + channel]);
                let mean = (0..side * side).map(of).sum::<f64>() / (side * side) as f64;
                let max = (0..side * side).map(of).fold(f64::NEG_INFINITY, f64::max);
                assert_near(out[channel], mean, 1.0, kernels.name);
                assert_near(out[channels + channel], mean * scale, 1.0, kernels.name);
                assert_near(out[2 * channels + channel], max, 0.0, kernels.name);
            }
        }
    }
}

/// Sum of products in double precision.
fn inner(a: &[f32], b: &[f32]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
}

/// Of two linear maps, one is the other transposed when `<map(a), b> = <a, transposed(b)>` for all `a` and `b`.
fn assert_transposed(forward: f64, backward: f64, terms: usize, what: &str) {
    assert!((forward - backward).abs() < 1e-5 * (terms as f64).sqrt(), "{what}: {forward} and {backward}");
}

#[test]
fn gradients_of_tiles_are_their_transposes() {
    for kernels in Kernels::available() {
        for side in 5..=19 {
            let grid = Grid { side, channels: 32 };
            let step = grid.tiles() * grid.channels + PANEL;
            let points = |seed| {
                let mut values = filled(POINTS * step, seed);
                for point in 0..POINTS {
                    values[(point + 1) * step - PANEL..(point + 1) * step].fill(0.0);
                }
                values
            };
            let (bordered, plain) = (filled(grid.bordered_len(), 20), filled(grid.inner_len(), 22));
            let given = points(21);
            let name = |what| format!("{what}, {} on side {side}", kernels.name);

            let mut transformed = Floats::zeros(POINTS * step);
            kernels.input_transform(grid, &bordered, &mut transformed, step);
            let mut collected = filled(bordered.len(), 23);
            let before = inner(&collected, &bordered);
            kernels.input_transform_transposed(grid, &given, step, &mut collected);
            let (forward, backward) = (inner(&transformed, &given), inner(&collected, &bordered) - before);
            assert_transposed(forward, backward, given.len(), &name("input transform"));

            let mut outputs = vec![f32::NAN; grid.inner_len()];
            kernels.output_transform(grid, &given, step, &mut outputs);
            let mut back = Floats::zeros(POINTS * step);
            kernels.output_transform_transposed(grid, &plain, &mut back, step);
            assert_transposed(inner(&outputs, &plain), inner(&given, &back), given.len(), &name("output transform"));
        }
    }
}

#[test]
fn outputs_without_a_border_are_those_with_one() {
    for kernels in Kernels::available() {
        let grid = Grid { side: 9, channels: 16 };
        let step = grid.tiles() * grid.channels + PANEL;
        let sums = filled(POINTS * step, 30);
        let mut plain = vec![f32::NAN; grid.inner_len()];
        kernels.output_transform(grid, &sums, step, &mut plain);
        let mut bordered = Floats::zeros(grid.bordered_len());
        kernels.output_transform_relu(grid, &sums, step, &[0.0; 16], false, &mut bordered);
        for (square, plain) in plain.chunks_exact(16).enumerate() {
            let gathered = &bordered[grid.square(square)..][..16];
            assert!(plain.iter().zip(gathered).all(|(plain, &gathered)| plain.max(0.0) == gathered), "square {square}");
        }
    }
}

#[test]
fn outer_products_are_added() {
    for kernels in Kernels::available() {
        for (rows, left_columns, right_columns) in [(1, 16, 16), (4, 32, 16), (9, 5, 48), (17, 64, 32), (3, 31, 112)] {
            let (matrices, gap) = (3, 7);
            let (left_step, right_step) = (rows * left_columns + gap, rows * right_columns + gap);
            let (left, right) = (filled(matrices * left_step, 1), filled(matrices * right_step, 2));
            let product = Outer { matrices, rows, left_columns, right_columns, left_step, right_step };
            let before = filled(matrices * left_columns * right_columns, 3);
            let mut out = before.to_vec();
            kernels.add_outer(&product, &left, &right, &mut out);
            for (at, (found, before)) in out.iter().zip(before.iter()).enumerate() {
                let (matrix, column) = (at / right_columns / left_columns, at % right_columns);
                let of_row = |row: usize| {
                    let left = left[matrix * left_step + row * left_columns + at / right_columns % left_columns];
                    f64::from(left) * f64::from(right[matrix * right_step + row * right_columns + column])
                };
                let expected = f64::from(*before) + (0..rows).map(of_row).sum::<f64>();
                assert_near(*found, expected, 1.0 + rows as f64, kernels.name);
            }
        }
    }
}

#[test]
#[should_panic(expected = "does not fit")]
fn an_outer_product_beyond_its_operands_is_refused() {
    let product = Outer { matrices: 2, rows: 3, left_columns: 4, right_columns: 16, left_step: 12, right_step: 48 };
    Kernels::best().add_outer(&product, &filled(24, 1), &filled(95, 2), &mut filled(128, 3));
}

#[test]
fn transformed_weights_and_their_gradient() {
    let (cin, cout) = (16, 32);
    let weights: Vec<f32> = values(40).take(cin * cout * 9).collect();
    let (packed, exchanged) =
        (filters::transform(&weights, cin, cout), filters::transform_transposed(&weights, cin, cout));
    let given = filled(POINTS * cin * cout, 41);
    let mut sum = 0.0;
    for output in 0..cout {
        for input in 0..cin {
            let kernel = std::array::from_fn(|tap| f64::from(weights[(output * cin + input) * 9 + tap]));
            for (point, expected) in filters::transform_kernel(&kernel).into_iter().enumerate() {
                let panel =
                    |row: usize, column: usize, depth: usize| (column / PANEL * depth + row) * PANEL + column % PANEL;
                assert_near(packed.matrix(point)[panel(input, output, cin)], expected, 4.0, "transform");
                assert_near(exchanged.matrix(point)[panel(output, input, cout)], expected, 4.0, "exchanged");
                sum += expected * f64::from(given[(point * cin + input) * cout + output]);
            }
        }
    }
    let gradient = filters::gradient(&given, cin, cout);
    assert_transposed(sum, inner(&gradient, &weights), given.len(), "gradient of the weights");
}

#[test]
fn the_pooled_gradient_goes_to_every_square_and_to_the_first_maximum() {
    for kernels in Kernels::available() {
        for (side, scale) in [(5, -2.0), (7, -1.0), (8, -0.5), (9, 0.0), (11, 1.0), (19, 5.0)] {
            let channels = 32;
            let pool = Pool { side, row_step: side * channels, channels };
            let mut squares = filled(side * side * channels, 50);
            // Ties, as a ReLU makes them.
            for value in squares.iter_mut() {
                *value = if *value < 0.9 { 0.0 } else { *value };
            }
            let (mut pooled, gradient) = (filled(3 * channels, 51), filled(3 * channels, 52));
            kernels.pool(&pool, &squares, &mut pooled);
            let mut out = vec![f32::NAN; squares.len()];
            kernels.pool_back(&pool, &squares, &pooled, &gradient, &mut out);
            for channel in 0..channels {
                let of = |square: usize| squares[square * channels + channel];
                let all = 0..side * side;
                let max = all.clone().map(of).fold(f32::NEG_INFINITY, f32::max);
                let first = all.clone().find(|&square| of(square) == max).unwrap();
                let of = |part: usize| f64::from(gradient[part * channels + channel]);
                for square in all {
                    let mean = (of(0) + scale * of(1)) / (side * side) as f64;
                    let expected = mean + if square == first { of(2) } else { 0.0 };
                    assert_near(out[square * channels + channel], expected, 1.0, kernels.name);
                }
            }
        }
    }
}

#[test]
fn passes_over_a_board_by_their_definitions() {
    let (squares, channels) = (49, 48);
    let board = filled(squares * channels, 60);
    let (skip, gradient) = (filled(board.len(), 61), filled(board.len(), 62));
    let [scale, shift, mean] = [63, 64, 65].map(|seed| filled(channels, seed));
    let line = |values: &[f32], at: usize| f64::from(values[at % channels]);
    for kernels in Kernels::available() {
        let mut sums = vec![f32::NAN; 2 * channels];
        kernels.moments(&board, &mut sums);
        for channel in 0..channels {
            let of = (channel..board.len()).step_by(channels).map(|at| f64::from(board[at]));
            assert_near(sums[channel], of.clone().sum(), squares as f64, kernels.name);
            assert_near(sums[channels + channel], of.map(|v| v * v).sum(), squares as f64, kernels.name);
        }

        for skip in [None, Some(&skip[..])] {
            let mut out = vec![f32::NAN; board.len()];
            kernels.activate(&board, skip, &scale, &shift, &mut out);
            for (at, &found) in out.iter().enumerate() {
                let expected = f64::from(board[at]) * line(&scale, at) + line(&shift, at);
                let expected = expected + skip.map_or(0.0, |skip| f64::from(skip[at]));
                assert_near(found, expected.max(0.0), 3.0, kernels.name);
            }
            let (mut masked, mut sums) = (gradient.to_vec(), vec![f32::NAN; 2 * channels]);
            kernels.mask(&board, &out, &mean, &mut masked, &mut sums);
            let passes = |at: usize| if out[at] > 0.0 { f64::from(gradient[at]) } else { 0.0 };
            assert!((0..board.len()).all(|at| f64::from(masked[at]) == passes(at)), "{}", kernels.name);
            for channel in 0..channels {
                let all = (channel..board.len()).step_by(channels);
                let product = |at: usize| passes(at) * (f64::from(board[at]) - line(&mean, at));
                assert_near(sums[channel], all.clone().map(passes).sum(), squares as f64, kernels.name);
                assert_near(sums[channels + channel], all.map(product).sum(), squares as f64, kernels.name);
            }
        }

        let mut out = vec![f32::NAN; board.len()];
        kernels.before_norm(&gradient, &board, [&scale, &shift, &mean], &mut out);
        for (at, &found) in out.iter().enumerate() {
            let expected = line(&scale, at) * f64::from(gradient[at]) + line(&shift, at) * f64::from(board[at]);
            assert_near(found, expected + line(&mean, at), 3.0, kernels.name);
        }
    }
}

#[test]
fn what_is_not_a_number_stays_visible() {
    for kernels in Kernels::available() {
        let mut board = filled(16, 70);
        board[3] = f32::NAN;
        let mut out = vec![0.0; 16];
        kernels.activate(&board, None, &[1.0; 16], &[0.0; 16], &mut out);
        assert!(out[3].is_nan() && out.iter().filter(|value| value.is_nan()).count() == 1, "{}", kernels.name);
    }
}

#[test]
#[should_panic = "fit"]
fn steps_beyond_all_memory_are_refused() {
    let product = Product { matrices: 3, rows: 1, left_step: 1 << (usize::BITS - 1), out_step: 16, relu: false };
    let (left, right, mut out) = (filled(4, 1), Packed::zeros(1, 4, 16), filled(48, 2));
    Kernels::best().multiply(&product, &left, &right, None, &mut out);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn instruction_sets_that_this_cpu_lacks_are_named() {
    use std::io::Write;
    let low_precision = LowPrecisionKernels::available().map(|table| table.name);
    let all = Kernels::available().map(|table| table.name).chain(low_precision);
    let found: Vec<&str> = all.chain(Bf16Kernels::available().map(|table| table.name)).collect();
    let names = ["AVX-512", "AVX2", "AVX-512 VNNI", "AVX-VNNI", "AVX-512 BF16"];
    // Whoever adds a table adds its name here.
    assert!(found.iter().all(|name| *name == "portable" || names.contains(name)), "{found:?}");
    for name in names {
        if !found.contains(&name) {
            // The harness hides what `println!` says in a test that passes.
            writeln!(std::io::stderr(), "not tested: this CPU lacks {name}").expect("standard error");
        }
    }
}
