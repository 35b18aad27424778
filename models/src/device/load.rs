//! Work for a device, to be timed.

use burn::tensor::{Device, Distribution, Tensor};
use hnefi_engine::BoardSize;
use hnefi_inference::{DeviceChoice, EvalError, GLOBALS, NetworkConfig, PLANES};

use super::BurnDevices;
use crate::{BurnEvaluator, Network};

/// Computations that are queued one behind the other before anybody waits for the device.
pub const QUEUED: usize = 4;

/// A device that is given work and waited for.
pub struct Load {
    choice: DeviceChoice,
    device: Device,
}

impl Load {
    /// The device, opened.
    ///
    /// # Errors
    /// As [`BurnDevices::open`].
    pub fn on(devices: &BurnDevices, choice: DeviceChoice) -> Result<Load, EvalError> {
        Ok(Load { choice, device: devices.open(choice)? })
    }

    /// The device by its name in the program.
    pub fn choice(&self) -> DeviceChoice {
        self.choice
    }

    /// What burn calls the device.
    pub fn name(&self) -> String {
        format!("{:?}", self.device)
    }

    /// Each call computes [`QUEUED`] products of two matrices of `side` rows and columns in single precision.
    ///
    /// # Panics
    /// A call panics when the device fails.
    pub fn products(&self, side: usize) -> impl FnMut() + '_ {
        let random = || Tensor::<2>::random([side, side], Distribution::Normal(0.0, 1.0), &self.device);
        let (a, b) = (random(), random());
        move || {
            for _ in 0..QUEUED {
                let _product = a.clone().matmul(b.clone());
            }
            self.wait();
        }
    }

    /// Each call runs [`QUEUED`] batches through a network of random weights; its inputs and outputs stay on the
    /// device.
    ///
    /// # Panics
    /// A call panics when the device fails.
    pub fn network(&self, config: &NetworkConfig, size: BoardSize, batch: usize) -> impl FnMut() + '_ {
        let network = Network::fresh(config, 1, &self.device);
        let planes = [batch, PLANES, size.side(), size.side()];
        let planes = Tensor::<4>::random(planes, Distribution::Default, &self.device);
        let globals = Tensor::<2>::random([batch, GLOBALS], Distribution::Default, &self.device);
        move || {
            for _ in 0..QUEUED {
                let _heads = network.forward(planes.clone(), globals.clone());
            }
            self.wait();
        }
    }

    /// An evaluator with a network of random weights.
    pub fn evaluator(&self, config: &NetworkConfig) -> BurnEvaluator {
        BurnEvaluator::new(&Network::fresh(config, 1, &Device::flex()), &self.device)
    }

    fn wait(&self) {
        self.device.sync().expect("the device computes");
    }
}

#[cfg(test)]
mod tests {
    use super::super::gpu::SMALL;
    use super::*;

    #[test]
    fn a_device_takes_the_load() {
        let load = Load::on(&BurnDevices::default(), DeviceChoice::Flex).unwrap();
        load.products(8)();
        let mut network = load.network(&SMALL, BoardSize::SEVEN, 2);
        network();
        network();
    }
}
