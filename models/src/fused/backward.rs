//! The residual tower's backward pass over a batch; see [`super::passes`], whose parts and order of sums are its own.

use rayon::prelude::*;

use super::convolution::Convolution;
use super::passes::{Layer, Norm, PART, Part, Saved, Tower, add_to, packed, total};
use hnefi_kernels::{Kernels, Outer, Packed, Product};

/// A product with one row.
const ONE_ROW: Product = Product { matrices: 1, rows: 1, left_step: 0, out_step: 0, relu: false };

/// Gradients of the tower's inputs but `x`.
pub struct Gradients {
    /// `[B, C]`.
    pub bias: Vec<f32>,
    /// As the parameters.
    pub parameters: Vec<f32>,
}

/// A part of the batch on the way back.
struct PartBack<'a> {
    part: &'a Part,
    /// `[N, N, planes]` a board.
    x: &'a [f32],
    /// Activations of the last layer.
    out: &'a [f32],
    /// Gradients before the ReLU of the latest even and odd layer that was reached.
    gradients: [&'a mut [f32]; 2],
    /// The gradient of the bias of the latest layer that was reached, `[C]` a board.
    bias: Vec<f32>,
}

/// How a layer's gradient goes back through its normalisation: `scale * gradient + slope * convolved + offset`.
struct Lines([Vec<f32>; 3]);

impl Lines {
    /// From the sums over the batch of the masked gradient and of its products with the centred outputs, `[2][C]`;
    /// also the gradient of gamma.
    fn new(sums: &[f64], count: f64, layer: &Layer<'_>, norm: &Norm) -> (Lines, Vec<f32>) {
        let channels = sums.len() / 2;
        let (mut lines, mut gamma) = ([(); 3].map(|()| vec![0.0; channels]), vec![0.0; channels]);
        for c in 0..channels {
            let inverse = f64::from(norm.inverse[c]);
            let product = sums[channels + c] * inverse;
            let [ratio, shift] = norm.renorm.each_ref().map(|values| f64::from(values[c]));
            let a = f64::from(layer.gamma[c]) * ratio * inverse;
            let b = -a * inverse * product / count;
            let offset = -a * sums[c] / count - b * f64::from(norm.mean[c]);
            (lines[0][c], lines[1][c], lines[2][c]) = (a as f32, b as f32, offset as f32);
            gamma[c] = (product * ratio + sums[c] * shift) as f32;
        }
        (Lines(lines), gamma)
    }
}

/// What one part adds to the gradients of a layer.
struct Sums {
    /// Of the transformed weights, `[POINTS][cin][cout]`.
    weights: Vec<f32>,
    /// Of the weights of the pooled bias, `[3C, C]`; nothing where there is none.
    pool: Vec<f32>,
    /// For the layer before: sums of the masked gradient, and of its products with the centred outputs, `[2][C]`.
    before: Vec<f64>,
}

impl PartBack<'_> {
    /// Takes the gradient of a board of a layer's activations `out` back through its ReLU and adds to `sums`, as
    /// [`Sums::before`].
    fn mask(&mut self, layer: usize, number: usize, norm: &Norm, out: &[f32], sums: &mut [f64]) {
        let (channels, here) = (norm.mean.len(), number * out.len()..(number + 1) * out.len());
        let (convolved, gradient) = (&self.part.convolved[layer][here.clone()], &mut self.gradients[layer % 2][here]);
        let mut own = vec![0.0; 2 * channels];
        Kernels::best().mask(convolved, out, &norm.mean, gradient, &mut own);
        self.bias[number * channels..][..channels].copy_from_slice(&own[..channels]);
        add_to(sums, &own);
    }

    /// Takes the gradient of the last layer back through its ReLU. Returns its sums, as [`Sums::before`].
    fn mask_last(&mut self, layer: usize, norm: &Norm) -> Vec<f64> {
        let (out, mut sums) = (self.out, vec![0.0; 2 * norm.mean.len()]);
        for (number, out) in out.chunks_exact(out.len() / self.part.boards).enumerate() {
            self.mask(layer, number, norm, out, &mut sums);
        }
        sums
    }

    /// Takes the gradient of a layer back to the layer before.
    fn back(
        &mut self,
        tower: &Tower,
        layer: usize,
        convolution: &Convolution,
        lines: &Lines,
        before: Option<&Norm>,
        pool: Option<&Packed>,
    ) -> Sums {
        let (len, channels, kernels) = (tower.len(), tower.channels, Kernels::best());
        let input_len = tower.shape(layer).input_len();
        let part = self.part;
        let mut group = convolution.group();
        let mut board = vec![0.0; len];
        // Whether the activations of the layer before were kept.
        let keeps = !layer.is_multiple_of(2);
        let mut inputs = vec![0.0; if keeps { 0 } else { convolution.most * len }];
        let mut sums = Sums { weights: convolution.no_gradient(), pool: Vec::new(), before: vec![0.0; 2 * channels] };
        if pool.is_some() {
            sums.pool = vec![0.0; 3 * channels * channels];
            let outer = Outer {
                matrices: 1,
                rows: part.boards,
                left_columns: 3 * channels,
                right_columns: channels,
                left_step: 0,
                right_step: 0,
            };
            kernels.add_outer(&outer, &part.pooled[layer], &self.bias, &mut sums.pool);
        }
        let mut pooled = vec![0.0; 3 * channels];
        for first in (0..part.boards).step_by(convolution.most) {
            let boards = first..part.boards.min(first + convolution.most);
            for number in boards.clone() {
                let here = number * len..(number + 1) * len;
                match before {
                    None => group.put(number - first, &self.x[number * input_len..][..input_len]),
                    Some(_) if keeps => group.put(number - first, &part.trunk[layer / 2][here.clone()]),
                    Some(norm) => {
                        let input = &mut inputs[(number - first) * len..][..len];
                        part.activate(tower, layer - 1, norm, number, input);
                        group.put(number - first, input);
                    }
                }
                let (gradient, convolved) = (&self.gradients[layer % 2][here.clone()], &part.convolved[layer][here]);
                kernels.before_norm(gradient, convolved, lines.0.each_ref().map(|line| &line[..]), &mut board);
                group.put_gradient(number - first, &board);
            }
            group.add_outer(boards.len(), &mut sums.weights);
            let Some(norm) = before else { continue };
            group.multiply_back(boards.len());
            for number in boards {
                let here = number * len..(number + 1) * len;
                let input =
                    if keeps { &part.trunk[layer / 2][here.clone()] } else { &inputs[(number - first) * len..][..len] };
                let gradient = &mut self.gradients[(layer - 1) % 2][here];
                // Activations that were kept are a skip connection, whose gradient stands there already.
                if let Some(weights) = pool {
                    let bias = &self.bias[number * channels..][..channels];
                    let own = &part.pooled[layer][number * 3 * channels..][..3 * channels];
                    kernels.multiply(&ONE_ROW, bias, weights, None, &mut pooled);
                    kernels.pool_back(&tower.pool(), input, own, &pooled, gradient);
                } else if !keeps {
                    gradient.fill(0.0);
                }
                group.add_gradient(number - first, gradient);
                self.mask(layer - 1, number, norm, input, &mut sums.before);
            }
        }
        sums
    }
}

