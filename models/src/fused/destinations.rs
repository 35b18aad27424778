//! What the destinations of moves add to the policy, as one operation of burn.
//!
//! Only moves that stay on the board are computed, and only those with a gradient, the legal ones, are gone back
//! through.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, TensorMetadata, backend_extension};
use burn::tensor::Tensor;
use hnefi_inference::{PolicyIndex, policy_planes};
use rayon::prelude::*;

use super::passes::PART;
use super::tensors::{tensor, values};

/// For each move its plane at its origin: the product of `hidden` at the origin and `keys` at the destination. Both are
/// `[B, N, N, H]`, the result is `[B, 4 (N - 1), N, N]` and zero where a move would leave the board.
pub fn destinations(hidden: Tensor<4>, keys: Tensor<4>) -> Tensor<4> {
    Tensor::from_dispatch(Dispatch::destinations(hidden.into_dispatch(), keys.into_dispatch()))
}

/// What [`destinations`] dispatches to.
#[backend_extension(Flex, Autodiff)]
pub trait DestinationOps: Backend {
    /// See [`destinations`].
    fn destinations(hidden: FloatTensor<Self>, keys: FloatTensor<Self>) -> FloatTensor<Self>;
}

/// All moves that stay on a board of `side` squares a side: place in `[4 (N - 1), N, N]`, origin and destination.
fn moves(side: usize) -> Vec<[usize; 3]> {
    let places = PolicyIndex::all(side).enumerate();
    places.filter_map(|(at, place)| Some([at, place.square, place.destination(side)?])).collect()
}

fn dot(left: &[f32], right: &[f32]) -> f32 {
    let mut sums = [0.0; 16];
    let (left, right) = (left.chunks(16), right.chunks(16));
    for (left, right) in left.zip(right) {
        for (sum, (left, right)) in sums.iter_mut().zip(left.iter().zip(right)) {
            *sum += left * right;
        }
    }
    sums.iter().sum()
}

fn add_scaled(to: &mut [f32], from: &[f32], factor: f32) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * from);
}

impl DestinationOps for Flex {
    fn destinations(hidden: FlexTensor, keys: FlexTensor) -> FlexTensor {
        let [hidden, keys] = [hidden, keys].map(|tensor| tensor.to_contiguous());
        let shape = hidden.shape();
        let (batch, side, width) = (shape[0], shape[1], shape[3]);
        let (squares, moves) = (side * side, moves(side));
        let places = policy_planes(side) * squares;
        let mut out = vec![0.0; batch * places];
        let boards = out.par_chunks_mut(places).with_min_len(PART);
        let (hidden, keys) = (values(&hidden), values(&keys));
        boards.zip(hidden.par_chunks(squares * width)).zip(keys.par_chunks(squares * width)).for_each(
            |((out, hidden), keys)| {
                for &[place, from, to] in &moves {
                    out[place] = dot(&hidden[from * width..][..width], &keys[to * width..][..width]);
                }
            },
        );
        tensor(out, [batch, policy_planes(side), side, side])
    }
}

/// Gradients of both inputs of [`destinations`] from the gradient of its result.
fn destinations_back(hidden: FlexTensor, keys: FlexTensor, gradient: FlexTensor) -> [FlexTensor; 2] {
    let [hidden, keys, gradient] = [hidden, keys, gradient].map(|tensor| tensor.to_contiguous());
    let shape = hidden.shape();
    let (side, width) = (shape[1], shape[3]);
    let (squares, moves) = (side * side, moves(side));
    let (hidden_values, key_values) = (values(&hidden), values(&keys));
    let mut hidden_gradient = vec![0.0; hidden_values.len()];
    let mut key_gradient = vec![0.0; key_values.len()];
    let board = squares * width;
    hidden_gradient
        .par_chunks_mut(board)
        .with_min_len(PART)
        .zip(key_gradient.par_chunks_mut(board))
        .zip(hidden_values.par_chunks(board).zip(key_values.par_chunks(board)))
        .zip(values(&gradient).par_chunks(policy_planes(side) * squares))
        .for_each(|(((hidden_gradient, key_gradient), (hidden, keys)), gradient)| {
            for &[place, from, to] in &moves {
                let gradient = gradient[place];
                if gradient != 0.0 {
                    let (from, to) = (from * width..(from + 1) * width, to * width..(to + 1) * width);
                    add_scaled(&mut hidden_gradient[from.clone()], &keys[to.clone()], gradient);
                    add_scaled(&mut key_gradient[to], &hidden[from], gradient);
                }
            }
        });
    [tensor(hidden_gradient, hidden.shape()), tensor(key_gradient, keys.shape())]
}

impl<C: CheckpointStrategy> DestinationOps for Autodiff<Flex, C> {
    fn destinations(hidden: FloatTensor<Self>, keys: FloatTensor<Self>) -> FloatTensor<Self> {
        #[derive(Debug)]
        struct DestinationsBackward;

        impl Backward<Flex, 2> for DestinationsBackward {
            type State = [FlexTensor; 2];

            fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
                let gradient = grads.consume::<Flex>(&ops.node);
                let [hidden, keys] = ops.state;
                let gradients = destinations_back(hidden, keys, gradient);
                for (parent, gradient) in ops.parents.into_iter().zip(gradients) {
                    if let Some(parent) = parent {
                        grads.register::<Flex>(parent.id, gradient);
                    }
                }
            }
        }

        let ((hidden, n0), (keys, n1)) = (hidden.into_parts(), keys.into_parts());
        let out = Flex::destinations(hidden.clone(), keys.clone());
        match DestinationsBackward.prepare::<C>([n0, n1]).compute_bound().stateful() {
            OpsKind::Tracked(step) => step.finish([hidden, keys], out),
            OpsKind::UnTracked(step) => step.finish(out),
        }
    }
}
