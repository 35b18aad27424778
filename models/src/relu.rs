//! A ReLU whose dead units come back.
//!
//! A unit that is zero on every square of every position has no gradient, so that a plain ReLU never wakes it. The
//! heads have no normalisation, and nearly all units of the policy died in the first hundreds of steps
//! (docs/RESULTS.md). So a gradient that would raise a unit above zero reaches it weakened, as if the ReLU were
//! leaky in this direction.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::Tensor;
use burn::tensor::activation::relu;

/// The part of a gradient that reaches a unit that is zero, if it would raise it.
const REVIVAL: f32 = 0.1;

/// The gradient before a ReLU that gave `out`, from the gradient behind it.
pub(crate) fn reviving_gradient(out: f32, gradient: f32) -> f32 {
    // Both are computed in any case, so that the compiler needs no branch.
    let revival = REVIVAL * gradient.min(0.0);
    if out > 0.0 { gradient } else { revival }
}

/// The ReLU; in training with the gradient of [`reviving_gradient`].
pub(crate) fn reviving_relu(x: Tensor<4>) -> Tensor<4> {
    if !x.device().is_autodiff() {
        return relu(x);
    }
    Tensor::from_dispatch(Dispatch::reviving_relu(x.into_dispatch()))
}

/// What [`reviving_relu`] dispatches to.
#[backend_extension(Flex, Autodiff)]
pub trait RevivingRelu: Backend {
    /// See [`reviving_relu`].
    fn reviving_relu(x: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::relu(x)
    }
}

impl RevivingRelu for Flex {}

impl<B: RevivingRelu, C: CheckpointStrategy> RevivingRelu for Autodiff<B, C> {
    fn reviving_relu(x: FloatTensor<Self>) -> FloatTensor<Self> {
        #[derive(Debug)]
        struct ReluBackward;

        impl<B: RevivingRelu> Backward<B, 1> for ReluBackward {
            type State = FloatTensor<B>;

            fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
                let gradient = grads.consume::<B>(&ops.node);
                let [parent] = ops.parents;
                let Some(parent) = parent else { return };
                let through = B::relu_backward(ops.state.clone(), gradient.clone());
                // What does not go through is at units that are zero.
                let stopped = B::float_sub(gradient, through.clone());
                let revival = B::float_mul_scalar(B::float_clamp_max(stopped, 0f32.into()), REVIVAL.into());
                grads.register::<B>(parent.id, B::float_add(through, revival));
            }
        }

        let (x, node) = x.into_parts();
        let out = B::reviving_relu(x);
        match ReluBackward.prepare::<C>([node]).compute_bound().stateful() {
            OpsKind::Tracked(step) => step.finish(out.clone(), out),
            OpsKind::UnTracked(step) => step.finish(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;

    #[test]
    fn a_gradient_that_would_raise_a_dead_unit_reaches_it() {
        let device = Device::flex().autodiff();
        let of = |values: [f32; 6]| Tensor::<4>::from_data([[[values]]], &device);
        let x = of([-1.0, 0.0, 2.0, -3.0, 0.0, 4.0]).require_grad();
        let out = reviving_relu(x.clone());
        let gradients = (out.clone() * of([-1.0, -2.0, -3.0, 1.0, 2.0, 3.0])).sum().backward();
        let numbers = |tensor: Tensor<4>| tensor.into_data().try_to_vec::<f32>().unwrap();
        assert_eq!(numbers(out.inner()), [0.0, 0.0, 2.0, 0.0, 0.0, 4.0]);
        assert_eq!(numbers(x.grad(&gradients).unwrap()), [-0.1, -0.2, -3.0, 0.0, 0.0, 3.0]);
    }
}
