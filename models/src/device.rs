//! burn's devices: CPU and GPU backends by the names of [`DeviceChoice`].
//!
//! `cpu` and `flex` are in every build. `cuda` and `vulkan` are Cargo features of this crate, because their drivers'
//! crates take long to build; a build without them still knows the names and says what is missing.

mod gpu;
mod load;
mod trial;

use std::process::Command;
use std::sync::Arc;

pub use burn::tensor::Device;
use hnefi_inference::{Backend, DeviceChoice, DeviceList, Devices, EvalError, EvaluatorFactory, Weights};

pub use load::{Load, QUEUED};
use trial::Trials;

use crate::burn_evaluator::GpuQueue;
use crate::{BurnEvaluator, Network};

/// burn's devices of a program. Clones share what their trials came to.
#[derive(Clone, Debug, Default)]
pub struct BurnDevices {
    trials: Arc<Trials>,
}

impl Backend for BurnDevices {
    fn evaluators(&self, weights: &Weights, choice: DeviceChoice) -> Result<EvaluatorFactory, EvalError> {
        let device = self.open(choice)?;
        let network = Network::load(weights, &Device::flex()).map_err(|error| choice.unavailable(error.to_string()))?;
        if choice.is_gpu() {
            let queue = GpuQueue::new(&network, &device)?;
            return Ok(Box::new(move || Box::new(queue.evaluator())));
        }
        Ok(Box::new(move || Box::new(BurnEvaluator::new(&network, &device))))
    }
}

/// One device, and whether it can be used here.
#[derive(Clone, Debug)]
pub struct DeviceReport {
    /// The device.
    pub choice: DeviceChoice,
    /// What it is, or why it cannot be used.
    pub state: Result<String, String>,
}

impl BurnDevices {
    /// The devices of a program that tries out a GPU in another process before it uses it: by a command that calls
    /// [`try_out`] and ends with status 0 if the device does what it should. `None` from `command` tries out nothing.
    pub fn tried_by(command: fn(DeviceChoice) -> Option<Command>) -> BurnDevices {
        BurnDevices { trials: Arc::new(Trials::by(command)) }
    }

    /// The devices with these names, for evaluation.
    pub fn evaluating(&self, names: impl Into<DeviceList>) -> Devices {
        Devices::with(self.clone()).named(names)
    }

    /// The burn device, after a small calculation on it and, with [`BurnDevices::tried_by`], the trial of a GPU.
    /// Tensors of [`DeviceChoice::Cpu`] live on [`DeviceChoice::Flex`].
    ///
    /// # Errors
    /// When it is not in this build, its driver or the device itself is missing, or it failed on trial.
    pub fn open(&self, choice: DeviceChoice) -> Result<Device, EvalError> {
        if is_built(choice) {
            self.trials.passed(choice).map_err(|problem| choice.unavailable(problem))?;
        }
        let device = find(choice)?;
        if choice.is_gpu() {
            gpu::adds(&device).map_err(|problem| choice.unavailable(problem))?;
        }
        Ok(device)
    }

    /// All devices of a list, each after a small calculation on it.
    ///
    /// # Errors
    /// As [`BurnDevices::open`].
    pub fn open_all(&self, devices: &DeviceList) -> Result<Vec<Device>, EvalError> {
        devices.choices().iter().map(|&device| self.open(device)).collect()
    }

    /// Every device that this build knows of, for `doctor`.
    pub fn survey(&self) -> Vec<DeviceReport> {
        let mut reports = vec![
            DeviceReport { choice: DeviceChoice::Cpu, state: Ok("kernels of this program".to_owned()) },
            DeviceReport { choice: DeviceChoice::Flex, state: Ok("burn's CPU backend".to_owned()) },
        ];
        reports.extend(self.survey_of(DeviceChoice::Cuda, gpu::cuda));
        reports.extend(self.survey_of(DeviceChoice::Vulkan, gpu::vulkan));
        reports
    }

    /// A report on each device found of one kind, or one on why there is none.
    fn survey_of(
        &self,
        choice: impl Fn(usize) -> DeviceChoice,
        find: impl Fn() -> Result<Vec<Device>, String>,
    ) -> Vec<DeviceReport> {
        let none = |problem: String| vec![DeviceReport { choice: choice(0), state: Err(problem) }];
        let first = choice(0);
        // Looking for devices may be more than a driver can do, too.
        if let Err(problem) = if is_built(first) { self.trials.passed(first) } else { Ok(()) } {
            return none(problem);
        }
        match find() {
            Err(problem) => none(problem),
            Ok(found) if found.is_empty() => none("no such device found".to_owned()),
            Ok(found) => {
                let report = |(index, device): (usize, &Device)| {
                    let tried = self.trials.passed(choice(index)).and_then(|()| gpu::adds(device));
                    DeviceReport { choice: choice(index), state: tried.map(|()| format!("{device:?}")) }
                };
                found.iter().enumerate().map(report).collect()
            }
        }
    }
}

/// Evaluates and trains a small network on the device, compared with the CPU, and says what the device is. A driver
/// that fails may take this process with it.
///
/// # Errors
/// When it is not in this build, its driver or the device itself is missing, or its results are not the CPU's.
pub fn try_out(choice: DeviceChoice) -> Result<String, EvalError> {
    let device = find(choice)?;
    gpu::computes(&device).map_err(|problem| choice.unavailable(problem))?;
    Ok(format!("{device:?}"))
}

/// The burn device, untried.
fn find(choice: DeviceChoice) -> Result<Device, EvalError> {
    let (found, index) = match choice {
        DeviceChoice::Cpu | DeviceChoice::Flex => return Ok(Device::flex()),
        DeviceChoice::Cuda(index) => (gpu::cuda(), index),
        DeviceChoice::Vulkan(index) => (gpu::vulkan(), index),
    };
    let mut found = found.map_err(|problem| choice.unavailable(problem))?;
    if index >= found.len() {
        return Err(choice.unavailable(format!("this machine has {} such devices, counted from 0", found.len())));
    }
    Ok(found.swap_remove(index))
}

/// Whether this build has it.
fn is_built(choice: DeviceChoice) -> bool {
    match choice {
        DeviceChoice::Cpu | DeviceChoice::Flex => true,
        DeviceChoice::Cuda(_) => cfg!(feature = "cuda"),
        DeviceChoice::Vulkan(_) => cfg!(feature = "vulkan"),
    }
}
