//! Growth of a learner to a larger network: weights, averaged weights, and the optimiser's moments.
//!
//! Old parameters keep their moments, new parameters begin with zero moments, and step counts continue. AdamW's bias
//! correction uses the step count of the whole tensor, so the new part of an old tensor at first moves faster than the
//! learning rate, by a factor of at most `(1 - beta1) / sqrt(1 - beta2)`, which is 3.2.

use std::collections::BTreeMap;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::store::RecordError;
use burn::tensor::{Bytes, Tensor, TensorData};
use burn_pack::{Reader, Writer};
use hnefi_inference::NetworkConfig;
use hnefi_models::Network;

use super::{Learner, LearnerParams, optimiser};
use crate::TrainError;

impl Learner {
    /// This learner with other parameters and with a network grown from `shape` to `larger`. Counts continue, and the
    /// network's outputs are the same up to rounding; new weights are drawn from `seed`.
    ///
    /// # Errors
    /// When the network cannot grow to `larger`, or a device fails.
    pub fn continued(
        &self,
        shape: &NetworkConfig,
        larger: &NetworkConfig,
        seed: u64,
        params: LearnerParams,
    ) -> Result<Learner, TrainError> {
        let failed = |error: RecordError| self.device_error(&error);
        let moments = self.optimiser.into_bytes().map_err(failed)?;
        let grow = |network: &Network| {
            let refuse = |problem| TrainError::Growth(format!("{shape:?} cannot grow to {larger:?}: {problem}"));
            network.grown(shape, larger, seed).map_err(refuse)
        };
        let (network, average, moments) = if shape == larger {
            (self.network.clone(), self.average.clone(), moments)
        } else {
            let network = grow(&self.network)?;
            let moments = grown_moments(moments, &self.network, &network).map_err(failed)?;
            (network, grow(&self.average)?, moments)
        };
        let optimiser = optimiser(params.weight_decay).from_bytes(moments).map_err(failed)?;
        let learner = Learner::assemble(network, average, optimiser, self.counts, &self.devices, params)?;
        // A trainer's own state is of its own network.
        let command_state = if shape == larger { self.command_state.clone() } else { Vec::new() };
        Ok(Learner { command_state, ..learner })
    }
}

/// Converts the optimiser's record for `smaller` to one for `larger`, the grown network. A record has tensors and
/// scalars named `ID.FIELD`, and the path of each parameter by its id.
fn grown_moments(record: Bytes, smaller: &Network, larger: &Network) -> Result<Bytes, RecordError> {
    let (before, after) = (smaller.parameter_ids(), larger.parameter_ids());
    let heirs: BTreeMap<u64, u64> = before.iter().filter_map(|(path, &id)| Some((id, *after.get(path)?))).collect();
    let heir_of = |id: &str| id.parse().ok().and_then(|id: u64| heirs.get(&id));

    let reader = Reader::from_bytes(record)?;
    let (scalars, paths) = (reader.scalars().clone(), reader.metadata().clone());
    let mut fields: BTreeMap<String, BTreeMap<u64, TensorData>> = BTreeMap::new();
    for tensor in reader.into_tensors()? {
        let (name, dtype, shape, id, bytes) = tensor.into_parts()?;
        if let (Some(id), Some((_, field))) = (id, name.split_once('.')) {
            let values = TensorData::from_bytes(bytes, shape, dtype);
            fields.entry(field.to_owned()).or_default().insert(id, values);
        }
    }
    let mut tensors = Vec::new();
    for (field, values) in &fields {
        let placed = holding(smaller, values).placed_in(holding(larger, &BTreeMap::new()));
        let mut collected = Collect::default();
        placed.visit(&mut collected);
        for heir in values.keys().filter_map(|id| heirs.get(id)) {
            if let Some(values) = collected.values.remove(heir) {
                let (bytes, shape, dtype) = values.into_parts();
                tensors.push(burn_pack::Tensor::new(format!("{heir}.{field}"), dtype, shape, Some(*heir), bytes));
            }
        }
    }
    let mut writer = Writer::new(tensors);
    for (name, value) in &scalars {
        let Some((id, field)) = name.split_once('.') else { continue };
        if let Some(heir) = heir_of(id) {
            writer = writer.with_scalar(&format!("{heir}.{field}"), *value);
        }
    }
    for (id, path) in &paths {
        if let Some(heir) = heir_of(id) {
            writer = writer.with_metadata(&heir.to_string(), path);
        }
    }
    Ok(writer.into_bytes()?)
}

/// The network with these values by parameter id, and zeros for all other parameters.
fn holding(network: &Network, values: &BTreeMap<u64, TensorData>) -> Network {
    struct Hold<'a>(&'a BTreeMap<u64, TensorData>);
    impl ModuleMapper for Hold<'_> {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            let held = self.0.get(&param.id.val()).cloned();
            param.map(|tensor| match held {
                Some(values) => Tensor::from_data(values, &tensor.device()),
                None => tensor.zeros_like(),
            })
        }
    }
    // A plain clone would share the running statistics, and mapping it would write into them.
    network.valid().map(&mut Hold(values))
}

#[derive(Default)]
struct Collect {
    values: BTreeMap<u64, TensorData>,
}

impl ModuleVisitor for Collect {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.values.insert(param.id.val(), param.val().into_data());
    }
}
