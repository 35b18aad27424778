//! The cards of a program by their names, `cuda:0` and so on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hnefi_inference::{Backend, DeviceChoice, DeviceList, Devices, EvalError, EvaluatorFactory, Weights};

use crate::queue::CardQueue;
use crate::{Card, CardError, CardNetwork};

/// The cards of a program: each is opened once. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Cards {
    open: Arc<Mutex<HashMap<usize, Arc<Card>>>>,
}

impl Cards {
    /// The card with this number, from 0.
    fn open(&self, index: usize) -> Result<Arc<Card>, CardError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(card) = open.get(&index) {
            return Ok(Arc::clone(card));
        }
        let card = Card::open(index)?;
        open.insert(index, Arc::clone(&card));
        Ok(card)
    }

    /// The devices with these names, for evaluation.
    pub fn evaluating(&self, names: impl Into<DeviceList>) -> Devices {
        Devices::with(self.clone()).named(names)
    }

    /// The card of a device, none for the CPU.
    ///
    /// # Errors
    /// When it cannot be used.
    pub fn of(&self, device: DeviceChoice) -> Result<Option<Arc<Card>>, EvalError> {
        match device {
            DeviceChoice::Cpu => Ok(None),
            DeviceChoice::Cuda(index) => {
                self.open(index).map(Some).map_err(|error| device.unavailable(error.to_string()))
            }
        }
    }

    /// Whether all of these devices can be used.
    ///
    /// # Errors
    /// With the first that cannot.
    pub fn check(&self, devices: &DeviceList) -> Result<(), EvalError> {
        devices.choices().iter().try_for_each(|&device| self.of(device).map(drop))
    }

    /// The time that the open cards have had work since they were opened, and their number.
    pub fn busy(&self) -> (Duration, usize) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        (open.values().map(|card| card.busy()).sum(), open.len())
    }

    /// Every card, or why there is none: its device, and its name or why it cannot be used.
    pub fn survey(&self) -> Vec<(DeviceChoice, Result<String, CardError>)> {
        let report = |index| (DeviceChoice::Cuda(index), self.open(index).map(|card| card.name().to_owned()));
        (0..Card::count().max(1)).map(report).collect()
    }
}

impl Backend for Cards {
    fn usable(&self) -> Vec<DeviceChoice> {
        self.survey().into_iter().filter(|(_, found)| found.is_ok()).map(|(device, _)| device).collect()
    }

    fn evaluators(&self, weights: &Weights, device: DeviceChoice) -> Result<EvaluatorFactory, EvalError> {
        let unusable = |error: CardError| device.unavailable(error.to_string());
        let card = self.of(device)?.ok_or_else(|| device.unavailable("no card"))?;
        let network = Arc::new(CardNetwork::new(&card, weights).map_err(unusable)?);
        let queue = CardQueue::new(&network, device)?;
        Ok(Box::new(move || Box::new(queue.evaluator())))
    }
}
