//! The layer as one operation of burn: a backend extension for flex and its gradient.

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

use super::convolution::Shape;
use super::passes::{self, Saved};
use super::tensors::{into_contiguous, is_present, tensor, values};
use hnefi_inference::TrainPrecision;

/// Inputs of one fused layer, all on one flex device.
pub struct ConvNormInputs {
    /// Activations, `[B, N, N, cin]`.
    pub x: Tensor<4>,
    /// Convolution weights, `[cout, cin, 3, 3]`.
    pub weights: Tensor<4>,
    /// Scale of the normalisation, `[cout]`.
    pub gamma: Tensor<1>,
    /// Shift of the normalisation, `[cout]`.
    pub beta: Tensor<1>,
    /// Added before the ReLU, `[B, N, N, cout]`.
    pub skip: Option<Tensor<4>>,
    /// Added before the ReLU to every square, `[B, cout]`.
    pub bias: Option<Tensor<2>>,
    /// Added to the variance.
    pub epsilon: f64,
    /// What the convolution is computed in, forward and backward.
    pub precision: TrainPrecision,
}

/// Whether the fused layer runs on this device with these channel counts.
pub fn serves(device: &Device, side: usize, cin: usize, cout: usize) -> bool {
    Shape { batch: 1, side, cin, cout }.is_served()
        && matches!(device.clone().inner().as_dispatch(), DispatchDevice::Flex(_))
}

/// `relu(norm(conv(x)) + skip + bias)` with batch statistics: the activations `[B, N, N, cout]`, then the batch's mean
/// and (biased) variance per channel, `[2, cout]`, which carry no gradient.
///
/// # Panics
/// When [`serves`] says no to the device or the sizes.
pub fn conv_norm(inputs: ConvNormInputs) -> (Tensor<4>, Tensor<2>) {
    let device = inputs.x.device();
    // Absent inputs cross the dispatcher as tensors with one element: its macro knows no options.
    let skip = inputs.skip.unwrap_or_else(|| Tensor::zeros([1, 1, 1, 1], &device));
    let bias = inputs.bias.unwrap_or_else(|| Tensor::zeros([1, 1], &device));
    let (out, statistics) = Dispatch::conv_norm(
        inputs.x.into_dispatch(),
        inputs.weights.into_dispatch(),
        inputs.gamma.into_dispatch(),
        inputs.beta.into_dispatch(),
        skip.into_dispatch(),
        bias.into_dispatch(),
        LayerSettings { epsilon: inputs.epsilon, precision: inputs.precision },
    );
    (Tensor::from_dispatch(out), Tensor::from_dispatch(statistics))
}

/// How a layer computes.
#[derive(Clone, Copy, Debug)]
pub struct LayerSettings {
    /// See [`ConvNormInputs`].
    pub epsilon: f64,
    /// See [`ConvNormInputs`].
    pub precision: TrainPrecision,
}

/// What [`conv_norm`] dispatches to.
#[backend_extension(Flex, Autodiff)]
pub trait ConvNormOps: Backend {
    /// See [`conv_norm`].
    fn conv_norm(
        x: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        beta: FloatTensor<Self>,
        skip: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        settings: LayerSettings,
    ) -> (FloatTensor<Self>, FloatTensor<Self>);
}

/// The six tensors a layer reads, in the order of [`ConvNormOps::conv_norm`].
type Parents<B> = [FloatTensor<B>; 6];

/// The inner backend's halves, with what the forward pass saves.
pub trait ConvNormPasses: Backend {
    /// Activations, statistics, saved state.
    fn forward(parents: Parents<Self>, settings: LayerSettings) -> (FloatTensor<Self>, FloatTensor<Self>, Arc<Saved>);
    /// Gradients of the six inputs; `None` for one that was absent or is not wanted.
    fn backward(
        parents: Parents<Self>,
        out: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        saved: &Saved,
        wants_x: bool,
        precision: TrainPrecision,
    ) -> [Option<FloatTensor<Self>>; 6];
}

fn sizes(x: &FlexTensor, weights: &FlexTensor) -> Shape {
    let (x, weights) = (x.shape(), weights.shape());
    Shape { batch: x[0], side: x[1], cin: x[3], cout: weights[0] }
}

