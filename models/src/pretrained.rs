//! Checkpoints that travel inside the program.
//!
//! The build script embeds every folder under `models/pretrained/`; a clone without any builds all the same.

use std::path::Path;

use burn::tensor::Device;

use crate::{Card, Checkpoint, CheckpointError};

/// One embedded checkpoint folder.
struct Embedded {
    name: &'static str,
    card: &'static str,
    weights: &'static [u8],
}

// `static EMBEDDED: &[Embedded]`, sorted by name.
include!(concat!(env!("OUT_DIR"), "/pretrained.rs"));

/// Names of the embedded checkpoints, sorted.
pub fn pretrained_names() -> Vec<&'static str> {
    EMBEDDED.iter().map(|embedded| embedded.name).collect()
}

/// The embedded checkpoint of that name on burn's CPU device, `None` if there is none.
///
/// # Errors
/// When it was made with another encoding or network, which the tests rule out for a released program.
pub fn pretrained(name: &str) -> Option<Result<Checkpoint, CheckpointError>> {
    let embedded = EMBEDDED.iter().find(|embedded| embedded.name == name)?;
    let source = Path::new("pretrained").join(embedded.name);
    Some(Card::from_json(embedded.card.as_bytes(), &source.join("card.json")).and_then(|card| {
        Checkpoint::from_parts(card, embedded.weights, &source.join("model.safetensors"), &Device::flex())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_checkpoint_loads() {
        for name in pretrained_names() {
            let checkpoint = pretrained(name).expect("a listed name").unwrap_or_else(|error| panic!("{error}"));
            assert!(!checkpoint.card.rulesets.is_empty(), "{name}: the card names no ruleset");
        }
    }

    #[test]
    fn an_unknown_name_is_none() {
        assert!(pretrained("no such checkpoint").is_none());
    }
}
