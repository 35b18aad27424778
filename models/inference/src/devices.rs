//! Which devices evaluate: named in configurations and on the command line, opened at run time.
//!
//! This crate evaluates on `cpu`. Every other device comes from the [`Backend`] that a program's [`Devices`] have, so
//! that a program which needs no GPU is built without one; a name whose backend is missing is known all the same.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use crate::names;
use crate::{CpuEvaluator, CpuNetwork, CpuNetworkError, EvalError, Evaluator, Precision, PrecisionChoice, Weights};

/// Makes evaluators, one for each thread.
pub type EvaluatorFactory = Box<dyn Fn() -> Box<dyn Evaluator> + Send + Sync>;

/// Evaluates on devices other than the CPU.
pub trait Backend: Send + Sync {
    /// Makes evaluators of a network on a device, in its own precision.
    ///
    /// # Errors
    /// When the machine does not have the device, or the network is too large for it.
    fn evaluators(&self, weights: &Weights, device: DeviceChoice) -> Result<EvaluatorFactory, EvalError>;
}

/// A device by name: `cpu`, `cuda:0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DeviceChoice {
    /// The cores of the CPU.
    #[default]
    Cpu,
    /// An NVIDIA card, counted from 0.
    Cuda(usize),
}

impl DeviceChoice {
    /// Whether it works while the CPU does something else.
    pub fn is_gpu(self) -> bool {
        matches!(self, DeviceChoice::Cuda(_))
    }

    /// An error about this device.
    pub fn unavailable(self, problem: impl Into<String>) -> EvalError {
        EvalError::Unavailable { device: self.to_string(), problem: problem.into() }
    }
}

/// The devices that evaluate, by name, with the backend that opens them.
#[derive(Clone)]
pub struct Devices {
    names: DeviceList,
    backend: Option<Arc<dyn Backend>>,
}

impl Devices {
    /// The CPU, of a program without a backend.
    pub fn cpu() -> Devices {
        Devices { names: DeviceChoice::Cpu.into(), backend: None }
    }

    /// The CPU, of a program with a backend for the other devices.
    pub fn with(backend: impl Backend + 'static) -> Devices {
        Devices { backend: Some(Arc::new(backend)), ..Devices::cpu() }
    }

    /// Other devices of the same program.
    pub fn named(&self, names: impl Into<DeviceList>) -> Devices {
        Devices { names: names.into(), backend: self.backend.clone() }
    }

    /// The names.
    pub fn names(&self) -> &DeviceList {
        &self.names
    }

    /// Makes as many evaluators of this network as there are threads, on the devices in turn. On [`DeviceChoice::Cpu`]
    /// they share the packed weights, which so stay in the cache that the cores share; a GPU answers half of its askers
    /// at a time. A card has one precision, half precision, which serves as automatic and as single precision.
    ///
    /// # Errors
    /// When a device is not in this build or the machine does not have it, or it does not compute in that precision, or
    /// the weights are damaged.
    pub fn evaluators(&self, weights: &Weights, precision: PrecisionChoice) -> Result<EvaluatorFactory, EvalError> {
        let on = |&device: &DeviceChoice| self.evaluators_on(device, weights, precision);
        let makers = self.names.0.iter().map(on).collect::<Result<Vec<_>, _>>()?;
        let next = AtomicUsize::new(0);
        Ok(Box::new(move || makers[next.fetch_add(1, Ordering::Relaxed) % makers.len()]()))
    }

    /// One evaluator of this network.
    ///
    /// # Errors
    /// As [`Devices::evaluators`].
    pub fn evaluator(&self, weights: &Weights, precision: PrecisionChoice) -> Result<Box<dyn Evaluator>, EvalError> {
        Ok(self.evaluators(weights, precision)?())
    }

    fn evaluators_on(
        &self,
        device: DeviceChoice,
        weights: &Weights,
        precision: PrecisionChoice,
    ) -> Result<EvaluatorFactory, EvalError> {
        if device == DeviceChoice::Cpu {
            let precision = precision.on_cpu(weights);
            let packed = precision.and_then(|precision| CpuNetwork::with_precision(weights, precision));
            let packed = Arc::new(packed.map_err(|error: CpuNetworkError| device.unavailable(error.to_string()))?);
            return Ok(Box::new(move || Box::new(CpuEvaluator::new(packed.clone()))));
        }
        // A card has one precision, which stands for single precision too.
        if !matches!(precision, PrecisionChoice::Auto | PrecisionChoice::Exactly(Precision::F32)) {
            let problem = format!("precision {precision} is for the device cpu alone; expected auto or f32");
            return Err(device.unavailable(problem));
        }
        let missing = || device.unavailable("not in this build, which evaluates on the device cpu alone");
        self.backend.as_ref().ok_or_else(missing)?.evaluators(weights, device)
    }
}

impl fmt::Debug for Devices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Devices({})", self.names)
    }
}

/// The end of an error about a name that no device has: the name that was probably meant.
pub(crate) fn suggestion(found: &str) -> String {
    let (kind, index) = found.split_once(':').unwrap_or((found, "0"));
    match names::nearest(kind, ["cpu", "cuda"]) {
        None => String::new(),
        Some("cpu") => names::suggestion("cpu"),
        Some(kind) => names::suggestion(format!("{kind}:{}", index.parse::<usize>().unwrap_or(0))),
    }
}

impl FromStr for DeviceChoice {
    type Err = EvalError;

    fn from_str(text: &str) -> Result<DeviceChoice, EvalError> {
        let index = |digits: &str| digits.parse::<usize>().ok();
        match text.split_once(':') {
            None if text == "cpu" => Some(DeviceChoice::Cpu),
            Some(("cuda", digits)) => index(digits).map(DeviceChoice::Cuda),
            _ => None,
        }
        .ok_or_else(|| EvalError::UnknownDevice { found: text.to_owned() })
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Cpu => f.write_str("cpu"),
            DeviceChoice::Cuda(index) => write!(f, "cuda:{index}"),
        }
    }
}

crate::by_text!(DeviceChoice, EvalError);

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

crate::by_text!(DeviceList, EvalError);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written() {
        let list: DeviceList = "cuda:0, cuda:1".parse().unwrap();
        assert_eq!(list.choices(), [DeviceChoice::Cuda(0), DeviceChoice::Cuda(1)]);
        assert_eq!((list.to_string().as_str(), list.has_gpu()), ("cuda:0,cuda:1", true));
        assert_eq!(serde_json::from_str::<DeviceList>("\"cpu\"").unwrap(), DeviceChoice::Cpu.into());
        for text in ["", "cpu,", "cpu;cpu"] {
            assert!(text.parse::<DeviceList>().is_err(), "{text}");
        }
    }
}
