//! A network's card and its weights.

use std::path::Path;
use std::sync::Arc;

use hnefi_engine::{MoveList, Position, Preset};
use hnefi_inference::{
    Card, Checkpoint, CpuEvaluator, CpuNetwork, EvalRequest, Evaluations, Evaluator, Handicap, NetworkConfig, Weights,
};
use sha2::{Digest, Sha256};

use crate::within;

/// Numbers that the weights of a network may have to be set to work.
const MOST_NUMBERS: usize = 1 << 18;

/// A card (its length in two bytes comes first) and the weights behind it, under whose hash the card is put: what is
/// read is written and read as the same, and a network of it answers with numbers or an error.
pub fn checkpoint(input: &[u8]) {
    let Some((&length, rest)) = input.split_first_chunk::<2>() else { return };
    let (text, weights) = rest.split_at(usize::from(u16::from_le_bytes(length)).min(rest.len()));
    let place = Path::new("a checkpoint");
    let Ok(mut card) = within((1 << 20) + 100 * text.len(), || Card::from_json(text, place)) else { return };
    let copy = Card::from_json(card.to_json().as_bytes(), place).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(copy, card);
    card.id = Sha256::digest(weights).iter().map(|byte| format!("{byte:02x}")).collect();
    // The names of the tensors that a card promises take memory of their own.
    let names = 1000 * (20 + 20 * card.network.blocks);
    let read = || Checkpoint::from_parts(card, weights, place);
    let Ok(checkpoint) = within((1 << 20) + names + 40 * weights.len(), read) else { return };
    let written =
        Checkpoint::new(checkpoint.card.clone(), checkpoint.weights.clone()).unwrap_or_else(|error| panic!("{error}"));
    let [(_, bytes), (_, card)] = written.parts().unwrap_or_else(|error| panic!("{error}"));
    let card = Card::from_json(&card, place).unwrap_or_else(|error| panic!("{error}"));
    let read = Checkpoint::from_parts(card, &bytes, place).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read.parts().map(|[(_, bytes), _]| bytes).ok(), Some(bytes));
    if read.weights.tensors().values().map(|tensor| tensor.values.len()).sum::<usize>() <= MOST_NUMBERS {
        evaluate(&read.weights);
    }
}

/// Asks the network about a position on every board.
fn evaluate(weights: &Weights) {
    let Ok(network) = CpuNetwork::new(weights) else { return };
    let mut evaluator = CpuEvaluator::new(Arc::new(network));
    let mut evaluations = Evaluations::new();
    for preset in [Preset::Brandubh, Preset::Tablut, Preset::Copenhagen] {
        let position = Position::start(&preset.rules());
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        let request = EvalRequest { position: &position, moves: &moves, handicap: Handicap::NONE, auxiliary: true };
        if evaluator.evaluate(&[request], &mut evaluations).is_ok() {
            let wdl = evaluations.get(0).wdl;
            assert!([wdl.win, wdl.draw, wdl.loss].iter().all(|chance| (0.0..=1.0).contains(chance)), "{wdl:?}");
            assert!(evaluations.priors(0).iter().all(|prior| (0.0..=1.001).contains(prior)));
        }
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    let smallest = NetworkConfig { blocks: 0, channels: 1, pool_every: 0, head_channels: 1, value_hidden: 1 };
    let configs = [smallest, NetworkConfig { blocks: 2, channels: 2, pool_every: 2, ..smallest }];
    let mut seeds = Vec::new();
    for config in configs {
        let mut card = Card::new(config);
        card.rulesets = vec!["brandubh".to_owned()];
        card.parent = Some("0123".to_owned());
        let checkpoint = Checkpoint::new(card, Weights::fresh(&config, 1)).expect("a checkpoint");
        let [(_, weights), (_, card)] = checkpoint.parts().expect("its files");
        // Without the checksum, which no fuzzer would guess, a card is read too.
        let mut plain: serde_json::Value = serde_json::from_slice(&card).expect("JSON");
        plain.as_object_mut().expect("an object").remove("crc32c");
        for card in [card, plain.to_string().into_bytes()] {
            seeds.push([&(card.len() as u16).to_le_bytes(), card.as_slice(), weights.as_slice()].concat());
        }
    }
    seeds
}
