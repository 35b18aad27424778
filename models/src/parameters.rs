//! A network's numbers as a whole: fresh ones from a seed, the average of two networks, how many there are.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param, RunningState};
use burn::tensor::{Device, Tensor};
use hnefi_inference::{NetworkConfig, Weights};

use crate::Network;

impl Network {
    /// Fresh random weights on `device`. They depend on the config and the seed alone
    /// ([`hnefi_inference::Weights::fresh`]), not on the device nor on what else draws random numbers in the process.
    pub fn fresh(config: &NetworkConfig, seed: u64, device: &Device) -> Network {
        Network::load(&Weights::fresh(config, seed), device).expect("weights of this very shape")
    }

    /// The same network with ids counted from 0 in the order of its fields. burn draws ids at random and saves them
    /// with the numbers, so that equal networks would be saved as different bytes.
    pub(crate) fn numbered(self) -> Network {
        let mut ids = Numbering(0..);
        let mut network = self.map(&mut ids);
        let Network { stem, blocks, .. } = &mut network;
        let layers = blocks.iter_mut().flat_map(|block| [&mut block.first, &mut block.second]);
        for norm in std::iter::once(stem).chain(layers).map(|layer| &mut layer.norm) {
            for running in [&mut norm.running_mean, &mut norm.running_var] {
                // Mapping changes the numbers of running statistics, but not their ids.
                *running = RunningState::with_id(ids.next().into(), running.value());
            }
        }
        network
    }

    /// Number of trainable parameters; the running statistics of the normalisation are not counted.
    pub fn parameter_count(&self) -> usize {
        let mut count = ParameterCount { path: Vec::new(), total: 0 };
        self.visit(&mut count);
        count.total
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
        // clone would write into the statistics of `self`, which clones share.
        let mut values = FlatTensors(Vec::new());
        other.valid().visit(&mut values);
        let mut blend = Blend { others: values.0.into_iter(), weight };
        let blended = self.valid().map(&mut blend);
        assert!(blend.others.next().is_none(), "averaging with a larger network");
        blended
    }
}

/// Gives every parameter the next id.
struct Numbering(std::ops::RangeFrom<u64>);

impl Numbering {
    fn next(&mut self) -> u64 {
        self.0.next().expect("ids do not end")
    }
}

impl ModuleMapper for Numbering {
    fn map_float<const D: usize>(&mut self, mut param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.id = self.next().into();
        param
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
