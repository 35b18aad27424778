//! Several devices at once: self-play on all GPUs of a box, or a batch of training shared out among them.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use crate::device::evaluators_on_one;
use crate::{DeviceChoice, EvalError, Evaluator, Network, PrecisionChoice};

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

    /// All of them, each after a small calculation on it.
    ///
    /// # Errors
    /// When one of them is not in this build or cannot be used here.
    pub fn open(&self) -> Result<Vec<Device>, EvalError> {
        self.0.iter().map(|device| device.open()).collect()
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
    network: &Network,
    devices: &DeviceList,
    precision: PrecisionChoice,
) -> Result<Box<dyn Fn() -> Box<dyn Evaluator> + Send + Sync>, EvalError> {
    let makers =
        devices.0.iter().map(|&device| evaluators_on_one(network, device, precision)).collect::<Result<Vec<_>, _>>()?;
    let next = AtomicUsize::new(0);
    Ok(Box::new(move || makers[next.fetch_add(1, Ordering::Relaxed) % makers.len()]()))
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
    use hnefi_engine::{MoveList, Position, Preset};

    use super::*;
    use crate::{EvalRequest, Evaluations, NetworkConfig};

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

    #[test]
    fn evaluators_take_turns_on_the_devices() {
        let config = NetworkConfig {
            blocks: 1,
            channels: 16,
            pool_every: 1,
            head_channels: 4,
            value_hidden: 8,
            role_heads: true,
        };
        let network = config.init_seeded(1, &Device::flex());
        let make = evaluators(&network, &"cpu,flex".parse().unwrap(), PrecisionChoice::Auto).unwrap();
        let position = Position::start(&Preset::Brandubh.rules());
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        let request = [EvalRequest { position: &position, moves: &moves, auxiliary: false }];
        let mut answers = (0..4).map(|_| {
            let mut out = Evaluations::new();
            make().evaluate(&request, &mut out).unwrap();
            out.get(0).wdl.win.to_bits()
        });
        let [cpu, flex, again, other] = std::array::from_fn(|_| answers.next().unwrap());
        // Two devices round in their own ways, which tells them apart; each repeats itself.
        assert_eq!((cpu, flex), (again, other));
        assert!((f32::from_bits(cpu) - f32::from_bits(flex)).abs() < 1e-5);
    }
}
