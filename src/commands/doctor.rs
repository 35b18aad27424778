//! `hnefi doctor`: the devices and instruction sets of this machine, and the default choices.

use std::time::Instant;

use anyhow::Context;
use hnefi_cuda::CardError;
use hnefi_inference::{DeviceChoice, Precision, PrecisionChoice, Trial, pretrained};
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use crate::cli::DoctorArgs;
use crate::hardware::{Hardware, cores, processor};
use crate::output;

/// Prints cores, memory, instruction sets and devices, or tests one device.
pub fn run(args: DoctorArgs, hardware: &Hardware) -> anyhow::Result<()> {
    if let Some(device) = args.device {
        let began = Instant::now();
        let found = try_out(hardware, device)?;
        let seconds = began.elapsed().as_secs_f64();
        return output::line(format_args!("{device}: {found}, {seconds:.1} s"));
    }
    let wanted =
        RefreshKind::nothing().with_memory(MemoryRefreshKind::everything()).with_cpu(CpuRefreshKind::nothing());
    let system = System::new_with_specifics(wanted).context("asking the system for its memory and processors")?;
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    output::line(format_args!("hnefi {}", env!("CARGO_PKG_VERSION")))?;
    output::line(format_args!("processor      {}", processor(&system)))?;
    output::line(format_args!("cores          {} (threads used by default)", cores()))?;
    let memory = [system.total_memory(), system.available_memory()].map(gib);
    output::line(format_args!("memory         {:.1} GiB, {:.1} GiB available", memory[0], memory[1]))?;
    output::line(format_args!("instructions   {}", instructions()))?;
    let precision = |precision: Precision| match precision.missing() {
        None => precision.to_string(),
        Some(missing) => format!("{precision} (slower here: no {missing})"),
    };
    output::line(format_args!("precisions     {}", Precision::ALL.map(precision).join(", ")))?;
    output::line("devices")?;
    let devices = devices(hardware);
    let is_choice = devices.iter().filter(|(_, state)| state.is_ok()).count() > 1;
    for (device, state) in devices {
        let state = match state {
            Ok(detail) => format!("available: {detail}"),
            Err(problem) => format!("not available: {problem}"),
        };
        output::line(format_args!("  {:<12} {state}", device.to_string()))?;
    }
    let chosen = hnefi_run::config::TrainConfig::default().run;
    output::line(format_args!(
        "chosen         {} for self-play and play, {} for training",
        chosen.device, chosen.train_device
    ))?;
    if is_choice && let Some(trials) = auto(hardware)? {
        output::line(format_args!("auto           {trials}"))?;
    }
    let names = hnefi_inference::pretrained_names();
    let names = if names.is_empty() { "none embedded".to_string() } else { format!("embedded: {}", names.join(", ")) };
    output::line(format_args!("checkpoints    {names}"))
}

/// Every device with its description, or why it cannot be used.
fn devices(hardware: &Hardware) -> Vec<(DeviceChoice, Result<String, CardError>)> {
    let cpu = (DeviceChoice::Cpu, Ok("kernels of this program".to_owned()));
    std::iter::once(cpu).chain(hardware.cards.survey()).collect()
}

/// What `auto` takes for the network `copenhagen`.
fn auto(hardware: &Hardware) -> anyhow::Result<Option<String>> {
    let Some(checkpoint) = pretrained("copenhagen").transpose()? else { return Ok(None) };
    let trials = hardware.devices.try_all(&checkpoint.weights, PrecisionChoice::Auto)?;
    let texts: Vec<String> = trials.iter().map(Trial::to_string).collect();
    let fastest = Trial::fastest(&trials);
    Ok(Some(format!("{fastest} for evaluations ({})", texts.join(", "))))
}

/// Compares a card with the CPU, and says what it is and what it did as the CPU does.
fn try_out(hardware: &Hardware, device: DeviceChoice) -> anyhow::Result<String> {
    let Some(card) = hardware.cards.of(device)? else {
        anyhow::bail!("--device {device}: expected cuda:N; cards are compared with the CPU");
    };
    hnefi_cuda::compare_evaluation(&card, device)?;
    #[cfg(feature = "train")]
    {
        super::bench::compare_training(&card)?;
        Ok(format!("{} evaluates and trains as the CPU does", card.name()))
    }
    #[cfg(not(feature = "train"))]
    Ok(format!("{} evaluates as the CPU does", card.name()))
}

/// The instruction sets that the kernels use, with the present ones marked.
fn instructions() -> String {
    #[cfg(target_arch = "x86_64")]
    {
        let present = [
            ("avx2", is_x86_feature_detected!("avx2")),
            ("fma", is_x86_feature_detected!("fma")),
            ("avx512f", is_x86_feature_detected!("avx512f")),
            ("avx512bf16", is_x86_feature_detected!("avx512bf16")),
            ("avx512vnni", is_x86_feature_detected!("avx512vnni")),
            ("avxvnni", is_x86_feature_detected!("avxvnni")),
        ];
        present.map(|(name, yes)| format!("{name} {}", if yes { "yes" } else { "no" })).join(", ")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        format!("{} (portable kernels)", std::env::consts::ARCH)
    }
}
