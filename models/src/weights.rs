//! A network's weights as the bytes of a safetensors file, and back.
//!
//! Tensors are named by the path of fields that leads to them, such as `blocks.0.first.conv.weight`. The bytes are the
//! same whenever the weights are, so their hash names the weights.

use std::collections::BTreeMap;
use std::path::Path;

use burn::module::Module;
use burn::store::{ModuleSnapshot, SafetensorsStore};
use burn::tensor::Device;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::{CheckpointError, GLOBALS, Network, NetworkConfig, PLANES, POLICY_PLANES};

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
    /// Compares the header of a safetensors file with this shape: names, types and shapes of all tensors, and whether
    /// their numbers are there. Nothing is allocated for a tensor. `source` names the file in messages.
    ///
    /// # Errors
    /// When the bytes are no complete safetensors file, or hold other tensors than this network has.
    pub(crate) fn check_weights(&self, bytes: &[u8], source: &Path) -> Result<(), CheckpointError> {
        let damaged =
            |problem: String| CheckpointError::Damaged { path: source.to_owned(), length: bytes.len(), problem };
        let mismatch = |problem: String| CheckpointError::Mismatch { path: source.to_owned(), network: *self, problem };
        self.check_bounds().map_err(mismatch)?;
        let (entries, _) = entries(bytes).map_err(damaged)?;
        let found = entries.iter().map(|(name, entry)| (name.clone(), entry.describe())).collect();
        let expected = self.tensors().into_iter().map(|(name, shape)| (name, describe("F32", &shape))).collect();
        let differences = differences(&expected, &found);
        if differences.is_empty() { Ok(()) } else { Err(mismatch(differences.join("; "))) }
    }

    /// A network of this shape with the weights of a safetensors file, on `device`. `source` names the file in
    /// messages.
    ///
    /// # Errors
    /// When the bytes are no complete safetensors file, or hold other tensors than this network has.
    pub fn load_weights(&self, bytes: &[u8], source: &Path, device: &Device) -> Result<Network, CheckpointError> {
        self.check_weights(bytes, source)?;
        let mut store = SafetensorsStore::from_bytes(Some(bytes.to_vec()));
        let mut network = self.skeleton(device);
        network.load_from(&mut store).map_err(|error| CheckpointError::Damaged {
            path: source.to_owned(),
            length: bytes.len(),
            problem: error.to_string(),
        })?;
        Ok(network)
    }

    /// The tensors of a network of this shape with their shapes, by the definition of the layers. Nothing of the size
    /// of a tensor is allocated, so it may be asked of a shape that was read from a file.
    fn tensors(&self) -> BTreeMap<String, Vec<usize>> {
        let (channels, head, hidden) = (self.channels, self.head_channels, self.value_hidden);
        let mut tensors = BTreeMap::new();
        let mut add = |name: String, shape: &[usize]| {
            tensors.insert(name, shape.to_vec());
        };
        let mut conv_norm = |name: &str, inputs: usize| {
            add(format!("{name}.conv.weight"), &[channels, inputs, 3, 3]);
            for part in ["gamma", "beta", "running_mean", "running_var"] {
                add(format!("{name}.norm.{part}"), &[channels]);
            }
        };
        conv_norm("stem", PLANES);
        for block in 0..self.blocks {
            conv_norm(&format!("blocks.{block}.first"), channels);
            conv_norm(&format!("blocks.{block}.second"), channels);
        }
        let mut layer = |name: String, weight: &[usize], bias: usize| {
            add(format!("{name}.weight"), weight);
            if bias > 0 {
                add(format!("{name}.bias"), &[bias]);
            }
        };
        layer("globals".to_owned(), &[GLOBALS, channels], channels);
        layer("occupancy".to_owned(), &[4, channels, 1, 1], 4);
        for block in (0..self.blocks).filter(|&block| self.block_pools(block)) {
            layer(format!("blocks.{block}.pool"), &[3 * channels, channels], channels);
        }
        for role in 0..if self.role_heads { 2 } else { 1 } {
            let mut layer = |name: &str, weight: &[usize], bias| layer(format!("roles.{role}.{name}"), weight, bias);
            layer("policy_conv", &[head, channels, 1, 1], head);
            layer("policy_pool", &[3 * channels, head], 0);
            layer("policy_out", &[POLICY_PLANES, head, 1, 1], POLICY_PLANES);
            layer("value_conv", &[head, channels, 1, 1], head);
            layer("value_hidden", &[3 * head, hidden], hidden);
            layer("value_out", &[hidden, 4], 4);
        }
        tensors
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

impl Entry {
    fn describe(&self) -> String {
        describe(&self.dtype, &self.shape)
    }

    /// Bytes of its numbers, if they are 32-bit floats; `None` for other types and sizes that no file can have.
    fn bytes(&self) -> Option<usize> {
        let numbers = self.shape.iter().try_fold(1_usize, |product, &length| product.checked_mul(length))?;
        (self.dtype == "F32").then(|| numbers.checked_mul(4)).flatten()
    }
}

/// The tensors that the header of a safetensors file names, and the numbers that follow it: eight bytes with the length
/// of a JSON header, the header, then the numbers. Every tensor lies within these.
fn entries(bytes: &[u8]) -> Result<(BTreeMap<String, Entry>, &[u8]), String> {
    let (length, rest) = bytes.split_first_chunk().ok_or("the header is missing")?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|error| error.to_string())?;
    let (header, data) = rest.split_at_checked(length).ok_or("the header is cut short")?;
    let header: BTreeMap<String, serde_json::Value> =
        serde_json::from_slice(header).map_err(|error| error.to_string())?;
    let entries = header.into_iter().filter(|(name, _)| name != "__metadata__").map(|(name, entry)| {
        let entry: Entry = serde_json::from_value(entry).map_err(|error| format!("{name}: {error}"))?;
        let [begin, end] = entry.data_offsets;
        let bytes = data.get(begin..end).ok_or_else(|| format!("{name} lies outside the file"))?;
        if entry.dtype == "F32" && entry.bytes() != Some(bytes.len()) {
            return Err(format!("{name} is {} with {} bytes", entry.describe(), bytes.len()));
        }
        Ok((name, entry))
    });
    Ok((entries.collect::<Result<_, String>>()?, data))
}

