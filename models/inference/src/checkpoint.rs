//! Checkpoints: weights in safetensors and a readable card beside them.
//!
//! A checkpoint is a folder with `model.safetensors` and `card.json`. It appears complete or not at all, and is never
//! changed afterwards. Everything the card claims about the weights is checked when they are loaded.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use hnefi_engine::NamedRules;
use serde::{Deserialize, Serialize};

use crate::weights::identity;
use crate::{ENCODING_VERSION, NetworkConfig, Weights, file, json};

/// Layout version of the card that this program writes.
pub const CARD_FORMAT: u32 = 1;

/// The file of a checkpoint that holds its card.
pub const CARD_FILE: &str = "card.json";

/// The file that holds its weights.
pub const WEIGHTS_FILE: &str = "model.safetensors";

/// The largest card that is read, in bytes; a real one has some hundred.
pub const LARGEST_CARD: u64 = 1 << 16;

/// The largest file of weights that is read, in bytes: 268 million of them; the shipped networks have some hundred
/// thousand.
pub const LARGEST_WEIGHTS: u64 = 1 << 30;

/// The longest text of a card in characters, its rulesets apart: the record of a ruleset may be longer.
const LONGEST: usize = 200;

/// What a checkpoint is, readable by people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// Layout version of the card itself, [`CARD_FORMAT`] when written.
    pub format: u32,
    /// Version of the encoding that the network was trained with ([`ENCODING_VERSION`]).
    pub encoding: u32,
    /// Shape of the network.
    pub network: NetworkConfig,
    /// Rulesets it was trained on, by name; a record where a ruleset has none.
    pub rulesets: Vec<String>,
    /// Generation within its run.
    pub generation: u32,
    /// Training steps taken.
    pub steps: u64,
    /// Samples seen in training.
    pub samples: u64,
    /// Identity of the weights: the SHA-256 of `model.safetensors`, in hex.
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
    pub weights: Weights,
}

/// Why a checkpoint could not be read or written: in which of its parts, and what was found and expected there.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CheckpointError(String);

impl CheckpointError {
    fn folder(path: &Path, problem: impl Display) -> CheckpointError {
        CheckpointError(format!("checkpoint {}: {problem}", path.display()))
    }

    fn card(path: &Path, problem: impl Display) -> CheckpointError {
        CheckpointError(format!("checkpoint card {}: {problem}", path.display()))
    }

    pub(crate) fn weights(path: &Path, problem: impl Display) -> CheckpointError {
        CheckpointError(format!("checkpoint weights {}: {problem}", path.display()))
    }

    /// The weights could not be put into the layers of a network.
    pub fn unreadable(problem: impl Display) -> CheckpointError {
        CheckpointError(format!("reading the weights of a network: {problem}"))
    }

    /// The weights could not be read back from a device, or not be written as a file.
    pub fn unwritable(problem: impl Display) -> CheckpointError {
        CheckpointError(format!("writing the weights of a network: {problem}"))
    }
}

impl Card {
    /// What to tell somebody who plays by rules that the network was not trained on. A card without rulesets does not
    /// say, so there is nothing to tell.
    pub fn foreign_to(&self, rules: impl Into<NamedRules>) -> Option<String> {
        let rules = rules.into().name();
        (!self.rulesets.is_empty() && !self.rulesets.contains(&rules))
            .then(|| format!("the network was trained on {}, not on {rules}", self.rulesets.join(", ")))
    }

    /// The card of an untrained network; fill in its history. The id is set by [`Checkpoint::new`].
    pub fn new(network: NetworkConfig) -> Card {
        Card {
            format: CARD_FORMAT,
            encoding: ENCODING_VERSION,
            network,
            rulesets: Vec::new(),
            generation: 0,
            steps: 0,
            samples: 0,
            id: String::new(),
            parent: None,
            seed: 0,
            program: format!("hnefi {}", env!("CARGO_PKG_VERSION")),
        }
    }

