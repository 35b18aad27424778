//! Checks of a run's checkpoints.

use std::path::Path;

use hnefi_inference::{CARD_FILE, Card, WEIGHTS_FILE};

use super::{Store, StoreError, checkpoint_key};

/// Reads a checkpoint and checks its weights against its card, without building a network. Returns the card, or a text
/// with the problem.
///
/// # Errors
/// When the store cannot be read.
pub fn check_checkpoint(store: &Store, generation: u32) -> Result<Result<Card, String>, StoreError> {
    let folder = checkpoint_key(generation);
    let read = |file: &str| {
        let key = format!("{folder}/{file}");
        match store.get(&key) {
            Ok(bytes) => Ok(Ok((bytes, store.name(&key)))),
            Err(damage @ (StoreError::Missing { .. } | StoreError::Unfit { .. })) => Ok(Err(damage.to_string())),
            Err(error) => Err(error),
        }
    };
    let (card, weights) = (read(CARD_FILE)?, read(WEIGHTS_FILE)?);
    let check = || {
        let ((card, card_name), (weights, weights_name)) = (card?, weights?);
        let card = Card::from_json(&card, Path::new(&card_name)).map_err(|error| error.to_string())?;
        card.check_weights(&weights, Path::new(&weights_name)).map_err(|error| error.to_string())?;
        Ok(card)
    };
    Ok(check())
}
