//! Gradients as one vector: their norm over all parameters, scaling, and the mean of two halves of a batch.
//!
//! burn clips each tensor by its own norm, which changes the direction of the step; clipping by the norm over all of them
//! (Pascanu, Mikolov and Bengio 2013) keeps it.

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::Tensor;

/// Square of the norm over all gradients of `module`, `[1]`; `None` when it has no gradient at all. Left on the device, so
/// that it is read together with the losses.
pub(super) fn squared_norm<M: Module>(module: &M, gradients: &GradientsParams) -> Option<Tensor<1>> {
    struct Sum<'a> {
        gradients: &'a GradientsParams,
        sum: Option<Tensor<1>>,
    }
    impl ModuleVisitor for Sum<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if let Some(gradient) = self.gradients.get::<D>(param.id) {
                let square = gradient.square().sum().reshape([1]);
                self.sum = Some(match self.sum.take() {
                    Some(sum) => sum + square,
                    None => square,
                });
            }
        }
    }
    let mut visitor = Sum { gradients, sum: None };
    module.visit(&mut visitor);
    visitor.sum
}

/// Multiplies every gradient by `factor`.
pub(super) fn scale<M: Module>(module: &M, gradients: &mut GradientsParams, factor: f32) {
    struct Scale<'a> {
        gradients: &'a mut GradientsParams,
        factor: f32,
    }
    impl ModuleVisitor for Scale<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if let Some(gradient) = self.gradients.remove::<D>(param.id) {
                self.gradients.register(param.id, gradient * self.factor);
            }
        }
    }
    module.visit(&mut Scale { gradients, factor });
}

/// Adds the gradients of `other`, which belong to parameters of the same identities, to `gradients`.
pub(super) fn add<M: Module>(module: &M, gradients: &mut GradientsParams, other: GradientsParams) {
    struct Add<'a> {
        gradients: &'a mut GradientsParams,
        other: GradientsParams,
    }
    impl ModuleVisitor for Add<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let Some(theirs) = self.other.remove::<D>(param.id) else { return };
            let sum = match self.gradients.remove::<D>(param.id) {
                Some(ours) => ours + theirs,
                None => theirs,
            };
            self.gradients.register(param.id, sum);
        }
    }
    module.visit(&mut Add { gradients, other });
}