    /// The card as indented JSON with its checksum.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("a card holds only numbers and texts");
        json::with_checksum(&format!("{text}\n"))
    }

    /// Reads a card. `source` names it in messages.
    ///
    /// # Errors
    /// When it is no JSON or not as it was written, lacks a key, says what cannot be, or was written by a later
    /// version.
    pub fn from_json(text: &[u8], source: &Path) -> Result<Card, CheckpointError> {
        let refused = |problem: String| CheckpointError::card(source, problem);
        check_length(text.len()).map_err(refused)?;
        // The format comes first: a later card may lack keys that this version insists on.
        let value: serde_json::Value = json::from_slice(text).map_err(|error| refused(error.to_string()))?;
        if let Some(found) = value.get("format").and_then(serde_json::Value::as_u64)
            && found > u64::from(CARD_FORMAT)
        {
            let known = format!("this program knows formats up to {CARD_FORMAT}; use a newer one");
            return Err(refused(format!("format {found}, but {known}")));
        }
        let card: Card = serde_json::from_value(value).map_err(|error| refused(error.to_string()))?;
        if card.encoding != ENCODING_VERSION {
            let found = card.encoding;
            return Err(refused(format!("encoding {found}; this program knows encoding {ENCODING_VERSION}")));
        }
        card.check().map_err(refused)?;
        Ok(card)
    }

    /// Whether everything on the card can be.
    fn check(&self) -> Result<(), String> {
        self.network.check_bounds().map_err(|error| error.to_string())?;
        json::check(json::COUNT, &[("steps", self.steps), ("samples", self.samples)])?;
        let texts = [("id", &self.id, LONGEST), ("program", &self.program, LONGEST)].into_iter();
        let texts = texts.chain(self.parent.iter().map(|parent| ("parent", parent, LONGEST)));
        for (name, text, longest) in texts.chain(self.rulesets.iter().map(|name| ("rulesets", name, usize::MAX))) {
            if text.chars().count() > longest || text.contains(char::is_control) {
                return Err(format!("{name} is {:?}; expected a name", text.chars().take(40).collect::<String>()));
            }
        }
        // As it is written: a text without spaces may be short enough, and too long once it is indented.
        check_length(self.to_json().len())
    }

    /// Checks that these are the weights of the card: the tensors of its network, and its id. No network is made.
    /// `source` names the weights in messages.
    ///
    /// # Errors
    /// When the weights are damaged or do not belong to the card.
    pub fn check_weights(&self, weights: &[u8], source: &Path) -> Result<(), CheckpointError> {
        // Structure before identity: "cut short" says more than "another hash".
        self.network.check_weights(weights, source)?;
        let found = identity(weights);
        if found != self.id {
            let problem = format!("their SHA-256 is {found}, but the card says {}", self.id);
            return Err(CheckpointError::weights(source, problem));
        }
        Ok(())
    }
}

impl Checkpoint {
    /// Joins weights with their card, whose id, format, shape and encoding are set here.
    ///
    /// # Errors
    /// When the weights cannot be written as a file, or the card says what no card that is read may say.
    pub fn new(card: Card, weights: Weights) -> Result<Checkpoint, CheckpointError> {
        let id = identity(&weights.to_safetensors()?);
        let network = *weights.config();
        let card = Card { format: CARD_FORMAT, encoding: ENCODING_VERSION, network, id, ..card };
        card.check().map_err(|problem| CheckpointError(format!("checkpoint card: {problem}")))?;
        Ok(Checkpoint { card, weights })
    }

    /// Reads the card of the checkpoint in `folder` and leaves the weights alone.
    ///
    /// # Errors
    /// When the card is missing or damaged, or was made by a later version.
    pub fn load_card(folder: &Path) -> Result<Card, CheckpointError> {
        if !folder.is_dir() {
            let problem = format!("is a file; expected a folder with {CARD_FILE} and {WEIGHTS_FILE}");
            return Err(if folder.exists() { CheckpointError::folder(folder, problem) } else { missing(folder) });
        }
        let path = folder.join(CARD_FILE);
        Card::from_json(&read(&path, LARGEST_CARD)?, &path)
    }

