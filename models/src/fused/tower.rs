//! The residual tower as one operation of burn: a backend extension for flex and its gradient.

use std::sync::Arc;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{
    Autodiff, AutodiffBackend, Backend, Dispatch, DispatchDevice, Flex, TensorMetadata, backend_extension,
};
use burn::tensor::{Device, Tensor};

use super::backward::backward;
use super::convolution::Shape;
use super::passes::{Saved, Tower, forward};
use super::tensors::{into_contiguous, tensor, values};

/// Whether the operation runs on this device with these channel counts.
pub fn serves(device: &Device, side: usize, cin: usize, cout: usize) -> bool {
    Shape { side, cin, cout }.is_served() && matches!(device.clone().inner().as_dispatch(), DispatchDevice::Flex(_))
}

/// The tower's activations `[B, N, N, C]` with batch renormalisation, of inputs `x` `[B, N, N, planes]`, which get no
/// gradient, a bias `[B, C]` that the stem adds, and the parameters of all layers in turn: weights `[cout, cin, 3, 3]`,
/// scale and shift of the normalisation `[cout]`, and where the layer pools, the weights `[3 cout, cout]` and bias
/// `[cout]` of that. `running` has the running mean and variance of each layer, `[2 layers, C]`, without gradient. Then
/// the batch's mean and (biased) variance of each layer, `[2 layers, C]`, which carry no gradient.
///
/// # Panics
/// When [`serves`] says no to the device or the sizes, or lengths do not fit.
pub fn tower(
    tower: Tower,
    x: Tensor<4>,
    bias: Tensor<2>,
    parameters: Tensor<1>,
    running: Tensor<2>,
) -> (Tensor<4>, Tensor<2>) {
    let (out, statistics) = Dispatch::tower(
        x.into_dispatch(),
        bias.into_dispatch(),
        parameters.into_dispatch(),
        running.into_dispatch(),
        tower,
    );
    (Tensor::from_dispatch(out), Tensor::from_dispatch(statistics))
}

/// What [`tower`] dispatches to.
#[backend_extension(Flex, Autodiff)]
pub trait TowerOps: Backend {
    /// See [`tower`].
    fn tower(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        parameters: FloatTensor<Self>,
        running: FloatTensor<Self>,
        tower: Tower,
    ) -> (FloatTensor<Self>, FloatTensor<Self>);
}

/// The first three tensors that a tower reads, in the order of [`TowerOps::tower`].
type Parents = [FlexTensor; 3];

impl TowerOps for Flex {
    fn tower(
        x: FlexTensor,
        bias: FlexTensor,
        parameters: FlexTensor,
        running: FlexTensor,
        tower: Tower,
    ) -> (FlexTensor, FlexTensor) {
        let (out, statistics, _) = forward_pass([x, bias, parameters], running, tower);
        (out, statistics)
    }
}

/// Activations, statistics, saved state.
fn forward_pass(parents: Parents, running: FlexTensor, tower: Tower) -> (FlexTensor, FlexTensor, Arc<Saved>) {
    let [x, bias, parameters] = parents.map(|tensor| tensor.to_contiguous());
    let running = running.to_contiguous();
    let (out, saved) = forward(&tower, values(&x), values(&bias), values(&parameters), values(&running));
    let statistics: Vec<f32> =
        saved.norms.iter().flat_map(|norm| norm.mean.iter().chain(&norm.variance)).copied().collect();
    (
        tensor(out, [x.shape()[0], tower.side, tower.side, tower.channels]),
        tensor(statistics, [2 * tower.layers(), tower.channels]),
        Arc::new(saved),
    )
}

/// Gradients of the bias and the parameters.
fn backward_pass(
    parents: Parents,
    out: FlexTensor,
    gradient: FlexTensor,
    saved: &Saved,
    tower: Tower,
) -> [FlexTensor; 2] {
    let [x, bias, parameters] = parents.map(|tensor| tensor.to_contiguous());
    let out = out.to_contiguous();
    // In place where nobody else holds the gradient.
    let mut gradient = into_contiguous(gradient);
    let gradients = backward(&tower, values(&x), values(&parameters), values(&out), gradient.storage_mut(), saved);
    [tensor(gradients.bias, bias.shape()), tensor(gradients.parameters, parameters.shape())]
}

impl<C: CheckpointStrategy> TowerOps for Autodiff<Flex, C> {
    fn tower(
        x: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        parameters: FloatTensor<Self>,
        running: FloatTensor<Self>,
        tower: Tower,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        #[derive(Debug)]
        struct TowerBackward;

        impl Backward<Flex, 2> for TowerBackward {
            type State = (Parents, FlexTensor, Arc<Saved>, Tower);

            fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
                let gradient = grads.consume::<Flex>(&ops.node);
                let (parents, out, saved, tower) = ops.state;
                let gradients = backward_pass(parents, out, gradient, &saved, tower);
                for (parent, gradient) in ops.parents.into_iter().zip(gradients) {
                    if let Some(parent) = parent {
                        grads.register::<Flex>(parent.id, gradient);
                    }
                }
            }
        }

        let ((x, _), (bias, n0), (parameters, n1)) = (x.into_parts(), bias.into_parts(), parameters.into_parts());
        let parents = [x, bias, parameters];
        let (out, statistics, saved) = forward_pass(parents.clone(), running.into_parts().0, tower);
        let statistics = <Self as AutodiffBackend>::from_inner(statistics);
        match TowerBackward.prepare::<C>([n0, n1]).compute_bound().stateful() {
            OpsKind::Tracked(step) => (step.finish((parents, out.clone(), saved, tower), out), statistics),
            OpsKind::UnTracked(step) => (step.finish(out), statistics),
        }
    }
}
