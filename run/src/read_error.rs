//! Why an object of a run cannot be had.

use hnefi_inference::CheckpointError;
use hnefi_inference::json::JsonError;
use hnefi_record::RecordError;

use crate::store::StoreError;

/// Why an object of a run cannot be had. The text names the object.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is missing, or the store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It is not the JSON that it should be.
    #[error("{key}: {source}")]
    Json {
        /// The object.
        key: &'static str,
        /// What is wrong.
        source: JsonError,
    },
    /// It is no checkpoint, or a damaged one.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// It is no file of games, or a damaged one.
    #[error(transparent)]
    Games(#[from] RecordError),
}
