//! The devices of this machine, as this program opens them.

#[cfg(feature = "train")]
use std::process::Command;

#[cfg(feature = "train")]
use hnefi_inference::DeviceChoice;
use hnefi_inference::Devices;
#[cfg(feature = "train")]
use hnefi_models::device::BurnDevices;

/// The devices of this machine, as this program opens them.
pub struct Hardware {
    /// For evaluation.
    pub devices: Devices,
    /// For training.
    #[cfg(feature = "train")]
    pub burn: BurnDevices,
}

impl Hardware {
    /// The devices of this build; it uses a GPU after its trial in another process.
    pub fn of_this_program() -> Hardware {
        #[cfg(feature = "train")]
        {
            let burn = BurnDevices::tried_by(trial);
            Hardware { devices: Devices::with(burn.clone()), burn }
        }
        #[cfg(not(feature = "train"))]
        Hardware { devices: Devices::cpu() }
    }
}

/// The command that tests a device in another process, because a driver may end the process.
#[cfg(feature = "train")]
fn trial(device: DeviceChoice) -> Option<Command> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.args(["doctor", "--device", &device.to_string()]);
    Some(command)
}
