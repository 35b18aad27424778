//! What this machine has: its devices, as this program opens them, cores and processor.

use hnefi_cuda::Cards;
use hnefi_inference::Devices;
use sysinfo::{CpuRefreshKind, RefreshKind, System};

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

/// Default number of worker threads.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// The processor's name, asked for.
pub fn processor_name() -> String {
    let wanted = RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing());
    System::new_with_specifics(wanted)
        .map_or_else(|_| std::env::consts::ARCH.to_string(), |system| processor(&system).to_string())
}

pub fn processor(system: &System) -> &str {
    system.cpus().first().map_or(std::env::consts::ARCH, |cpu| cpu.brand().trim())
}
