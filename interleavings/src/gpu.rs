//! A device that answers with zeros, in place of burn's.

use crate::rows::Asked;

/// No device.
#[derive(Clone, Debug)]
pub(crate) struct Device;

/// No network.
pub(crate) struct Network;

/// Answers with zeros.
pub(crate) struct Forward;

impl Forward {
    pub(crate) fn new(_: &Network, _: &Device, _: bool) -> Forward {
        Forward
    }

    pub(crate) fn run(&self, asked: &Asked) -> Result<Vec<f32>, String> {
        Ok(vec![0.0; asked.count * asked.row_width()])
    }
}