/// Adds up what the parts made, in their order.
fn sum_of<'a>(parts: impl Iterator<Item = &'a Vec<f32>>) -> Vec<f32> {
    let mut parts = parts.cloned();
    let mut sum = parts.next().unwrap_or_default();
    parts.for_each(|part| sum.iter_mut().zip(part).for_each(|(sum, value)| *sum += value));
    sum
}

/// Backward pass: `out` is what [`forward`] returned and `gradient` its gradient, which is spent.
pub fn backward(
    tower: &Tower,
    x: &[f32],
    parameters: &[f32],
    out: &[f32],
    gradient: &mut [f32],
    saved: &Saved,
) -> Gradients {
    let Tower { channels, .. } = *tower;
    let (input_len, len) = (tower.shape(0).input_len(), tower.len());
    assert!(out.len() == gradient.len() && out.len() / len * input_len == x.len(), "gradient of {tower:?}");
    let count = (out.len() / channels) as f64;
    let mut other = vec![0.0; if tower.blocks > 0 { gradient.len() } else { 0 }];
    let mut others = other.chunks_mut(PART * len);
    let mut parts: Vec<PartBack<'_>> = saved
        .parts
        .iter()
        .zip(x.chunks(PART * input_len))
        .zip(out.chunks(PART * len).zip(gradient.chunks_mut(PART * len)))
        .map(|((part, x), (out, gradient))| {
            let gradients = [gradient, others.next().unwrap_or_default()];
            PartBack { part, x, out, gradients, bias: vec![0.0; part.boards * channels] }
        })
        .collect();
    let (layers, norms) = (tower.split(parameters), &saved.norms);
    let last = layers.len() - 1;
    let sums: Vec<Vec<f64>> = parts.par_iter_mut().map(|part| part.mask_last(last, &norms[last])).collect();
    let mut sums = total(sums.iter(), 2 * channels);
    let mut gradients: Vec<Vec<f32>> = Vec::new();
    for (number, layer) in layers.iter().enumerate().rev() {
        let (lines, gamma) = Lines::new(&sums, count, layer, &norms[number]);
        let beta: Vec<f32> = sums[..channels].iter().map(|&v| v as f32).collect();
        let convolution = Convolution::backward(tower.shape(number), layer.weights, number > 0, tower.precision);
        let before = number.checked_sub(1).map(|before| &norms[before]);
        let pool = layer.pool.map(|[weights, _]| packed(weights, channels, true));
        let results: Vec<Sums> = parts
            .par_iter_mut()
            .map(|part| part.back(tower, number, &convolution, &lines, before, pool.as_ref()))
            .collect();
        sums = total(results.iter().map(|result| &result.before), 2 * channels);
        let mut gradient = convolution.weights_gradient(results.iter().map(|result| &result.weights));
        gradient.extend(gamma);
        gradient.extend_from_slice(&beta);
        if pool.is_some() {
            gradient.extend(sum_of(results.iter().map(|result| &result.pool)));
            // The pooled bias is added where the shift is.
            gradient.extend(beta);
        }
        gradients.push(gradient);
    }
    let bias = parts.into_iter().flat_map(|part| part.bias).collect();
    gradients.reverse();
    Gradients { bias, parameters: gradients.concat() }
}
