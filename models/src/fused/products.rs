//! The matrix products of a convolution, in single precision or bf16.

use hnefi_inference::TrainPrecision;
use hnefi_kernels::{Aligned, Bf16Kernels, Kernels, Outer, PANEL, POINTS, Packed, Product};

/// One product at every point of the transform, with the weights of one direction; `None` where there is nothing to
/// multiply by.
pub(super) enum Products {
    /// In single precision.
    F32(Option<Packed>),
    /// Of operands rounded to bf16.
    Bf16(Option<Packed<u32>>),
}

/// A side of a product, `[POINTS][rows][channels]`.
#[derive(Clone, Copy)]
pub(super) struct Points {
    pub(super) channels: usize,
    /// Floats from point to point, a multiple of the panel.
    pub(super) step: usize,
}

/// Memory for rounded operands; none in single precision.
pub(super) struct Rounded {
    left: Aligned<u32>,
    right: Aligned<u32>,
}

impl Products {
    pub(super) fn new(precision: TrainPrecision, weights: Option<Packed>) -> Products {
        match precision {
            TrainPrecision::F32 => Products::F32(weights),
            TrainPrecision::Bf16 => Products::Bf16(weights.map(|weights| weights.rounded())),
        }
    }

    /// Memory for sides of at most `floats` floats.
    pub(super) fn scratch(&self, floats: usize) -> Rounded {
        // Pairs of rows may have half a row more than half the rows.
        let words = if matches!(self, Products::F32(_)) { 0 } else { floats };
        Rounded { left: Aligned::zeros(words), right: Aligned::zeros(words) }
    }

    /// `out = left x weights` at every point, for `rows` rows.
    ///
    /// # Panics
    /// When there are no weights or lengths do not fit.
    pub(super) fn multiply(
        &self,
        rows: usize,
        (left, left_points): (&[f32], Points),
        (out, out_points): (&mut [f32], Points),
        rounded: &mut Rounded,
    ) {
        let product = |left_step| Product { matrices: POINTS, rows, left_step, out_step: out_points.step, relu: false };
        match self {
            Products::F32(weights) => {
                let weights = weights.as_ref().expect("weights for this direction");
                Kernels::best().multiply(&product(left_points.step), left, weights, None, out);
            }
            Products::Bf16(weights) => {
                let kernels = Bf16Kernels::best();
                let weights = weights.as_ref().expect("weights for this direction");
                let floats = POINTS * left_points.step;
                let words = &mut rounded.left[..floats / 2];
                kernels.round(&left[..floats], words);
                kernels.multiply(&product(left_points.step / 2), words, weights, out);
            }
        }
    }

    /// Adds `leftᵀ x right` at every point to `out`, `[POINTS][left channels][right channels]`.
    ///
    /// # Panics
    /// When lengths do not fit.
    pub(super) fn add_outer(
        &self,
        rows: usize,
        (left, left_points): (&[f32], Points),
        (right, right_points): (&[f32], Points),
        out: &mut [f32],
        rounded: &mut Rounded,
    ) {
        let outer = |rows, left_step, right_step| Outer {
            matrices: POINTS,
            rows,
            left_columns: left_points.channels,
            right_columns: right_points.channels,
            left_step,
            right_step,
        };
        match self {
            Products::F32(_) => {
                Kernels::best().add_outer(&outer(rows, left_points.step, right_points.step), left, right, out);
            }
            Products::Bf16(_) => {
                let (kernels, pairs) = (Bf16Kernels::best(), rows.div_ceil(2));
                let steps = [(left, left_points, &mut rounded.left), (right, right_points, &mut rounded.right)].map(
                    |(values, points, words)| {
                        // A cache line more, for the reason that points have a panel more.
                        let step = pairs * points.channels + PANEL;
                        for point in 0..POINTS {
                            let values = &values[point * points.step..][..rows * points.channels];
                            let words = &mut words[point * step..][..pairs * points.channels];
                            kernels.pair_rows(points.channels, values, words);
                        }
                        step
                    },
                );
                kernels.add_outer(&outer(pairs, steps[0], steps[1]), &rounded.left, &rounded.right, out);
            }
        }
    }
}
