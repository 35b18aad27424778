//! A network's weights as plain numbers, and as the bytes of a safetensors file.
//!
//! Tensors are named by the path of fields that leads to them, such as `blocks.0.first.conv.weight`. The bytes are the
//! same whenever the weights are, so their hash names the weights.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use sha2::{Digest, Sha256};

use crate::mixing::Sequence;
use crate::{CheckpointError, NetworkConfig};

/// A tensor of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightTensor {
    /// Its dimensions.
    pub shape: Vec<usize>,
    /// Its numbers, row-major.
    pub values: Vec<f32>,
}

/// All weights of a network with its shape: everything that evaluation needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    config: NetworkConfig,
    /// Exactly the tensors of the config.
    tensors: BTreeMap<String, WeightTensor>,
}

/// Characters of a message that names what a file holds.
const LONGEST_PROBLEM: usize = 300;

/// How much smaller the last layer of each head begins than the others, so that an untrained network finds all moves
/// and results about equally likely instead of insisting on an accident of its weights.
pub const LAST_LAYER_SCALE: f32 = 0.1;

impl Weights {
    /// The weights of these tensors, which must be the tensors of this shape.
    ///
    /// # Errors
    /// When they are others, a number is not finite or a variance is below 0.
    pub fn new(config: &NetworkConfig, tensors: BTreeMap<String, WeightTensor>) -> Result<Weights, CheckpointError> {
        let source = Path::new("weights of a network");
        let found = tensors.iter().map(|(name, tensor)| (name.clone(), describe(Dtype::F32, &tensor.shape))).collect();
        config.check_tensors(&found, source)?;
        let weights = Weights { config: *config, tensors };
        weights.check_numbers(source).map(|()| weights)
    }

    /// Training can go astray, and files come from anywhere.
    fn check_numbers(&self, source: &Path) -> Result<(), CheckpointError> {
        for (name, WeightTensor { values, .. }) in &self.tensors {
            let problem = if values.iter().any(|value| !value.is_finite()) {
                "numbers that are not finite"
            } else if name.ends_with(".running_var") && values.iter().any(|&value| value < 0.0) {
                "a variance below 0"
            } else {
                continue;
            };
            return Err(self.config.mismatch(source, format!("{name} has {problem}")));
        }
        Ok(())
    }

    /// Fresh random weights. They depend on this config and the seed alone.
    ///
    /// Weights are uniform in `±1/sqrt(inputs)`, a tenth of that in the last layer of each head; biases begin at 0,
    /// normalisations as the identity.
    pub fn fresh(config: &NetworkConfig, seed: u64) -> Weights {
        let mut sequence = Sequence::new(seed);
        let mut draw = |last: bool, name: &str, shape: &[usize]| -> Vec<f32> {
            let count = shape.iter().product();
            let constant = match name.rsplit('.').next() {
                Some("weight") => {
                    let inputs = if shape.len() == 2 { shape[0] } else { count / shape[0] };
                    let bound = 1.0 / (inputs as f32).sqrt() * if last { LAST_LAYER_SCALE } else { 1.0 };
                    return (0..count).map(|_| bound * (2.0 * sequence.next_unit() - 1.0)).collect();
                }
                Some("gamma" | "running_var") => 1.0,
                _ => 0.0,
            };
            vec![constant; count]
        };
        let mut tensors = BTreeMap::new();
        for step in config.graph().steps {
            for (name, shape) in step.tensors() {
                let values = draw(step.last, &name, &shape);
                tensors.insert(name, WeightTensor { shape, values });
            }
        }
        Weights { config: *config, tensors }
    }

    /// Reads a safetensors file, which must hold the tensors of this shape. `source` names it in messages.
    ///
    /// # Errors
    /// When the bytes are no complete safetensors file, or hold other tensors than this network has, or numbers that no
    /// network has.
    pub fn from_safetensors(config: &NetworkConfig, bytes: &[u8], source: &Path) -> Result<Weights, CheckpointError> {
        let tensor = |(name, view): (&str, TensorView<'_>)| {
            let values = view.data().as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
            (name.to_owned(), WeightTensor { shape: view.shape().to_vec(), values })
        };
        let tensors = config.checked(bytes, source)?.iter().map(tensor).collect();
        let weights = Weights { config: *config, tensors };
        weights.check_numbers(source).map(|()| weights)
    }

    /// The bytes of a safetensors file.
    ///
    /// # Errors
    /// Never for weights that were read or drawn; the library's own checks otherwise.
    pub fn to_safetensors(&self) -> Result<Vec<u8>, CheckpointError> {
        let numbers = |tensor: &WeightTensor| tensor.values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let bytes: Vec<(&String, Vec<u8>)> =
            self.tensors.iter().map(|(name, tensor)| (name, numbers(tensor))).collect();
        let views = bytes.iter().map(|(name, bytes)| {
            TensorView::new(Dtype::F32, self.tensors[*name].shape.clone(), bytes).map(|view| (name.as_str(), view))
        });
        let views = views.collect::<Result<Vec<_>, _>>().map_err(CheckpointError::unwritable)?;
        // More than one metadata entry would be written in the random order of a hash map.
        let metadata = HashMap::from([("producer".to_owned(), "hnefi".to_owned())]);
        safetensors::serialize(views, Some(metadata)).map_err(CheckpointError::unwritable)
    }

