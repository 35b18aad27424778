//! A learner put away as bytes, to go on later exactly where it was.
//!
//! Weights and their average are burnpack records, which keep each parameter's identity; the optimiser's moments are
//! keyed by it. (Safetensors, in which checkpoints are published, forget it.)

use burn::module::Module;
use burn::store::{ModuleRecord, RecordError};
use burn::tensor::{Bytes, Device};
use hnefi_inference::{Encoding, NetworkConfig};
use hnefi_models::{AuxiliaryHeads, Network};

use super::{Learner, LearnerParams, StepCounts, optimiser};
use crate::TrainError;

/// A learner as bytes and counts.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnerState {
    /// The weights in training, a burnpack record.
    pub weights: Vec<u8>,
    /// The averaged weights, a burnpack record without auxiliary heads.
    pub average: Vec<u8>,
    /// AdamW's moments, a burnpack record.
    pub optimiser: Vec<u8>,
    /// What has been counted.
    pub counts: StepCounts,
    /// How the positions were encoded that the network was trained on.
    pub encoding: Encoding,
}

impl Learner {
    /// The learner's present state.
    ///
    /// # Errors
    /// When a tensor cannot be read back from the device.
    pub fn save(&self) -> Result<LearnerState, TrainError> {
        let record = |network: &Network| network.valid().into_record().into_bytes();
        let failed = |error: burn::store::RecordError| self.device_error(&error);
        Ok(LearnerState {
            weights: record(&self.network).map_err(failed)?.to_vec(),
            average: record(&self.average).map_err(failed)?.to_vec(),
            optimiser: self.optimiser.into_bytes().map_err(failed)?.to_vec(),
            counts: self.counts,
            encoding: self.network.encoding,
        })
    }

    /// The learner that [`Learner::save`] put away, with a network of shape `config`, now in [`Encoding::NEWEST`].
    /// `object` names the state in messages.
    ///
    /// # Errors
    /// When a part is damaged or belongs to another network.
    ///
    /// # Panics
    /// When there is no device.
    pub fn load(
        state: LearnerState,
        config: &NetworkConfig,
        devices: &[Device],
        params: LearnerParams,
        object: &str,
    ) -> Result<Learner, TrainError> {
        let damaged = |part: &str, error: RecordError| unreadable(object, config, part, &error);
        let fresh = || Network { encoding: state.encoding, ..Network::fresh(&config, 0, &devices[0]) };
        let auxiliary = AuxiliaryHeads::fresh(&config, params.auxiliaries, 0, &devices[0]);
        let weights = read(state.weights)
            .and_then(|record| fresh().with_auxiliary(auxiliary).try_load_record(record))
            .map_err(|error| damaged("weights", error))?;
        let average = read(state.average)
            .and_then(|record| fresh().try_load_record(record))
            .map_err(|error| damaged("averaged weights", error))?;
        let optimiser = optimiser(params.weight_decay)
            .from_bytes(Bytes::from_bytes_vec(state.optimiser))
            .map_err(|error| damaged("optimiser", error))?;
        Learner::assemble(weights.valid(), average.valid(), optimiser, state.counts, devices, params)
    }

    /// As [`Learner::load`], from the state of a run whose auxiliary heads may be others, to count from zero. Where
    /// they are the same, everything is taken over. Where not, what both have is, the rest of the heads is drawn from
    /// `seed`, and the optimiser begins anew, since its moments belong to the whole network.
    ///
    /// # Errors
    /// As [`Learner::load`].
    ///
    /// # Panics
    /// When there is no device.
    pub fn take_over(
        state: LearnerState,
        config: &NetworkConfig,
        seed: u64,
        devices: &[Device],
        params: LearnerParams,
        object: &str,
    ) -> Result<Learner, TrainError> {
        let damaged = |part: &str, error: RecordError| unreadable(object, config, part, &error);
        let state = LearnerState { counts: StepCounts::default(), ..state };
        let record = read(state.weights.clone()).map_err(|error| damaged("weights", error))?;
        let auxiliary = AuxiliaryHeads::fresh(&config, params.auxiliaries, seed, &devices[0]);
        let fresh = || Network { encoding: state.encoding, ..Network::fresh(&config, 0, &devices[0]) };
        let network = fresh().with_auxiliary(auxiliary);
        if network.clone().try_load_record(record.clone()).is_ok() {
            return Learner::load(state, config, devices, params, object);
        }
        // The network itself must match to the last tensor; its auxiliary heads, tensor by tensor, where they can.
        let bare = record.clone().allow_unused(true);
        Network::fresh(&config, 0, &devices[0]).try_load_record(bare).map_err(|error| damaged("weights", error))?;
        let partial = record.allow_unused(true).allow_partial(true).validate(false);
        let weights = network.try_load_record(partial).map_err(|error| damaged("weights", error))?;
        let average = read(state.average)
            .and_then(|record| fresh().try_load_record(record))
            .map_err(|error| damaged("averaged weights", error))?;
        let optimiser = optimiser(params.weight_decay);
        Learner::assemble(weights.valid(), average.valid(), optimiser, state.counts, devices, params)
    }
}

fn read(bytes: Vec<u8>) -> Result<ModuleRecord, RecordError> {
    ModuleRecord::from_bytes(Bytes::from_bytes_vec(bytes))
}

fn unreadable(object: &str, config: &NetworkConfig, part: &str, error: &RecordError) -> TrainError {
    TrainError::State {
        object: object.to_owned(),
        problem: format!("the {part} cannot be read: {error}; expected what training wrote for {config:?}"),
    }
}
