//! What a checkpoint keeps of a burn network.

use burn::tensor::{Device, Tensor};
use hnefi_inference::{Card, Checkpoint, GLOBALS, NetworkConfig, PLANES};
use hnefi_models::Network;
use tempfile::TempDir;

const TINY: NetworkConfig = NetworkConfig { blocks: 1, channels: 8, pool_every: 1, head_channels: 8, value_hidden: 8 };

#[test]
fn running_statistics_are_part_of_a_checkpoint() {
    let device = Device::flex().autodiff();
    let network = Network::fresh(&TINY, 1, &device);
    let fresh = network.checkpoint(Card::new(TINY)).unwrap();
    network.forward(Tensor::ones([4, PLANES, 7, 7], &device), Tensor::ones([4, GLOBALS], &device));
    let home = TempDir::new().unwrap();
    let used = network.checkpoint(Card::new(TINY)).unwrap();
    assert_ne!(used.card.id, fresh.card.id);
    used.save(&home.path().join("used")).unwrap();
    let read = Checkpoint::load(&home.path().join("used")).unwrap();
    let means = |checkpoint: &Checkpoint| checkpoint.weights.tensors()["stem.norm.running_mean"].values.clone();
    assert_eq!(means(&read), means(&used));
    assert_ne!(means(&read), means(&fresh));
}

#[test]
fn a_checkpoint_loaded_for_training_takes_gradients() {
    let device = Device::flex().autodiff();
    let checkpoint = Network::fresh(&TINY, 1, &Device::flex()).checkpoint(Card::new(TINY)).unwrap();
    let network = Network::load(&checkpoint.weights, &device).unwrap();
    let heads = network.forward(Tensor::ones([2, PLANES, 7, 7], &device), Tensor::ones([2, GLOBALS], &device));
    let gradients = heads.wdl.narrow(1, 0, 1).sum().backward();
    assert!(network.stem.conv.weight.val().grad(&gradients).is_some());
}
