//! Global pooling as one operation: mean, mean scaled by the board's size, and maximum over the squares.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, TensorMetadata, backend_extension};
use burn::tensor::Tensor;
use rayon::prelude::*;

use super::tensors::{tensor, values};
use hnefi_kernels::{Kernels, PANEL, Pool};

/// Pools `[B, N, N, C]` to `[B, 3C]` as [`crate::Network::forward`] does; on flex, for channels that
/// [`serves_channels`].
pub(super) fn global_pool(x: Tensor<4>) -> Tensor<2> {
    Tensor::from_dispatch(Dispatch::global_pool(x.into_dispatch()))
}

/// Whether the operation has kernels for this number of channels.
pub(super) fn serves_channels(channels: usize) -> bool {
    channels > 0 && channels.is_multiple_of(PANEL)
}

/// What [`global_pool`] dispatches to.
#[backend_extension(Flex, Autodiff)]
pub trait GlobalPoolOps: Backend {
    /// See [`global_pool`].
    fn global_pool(x: FloatTensor<Self>) -> FloatTensor<Self>;
}

/// How one board of a tensor `[B, N, N, C]` lies in memory, and its length.
fn board(x: &FlexTensor) -> (Pool, usize) {
    let shape = x.shape();
    let (side, channels) = (shape[1], shape[3]);
    (Pool { side, row_step: side * channels, channels }, side * side * channels)
}

impl GlobalPoolOps for Flex {
    fn global_pool(x: FlexTensor) -> FlexTensor {
        let x = x.to_contiguous();
        let (pool, len) = board(&x);
        let batch = x.shape()[0];
        let mut pooled = vec![0.0; batch * 3 * pool.channels];
        let boards = values(&x).par_chunks_exact(len);
        let kernels = Kernels::best();
        pooled
            .par_chunks_exact_mut(3 * pool.channels)
            .zip(boards)
            .for_each(|(pooled, x)| kernels.pool(&pool, x, pooled));
        tensor(pooled, [batch, 3 * pool.channels])
    }
}

/// From the input, the result and its gradient to the gradient of the input.
fn global_pool_back(x: FlexTensor, pooled: FlexTensor, gradient: FlexTensor) -> FlexTensor {
    let [x, pooled, gradient] = [x, pooled, gradient].map(|tensor| tensor.to_contiguous());
    let (pool, len) = board(&x);
    let mut out = vec![0.0; values(&x).len()];
    let rows = values(&pooled).par_chunks_exact(3 * pool.channels);
    let rows = rows.zip(values(&gradient).par_chunks_exact(3 * pool.channels));
    let boards = out.par_chunks_exact_mut(len).zip(values(&x).par_chunks_exact(len));
    let kernels = Kernels::best();
    boards.zip(rows).for_each(|((out, x), (pooled, gradient))| kernels.pool_back(&pool, x, pooled, gradient, out));
    tensor(out, x.shape())
}

impl<C: CheckpointStrategy> GlobalPoolOps for Autodiff<Flex, C> {
    fn global_pool(x: FloatTensor<Self>) -> FloatTensor<Self> {
        #[derive(Debug)]
        struct GlobalPoolBackward;

        impl Backward<Flex, 1> for GlobalPoolBackward {
            type State = (FlexTensor, FlexTensor);

            fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
                let gradient = grads.consume::<Flex>(&ops.node);
                let ((x, pooled), [parent]) = (ops.state, ops.parents);
                if let Some(parent) = parent {
                    grads.register::<Flex>(parent.id, global_pool_back(x, pooled, gradient));
                }
            }
        }

        let (x, node) = x.into_parts();
        let pooled = Flex::global_pool(x.clone());
        match GlobalPoolBackward.prepare::<C>([node]).compute_bound().stateful() {
            OpsKind::Tracked(step) => step.finish((x, pooled.clone()), pooled),
            OpsKind::UnTracked(step) => step.finish(pooled),
        }
    }
}