impl ConvNormOps for Flex {
    fn conv_norm(
        x: FlexTensor,
        weights: FlexTensor,
        gamma: FlexTensor,
        beta: FlexTensor,
        skip: FlexTensor,
        bias: FlexTensor,
        settings: LayerSettings,
    ) -> (FlexTensor, FlexTensor) {
        let (out, statistics, _) = <Flex as ConvNormPasses>::forward([x, weights, gamma, beta, skip, bias], settings);
        (out, statistics)
    }
}

impl ConvNormPasses for Flex {
    fn forward(parents: Parents<Self>, settings: LayerSettings) -> (FlexTensor, FlexTensor, Arc<Saved>) {
        let [x, weights, gamma, beta, skip, bias] = parents.map(|tensor| tensor.to_contiguous());
        let shape = sizes(&x, &weights);
        let (out, saved) = passes::forward(
            shape,
            values(&x),
            values(&weights),
            values(&gamma),
            values(&beta),
            is_present(&skip).then(|| values(&skip)),
            is_present(&bias).then(|| values(&bias)),
            settings.epsilon,
            settings.precision,
        );
        let statistics = saved.mean.iter().chain(&saved.variance).copied().collect();
        (
            tensor(out, [shape.batch, shape.side, shape.side, shape.cout]),
            tensor(statistics, [2, shape.cout]),
            Arc::new(saved),
        )
    }

    fn backward(
        parents: Parents<Self>,
        out: FlexTensor,
        gradient: FlexTensor,
        saved: &Saved,
        wants_x: bool,
        precision: TrainPrecision,
    ) -> [Option<FlexTensor>; 6] {
        let [x, weights, gamma, _, skip, bias] = parents.map(|tensor| tensor.to_contiguous());
        let out = out.to_contiguous();
        // In place where nobody else holds the gradient.
        let mut gradient = into_contiguous(gradient);
        let shape = sizes(&x, &weights);
        let gradients = passes::backward(
            shape,
            values(&x),
            values(&weights),
            values(&gamma),
            values(&out),
            gradient.storage_mut(),
            saved,
            wants_x,
            precision,
        );
        [
            wants_x.then(|| tensor(gradients.x, x.shape())),
            Some(tensor(gradients.weights, weights.shape())),
            Some(tensor(gradients.gamma, [shape.cout])),
            Some(tensor(gradients.beta, [shape.cout])),
            is_present(&skip).then_some(gradient),
            is_present(&bias).then(|| tensor(gradients.bias, [shape.batch, shape.cout])),
        ]
    }
}

impl<B: ConvNormOps + ConvNormPasses, C: CheckpointStrategy> ConvNormOps for Autodiff<B, C> {
    fn conv_norm(
        x: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        beta: FloatTensor<Self>,
        skip: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        settings: LayerSettings,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        #[derive(Debug)]
        struct ConvNormBackward;

        impl<B: ConvNormPasses> Backward<B, 6> for ConvNormBackward {
            type State = (Parents<B>, FloatTensor<B>, Arc<Saved>, TrainPrecision);

            fn backward(self, ops: Ops<Self::State, 6>, grads: &mut Gradients, _: &mut Checkpointer) {
                let gradient = grads.consume::<B>(&ops.node);
                let (parents, out, saved, precision) = ops.state;
                let wants_x = ops.parents[0].is_some();
                let gradients = B::backward(parents, out, gradient, &saved, wants_x, precision);
                for (parent, gradient) in ops.parents.into_iter().zip(gradients) {
                    if let (Some(parent), Some(gradient)) = (parent, gradient) {
                        grads.register::<B>(parent.id, gradient);
                    }
                }
            }
        }

        let ((x, n0), (weights, n1), (gamma, n2)) = (x.into_parts(), weights.into_parts(), gamma.into_parts());
        let ((beta, n3), (skip, n4), (bias, n5)) = (beta.into_parts(), skip.into_parts(), bias.into_parts());
        let parents = [x, weights, gamma, beta, skip, bias];
        let (out, statistics, saved) = B::forward(parents.clone(), settings);
        let statistics = <Self as AutodiffBackend>::from_inner(statistics);
        match ConvNormBackward.prepare::<C>([n0, n1, n2, n3, n4, n5]).compute_bound().stateful() {
            OpsKind::Tracked(step) => (step.finish((parents, out.clone(), saved, settings.precision), out), statistics),
            OpsKind::UnTracked(step) => (step.finish(out), statistics),
        }
    }
}
