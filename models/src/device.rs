//! Which device evaluates: named in configs and on the command line, opened at run time.
//!
//! `cpu` and `flex` are in every build. `cuda` and `vulkan` are Cargo features of this crate, because their drivers' crates
//! take long to build; a build without them still knows the names and says what is missing.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use crate::burn_evaluator::GpuQueue;
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
/// When the device is not in this build or the machine does not have it, or it does not compute in that precision, or the
/// weights are damaged.
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

    /// The burn device, after a small calculation on it.
    ///
    /// # Errors
    /// When it is not in this build, or its driver or the device itself is missing.
    pub fn open(self) -> Result<Device, EvalError> {
        let unavailable = |problem| EvalError::Unavailable { device: self.to_string(), problem };
        let (found, index) = match self {
            DeviceChoice::Cpu | DeviceChoice::Flex => return Ok(Device::flex()),
            DeviceChoice::Cuda(index) => (gpu::cuda(), index),
            DeviceChoice::Vulkan(index) => (gpu::vulkan(), index),
        };
        let mut found = found.map_err(unavailable)?;
        if index >= found.len() {
            return Err(unavailable(format!("this machine has {} such devices, counted from 0", found.len())));
        }
        let device = found.swap_remove(index);
        gpu::try_out(&device).map_err(unavailable)?;
        Ok(device)
    }

    /// Every device this build knows of, for `doctor`.
    pub fn survey() -> Vec<DeviceReport> {
        let mut reports = vec![
            DeviceReport { choice: DeviceChoice::Cpu, state: Ok("kernels of this program".to_owned()) },
            DeviceReport { choice: DeviceChoice::Flex, state: Ok("burn's CPU backend".to_owned()) },
        ];
        reports.extend(DeviceReport::of_kind(DeviceChoice::Cuda, gpu::cuda()));
        reports.extend(DeviceReport::of_kind(DeviceChoice::Vulkan, gpu::vulkan()));
        reports
    }
}

impl DeviceReport {
    /// A report on each device found of one kind, or one on why there is none.
    fn of_kind(choice: impl Fn(usize) -> DeviceChoice, found: Result<Vec<Device>, String>) -> Vec<DeviceReport> {
        let none = |problem: String| vec![DeviceReport { choice: choice(0), state: Err(problem) }];
        match found {
            Err(problem) => none(problem),
            Ok(found) if found.is_empty() => none("no such device found".to_owned()),
            Ok(found) => {
                let report = |(index, device): (usize, &Device)| DeviceReport {
                    choice: choice(index),
                    state: gpu::try_out(device).map(|()| format!("{device:?}")),
                };
                found.iter().enumerate().map(report).collect()
            }
        }
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

/// Looking for GPUs. burn's drivers panic where a library or a device is missing, so every first contact is guarded.
mod gpu {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use burn::tensor::{Device, Tensor};

    #[cfg(feature = "cuda")]
    pub(super) fn cuda() -> Result<Vec<Device>, String> {
        guarded(|| Device::enumerate(burn::tensor::DeviceType::Cuda).into_vec())
    }

    #[cfg(not(feature = "cuda"))]
    pub(super) fn cuda() -> Result<Vec<Device>, String> {
        Err(not_built("cuda"))
    }

    #[cfg(feature = "vulkan")]
    pub(super) fn vulkan() -> Result<Vec<Device>, String> {
        guarded(|| Device::enumerate(burn::tensor::DeviceType::Vulkan).into_vec())
    }

    #[cfg(not(feature = "vulkan"))]
    pub(super) fn vulkan() -> Result<Vec<Device>, String> {
        Err(not_built("vulkan"))
    }

    #[cfg(not(all(feature = "cuda", feature = "vulkan")))]
    fn not_built(feature: &str) -> String {
        format!("not in this build; build with `--features {feature}`")
    }

    /// One small sum on the device: drivers are often found and then fail.
    pub(super) fn try_out(device: &Device) -> Result<(), String> {
        let sum = guarded(|| Tensor::<1>::ones([4], device).sum().into_scalar::<f32>())?;
        if sum == 4.0 { Ok(()) } else { Err(format!("found, but it adds four ones to {sum}")) }
    }

    /// A panic of `contact` as an error.
    fn guarded<T>(contact: impl FnOnce() -> T) -> Result<T, String> {
        catch_unwind(AssertUnwindSafe(contact)).map_err(|payload| {
            let said = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let said = said.or_else(|| payload.downcast_ref::<String>().cloned());
            format!("its driver failed: {}", said.unwrap_or_else(|| "no reason given".to_owned()))
        })
    }
}
