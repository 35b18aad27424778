//! A network's weights between burn's modules and plain numbers.

use burn::module::Module;
use burn::store::{ModuleSnapshot, SafetensorsStore};
use burn::tensor::Device;
use hnefi_inference::{Card, Checkpoint, CheckpointError, Weights};

use crate::Network;
use crate::parameters::NamedTensor;

impl Network {
    /// The network with these weights, on `device`.
    ///
    /// # Errors
    /// When burn refuses them.
    pub fn load(weights: &Weights, device: &Device) -> Result<Network, CheckpointError> {
        let mut store = SafetensorsStore::from_bytes(Some(weights.to_safetensors()?));
        let mut network = Network::skeleton(weights.config(), device);
        network.load_from(&mut store).map_err(CheckpointError::unreadable)?;
        Ok(network.numbered())
    }

    /// The weights as they now are.
    ///
    /// # Errors
    /// When they cannot be read back from the device.
    pub fn weights(&self) -> Result<Weights, CheckpointError> {
        let tensors = self.valid().tensors().into_iter().map(NamedTensor::read).collect::<Result<_, _>>();
        Weights::new(&self.config(), tensors.map_err(CheckpointError::unwritable)?)
    }

    /// The checkpoint of the network, as it now is, with this card.
    ///
    /// # Errors
    /// When the weights cannot be read back from the device, or as for [`Checkpoint::new`].
    pub fn checkpoint(&self, card: Card) -> Result<Checkpoint, CheckpointError> {
        let pool_every = card.network.pool_every;
        let mut checkpoint = Checkpoint::new(card, self.weights()?)?;
        // Without a pooling block the layers do not tell how often there would be one.
        checkpoint.card.network.pool_every = pool_every;
        Ok(checkpoint)
    }
}

#[cfg(test)]
mod tests {
    use hnefi_inference::NetworkConfig;

    use super::*;

    /// The oracle is the network itself, as burn writes its tensors.
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
            let mut store = SafetensorsStore::from_bytes(None).clear_metadata().metadata("producer", "hnefi");
            network.valid().save_into(&mut store).unwrap();
            assert_eq!(store.get_bytes().unwrap(), weights.to_safetensors().unwrap(), "{config:?}");
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
