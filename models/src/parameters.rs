//! A network's numbers as a whole: fresh ones from a seed, the average of two networks, how many there are.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Device, Tensor, TensorData};

use hnefi_inference::mixing::Sequence;
use hnefi_inference::{LAST_LAYER_SCALE, NetworkConfig, Weights, plane};

use crate::Network;

impl Network {
    /// Fresh random weights on `device`. They depend on the config and the seed alone
    /// ([`hnefi_inference::Weights::fresh`]), not on the device nor on what else draws random numbers in the process.
    pub fn fresh(config: &NetworkConfig, seed: u64, device: &Device) -> Network {
        Network::load(&Weights::fresh(config, seed), device).expect("weights of this very shape")
    }
}

/// Auxiliary heads with weights drawn from this seed, in the order of their fields.
pub(crate) fn fresh<M: Module>(layers: M, seed: u64) -> M {
    layers.map(&mut FreshWeights { sequence: Sequence::new(seed), path: Vec::new() })
}

impl Network {
    /// Number of trainable parameters; the running statistics of the normalisation are not counted.
    pub fn parameter_count(&self) -> usize {
        let mut count = ParameterCount { path: Vec::new(), total: 0 };
        self.visit(&mut count);
        count.total
    }

    /// The same with zero weights for the planes of [`plane::FEATURES`], whatever these hold; without autodiff.
    #[must_use]
    pub fn without_feature_inputs(&self) -> Network {
        let mut network = self.valid();
        let conv = &mut network.stem.conv;
        conv.weight = conv.weight.clone().map(|weight| {
            let [outputs, _, rows, columns] = weight.dims();
            let nothing = Tensor::zeros([outputs, 1, rows, columns], &weight.device());
            plane::FEATURES.iter().fold(weight, |weight, &plane| {
                weight.slice_assign([0..outputs, plane..plane + 1, 0..rows, 0..columns], nothing.clone())
            })
        });
        network
    }

    /// `(1 - weight) * self + weight * other` over every tensor, the running statistics of the normalisation too: one
    /// step of an exponential moving average towards `other`. Neither network is changed; the result is for evaluation
    /// (without autodiff).
    ///
    /// # Panics
    /// When the two have different shapes.
    #[must_use]
    pub fn average(&self, other: &Network, weight: f32) -> Network {
        // `valid` brings the running statistics up to date and gives the result statistics of its own: mapping a plain
        // clone would write into those of `self`, which clones share.
        let mut values = FlatTensors(Vec::new());
        other.valid().visit(&mut values);
        let mut blend = Blend { others: values.0.into_iter(), weight };
        let blended = self.valid().map(&mut blend);
        assert!(blend.others.next().is_none(), "averaging with a larger network");
        blended
    }
}

/// Last layers of auxiliary heads, by the field that leads to them.
const LAST_LAYERS: [&str; 3] = ["out", "captured", "ending"];

/// Draws weights in the order of the fields.
struct FreshWeights {
    sequence: Sequence,
    path: Vec<String>,
}

impl FreshWeights {
    fn in_last_layer(&self) -> bool {
        self.path.iter().any(|name| LAST_LAYERS.contains(&name.as_str()))
    }
}

impl ModuleMapper for FreshWeights {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let shape = param.lazy_shape();
        let values = match (self.path.last().map(String::as_str), D) {
            (Some("weight"), 2) => {
                // `[inputs, outputs]`
                let bound = self.bound(shape[0]);
                self.draw(shape.num_elements(), bound)
            }
            (Some("weight"), _) => {
                // `[outputs, inputs, height, width]`
                let bound = self.bound(shape.num_elements() / shape[0]);
                self.draw(shape.num_elements(), bound)
            }
            (Some("bias"), _) => vec![0.0; shape.num_elements()],
            // The normalisation begins as the identity.
            _ => return param,
        };
        let (id, device) = (param.id, param.lazy_device());
        param.transform_for_load(Tensor::from_data(TensorData::new(values, shape), &device), id)
    }
}

impl FreshWeights {
    fn bound(&self, inputs: usize) -> f32 {
        let bound = 1.0 / (inputs as f32).sqrt();
        if self.in_last_layer() { bound * LAST_LAYER_SCALE } else { bound }
    }

    fn draw(&mut self, count: usize, bound: f32) -> Vec<f32> {
        (0..count).map(|_| bound * (2.0 * self.sequence.next_unit() - 1.0)).collect()
    }
}

/// Counts what gradients reach.
struct ParameterCount {
    path: Vec<String>,
    total: usize,
}

impl ModuleVisitor for ParameterCount {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if !self.path.last().is_some_and(|name| name.starts_with("running_")) {
            self.total += param.lazy_shape().num_elements();
        }
    }
}

/// Every tensor of a network, flattened, in the order of its fields.
struct FlatTensors(Vec<Tensor<1>>);

impl ModuleVisitor for FlatTensors {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        let count = tensor.shape().num_elements();
        self.0.push(tensor.reshape([count]));
    }
}

/// Moves every tensor towards the other network's.
struct Blend {
    others: std::vec::IntoIter<Tensor<1>>,
    weight: f32,
}

impl ModuleMapper for Blend {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let other = self.others.next().expect("averaging with a smaller network");
        let weight = self.weight;
        param.map(|tensor| {
            let other = other.reshape(tensor.shape());
            tensor.mul_scalar(1.0 - weight) + other.mul_scalar(weight)
        })
    }
}
