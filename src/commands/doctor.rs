//! `hnefi doctor`: what this machine can run and what would be chosen.

use hnefi_models::DeviceChoice;
use hnefi_train::TrainConfig;

/// Prints cores, memory, instruction sets and devices.
pub fn run() -> anyhow::Result<()> {
    let system =
        sysinfo::System::new_with_specifics(sysinfo::RefreshKind::nothing().with_memory(sysinfo::MemoryRefreshKind::everything()));
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    println!("hnefi {}", env!("CARGO_PKG_VERSION"));
    println!("processor      {}", processor());
    println!("cores          {} (threads used by default)", cores());
    println!("memory         {:.1} GiB, {:.1} GiB available", gib(system.total_memory()), gib(system.available_memory()));
    println!("instructions   {}", instructions());
    println!("devices");
    for report in DeviceChoice::survey() {
        let state = match &report.state {
            Ok(detail) => format!("available: {detail}"),
            Err(problem) => format!("not available: {problem}"),
        };
        println!("  {:<12} {state}", report.choice.to_string());
    }
    let chosen = TrainConfig::default().run;
    println!("chosen         {} for self-play and play, {} for training", chosen.device, chosen.train_device);
    let names = hnefi_models::pretrained_names();
    println!("checkpoints    {}", if names.is_empty() { "none embedded".to_string() } else { format!("embedded: {}", names.join(", ")) });
    Ok(())
}

/// Worker threads used unless told otherwise.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

fn processor() -> String {
    let mut system = sysinfo::System::new();
    system.refresh_cpu_all();
    system.cpus().first().map_or_else(|| std::env::consts::ARCH.to_string(), |cpu| cpu.brand().trim().to_string())
}

/// The instruction sets that matter to the kernels, with those present marked.
fn instructions() -> String {
    #[cfg(target_arch = "x86_64")]
    {
        let present = [
            ("avx2", is_x86_feature_detected!("avx2")),
            ("fma", is_x86_feature_detected!("fma")),
            ("avx512f", is_x86_feature_detected!("avx512f")),
            ("avx512bf16", is_x86_feature_detected!("avx512bf16")),
            ("avx512vnni", is_x86_feature_detected!("avx512vnni")),
        ];
        present.map(|(name, yes)| format!("{name} {}", if yes { "yes" } else { "no" })).join(", ")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        format!("{} (portable kernels)", std::env::consts::ARCH)
    }
}
