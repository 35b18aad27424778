//! A network's numbers as a whole: fresh ones from a seed, the average of two networks, how many there are.

use std::collections::BTreeMap;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param, RunningState};
use burn::tensor::{Device, Tensor};
use hnefi_inference::{NetworkConfig, WeightTensor, Weights};

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
        let trained = self.tensors().into_iter().filter(|tensor| !tensor.name.contains(".running_"));
        trained.map(|tensor| tensor.values.shape().num_elements()).sum()
    }

    /// The identity of every parameter and running statistic, by the path of fields that leads to it, such as
    /// `blocks.0.first.conv.weight`.
    pub fn parameter_ids(&self) -> BTreeMap<String, u64> {
        self.tensors().into_iter().map(|tensor| (tensor.name, tensor.id)).collect()
    }

    /// Every parameter and running statistic, in the order of the fields.
    pub(crate) fn tensors(&self) -> Vec<NamedTensor> {
        let mut list = Tensors::default();
        self.visit(&mut list);
        list.found
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
        let mut blend = Blend { others: other.valid().tensors().into_iter(), weight };
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

/// A parameter or running statistic.
pub(crate) struct NamedTensor {
    /// The path of fields that leads to it, such as `blocks.0.first.conv.weight`.
    pub name: String,
    id: u64,
    shape: Vec<usize>,
    values: Tensor<1>,
}

impl NamedTensor {
    /// Its name and numbers.
    ///
    /// # Errors
    /// When they cannot be read back from the device.
    pub fn read(self) -> Result<(String, WeightTensor), String> {
        match self.values.into_data().try_into_vec() {
            Ok(values) => Ok((self.name, WeightTensor { shape: self.shape, values })),
            Err(error) => Err(format!("{}: {error:?}", self.name)),
        }
    }
}

#[derive(Default)]
struct Tensors {
    found: Vec<NamedTensor>,
    path: Vec<String>,
}

impl ModuleVisitor for Tensors {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let (id, tensor) = (param.id.val(), param.val());
        let (name, shape) = (self.path.join("."), tensor.dims().to_vec());
        let values = tensor.reshape([shape.iter().product::<usize>()]);
        self.found.push(NamedTensor { name, id, shape, values });
    }
}

/// Moves every tensor towards the other network's.
struct Blend {
    others: std::vec::IntoIter<NamedTensor>,
    weight: f32,
}

impl ModuleMapper for Blend {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let other = self.others.next().expect("averaging with a smaller network");
        let weight = self.weight;
        param.map(|tensor| {
            let other = other.values.reshape(tensor.shape());
            tensor.mul_scalar(1.0 - weight) + other.mul_scalar(weight)
        })
    }
}
