//! Forward and backward passes of a layer that mixes the channels of each square alone, with weights for each role.
//!
//! Parts and the order of sums are as in [`super::passes`].

use rayon::prelude::*;

use super::passes::{PART, packed};
use crate::relu::reviving_gradient;
use hnefi_kernels::{Floats, Kernels, Outer, PANEL, Packed, Product};

/// Sizes of a layer.
#[derive(Clone, Copy, Debug)]
pub struct Layer {
    /// Squares of a board.
    pub squares: usize,
    /// Input channels.
    pub cin: usize,
    /// Output channels.
    pub cout: usize,
    /// Roles that have weights of their own, 1 or 2.
    pub roles: usize,
    /// Whether the layer ends in a ReLU, whose dead units come back (`crate::relu`), and has channels last; otherwise
    /// no ReLU and channels first.
    pub hidden: bool,
}

/// What a layer reads.
#[derive(Clone, Copy, Debug)]
pub struct Operands<'a> {
    /// `[B, squares, cin]`.
    pub x: &'a [f32],
    /// `[roles, cout, cin]`.
    pub weights: &'a [f32],
    /// `[roles, cout]`.
    pub bias: &'a [f32],
    /// `[B, cout]`.
    pub board_bias: Option<&'a [f32]>,
    /// `[B]`, 1 for the first role, 0 for the second.
    pub first_role: &'a [f32],
}

impl Operands<'_> {
    fn role(&self, layer: &Layer, board: usize) -> usize {
        usize::from(layer.roles > 1 && self.first_role[board] < 0.5)
    }

    /// A role's weights as a matrix from inputs to outputs; `back`, from outputs, padded to whole panels, to inputs.
    fn packed(&self, layer: &Layer, role: usize, back: bool) -> Packed {
        let Layer { cin, cout, .. } = *layer;
        packed(&self.weights[role * cout * cin..][..cout * cin], cin, !back)
    }

    fn check(&self, layer: &Layer) {
        let Layer { squares, cin, cout, roles, .. } = *layer;
        let batch = self.first_role.len();
        assert_eq!(self.x.len(), batch * squares * cin, "activations of {layer:?}");
        assert_eq!((self.weights.len(), self.bias.len()), (roles * cout * cin, roles * cout), "weights of {layer:?}");
        assert!(self.board_bias.is_none_or(|bias| bias.len() == batch * cout), "biases of {layer:?}");
    }
}

/// Gradients of the inputs.
pub struct Gradients {
    /// `[B, squares, cin]`; empty when not asked for.
    pub x: Vec<f32>,
    /// `[roles, cout, cin]`.
    pub weights: Vec<f32>,
    /// `[roles, cout]`.
    pub bias: Vec<f32>,
    /// `[B, cout]`.
    pub board_bias: Vec<f32>,
}

/// One product for one board.
fn product(rows: usize, relu: bool) -> Product {
    Product { matrices: 1, rows, left_step: 0, out_step: 0, relu }
}

/// The layer's outputs.
pub fn forward(layer: &Layer, operands: &Operands<'_>) -> Vec<f32> {
    operands.check(layer);
    let Layer { squares, cin, cout, roles, hidden } = *layer;
    let kernels = Kernels::best();
    let packed: Vec<Packed> = (0..roles).map(|role| operands.packed(layer, role, false)).collect();
    let padded = packed[0].columns();
    let (input_len, output_len) = (squares * cin, squares * cout);
    let mut out = vec![0.0; operands.first_role.len() * output_len];
    out.par_chunks_mut(PART * output_len).enumerate().for_each(|(part, out)| {
        let mut bias = vec![0.0; padded];
        let mut sums = Floats::zeros(squares * padded);
        for (index, out) in out.chunks_exact_mut(output_len).enumerate() {
            let board = part * PART + index;
            let role = operands.role(layer, board);
            bias[..cout].copy_from_slice(&operands.bias[role * cout..][..cout]);
            if let Some(own) = operands.board_bias {
                bias.iter_mut().zip(&own[board * cout..][..cout]).for_each(|(sum, own)| *sum += own);
            }
            let x = &operands.x[board * input_len..][..input_len];
            let product = product(squares, hidden);
            if hidden && padded == cout {
                kernels.multiply(&product, x, &packed[role], Some(&bias), out);
                continue;
            }
            kernels.multiply(&product, x, &packed[role], Some(&bias), &mut sums);
            if hidden {
                for (out, sums) in out.chunks_exact_mut(cout).zip(sums.chunks_exact(padded)) {
                    out.copy_from_slice(&sums[..cout]);
                }
            } else {
                for (channel, out) in out.chunks_exact_mut(squares).enumerate() {
                    out.iter_mut().zip(sums[channel..].iter().step_by(padded)).for_each(|(out, sum)| *out = *sum);
                }
            }
        }
    });
    out
}

/// What one part of the batch adds to the gradients of weights and biases.
struct Part {
    /// `[roles][cin][padded outputs]`.
    weights: Vec<f32>,
    /// `[roles, cout]`.
    bias: Vec<f64>,
}