    /// The shape of the network.
    pub fn config(&self) -> &NetworkConfig {
        &self.config
    }

    /// All tensors by name.
    pub fn tensors(&self) -> &BTreeMap<String, WeightTensor> {
        &self.tensors
    }

    /// Changes the numbers of a tensor, for tests of what damaged weights do.
    #[cfg(test)]
    pub(crate) fn values_mut(&mut self, name: &str) -> &mut [f32] {
        &mut self.tensors.get_mut(name).expect("a tensor of the network").values
    }
}

impl NetworkConfig {
    /// Compares the header of a safetensors file with this shape: names, types and shapes of all tensors, and whether
    /// their numbers are there. Nothing is allocated for a tensor. `source` names the file in messages.
    ///
    /// # Errors
    /// When the bytes are no complete safetensors file, or hold other tensors than this network has.
    pub(crate) fn check_weights(&self, bytes: &[u8], source: &Path) -> Result<(), CheckpointError> {
        self.checked(bytes, source).map(|_| ())
    }

    fn checked<'a>(&self, bytes: &'a [u8], source: &Path) -> Result<SafeTensors<'a>, CheckpointError> {
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| {
            let length = bytes.len();
            CheckpointError::weights(source, format_args!("damaged or cut short at {length} bytes: {error}"))
        })?;
        let found =
            tensors.iter().map(|(name, view)| (name.to_owned(), describe(view.dtype(), view.shape()))).collect();
        self.check_tensors(&found, source).map(|()| tensors)
    }

    /// Compares tensors, described by their names, with this shape.
    fn check_tensors(&self, found: &BTreeMap<String, String>, source: &Path) -> Result<(), CheckpointError> {
        self.check_bounds().map_err(|error| self.mismatch(source, error.to_string()))?;
        let expected = self.graph().tensors().map(|(name, shape)| (name, describe(Dtype::F32, &shape))).collect();
        let differences = differences(&expected, found);
        if differences.is_empty() { Ok(()) } else { Err(self.mismatch(source, differences.join("; "))) }
    }

    fn mismatch(&self, source: &Path, problem: String) -> CheckpointError {
        let expected = format_args!("they do not fit the network of the card ({self:?})");
        // Names and shapes are the file's.
        let problem: String = problem.chars().take(LONGEST_PROBLEM).collect();
        CheckpointError::weights(source, format_args!("{expected}: {problem}"))
    }
}

/// The identity of weights: the SHA-256 of their file, in hex, as `sha256sum` prints it.
pub(crate) fn identity(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn describe(dtype: Dtype, shape: &[usize]) -> String {
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

    const SMALL: NetworkConfig =
        NetworkConfig { blocks: 3, channels: 6, pool_every: 2, head_channels: 5, value_hidden: 7 };

    #[test]
    fn what_is_written_is_read_back() {
        let weights = Weights::fresh(&SMALL, 3);
        let bytes = weights.to_safetensors().unwrap();
        let source = Path::new("memory");
        assert_eq!(Weights::from_safetensors(&SMALL, &bytes, source).unwrap(), weights);
        assert_ne!(Weights::fresh(&SMALL, 4), weights);
        let other = NetworkConfig { pool_every: 1, ..SMALL };
        assert!(Weights::from_safetensors(&other, &bytes, source).is_err());
    }

    #[test]
    fn shipped_files_are_written_as_they_are() {
        for name in crate::pretrained_names() {
            let checkpoint = crate::pretrained(name).unwrap().unwrap();
            assert_eq!(identity(&checkpoint.weights.to_safetensors().unwrap()), checkpoint.card.id, "{name}");
        }
    }

    #[test]
    fn tensors_outside_the_file_or_over_each_other_are_refused() {
        let entry =
            |shape: &str, offsets: &str| format!(r#"{{"dtype":"F32","shape":{shape},"data_offsets":{offsets}}}"#);
        // 2^62 times 4 numbers are 2^66 bytes, which wraps to none.
        let alone = ["[4611686018427387904,4] [0,0]", "[4] [0,17]", "[4] [8,4]", "[4] [18446744073709551615,15]"];
        let alone = alone.map(|text| text.split_once(' ').expect("shape and offsets"));
        let mut headers = alone.map(|(shape, offsets)| format!(r#"{{"x":{}}}"#, entry(shape, offsets))).to_vec();
        for offsets in ["[0,8]", "[4,12]"] {
            headers.push(format!(r#"{{"x":{},"y":{}}}"#, entry("[2]", "[0,8]"), entry("[2]", offsets)));
        }
        for header in headers {
            let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0; 16]].concat();
            let error = Weights::from_safetensors(&SMALL, &file, Path::new("memory")).expect_err("damaged");
            assert!(error.to_string().contains("damaged or cut short at "), "{header}: {error}");
        }
    }
}
