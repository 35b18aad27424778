//! A run's checkpoints: read, and checked.

use std::path::PathBuf;

use hnefi_inference::{CARD_FILE, Card, Checkpoint, WEIGHTS_FILE};

use super::{Store, StoreError, checkpoint_key};
use crate::ReadError;

/// An object of a checkpoint: its bytes, and its name in errors.
fn read(store: &Store, generation: u32, file: &str) -> Result<(Vec<u8>, PathBuf), StoreError> {
    let key = format!("{}/{file}", checkpoint_key(generation));
    Ok((store.get(&key)?, store.name(&key).into()))
}

/// Reads a checkpoint.
///
/// # Errors
/// When it is missing or damaged.
pub fn read_checkpoint(store: &Store, generation: u32) -> Result<Checkpoint, ReadError> {
    let (card, name) = read(store, generation, CARD_FILE)?;
    let card = Card::from_json(&card, &name)?;
    let (weights, name) = read(store, generation, WEIGHTS_FILE)?;
    Ok(Checkpoint::from_parts(card, &weights, &name)?)
}

/// Reads a checkpoint and checks its weights against its card, without building a network. Returns the card, or what is
/// wrong with the checkpoint.
///
/// # Errors
/// When the store cannot be read.
pub fn check_checkpoint(store: &Store, generation: u32) -> Result<Result<Card, ReadError>, StoreError> {
    let check = || {
        let ((card, card_name), (weights, weights_name)) =
            (read(store, generation, CARD_FILE)?, read(store, generation, WEIGHTS_FILE)?);
        let card = Card::from_json(&card, &card_name)?;
        card.check_weights(&weights, &weights_name)?;
        Ok(card)
    };
    match check() {
        Err(ReadError::Store(error)) if !error.is_of_object() => Err(error),
        checked => Ok(checked),
    }
}