/// The gradients, `out` being what [`forward`] returned and `gradient` its gradient.
pub fn backward(layer: &Layer, operands: &Operands<'_>, out: &[f32], gradient: &[f32], wants_x: bool) -> Gradients {
    operands.check(layer);
    let Layer { squares, cin, cout, roles, .. } = *layer;
    let (input_len, output_len, batch) = (squares * cin, squares * cout, operands.first_role.len());
    assert!(out.len() == batch * output_len && gradient.len() == out.len(), "gradient of {layer:?}");
    let padded = cout.next_multiple_of(PANEL);
    let transposed: Vec<Packed> = (0..roles).map(|role| operands.packed(layer, role, true)).collect();
    let mut x_gradient = vec![0.0; if wants_x { operands.x.len() } else { 0 }];
    let x_parts: Vec<&mut [f32]> = if wants_x {
        x_gradient.chunks_mut(PART * input_len).collect()
    } else {
        (0..batch.div_ceil(PART)).map(|_| Default::default()).collect()
    };
    let mut board_bias = vec![0.0; batch * cout];
    let parts: Vec<Part> = x_parts
        .into_par_iter()
        .zip(board_bias.par_chunks_mut(PART * cout))
        .enumerate()
        .map(|(number, (x_gradient, board_bias))| {
            let first = number * PART;
            let outs = [out, gradient].map(|all| &all[first * output_len..]);
            back_through_part(layer, operands, first, outs, &transposed, x_gradient, board_bias)
        })
        .collect();
    let (mut weights, mut bias) = (vec![0.0; roles * cout * cin], vec![0.0; roles * cout]);
    for part in &parts {
        bias.iter_mut().zip(&part.bias).for_each(|(sum, value)| *sum += value);
        for (at, weight) in weights.iter_mut().enumerate() {
            let (role, output, input) = (at / cin / cout, at / cin % cout, at % cin);
            *weight += part.weights[(role * cin + input) * padded + output];
        }
    }
    Gradients { x: x_gradient, weights, bias: bias.iter().map(|&v: &f64| v as f32).collect(), board_bias }
}

/// The boards of a part, from number `first` on; `outs` are the results and their gradients from there on.
fn back_through_part(
    layer: &Layer,
    operands: &Operands<'_>,
    first: usize,
    outs: [&[f32]; 2],
    transposed: &[Packed],
    x_gradient: &mut [f32],
    board_bias: &mut [f32],
) -> Part {
    let Layer { squares, cin, cout, roles, .. } = *layer;
    let (input_len, output_len) = (squares * cin, squares * cout);
    let (padded, columns) = (transposed[0].depth(), transposed[0].columns());
    let kernels = Kernels::best();
    let mut part = Part { weights: vec![0.0; roles * cin * padded], bias: vec![0.0; roles * cout] };
    let mut gradient = Floats::zeros(squares * padded);
    let mut sums = vec![0.0; 2 * padded];
    let mut wide = Floats::zeros(if columns == cin { 0 } else { squares * columns });
    let [out, out_gradient] = outs.map(|all| all.chunks_exact(output_len));
    let boards = out.zip(out_gradient).zip(board_bias.chunks_exact_mut(cout)).enumerate();
    let mut x_gradient = x_gradient.chunks_exact_mut(input_len);
    for (index, ((out, out_gradient), board_bias)) in boards {
        let role = operands.role(layer, first + index);
        let x = &operands.x[(first + index) * input_len..][..input_len];
        before_layer_end(layer, out, out_gradient, &mut gradient);
        kernels.moments(&gradient, &mut sums);
        board_bias.copy_from_slice(&sums[..cout]);
        let role_bias = part.bias[role * cout..][..cout].iter_mut().zip(&*board_bias);
        role_bias.for_each(|(sum, &value)| *sum += f64::from(value));
        let outer =
            Outer { matrices: 1, rows: squares, left_columns: cin, right_columns: padded, left_step: 0, right_step: 0 };
        kernels.add_outer(&outer, x, &gradient, &mut part.weights[role * cin * padded..][..cin * padded]);
        let Some(x_gradient) = x_gradient.next() else { continue };
        if columns == cin {
            kernels.multiply(&product(squares, false), &gradient, &transposed[role], None, x_gradient);
        } else {
            kernels.multiply(&product(squares, false), &gradient, &transposed[role], None, &mut wide);
            for (x_gradient, wide) in x_gradient.chunks_exact_mut(cin).zip(wide.chunks_exact(columns)) {
                x_gradient.copy_from_slice(&wide[..cin]);
            }
        }
    }
    part
}

/// One board's gradient before the ReLU, if there is one, with channels last and padded.
fn before_layer_end(layer: &Layer, out: &[f32], out_gradient: &[f32], gradient: &mut [f32]) {
    let padded = gradient.len() / layer.squares;
    if layer.hidden {
        let rows = out.chunks_exact(layer.cout).zip(out_gradient.chunks_exact(layer.cout));
        for (to, (out, from)) in gradient.chunks_exact_mut(padded).zip(rows) {
            for ((to, &out), &from) in to.iter_mut().zip(out).zip(from) {
                *to = reviving_gradient(out, from);
            }
        }
    } else {
        for (channel, from) in out_gradient.chunks_exact(layer.squares).enumerate() {
            gradient[channel..].iter_mut().step_by(padded).zip(from).for_each(|(to, from)| *to = *from);
        }
    }
}
