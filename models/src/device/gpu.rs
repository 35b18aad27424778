//! Looking for GPUs. burn's drivers panic where a library or a device is missing, so every first contact is guarded.

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn::module::Module;
use burn::tensor::{Device, Distribution, Tensor};

use hnefi_inference::{GLOBALS, NetworkConfig, PLANES};

use crate::Network;

/// What is tried out: a network with every kind of layer there is.
pub(super) const SMALL: NetworkConfig =
    NetworkConfig { blocks: 2, channels: 32, pool_every: 2, head_channels: 8, value_hidden: 16 };

/// Positions of a batch on trial, as many as a game batch of self-play has.
const BATCH: usize = 32;

/// How far a device may be from the CPU, as a share.
const TOLERANCE: f32 = 0.01;

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
    guarded(|| Device::enumerate(burn::tensor::DeviceType::Wgpu).into_vec())
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
pub(super) fn adds(device: &Device) -> Result<(), String> {
    let sum = guarded(|| Tensor::<1>::ones([4], device).sum().into_scalar::<f32>())?;
    if sum == 4.0 { Ok(()) } else { Err(format!("found, but it adds four ones to {sum}")) }
}

/// Evaluation and training of a small network on the smallest and the largest board, compared with the CPU.
pub(super) fn computes(device: &Device) -> Result<(), String> {
    for side in [7, 11] {
        let (expected, found) = (numbers(side, &Device::flex()), guarded(|| numbers(side, device))?);
        for (what, expected, found) in [("loss", expected.0, found.0), ("gradient", expected.1, found.1)] {
            // What is no number is not near either.
            let near = (found - expected).abs() <= TOLERANCE * expected.abs();
            if !near {
                return Err(format!(
                    "found, but its {what} of a small network is {found} where the CPU has {expected}"
                ));
            }
        }
    }
    Ok(())
}

/// A loss that all heads have a part in, and the squared norm of its gradient in the first layer, which all layers have
/// a part in.
fn numbers(side: usize, device: &Device) -> (f32, f32) {
    let host = Device::flex();
    host.seed(7);
    let normal = Distribution::Normal(0.0, 1.0);
    let planes = Tensor::<4>::random([BATCH, PLANES, side, side], normal, &host);
    let globals = Tensor::<2>::random([BATCH, GLOBALS], normal, &host);
    let network = Network::fresh(&SMALL, 7, &host).to_device(device).train();
    let device = device.clone().autodiff();
    let heads = network.forward_unfused(planes.to_device(&device), globals.to_device(&device));
    let squares = |heads: Tensor<2>| heads.square().mean();
    let policy = squares(heads.policy.flatten::<2>(1, 3)) + squares(heads.occupancy.flatten::<2>(1, 3));
    let loss = policy + squares(heads.wdl) + squares(heads.moves_left);
    let gradients = loss.backward();
    let gradient = network.stem.conv.weight.grad(&gradients).map(|gradient| gradient.square().sum());
    (loss.into_scalar(), gradient.map_or(f32::NAN, |gradient| gradient.into_scalar()))
}

/// A panic of `contact` as an error.
fn guarded<T>(contact: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(contact)).map_err(|payload| {
        let said = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let said = said.or_else(|| payload.downcast_ref::<String>().cloned());
        format!("its driver failed: {}", said.unwrap_or_else(|| "no reason given".to_owned()))
    })
}