/// All tensors of a safetensors file by name.
///
/// # Errors
/// When the bytes are no such file, or hold other numbers than 32-bit floats.
pub(crate) fn read_tensors(bytes: &[u8]) -> Result<BTreeMap<String, WeightTensor>, String> {
    let (entries, data) = entries(bytes)?;
    let tensor = |(name, entry): (String, Entry)| {
        let [begin, end] = entry.data_offsets;
        if entry.bytes().is_none() {
            return Err(format!("{name} is {}; expected F32", entry.describe()));
        }
        let values = data[begin..end].as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
        Ok((name, WeightTensor { shape: entry.shape, values }))
    };
    entries.into_iter().map(tensor).collect()
}

fn describe(dtype: &str, shape: &[usize]) -> String {
    format!("{dtype} {shape:?}")
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The oracle is the network itself, as burn lists its tensors.
    #[test]
    fn the_tensors_by_definition_are_those_of_the_network() {
        let base = NetworkConfig {
            blocks: 3,
            channels: 6,
            pool_every: 2,
            head_channels: 5,
            value_hidden: 7,
            role_heads: true,
        };
        for config in [
            base,
            NetworkConfig { role_heads: false, ..base },
            NetworkConfig { pool_every: 0, ..base },
            NetworkConfig { blocks: 0, channels: 1, head_channels: 1, value_hidden: 1, ..base },
        ] {
            let network = config.init(&Device::flex());
            let found: BTreeMap<String, Vec<usize>> = network
                .collect(None, None, false)
                .iter()
                .map(|tensor| (tensor.name.clone(), tensor.shape.to_vec()))
                .collect();
            assert_eq!(config.tensors(), found, "{config:?}");
        }
    }

    #[test]
    fn sizes_that_overflow_are_refused() {
        let file = |entry: &str| {
            let header = format!("{{\"x\":{entry}}}");
            [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0; 16]].concat()
        };
        let message = |entry: &str| read_tensors(&file(entry)).unwrap_err();
        // 2^62 times 4 numbers are 2^66 bytes, which wraps to none.
        let huge = r#"{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}"#;
        assert!(message(huge).contains("with 0 bytes"), "{}", message(huge));
        for offsets in ["[0,17]", "[8,4]", "[18446744073709551615,18446744073709551615]"] {
            let outside = message(&format!(r#"{{"dtype":"F32","shape":[4],"data_offsets":{offsets}}}"#));
            assert_eq!(outside, "x lies outside the file");
        }
        assert!(message(r#"{"dtype":"F64","shape":[2],"data_offsets":[0,16]}"#).contains("expected F32"));
        let mut endless = file(huge);
        endless[..8].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(read_tensors(&endless).unwrap_err(), "the header is cut short");
    }
}
