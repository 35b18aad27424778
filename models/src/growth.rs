//! A larger network that says what a smaller one says, so that a run can go on with more room to learn.
//!
//! After Net2Net (arXiv 1511.05641), but the new channels are drawn at random instead of copied: everything the smaller
//! network has keeps its weights, and what it computes reads nothing new, since the weights from new inputs to old
//! outputs begin at zero. New blocks add nothing at first: their second normalisation scales by zero. All of these
//! zeros have a gradient from the first step on.

use std::collections::BTreeMap;

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{Tensor, TensorData};

use hnefi_inference::graph::{Graph, Op};
use hnefi_inference::{NetworkConfig, ShapeError, WeightTensor};

use crate::Network;

impl Network {
    /// This network, whose shape is `shape`, with the shape `larger`: what is new is drawn from `seed` and changes
    /// nothing of what the heads say, up to rounding. Without autodiff, and with the ids of a
    /// network of the new shape.
    ///
    /// # Errors
    /// When `larger` is not larger, see [`NetworkConfig::grows_to`].
    ///
    /// # Panics
    /// When `shape` is not the shape of this network.
    pub fn grown(&self, shape: &NetworkConfig, larger: &NetworkConfig, seed: u64) -> Result<Network, ShapeError> {
        shape.grows_to(larger)?;
        let device = self.globals.weight.device();
        let fresh = Network::fresh(larger, seed, &device);
        let smaller = self.valid();
        assert_eq!(smaller.stem.norm.gamma.dims(), [shape.channels], "shape of the network");
        Ok(smaller.placed_in(fresh))
    }

    /// The larger network `fresh` with this network's numbers where [`Network::grown`] puts them. The ids of the
    /// parameters are the ids of `fresh`. Also places what belongs to the parameters, such as an optimiser's moments,
    /// held in the tensors of a network: `fresh` is then all zeros.
    ///
    /// # Panics
    /// When a tensor of `fresh` is smaller than its counterpart here.
    #[must_use]
    pub fn placed_in(&self, fresh: Network) -> Network {
        let tensors = self.tensors().into_iter().map(|tensor| tensor.read().expect(READABLE)).collect();
        let graph = fresh.config().graph();
        fresh.map(&mut Growth { tensors, graph, path: Vec::new() })
    }
}

const READABLE: &str = "weights are f32 on a device that works";

/// Puts the smaller network's tensors into the tensors of a fresh larger one.
struct Growth {
    tensors: BTreeMap<String, WeightTensor>,
    /// The larger network.
    graph: Graph,
    path: Vec<String>,
}

impl ModuleMapper for Growth {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|tensor| {
            let device = tensor.device();
            let (shape, values) = (tensor.dims().to_vec(), tensor.into_data().try_into_vec().expect(READABLE));
            let mut fresh = WeightTensor { shape, values };
            self.fill(&mut fresh);
            Tensor::from_data(TensorData::new(fresh.values, fresh.shape), &device)
        })
    }
}

impl Growth {
    /// What a fresh tensor at the present path has to be.
    fn fill(&self, fresh: &mut WeightTensor) {
        let path = self.path.join(".");
        let layer = self.graph.layer_of(&path).expect("every tensor is a layer's");
        let Some(old) = self.tensors.get(&path) else {
            // A new block, or pooling that an old block had not, adds nothing at first: its normalisation scales by
            // zero, or its weights are zero.
            let scales = !matches!(layer.op, Op::ConvNorm { .. }) || path.ends_with("gamma");
            if scales && self.graph.is_added(layer) {
                fresh.values.fill(0.0);
            }
            return;
        };
        let [inputs, outputs, old_inputs, old_outputs, taps] = match (fresh.shape.as_slice(), old.shape.as_slice()) {
            // Convolutions are `[outputs, inputs, height, width]`, linear layers `[inputs, outputs]`.
            (&[outputs, inputs, height, width], &[old_outputs, old_inputs, _, _]) => {
                [inputs, outputs, old_inputs, old_outputs, height * width]
            }
            (&[inputs, outputs], &[old_inputs, old_outputs]) => [inputs, outputs, old_inputs, old_outputs, 1],
            _ => {
                fresh.values[..old.values.len()].copy_from_slice(&old.values);
                return;
            }
        };
        let groups = if self.graph.reads_pooled(layer) { 3 } else { 1 };
        let (width, old_width) = (inputs / groups, old_inputs / groups);
        let linear = fresh.shape.len() == 2;
        if self.graph.is_multiplied(layer) {
            // Its outputs are multiplied by hidden channels, of which the new ones are not zero.
            fresh.values[old_outputs * inputs * taps..].fill(0.0);
        }
        for output in 0..old_outputs {
            for input in 0..inputs {
                let (group, channel) = (input / width, input % width);
                let old_input = group * old_width + channel;
                let (at, from) = if linear {
                    (input * outputs + output, old_input * old_outputs + output)
                } else {
                    ((output * inputs + input) * taps, (output * old_inputs + old_input) * taps)
                };
                let place = &mut fresh.values[at..at + taps];
                if channel < old_width {
                    place.copy_from_slice(&old.values[from..from + taps]);
                } else {
                    place.fill(0.0);
                }
            }
        }
    }
}
