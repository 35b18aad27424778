//! Which device evaluates: named in configs and on the command line, opened at run time.
//!
//! `cpu` and `flex` are in every build. `cuda` and `vulkan` are Cargo features of this crate, because their drivers'
//! crates take long to build; a build without them still knows the names and says what is missing.

mod gpu;
mod trial;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

pub use trial::set_device_trial;

use crate::burn_evaluator::GpuQueue;
use crate::names;
use crate::{
    BurnEvaluator, CpuEvaluator, CpuNetwork, CpuNetworkError, EvalError, Evaluator, Network, Precision, PrecisionChoice,
};

/// A device by name: `cpu`, `flex`, `cuda:0`, `vulkan:0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DeviceChoice {
    /// This program's own kernels on the CPU, for evaluation; tensors live on [`DeviceChoice::Flex`].
    #[default]
    Cpu,
    /// burn's CPU backend.
    Flex,
    /// An NVIDIA GPU, counted from 0.
    Cuda(usize),
    /// A GPU (or a software driver) through Vulkan, counted from 0.
    Vulkan(usize),
}

/// One device, and whether it can be used here.
#[derive(Clone, Debug)]
pub struct DeviceReport {
    /// The device.
    pub choice: DeviceChoice,
    /// What it is, or why it cannot be used.
    pub state: Result<String, String>,
}

/// An evaluator of this network on that device. Every thread needs one of its own.
///
/// # Errors
/// When the device is not in this build or the machine does not have it, or it does not compute in that precision, or
/// the weights are damaged.
pub fn evaluator(
    network: &Network,
    choice: DeviceChoice,
    precision: PrecisionChoice,
) -> Result<Box<dyn Evaluator>, EvalError> {
    Ok(evaluators_on_one(network, choice, precision)?())
}

/// Makes the evaluators of one device ([`crate::evaluators`]).
pub(crate) fn evaluators_on_one(
    network: &Network,
    choice: DeviceChoice,
    precision: PrecisionChoice,
) -> Result<Box<dyn Fn() -> Box<dyn Evaluator> + Send + Sync>, EvalError> {
    let unavailable = |problem: String| EvalError::Unavailable { device: choice.to_string(), problem };
    if choice == DeviceChoice::Cpu {
        let packed = precision.on_cpu(network).and_then(|precision| CpuNetwork::with_precision(network, precision));
        let packed = Arc::new(packed.map_err(|error: CpuNetworkError| unavailable(error.to_string()))?);
        return Ok(Box::new(move || Box::new(CpuEvaluator::new(packed.clone()))));
    }
    if !matches!(precision, PrecisionChoice::Auto | PrecisionChoice::Exactly(Precision::F32)) {
        return Err(unavailable(format!("precision {precision} is for the device cpu alone; expected f32")));
    }
    let (network, device) = (network.clone(), choice.open()?);
    if choice.is_gpu() {
        let queue = GpuQueue::new(&network, &device)?;
        return Ok(Box::new(move || Box::new(queue.evaluator())));
    }
    Ok(Box::new(move || Box::new(BurnEvaluator::new(&network, &device))))
}

impl DeviceChoice {
    /// Whether it is a device of its own, which works while the CPU does something else.
    pub fn is_gpu(self) -> bool {
        matches!(self, DeviceChoice::Cuda(_) | DeviceChoice::Vulkan(_))
    }

    /// The burn device, after a small calculation on it; where the program has said how ([`set_device_trial`]), a GPU
    /// is tried out in another process first.
    ///
    /// # Errors
    /// When it is not in this build, its driver or the device itself is missing, or it failed on trial.
    pub fn open(self) -> Result<Device, EvalError> {
        if self.is_built() {
            trial::passed(self).map_err(|problem| self.unavailable(problem))?;
        }
        let device = self.find()?;
        if self.is_gpu() {
            gpu::adds(&device).map_err(|problem| self.unavailable(problem))?;
        }
        Ok(device)
    }

    /// Evaluates and trains a small network on the device, compared with the CPU, and says what the device is. A driver
    /// that fails may take this process with it.
    ///
    /// # Errors
    /// When it is not in this build, its driver or the device itself is missing, or its results are not those of the
    /// CPU.
    pub fn try_out(self) -> Result<String, EvalError> {
        let device = self.find()?;
        gpu::computes(&device).map_err(|problem| self.unavailable(problem))?;
        Ok(format!("{device:?}"))
    }

