//! Operations on all gradients of a network: norm, scaling, sum.
//!
//! burn clips each tensor by its own norm, which changes the direction of the step. Clipping by the norm over all
//! parameters (Pascanu, Mikolov and Bengio 2013) keeps it.

use std::collections::BTreeMap;

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use hnefi_models::Network;

/// Squared norm over all gradients of `module`, `[1]`, on the device; `None` without gradients.
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

/// Every gradient by the path of fields that leads to its parameter.
pub(super) fn by_name(network: &Network, gradients: &GradientsParams) -> Result<BTreeMap<String, Vec<f32>>, String> {
    struct ById<'a> {
        gradients: &'a GradientsParams,
        found: BTreeMap<u64, Result<Vec<f32>, String>>,
    }
    impl ModuleVisitor for ById<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if let Some(gradient) = self.gradients.get::<D>(param.id) {
                let values = gradient.into_data().try_into_vec::<f32>().map_err(|error| format!("{error:?}"));
                self.found.insert(param.id.val(), values);
            }
        }
    }
    let mut by_id = ById { gradients, found: BTreeMap::new() };
    network.visit(&mut by_id);
    let named = network.parameter_ids().into_iter().filter_map(|(name, id)| Some((name, by_id.found.remove(&id)?)));
    named.map(|(name, values)| Ok((name, values?))).collect()
}

/// Adds the gradients of `other`, for the same parameter ids, to `gradients`.
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

#[cfg(test)]
mod tests {
    use burn::nn::{Linear, LinearConfig};
    use burn::tensor::Device;

    use super::*;

    /// Two layers and the gradients of `3 a1 + 4 a2 + 12 b1`, where `a` and `b` are their weights.
    fn gradients() -> ([Linear; 2], GradientsParams) {
        let device = Device::flex().autodiff();
        let layers = [2, 1].map(|inputs| LinearConfig::new(inputs, 1).with_bias(false).init(&device));
        let input = |values: &[f32]| Tensor::<1>::from_floats(values, &device).reshape([1, values.len()]);
        let loss = layers[0].forward(input(&[3.0, 4.0])).sum() + layers[1].forward(input(&[12.0])).sum();
        let gradients = GradientsParams::from_grads(loss.backward(), &layers.to_vec());
        (layers, gradients)
    }

    fn values(layer: &Linear, gradients: &GradientsParams) -> Vec<f32> {
        gradients.get::<2>(layer.weight.id).unwrap().into_data().try_to_vec().unwrap()
    }

    #[test]
    fn the_norm_is_over_all_tensors() {
        let (layers, gradients) = gradients();
        let squared = squared_norm(&layers.to_vec(), &gradients).unwrap();
        // 3^2 + 4^2 + 12^2 = 13^2
        assert_eq!(squared.into_data().try_to_vec::<f32>().unwrap(), [169.0]);
    }

    #[test]
    fn scaling_keeps_the_direction() {
        let (layers, mut gradients) = gradients();
        scale(&layers.to_vec(), &mut gradients, 0.5);
        assert_eq!(values(&layers[0], &gradients), [1.5, 2.0]);
        assert_eq!(values(&layers[1], &gradients), [6.0]);
    }

    #[test]
    fn adding_twice_the_same() {
        let (layers, mut first) = gradients();
        let module = layers.to_vec();
        let device = Device::flex().autodiff();
        let loss = layers[0].forward(Tensor::<2>::ones([1, 2], &device)).sum();
        let second = GradientsParams::from_grads(loss.backward(), &module);
        add(&module, &mut first, second);
        assert_eq!(values(&layers[0], &first), [4.0, 5.0]);
        assert_eq!(values(&layers[1], &first), [12.0], "a tensor without a second gradient stays");
    }

    #[test]
    fn no_gradient_no_norm() {
        let (layers, _) = gradients();
        assert!(squared_norm(&layers.to_vec(), &GradientsParams::new()).is_none());
    }
}
