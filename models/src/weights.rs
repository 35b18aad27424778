//! A network's weights between burn's modules and plain numbers.

use std::collections::BTreeMap;

use burn::module::{Module, ModuleVisitor, Param};
use burn::store::{ModuleSnapshot, SafetensorsStore};
use burn::tensor::{Device, Tensor};
use hnefi_inference::{Card, Checkpoint, CheckpointError, WeightTensor, Weights};

use crate::Network;

impl Network {
    /// The network with these weights, on `device`.
    ///
    /// # Errors
    /// When burn refuses them.
    pub fn load(weights: &Weights, device: &Device) -> Result<Network, CheckpointError> {
        let unreadable = |problem: String| CheckpointError::Unreadable { problem };
        let mut store = SafetensorsStore::from_bytes(Some(weights.to_safetensors()?));
        let mut network = Network::skeleton(weights.config(), device);
        network.load_from(&mut store).map_err(|error| unreadable(error.to_string()))?;
        Ok(network.numbered())
    }

    /// The weights as they now are.
    ///
    /// # Errors
    /// When they cannot be read back from the device.
    pub fn weights(&self) -> Result<Weights, CheckpointError> {
        let mut tensors = Tensors { path: Vec::new(), found: Ok(BTreeMap::new()) };
        self.valid().visit(&mut tensors);
        Weights::new(&self.config(), tensors.found.map_err(|problem| CheckpointError::Unwritable { problem })?)
    }

    /// All weights as the bytes of a safetensors file.
    ///
    /// # Errors
    /// When they cannot be read back from the device.
    pub fn weights_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        // More than one metadata entry would be written in the random order of a hash map.
        let mut store = SafetensorsStore::from_bytes(None).clear_metadata().metadata("producer", "hnefi");
        let written = self.valid().save_into(&mut store).and_then(|()| store.get_bytes());
        written.map_err(|error| CheckpointError::Unwritable { problem: error.to_string() })
    }

    /// The checkpoint of the network, as it now is, with this card.
    ///
    /// # Errors
    /// When the weights cannot be read back from the device.
    pub fn checkpoint(&self, card: Card) -> Result<Checkpoint, CheckpointError> {
        let pool_every = card.network.pool_every;
        let mut checkpoint = Checkpoint::new(card, self.weights()?)?;
        // Without a pooling block the layers do not tell how often there would be one.
        checkpoint.card.network.pool_every = pool_every;
        Ok(checkpoint)
    }
}

/// Every tensor by the path of fields that leads to it.
struct Tensors {
    path: Vec<String>,
    found: Result<BTreeMap<String, WeightTensor>, String>,
}

impl ModuleVisitor for Tensors {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        let shape = tensor.dims().to_vec();
        match (tensor.into_data().try_into_vec::<f32>(), &mut self.found) {
            (Ok(values), Ok(found)) => drop(found.insert(self.path.join("."), WeightTensor { shape, values })),
            (Err(error), _) => self.found = Err(format!("{}: {error:?}", self.path.join("."))),
            (Ok(_), Err(_)) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use hnefi_inference::NetworkConfig;

    use super::*;

    /// The oracle is the network itself, as burn lists and writes its tensors.
    #[test]
    fn plain_weights_are_the_tensors_of_the_network() {
        let base = NetworkConfig { blocks: 3, channels: 6, pool_every: 2, head_channels: 5, value_hidden: 7 };
        for config in [
            base,
            NetworkConfig { pool_every: 0, ..base },
            NetworkConfig { blocks: 0, pool_every: 0, channels: 1, head_channels: 1, value_hidden: 1 },
        ] {
            let weights = Weights::fresh(&config, 5);
            let network = Network::load(&weights, &Device::flex()).unwrap();
            assert_eq!(network.weights().unwrap(), weights, "{config:?}");
            assert_eq!(network.weights_bytes().unwrap(), weights.to_safetensors().unwrap(), "{config:?}");
            assert_eq!(network.config(), config);
        }
    }

    #[test]
    fn the_normalisation_adds_the_same_to_variances() {
        let config = NetworkConfig { blocks: 0, channels: 4, pool_every: 0, head_channels: 4, value_hidden: 4 };
        let network = Network::fresh(&config, 0, &Device::flex());
        assert_eq!(network.stem.norm.epsilon, hnefi_inference::NORM_EPSILON);
    }
}