    /// The burn device, untried.
    fn find(self) -> Result<Device, EvalError> {
        let (found, index) = match self {
            DeviceChoice::Cpu | DeviceChoice::Flex => return Ok(Device::flex()),
            DeviceChoice::Cuda(index) => (gpu::cuda(), index),
            DeviceChoice::Vulkan(index) => (gpu::vulkan(), index),
        };
        let mut found = found.map_err(|problem| self.unavailable(problem))?;
        if index >= found.len() {
            let problem = format!("this machine has {} such devices, counted from 0", found.len());
            return Err(self.unavailable(problem));
        }
        Ok(found.swap_remove(index))
    }

    /// Whether this build has it.
    fn is_built(self) -> bool {
        match self {
            DeviceChoice::Cpu | DeviceChoice::Flex => true,
            DeviceChoice::Cuda(_) => cfg!(feature = "cuda"),
            DeviceChoice::Vulkan(_) => cfg!(feature = "vulkan"),
        }
    }

    fn unavailable(self, problem: String) -> EvalError {
        EvalError::Unavailable { device: self.to_string(), problem }
    }

    /// Every device this build knows of, for `doctor`.
    pub fn survey() -> Vec<DeviceReport> {
        let mut reports = vec![
            DeviceReport { choice: DeviceChoice::Cpu, state: Ok("kernels of this program".to_owned()) },
            DeviceReport { choice: DeviceChoice::Flex, state: Ok("burn's CPU backend".to_owned()) },
        ];
        reports.extend(DeviceReport::of_kind(DeviceChoice::Cuda, gpu::cuda));
        reports.extend(DeviceReport::of_kind(DeviceChoice::Vulkan, gpu::vulkan));
        reports
    }
}

impl DeviceReport {
    /// A report on each device found of one kind, or one on why there is none.
    fn of_kind(
        choice: impl Fn(usize) -> DeviceChoice,
        find: impl Fn() -> Result<Vec<Device>, String>,
    ) -> Vec<DeviceReport> {
        let none = |problem: String| vec![DeviceReport { choice: choice(0), state: Err(problem) }];
        let first = choice(0);
        // Looking for devices may be more than a driver can do, too.
        if let Err(problem) = if first.is_built() { trial::passed(first) } else { Ok(()) } {
            return none(problem);
        }
        match find() {
            Err(problem) => none(problem),
            Ok(found) if found.is_empty() => none("no such device found".to_owned()),
            Ok(found) => {
                let report = |(index, device): (usize, &Device)| {
                    let tried = trial::passed(choice(index)).and_then(|()| gpu::adds(device));
                    DeviceReport { choice: choice(index), state: tried.map(|()| format!("{device:?}")) }
                };
                found.iter().enumerate().map(report).collect()
            }
        }
    }
}

/// The end of an error about a name that is no device's: which one was probably meant.
pub(crate) fn meant(found: &str) -> String {
    let (kind, index) = found.split_once(':').unwrap_or((found, "0"));
    match names::nearest(kind, ["cpu", "flex", "cuda", "vulkan"]) {
        None => String::new(),
        Some(kind @ ("cpu" | "flex")) => names::asked(kind),
        Some(kind) => names::asked(format!("{kind}:{}", index.parse::<usize>().unwrap_or(0))),
    }
}

impl FromStr for DeviceChoice {
    type Err = EvalError;

    fn from_str(text: &str) -> Result<DeviceChoice, EvalError> {
        let index = |digits: &str| digits.parse::<usize>().ok();
        match text.split_once(':') {
            None if text == "cpu" => Some(DeviceChoice::Cpu),
            None if text == "flex" => Some(DeviceChoice::Flex),
            Some(("cuda", digits)) => index(digits).map(DeviceChoice::Cuda),
            Some(("vulkan", digits)) => index(digits).map(DeviceChoice::Vulkan),
            _ => None,
        }
        .ok_or_else(|| EvalError::UnknownDevice { found: text.to_owned() })
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Cpu => f.write_str("cpu"),
            DeviceChoice::Flex => f.write_str("flex"),
            DeviceChoice::Cuda(index) => write!(f, "cuda:{index}"),
            DeviceChoice::Vulkan(index) => write!(f, "vulkan:{index}"),
        }
    }
}

impl TryFrom<String> for DeviceChoice {
    type Error = EvalError;

    fn try_from(text: String) -> Result<DeviceChoice, EvalError> {
        text.parse()
    }
}

impl From<DeviceChoice> for String {
    fn from(choice: DeviceChoice) -> String {
        choice.to_string()
    }
}
