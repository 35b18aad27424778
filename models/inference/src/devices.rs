//! Which devices evaluate: named in configurations and on the command line, opened at run time.
//!
//! This crate evaluates on `cpu`. Every other device comes from the [`Backend`] that a program's [`Devices`] have, so
//! that a program which needs no GPU is built without one; a name whose backend is missing is known all the same.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use crate::fastest::rate;
use crate::names;
use crate::{CpuEvaluator, CpuNetwork, CpuNetworkError, EvalError, Evaluator, Precision, PrecisionChoice, Weights};

/// What [`DeviceList::AUTO`] is called.
const AUTO: &str = "auto";

/// Positions that a thread asks for at once in a trial.
const BATCH: usize = 32;

/// Makes evaluators, one for each thread.
pub type EvaluatorFactory = Box<dyn Fn() -> Box<dyn Evaluator> + Send + Sync>;

/// Evaluates on devices other than the CPU.
pub trait Backend: Send + Sync {
    /// The devices of this machine that can be used.
    fn usable(&self) -> Vec<DeviceChoice>;

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

    /// Tries the cores of the CPU together, and each device of the backend, with a network. A card is asked for as many
    /// positions at once as the cores are together.
    ///
    /// # Errors
    /// When the weights are damaged, or the CPU does not compute in that precision.
    pub fn try_all(&self, weights: &Weights, precision: PrecisionChoice) -> Result<Vec<Trial>, EvalError> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let on = |device: DeviceChoice| self.named(device).evaluator(weights, precision);
        let of_one_core = rate(&mut *on(DeviceChoice::Cpu)?, BATCH)?;
        let mut trials = vec![Trial { device: DeviceChoice::Cpu, rate: Ok(of_one_core * cores as f64) }];
        for device in self.backend.iter().flat_map(|backend| backend.usable()) {
            let rate = on(device).and_then(|mut card| rate(&mut *card, BATCH * cores));
            trials.push(Trial { device, rate });
        }
        Ok(trials)
    }

    /// These devices, or the fastest in a trial where they are [`DeviceList::AUTO`].
    ///
    /// # Errors
    /// As [`Devices::try_all`].
    pub fn chosen(&self, weights: &Weights, precision: PrecisionChoice) -> Result<Devices, EvalError> {
        if !self.names.is_auto() {
            return Ok(self.clone());
        }
        Ok(self.named(Trial::fastest(&self.try_all(weights, precision)?)))
    }

    /// These devices as [`Devices::chosen`] has them, and what to tell of what was left to the machine.
    ///
    /// # Errors
    /// As [`Devices::try_all`].
    pub fn settled(
        &self,
        weights: &Weights,
        precision: PrecisionChoice,
    ) -> Result<(Devices, Option<String>), EvalError> {
        let chosen = self.chosen(weights, precision)?;
        let failed = |error: CpuNetworkError| DeviceChoice::Cpu.unavailable(error.to_string());
        let told = if precision == PrecisionChoice::Auto && chosen.names.0.contains(&DeviceChoice::Cpu) {
            Some(format!("auto takes {} on {}", precision.on_cpu(weights).map_err(failed)?, chosen.names))
        } else {
            self.names.is_auto().then(|| format!("auto takes {}", chosen.names))
        };
        Ok((chosen, told))
    }

    /// Makes as many evaluators of this network as there are threads, on the devices in turn. On [`DeviceChoice::Cpu`]
    /// they share the packed weights, which so stay in the cache that the cores share; a GPU answers half of its askers
    /// at a time. A card has one precision, half precision, which serves as automatic and as single precision.
    /// [`DeviceList::AUTO`] tries the devices first.
    ///
    /// # Errors
    /// When a device is not in this build or the machine does not have it, or it does not compute in that precision, or
    /// the weights are damaged.
    pub fn evaluators(&self, weights: &Weights, precision: PrecisionChoice) -> Result<EvaluatorFactory, EvalError> {
        let chosen = self.chosen(weights, precision)?;
        let on = |&device: &DeviceChoice| self.evaluators_on(device, weights, precision);
        let makers = chosen.names.0.iter().map(on).collect::<Result<Vec<_>, _>>()?;
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

/// What a device did in a trial.
#[derive(Debug)]
pub struct Trial {
    /// The device.
    pub device: DeviceChoice,
    /// How many a second, or why none.
    pub rate: Result<f64, EvalError>,
}

impl Trial {
    /// The cards that are faster than the CPU, or else the CPU.
    pub fn fastest(trials: &[Trial]) -> DeviceList {
        let rate = |trial: &Trial| trial.rate.as_ref().map_or(0.0, |&rate| rate);
        let cpu = trials.iter().find(|trial| trial.device == DeviceChoice::Cpu).map_or(0.0, rate);
        let faster: Vec<_> = trials.iter().filter(|trial| rate(trial) > cpu).map(|trial| trial.device).collect();
        if faster.is_empty() { DeviceChoice::Cpu.into() } else { DeviceList(faster) }
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rate {
            Ok(rate) => write!(f, "{}: {rate:.0} a second", self.device),
            Err(EvalError::Unavailable { device, problem }) => write!(f, "{device}: {problem}"),
            Err(error) => write!(f, "{}: {error}", self.device),
        }
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
        .ok_or_else(|| EvalError::UnknownDevice { found: text.to_owned(), expected: "cpu or cuda:N" })
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

/// Devices by name, joined by commas: `cuda:0,cuda:1`; or `auto`, which tries what there is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DeviceList(Vec<DeviceChoice>);

impl DeviceList {
    /// The fastest devices of this machine for a network.
    pub const AUTO: DeviceList = DeviceList(Vec::new());

    /// Whether the devices are still to be chosen.
    pub fn is_auto(&self) -> bool {
        self.0.is_empty()
    }

    /// The devices; none of [`DeviceList::AUTO`].
    pub fn choices(&self) -> &[DeviceChoice] {
        &self.0
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
        if text == AUTO {
            return Ok(DeviceList::AUTO);
        }
        let unknown = |found: &str| EvalError::UnknownDevice {
            found: found.to_owned(),
            expected: "auto, cpu, cuda:N or several joined by commas",
        };
        // Where it is one of several, the name that is wrong is the whole.
        let wrong = |name: &str| unknown(if name == AUTO { text } else { name });
        let one = |name: &str| name.trim().parse().map_err(|_: EvalError| wrong(name.trim()));
        text.split(',').map(one).collect::<Result<_, _>>().map(DeviceList)
    }
}

impl fmt::Display for DeviceList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_auto() {
            return f.write_str(AUTO);
        }
        let names: Vec<String> = self.0.iter().map(DeviceChoice::to_string).collect();
        f.write_str(&names.join(","))
    }
}

crate::by_text!(DeviceList, EvalError);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NetworkConfig, UniformEvaluator};

    #[test]
    fn devices_are_read_and_named_alike() {
        for name in ["cpu", "cuda:0", "cuda:3"] {
            assert_eq!(name.parse::<DeviceChoice>().unwrap().to_string(), name);
        }
        for name in ["", "gpu", "cuda", "cuda:", "cuda:x", "cuda:-1", "cpu:0", "CPU"] {
            let message = name.parse::<DeviceChoice>().unwrap_err().to_string();
            let expected = format!("device {name:?}: expected cpu or cuda:N, N counting from 0");
            assert!(message.starts_with(&expected), "{message}");
        }
        for (name, meant) in [("cuda", "cuda:0"), ("CPU", "cpu"), ("cpu:0", "cpu"), ("cdua:1", "cuda:1")] {
            let message = name.parse::<DeviceChoice>().unwrap_err().to_string();
            assert!(message.ends_with(&format!("; did you mean {meant}?")), "{message}");
        }
        assert!(!"gpu".parse::<DeviceChoice>().unwrap_err().to_string().contains("did you mean"));
        let read: DeviceChoice = serde_json::from_str("\"cuda:0\"").unwrap();
        assert_eq!(read, DeviceChoice::Cuda(0));
        assert_eq!(serde_json::to_string(&read).unwrap(), "\"cuda:0\"");
    }

    #[test]
    fn lists_are_read_and_written() {
        let list: DeviceList = "cuda:0, cuda:1".parse().unwrap();
        assert_eq!(list.choices(), [DeviceChoice::Cuda(0), DeviceChoice::Cuda(1)]);
        assert_eq!((list.to_string().as_str(), list.has_gpu()), ("cuda:0,cuda:1", true));
        assert_eq!(serde_json::from_str::<DeviceList>("\"cpu\"").unwrap(), DeviceChoice::Cpu.into());
        let auto: DeviceList = "auto".parse().unwrap();
        assert_eq!((auto.is_auto(), auto.to_string().as_str()), (true, "auto"));
        for text in ["", "cpu,", "cpu;cpu", "cpu,auto"] {
            assert!(text.parse::<DeviceList>().is_err(), "{text}");
        }
        for (text, found) in [("cpu,auto", "device \"cpu,auto\": expected auto, cpu"), ("cpu, gpu", "device \"gpu\": ")]
        {
            let problem = text.parse::<DeviceList>().unwrap_err().to_string();
            assert!(problem.starts_with(found), "{problem}");
        }
    }

    /// Two cards, of which the second has no memory left.
    struct Two {
        /// What an evaluation on the first takes longer than on the cores.
        pause: std::time::Duration,
    }

    struct Paused(std::time::Duration);

    impl Evaluator for Paused {
        fn evaluate(
            &mut self,
            requests: &[crate::EvalRequest<'_>],
            out: &mut crate::Evaluations,
        ) -> Result<(), EvalError> {
            std::thread::sleep(self.0);
            UniformEvaluator.evaluate(requests, out)
        }
    }

    impl Backend for Two {
        fn usable(&self) -> Vec<DeviceChoice> {
            vec![DeviceChoice::Cuda(0), DeviceChoice::Cuda(1)]
        }

        fn evaluators(&self, _: &Weights, device: DeviceChoice) -> Result<EvaluatorFactory, EvalError> {
            let pause = self.pause;
            match device {
                DeviceChoice::Cuda(0) => Ok(Box::new(move || Box::new(Paused(pause)))),
                _ => Err(device.unavailable("out of memory")),
            }
        }
    }

    #[test]
    fn the_faster_devices_are_taken() {
        let config = NetworkConfig { blocks: 2, channels: 32, pool_every: 1, head_channels: 8, value_hidden: 8 };
        let weights = Weights::fresh(&config, 1);
        for (pause, expected) in [(0, "cuda:0"), (200, "cpu")] {
            let devices = Devices::with(Two { pause: std::time::Duration::from_millis(pause) });
            let trials = devices.try_all(&weights, PrecisionChoice::Auto).unwrap();
            assert_eq!(Trial::fastest(&trials).to_string(), expected, "{trials:?}");
            assert_eq!(trials[2].to_string(), "cuda:1: out of memory");
            assert!(trials[0].to_string().starts_with("cpu: ") && trials[0].to_string().ends_with(" a second"));
            devices.named(DeviceList::AUTO).evaluator(&weights, PrecisionChoice::Auto).unwrap();
        }
        let alone = Devices::cpu().try_all(&weights, PrecisionChoice::Auto).unwrap();
        assert_eq!(Trial::fastest(&alone), DeviceChoice::Cpu.into());
    }
}