    /// Loads `folder/card.json` and `folder/model.safetensors`.
    ///
    /// # Errors
    /// When a file is missing or damaged, or was made by a later version or for another architecture.
    pub fn load(folder: &Path) -> Result<Checkpoint, CheckpointError> {
        let card = Checkpoint::load_card(folder)?;
        let path = folder.join(WEIGHTS_FILE);
        Checkpoint::from_parts(card, &read(&path, LARGEST_WEIGHTS)?, &path)
    }

    /// Joins a card and the bytes of a weights file, which must belong together. `source` names the weights in
    /// messages.
    ///
    /// # Errors
    /// When the weights are damaged or do not belong to the card.
    pub fn from_parts(card: Card, bytes: &[u8], source: &Path) -> Result<Checkpoint, CheckpointError> {
        card.check_weights(bytes, source)?;
        let weights = Weights::from_safetensors(&card.network, bytes, source)?;
        Ok(Checkpoint { card, weights })
    }

    /// The files of the checkpoint, the card last: where it is, the rest is.
    ///
    /// # Errors
    /// When the weights cannot be written as a file.
    pub fn parts(&self) -> Result<[(&'static str, Vec<u8>); 2], CheckpointError> {
        Ok([(WEIGHTS_FILE, self.weights.to_safetensors()?), (CARD_FILE, self.card.to_json().into_bytes())])
    }

    /// Writes the checkpoint as a new folder: complete or not at all.
    ///
    /// # Errors
    /// When the folder exists already and is not empty, or the file system refuses; nothing is left behind then.
    pub fn save(&self, folder: &Path) -> Result<(), CheckpointError> {
        let parts = self.parts()?;
        let failed = |error: io::Error| CheckpointError::folder(folder, error);
        // An empty folder gives way, as it does to every other output.
        if fs::symlink_metadata(folder).is_ok() && fs::remove_dir(folder).is_err() {
            return Err(failed(io::Error::new(io::ErrorKind::AlreadyExists, "exists already; nothing was written")));
        }
        let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let temporary = parent.join(format!(".{name}.{}.tmp", std::process::id()));
        let written = write_folder(parent, &temporary, &parts)
            .and_then(|()| fs::rename(&temporary, folder))
            .and_then(|()| sync_folder(parent));
        if written.is_err() {
            // The first error is the one worth telling; a folder that cannot be removed either is only litter.
            let _ = fs::remove_dir_all(&temporary);
        }
        written.map_err(failed)
    }
}

/// Refuses a card that is longer than what is read.
fn check_length(bytes: usize) -> Result<(), String> {
    if bytes as u64 > LARGEST_CARD {
        return Err(format!("more than {LARGEST_CARD} bytes; a card has some hundred"));
    }
    Ok(())
}

/// A whole file.
fn read(path: &Path, most: u64) -> Result<Vec<u8>, CheckpointError> {
    file::read(path, most).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => missing(path),
        _ => CheckpointError::folder(path, error),
    })
}

fn missing(path: &Path) -> CheckpointError {
    let expected = format_args!("a checkpoint is a folder with {CARD_FILE} and {WEIGHTS_FILE}");
    CheckpointError::folder(path, format_args!("not found; {expected}"))
}

fn write_folder(parent: &Path, folder: &Path, parts: &[(&str, Vec<u8>)]) -> io::Result<()> {
    fs::create_dir_all(parent)?;
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir(folder)?;
    for (name, bytes) in parts {
        let mut file = File::create(folder.join(name))?;
        file.write_all(bytes)?;
        file.sync_all()?;
    }
    sync_folder(folder)
}

/// Makes the names in a folder durable, where the system has such a thing.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
