//! The devices that train.

use std::sync::Arc;

use hnefi_cuda::{Card, Cards};
use hnefi_inference::{DeviceList, EvalError};

/// A device that makes gradients. Parameters, optimiser and averages are with the CPU.
#[derive(Clone, Debug)]
pub enum TrainingDevice {
    /// The cores of the CPU.
    Cpu,
    /// An NVIDIA card.
    Card(Arc<Card>),
}

impl TrainingDevice {
    /// All devices of a list; the CPU where they are still to be chosen ([`crate::devices`]).
    ///
    /// # Errors
    /// When a card cannot be used.
    pub fn open_all(cards: &Cards, devices: &DeviceList) -> Result<Vec<TrainingDevice>, EvalError> {
        let open = |&device| Ok(cards.of(device)?.map_or(TrainingDevice::Cpu, TrainingDevice::Card));
        let opened: Vec<_> = devices.choices().iter().map(open).collect::<Result<_, _>>()?;
        Ok(if opened.is_empty() { vec![TrainingDevice::Cpu] } else { opened })
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        match self {
            TrainingDevice::Cpu => "cpu",
            TrainingDevice::Card(card) => card.name(),
        }
    }
}
