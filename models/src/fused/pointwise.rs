//! The heads' 1x1 convolutions as one operation of burn, each board by the weights of the role that is to move.
//!
//! By burn's own layers every board would go through both roles' heads, of which one is thrown away.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, TensorMetadata, backend_extension};
use burn::tensor::Tensor;

use super::squares::{self, Layer, Operands};
use super::tensors::{is_present, tensor, values};

/// Inputs of the operation, all on one flex device.
pub struct PointwiseInputs {
    /// Activations, `[B, N, N, cin]`.
    pub x: Tensor<4>,
    /// Weights of every role, `[roles, cout, cin]`.
    pub weights: Tensor<3>,
    /// Biases of every role, `[roles, cout]`.
    pub bias: Tensor<2>,
    /// Added to every square, `[B, cout]`.
    pub board_bias: Option<Tensor<2>>,
    /// 1 where a board goes by the first role and 0 where by the second, `[B]`; carries no gradient. Not looked at
    /// where there is one role.
    pub first_role: Tensor<1>,
    /// Whether this is a hidden layer, which ends in a ReLU, or an output, which has channels first.
    pub hidden: bool,
}

/// `relu(x weightsᵀ + bias + board bias)`, `[B, N, N, cout]`, for a hidden layer; for an output without the ReLU and
/// channels first, `[B, cout, N, N]`.
pub fn pointwise(inputs: PointwiseInputs) -> Tensor<4> {
    let device = inputs.x.device();
    // An absent input crosses the dispatcher as a tensor with one element: its macro knows no options.
    let board_bias = inputs.board_bias.unwrap_or_else(|| Tensor::zeros([1, 1], &device));
    Tensor::from_dispatch(Dispatch::pointwise(
        inputs.x.into_dispatch(),
        inputs.weights.into_dispatch(),
        inputs.bias.into_dispatch(),
        board_bias.into_dispatch(),
        inputs.first_role.into_dispatch(),
        inputs.hidden,
    ))
}

/// What [`pointwise`] dispatches to.
#[backend_extension(Flex, Autodiff)]
pub trait PointwiseOps: Backend {
    /// See [`pointwise`].
    fn pointwise(
        x: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        board_bias: FloatTensor<Self>,
        first_role: FloatTensor<Self>,
        hidden: bool,
    ) -> FloatTensor<Self>;
}

/// The five tensors a layer reads, in the order of [`PointwiseOps::pointwise`].
type Parents = [FlexTensor; 5];

/// The layer that tensors describe, and what it reads.
fn layer(parents: &Parents, hidden: bool) -> (Layer, Operands<'_>) {
    let [x, weights, bias, board_bias, first_role] = parents;
    let (shape, weight_shape) = (x.shape(), weights.shape());
    let layer =
        Layer { squares: shape[1] * shape[2], cin: shape[3], cout: weight_shape[1], roles: weight_shape[0], hidden };
    let operands = Operands {
        x: values(x),
        weights: values(weights),
        bias: values(bias),
        board_bias: is_present(board_bias).then(|| values(board_bias)),
        first_role: values(first_role),
    };
    (layer, operands)
}

impl PointwiseOps for Flex {
    fn pointwise(
        x: FlexTensor,
        weights: FlexTensor,
        bias: FlexTensor,
        board_bias: FlexTensor,
        first_role: FlexTensor,
        hidden: bool,
    ) -> FlexTensor {
        let parents = [x, weights, bias, board_bias, first_role].map(|tensor| tensor.to_contiguous());
        let (layer, operands) = layer(&parents, hidden);
        let out = squares::forward(&layer, &operands);
        let shape = parents[0].shape();
        let (batch, side) = (shape[0], shape[1]);
        tensor(out, if hidden { [batch, side, side, layer.cout] } else { [batch, layer.cout, side, side] })
    }
}

/// Gradients of the first four inputs from the result and its gradient; `None` for one that was absent or is not
/// wanted.
fn pointwise_back(
    parents: Parents,
    out: FlexTensor,
    gradient: FlexTensor,
    hidden: bool,
    wants_x: bool,
) -> [Option<FlexTensor>; 4] {
    let parents = parents.map(|tensor| tensor.to_contiguous());
    let (out, gradient) = (out.to_contiguous(), gradient.to_contiguous());
    let (layer, operands) = layer(&parents, hidden);
    let gradients = squares::backward(&layer, &operands, values(&out), values(&gradient), wants_x);
    let [x, weights, bias, board_bias, _] = &parents;
    [
        wants_x.then(|| tensor(gradients.x, x.shape())),
        Some(tensor(gradients.weights, weights.shape())),
        Some(tensor(gradients.bias, bias.shape())),
        is_present(board_bias).then(|| tensor(gradients.board_bias, board_bias.shape())),
    ]
}

impl<C: CheckpointStrategy> PointwiseOps for Autodiff<Flex, C> {
    fn pointwise(
        x: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        board_bias: FloatTensor<Self>,
        first_role: FloatTensor<Self>,
        hidden: bool,
    ) -> FloatTensor<Self> {
        #[derive(Debug)]
        struct PointwiseBackward;

        impl Backward<Flex, 4> for PointwiseBackward {
            type State = (Parents, FlexTensor, bool);

            fn backward(self, ops: Ops<Self::State, 4>, grads: &mut Gradients, _: &mut Checkpointer) {
                let gradient = grads.consume::<Flex>(&ops.node);
                let (parents, out, hidden) = ops.state;
                let wants_x = ops.parents[0].is_some();
                let gradients = pointwise_back(parents, out, gradient, hidden, wants_x);
                for (parent, gradient) in ops.parents.into_iter().zip(gradients) {
                    if let (Some(parent), Some(gradient)) = (parent, gradient) {
                        grads.register::<Flex>(parent.id, gradient);
                    }
                }
            }
        }

        let ((x, n0), (weights, n1), (bias, n2)) = (x.into_parts(), weights.into_parts(), bias.into_parts());
        let ((board_bias, n3), (first_role, _)) = (board_bias.into_parts(), first_role.into_parts());
        let parents = [x, weights, bias, board_bias, first_role];
        let [x, weights, bias, board_bias, first_role] = parents.clone();
        let out = Flex::pointwise(x, weights, bias, board_bias, first_role, hidden);
        match PointwiseBackward.prepare::<C>([n0, n1, n2, n3]).compute_bound().stateful() {
            OpsKind::Tracked(step) => step.finish((parents, out.clone(), hidden), out),
            OpsKind::UnTracked(step) => step.finish(out),
        }
    }
}
