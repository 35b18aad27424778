//! Checkpoints: weights in safetensors and a readable card beside them.

use std::path::{Path, PathBuf};

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use crate::{Network, NetworkConfig};

/// What a checkpoint is, readable by people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// Layout version of the card itself.
    pub format: u32,
    /// [`crate::ENCODING_VERSION`] the network was trained with.
    pub encoding: u32,
    /// Shape of the network.
    pub network: NetworkConfig,
    /// Rulesets it was trained on, by name.
    pub rulesets: Vec<String>,
    /// Generation within its run.
    pub generation: u32,
    /// Training steps taken.
    pub steps: u64,
    /// Samples seen in training.
    pub samples: u64,
    /// Identity of the weights: a hash of the weights file, in hex.
    pub id: String,
    /// `id` of the checkpoint it was trained from, if any.
    pub parent: Option<String>,
    /// Seed of the run.
    pub seed: u64,
    /// Version of the program that wrote it.
    pub program: String,
}

/// A network together with its card.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// What it is.
    pub card: Card,
    /// The weights.
    pub network: Network,
}

/// Why a checkpoint could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file system refused.
    #[error("checkpoint {path}: {problem}")]
    Io {
        /// What was read or written.
        path: PathBuf,
        /// What went wrong.
        problem: String,
    },
}

impl Checkpoint {
    /// Loads `folder/card.json` and `folder/model.safetensors` onto `device`.
    ///
    /// # Errors
    /// When a file is missing or damaged, or was made with another encoding or architecture.
    pub fn load(folder: &Path, device: &Device) -> Result<Checkpoint, CheckpointError> {
        let _ = (folder, device);
        todo!()
    }

    /// Writes the checkpoint as a new folder: complete or not at all.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn save(&self, folder: &Path) -> Result<(), CheckpointError> {
        let _ = folder;
        todo!()
    }
}
