//! A network of version 1 trained on: what it says in version 2.

#[path = "../inference/tests/random_play/mod.rs"]
mod random_play;

use std::path::Path;

use burn::tensor::Device;
use hnefi_engine::{Preset, Rules};
use hnefi_inference::encoding::global;
use hnefi_inference::{Checkpoint, Encoding, Features, NetworkConfig, RawOutputs};
use hnefi_models::Network;
use random_play::positions;

const SMALL: NetworkConfig = NetworkConfig {
    blocks: 2,
    channels: 8,
    pool_every: 2,
    head_channels: 8,
    value_hidden: 8,
    role_heads: true,
    destinations: true,
};

/// The largest difference of any output for these features on one board.
fn difference(one: (&Network, &Features), other: (&Network, &Features), preset: Preset) -> f32 {
    let outputs = |(network, features): (&Network, &Features)| {
        let RawOutputs { policy, wdl, moves_left, occupancy } =
            network.raw_outputs(std::slice::from_ref(features), preset.rules().size()).unwrap();
        [policy, wdl, moves_left, occupancy].concat()
    };
    outputs(one).iter().zip(outputs(other)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn it_says_what_it_said_in_the_middle_of_a_game() {
    let old =
        Network { encoding: Encoding::V1 { ply_caps: [100, 200, 500] }, ..Network::fresh(&SMALL, 1, &Device::flex()) };
    let new = old.clone().in_newest_encoding();
    assert_eq!((old.encoding.version(), new.encoding), (1, Encoding::NEWEST));
    for (preset, clock) in [(Preset::Brandubh, 0.14), (Preset::Tablut, 0.17), (Preset::Fetlar, 0.21)] {
        for position in positions(&Rules { ply_cap: 0, ..preset.rules() }, 5, 3) {
            let mut told = old.encoding.features(&position);
            told.globals[global::PLY_CLOCK] = clock;
            let now = new.encoding.features(&position);
            assert!(difference((&old, &told), (&new, &now), preset) < 1e-5, "{preset}: the caps go in exactly");
            told.globals[global::PLY_CAP] += 0.25;
            assert!(difference((&old, &told), (&new, &now), preset) > 1e-4, "the comparison sees the cap");
        }
    }
    let same = |a: &Network, b: &Network| assert_eq!(a.weights_bytes().unwrap(), b.weights_bytes().unwrap());
    same(&new.clone().in_newest_encoding(), &new);
}

/// How far trained networks' scores are from what they were, over whole games.
#[test]
fn trained_networks_keep_their_opinions() {
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("reference");
    for (name, preset) in [("brandubh-94-minutes", Preset::Brandubh), ("copenhagen-22-hours", Preset::Copenhagen)] {
        let checkpoint = Checkpoint::load(&reference.join(name)).unwrap();
        let old = Network::load(&checkpoint.weights, &Device::flex()).unwrap();
        assert_eq!(old.encoding.version(), 1, "{preset}");
        let new = old.clone().in_newest_encoding();
        let score = |network: &Network, features: &Features| {
            let wdl = network.raw_outputs(std::slice::from_ref(features), preset.rules().size()).unwrap().wdl;
            hnefi_inference::Wdl::from_logits([wdl[0], wdl[1], wdl[2]]).score()
        };
        let positions = positions(&preset.rules(), 40, 5);
        let apart = positions.iter().map(|position| {
            let [before, after] = [&old, &new].map(|network| score(network, &network.encoding.features(position)));
            (before - after).abs()
        });
        let mean = apart.sum::<f32>() / positions.len() as f32;
        println!("{preset}: {mean}");
        assert!(mean < 0.05, "{preset}: {mean}");
    }
}

#[test]
fn a_grown_network_keeps_its_encoding() {
    let old = Network { encoding: Encoding::FIRST, ..Network::fresh(&SMALL, 1, &Device::flex()) };
    let larger = NetworkConfig { channels: 16, ..SMALL };
    assert_eq!(old.grown(&SMALL, &larger, 2).unwrap().encoding, Encoding::FIRST);
}
