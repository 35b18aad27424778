//! Which devices evaluate: named in configurations and on the command line, opened at run time.
//!
//! This crate evaluates on `cpu`. Every other device comes from a [`Backend`] that a program installs, so that a
//! program which needs no GPU is built without one; a name whose backend is missing is known all the same.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::names;
use crate::{CpuEvaluator, CpuNetwork, CpuNetworkError, EvalError, Evaluator, Precision, PrecisionChoice, Weights};

/// Makes evaluators, one for each thread.
pub type EvaluatorFactory = Box<dyn Fn() -> Box<dyn Evaluator> + Send + Sync>;

/// Evaluates on devices other than the CPU.
pub trait Backend: Send + Sync {
    /// Makes evaluators of a network on a device, in single precision.
    ///
    /// # Errors
    /// When the device is not in this build or the machine does not have it.
    fn evaluators(&self, weights: &Weights, device: DeviceChoice) -> Result<EvaluatorFactory, EvalError>;
}

static BACKEND: OnceLock<&'static dyn Backend> = OnceLock::new();

/// Makes the devices of a backend available to the whole program. The first call counts.
pub fn install(backend: &'static dyn Backend) {
    // A second call changes nothing, as it says.
    let _ = BACKEND.set(backend);
}

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

impl DeviceChoice {
    /// Whether it works while the CPU does something else.
    pub fn is_gpu(self) -> bool {
        matches!(self, DeviceChoice::Cuda(_) | DeviceChoice::Vulkan(_))
    }

    /// An error about this device.
    pub fn unavailable(self, problem: impl Into<String>) -> EvalError {
        EvalError::Unavailable { device: self.to_string(), problem: problem.into() }
    }

    fn evaluators(self, weights: &Weights, precision: PrecisionChoice) -> Result<EvaluatorFactory, EvalError> {
        if self == DeviceChoice::Cpu {
            let precision = precision.on_cpu(weights);
            let packed = precision.and_then(|precision| CpuNetwork::with_precision(weights, precision));
            let packed = Arc::new(packed.map_err(|error: CpuNetworkError| self.unavailable(error.to_string()))?);
            return Ok(Box::new(move || Box::new(CpuEvaluator::new(packed.clone()))));
        }
        if !matches!(precision, PrecisionChoice::Auto | PrecisionChoice::Exactly(Precision::F32)) {
            let problem = format!("precision {precision} is for the device cpu alone; expected f32");
            return Err(self.unavailable(problem));
        }
        let missing = || self.unavailable("not in this build, which evaluates on the device cpu alone");
        BACKEND.get().ok_or_else(missing)?.evaluators(weights, self)
    }
}

/// Makes as many evaluators of this network as there are threads, on these devices in turn. On [`DeviceChoice::Cpu`]
/// they share the packed weights, which so stay in the cache that the cores share; a GPU answers half of its askers at
/// a time. Only [`DeviceChoice::Cpu`] has other precisions than [`crate::Precision::F32`].
///
/// # Errors
/// When a device is not in this build or the machine does not have it, or it does not compute in that precision, or the
/// weights are damaged.
pub fn evaluators(
    weights: &Weights,
    devices: &DeviceList,
    precision: PrecisionChoice,
) -> Result<EvaluatorFactory, EvalError> {
    let makers = devices.0.iter().map(|device| device.evaluators(weights, precision)).collect::<Result<Vec<_>, _>>()?;
    let next = AtomicUsize::new(0);
    Ok(Box::new(move || makers[next.fetch_add(1, Ordering::Relaxed) % makers.len()]()))
}

/// One evaluator of this network on a device.
///
/// # Errors
/// As [`evaluators`].
pub fn evaluator(
    weights: &Weights,
    device: DeviceChoice,
    precision: PrecisionChoice,
) -> Result<Box<dyn Evaluator>, EvalError> {
    Ok(device.evaluators(weights, precision)?())
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

/// Devices by name, joined by commas: `cuda:0,cuda:1`. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DeviceList(Vec<DeviceChoice>);

impl DeviceList {
    /// The devices, at least one.
    pub fn choices(&self) -> &[DeviceChoice] {
        &self.0
    }

    /// The first device, where one is enough.
    pub fn first(&self) -> DeviceChoice {
        self.0[0]
    }

    /// Whether one of them works while the CPU does something else.
    pub fn has_gpu(&self) -> bool {
        self.0.iter().any(|device| device.is_gpu())
    }
}

impl From<DeviceChoice> for DeviceList {
    fn from(device: DeviceChoice) -> DeviceList {
        DeviceList(vec![device])
    }
}

impl FromStr for DeviceList {
    type Err = EvalError;

    fn from_str(text: &str) -> Result<DeviceList, EvalError> {
        text.split(',').map(|one| one.trim().parse()).collect::<Result<_, _>>().map(DeviceList)
    }
}

impl fmt::Display for DeviceList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.0.iter().map(DeviceChoice::to_string).collect();
        f.write_str(&names.join(","))
    }
}

impl TryFrom<String> for DeviceList {
    type Error = EvalError;

    fn try_from(text: String) -> Result<DeviceList, EvalError> {
        text.parse()
    }
}

impl From<DeviceList> for String {
    fn from(devices: DeviceList) -> String {
        devices.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written() {
        let list: DeviceList = "cuda:0, cuda:1".parse().unwrap();
        assert_eq!(list.choices(), [DeviceChoice::Cuda(0), DeviceChoice::Cuda(1)]);
        assert_eq!((list.to_string().as_str(), list.has_gpu()), ("cuda:0,cuda:1", true));
        assert_eq!(serde_json::from_str::<DeviceList>("\"cpu\"").unwrap(), DeviceChoice::Cpu.into());
        for text in ["", "cpu,", "cpu;flex"] {
            assert!(text.parse::<DeviceList>().is_err(), "{text}");
        }
    }
}
