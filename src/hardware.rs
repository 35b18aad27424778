//! The devices of this machine, as this program opens them.

use hnefi_cuda::Cards;
use hnefi_inference::Devices;

/// The devices of this machine, as this program opens them.
pub struct Hardware {
    /// For evaluation.
    pub devices: Devices,
    /// The cards among them.
    pub cards: Cards,
}

impl Hardware {
    /// The CPU and the cards that are there when they are asked for.
    pub fn of_this_program() -> Hardware {
        let cards = Cards::default();
        Hardware { devices: Devices::with(cards.clone()), cards }
    }
}
