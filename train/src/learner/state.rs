//! The saved state of a learner, from which training resumes exactly.
//!
//! Weights and averaged weights are burnpack records, which keep the parameters' ids; the optimiser's moments are keyed
//! by these ids. (Safetensors, the format of checkpoints, do not keep them.) Equal learners give equal bytes.

use burn::module::Module;
use burn::store::{ModuleRecord, RecordError};
use burn::tensor::{Bytes, Device};
use burn_pack::{Reader, Writer};
use hnefi_inference::NetworkConfig;
use hnefi_models::Network;

use super::{Learner, LearnerParams, StepCounts, TrainingDevice, optimiser};
use crate::TrainError;

/// A learner as bytes and counts.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnerState {
    /// The weights in training, a burnpack record.
    pub weights: Vec<u8>,
    /// The averaged weights, a burnpack record.
    pub average: Vec<u8>,
    /// The optimisers' moments, a burnpack record.
    pub optimiser: Vec<u8>,
    /// The state of a trainer of its own, which took the latest steps; empty where there is none.
    pub command: Vec<u8>,
    /// The counts so far.
    pub counts: StepCounts,
}

impl Learner {
    /// The learner's present state.
    ///
    /// # Errors
    /// When a tensor cannot be read back from the device.
    pub fn save(&self) -> Result<LearnerState, TrainError> {
        let record = |network: &Network| network.valid().into_record().into_bytes();
        let failed = |error: RecordError| self.device_error(&error);
        Ok(LearnerState {
            weights: record(&self.network).map_err(failed)?.to_vec(),
            average: record(&self.average).map_err(failed)?.to_vec(),
            optimiser: self.optimiser.into_bytes().and_then(in_order).map_err(failed)?.to_vec(),
            command: self.command_state.clone(),
            counts: self.counts,
        })
    }

    /// Loads a learner that [`Learner::save`] saved, with a network of shape `config`. `object`
    /// names the state in errors.
    ///
    /// # Errors
    /// When a part is damaged or belongs to another network.
    ///
    /// # Panics
    /// When there is no device.
    pub fn load(
        state: LearnerState,
        config: &NetworkConfig,
        devices: &[TrainingDevice],
        params: LearnerParams,
        object: &str,
    ) -> Result<Learner, TrainError> {
        let damaged = |part: &'static str| {
            move |error: RecordError| TrainError::State {
                object: object.to_owned(),
                problem: format!("the {part} cannot be read: {error}; expected what training wrote for {config:?}"),
            }
        };
        let read = |bytes| {
            let record = ModuleRecord::from_bytes(Bytes::from_bytes_vec(bytes))?;
            Network::fresh(config, 0, &Device::flex()).try_load_record(record)
        };
        let weights = read(state.weights).map_err(damaged("weights"))?;
        let average = read(state.average).map_err(damaged("averaged weights"))?;
        let optimiser = optimiser(params.weight_decay)
            .from_bytes(Bytes::from_bytes_vec(state.optimiser))
            .map_err(damaged("optimiser"))?;
        let learner = Learner::assemble(weights.valid(), average.valid(), optimiser, state.counts, devices, params)?;
        Ok(Learner { command_state: state.command, ..learner })
    }
}

/// An optimiser's record with its tensors in the order of their names. burn writes them in the order of a hash map,
/// which is another one in every process.
fn in_order(record: Bytes) -> Result<Bytes, RecordError> {
    let reader = Reader::from_bytes(record)?;
    let (scalars, paths) = (reader.scalars().clone(), reader.metadata().clone());
    let writer = Writer::new(reader.into_tensors()?);
    let writer = scalars.iter().fold(writer, |writer, (name, value)| writer.with_scalar(name, *value));
    let writer = paths.iter().fold(writer, |writer, (id, path)| writer.with_metadata(id, path));
    Ok(writer.into_bytes()?)
}
