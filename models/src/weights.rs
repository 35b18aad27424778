//! A network's weights as the bytes of a safetensors file, and back.
//!
//! Tensors are named by the path of fields that leads to them, such as `blocks.0.first.conv.weight`. The bytes are the same
//! whenever the weights are, so their hash names the weights.

use std::collections::BTreeMap;
use std::path::Path;

use burn::module::Module;
use burn::store::{ModuleSnapshot, ModuleStore, SafetensorsStore};
use burn::tensor::{DType, Device};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::{CheckpointError, Network, NetworkConfig};

impl Network {
    /// All weights there are, those of auxiliary heads too, as the bytes of a safetensors file.
    ///
    /// # Errors
    /// When they cannot be read back from the device.
    pub fn weights_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        // More than one metadata entry would be written in the random order of a hash map.
        let mut store = SafetensorsStore::from_bytes(None).clear_metadata().metadata("producer", "hnefi");
        let written = self.valid().save_into(&mut store).and_then(|()| store.get_bytes());
        written.map_err(|error| CheckpointError::Unwritable { problem: error.to_string() })
    }
}

impl NetworkConfig {
    /// A network of this shape with the weights of a safetensors file, on `device`. `source` names the file in messages.
    ///
    /// # Errors
    /// When the bytes are no complete safetensors file, or hold other tensors than this network has.
    pub fn load_weights(&self, bytes: &[u8], source: &Path, device: &Device) -> Result<Network, CheckpointError> {
        let damaged =
            |problem: String| CheckpointError::Damaged { path: source.to_owned(), length: bytes.len(), problem };
        let mut store = SafetensorsStore::from_bytes(Some(bytes.to_vec()));
        let found = store.get_all_tensors().map_err(|error| damaged(error.to_string()))?;
        let found = found.values().map(|tensor| (tensor.name.clone(), describe(&tensor.shape, tensor.dtype))).collect();

        let mut network = self.skeleton(device);
        let expected = network.collect(None, None, false);
        let expected =
            expected.iter().map(|tensor| (tensor.name.clone(), describe(&tensor.shape, tensor.dtype))).collect();
        let differences = differences(&expected, &found);
        if !differences.is_empty() {
            return Err(CheckpointError::Mismatch {
                path: source.to_owned(),
                network: *self,
                problem: differences.join("; "),
            });
        }
        network.load_from(&mut store).map_err(|error| damaged(error.to_string()))?;
        Ok(network)
    }
}

/// The identity of weights: the SHA-256 of their file, in hex, as `sha256sum` prints it.
pub(crate) fn identity(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A tensor out of a safetensors file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WeightTensor {
    pub(crate) shape: Vec<usize>,
    /// Row-major.
    pub(crate) values: Vec<f32>,
}

/// Where a tensor lies, as the header of a safetensors file says it.
#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

/// All tensors of a safetensors file by name: eight bytes with the length of a JSON header, the header, then the numbers.
///
/// # Errors
/// When the bytes are no such file, or hold other numbers than 32-bit floats.
pub(crate) fn read_tensors(bytes: &[u8]) -> Result<BTreeMap<String, WeightTensor>, String> {
    let (length, rest) = bytes.split_first_chunk().ok_or("the header is missing")?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|error| error.to_string())?;
    let (header, data) = rest.split_at_checked(length).ok_or("the header is cut short")?;
    let header: BTreeMap<String, serde_json::Value> =
        serde_json::from_slice(header).map_err(|error| error.to_string())?;
    let entries = header.into_iter().filter(|(name, _)| name != "__metadata__");
    entries
        .map(|(name, entry)| {
            let entry: Entry = serde_json::from_value(entry).map_err(|error| format!("{name}: {error}"))?;
            let [begin, end] = entry.data_offsets;
            let bytes = data.get(begin..end).ok_or_else(|| format!("{name} lies outside the file"))?;
            if entry.dtype != "F32" || bytes.len() != 4 * entry.shape.iter().product::<usize>() {
                return Err(format!("{name} is {} {:?}; expected F32 of that shape", entry.dtype, entry.shape));
            }
            let values = bytes.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
            Ok((name, WeightTensor { shape: entry.shape, values }))
        })
        .collect()
}

fn describe(shape: &[usize], dtype: DType) -> String {
    format!("{dtype:?} {shape:?}")
}

/// What is wrong with the tensors found, in words; the first few of each kind.
fn differences(expected: &BTreeMap<String, String>, found: &BTreeMap<String, String>) -> Vec<String> {
    let missing: Vec<&str> = expected.keys().filter(|name| !found.contains_key(*name)).map(String::as_str).collect();
    let unknown: Vec<&str> = found.keys().filter(|name| !expected.contains_key(*name)).map(String::as_str).collect();
    let mut differences = Vec::new();
    if !missing.is_empty() {
        differences.push(format!("{} tensors are missing ({})", missing.len(), abridged(&missing)));
    }
    if !unknown.is_empty() {
        differences.push(format!("{} tensors are unknown ({})", unknown.len(), abridged(&unknown)));
    }
    for (name, expected) in expected {
        if let Some(found) = found.get(name).filter(|found| *found != expected) {
            differences.push(format!("{name} is {found}, expected {expected}"));
            break;
        }
    }
    differences
}

fn abridged(names: &[&str]) -> String {
    const SHOWN: usize = 3;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN { format!("{shown}, ...") } else { shown }
}
