//! Arguments of what makes networks and their runs: `train`, `selfplay`, `pack`, `unpack`.

use std::path::PathBuf;

use clap::Args;
use hnefi_models::DeviceChoice;

/// Arguments of `train`.
#[derive(Debug, Args)]
pub struct TrainArgs {
    /// A shipped config (quick, brandubh, copenhagen, copenhagen-gpu, all-boards) or a TOML file.
    #[arg(long, default_value = "quick", value_name = "NAME|FILE")]
    pub config: String,
    /// Run directory [default: runs/CONFIG].
    #[arg(long, value_name = "DIR")]
    pub run: Option<PathBuf>,
    /// Change a key of the configuration, such as search.c_scale=0.3; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub changes: Vec<String>,
    /// Begin with the weights of a run (and its optimiser), of a checkpoint, or of a shipped checkpoint, instead of random
    /// ones.
    #[arg(long, value_name = "RUN|CHECKPOINT")]
    pub from: Option<PathBuf>,
    /// Seed of the run, instead of the config's.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Device, instead of the config's: cpu, flex, cuda:N, vulkan:N.
    #[arg(long)]
    pub device: Option<DeviceChoice>,
    /// Worker threads [default: one per core, on a GPU one per 32 games].
    #[arg(long)]
    pub threads: Option<usize>,
    /// Skip the closing table.
    #[arg(long)]
    pub no_table: bool,
}

/// Arguments of `selfplay`.
#[derive(Debug, Args)]
pub struct SelfplayArgs {
    /// A shipped config or a TOML file: its rules, search and self-play sections are used.
    #[arg(long, default_value = "quick", value_name = "NAME|FILE")]
    pub config: String,
    /// Checkpoint to play with; without one, fresh random weights from the seed.
    #[arg(long, value_name = "PATH")]
    pub model: Option<PathBuf>,
    /// Games to play.
    #[arg(long)]
    pub games: u64,
    /// Seed of all randomness.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Playouts a move, instead of the config's.
    #[arg(long)]
    pub playouts: Option<u32>,
    /// Run directory to write to.
    #[arg(long, value_name = "RUN")]
    pub out: PathBuf,
    /// Worker threads [default: one per core, on a GPU one per 32 games]; the records do not depend on it.
    #[arg(long)]
    pub threads: Option<usize>,
    /// Device, instead of the config's.
    #[arg(long)]
    pub device: Option<DeviceChoice>,
}

/// Arguments of `pack`.
#[derive(Debug, Args)]
pub struct PackArgs {
    /// Run directory; nobody may be training it.
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// What the parts are called: OUT.01, OUT.02 and so on [default: RUN.pack here].
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// The most MiB of a part.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=65_536))]
    pub part_mib: u64,
    /// The most parts. The newest games take what the rest of the run leaves.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=99))]
    pub parts: u32,
}

/// Arguments of `unpack`.
#[derive(Debug, Args)]
pub struct UnpackArgs {
    /// All parts.
    #[arg(required = true, value_name = "PART")]
    pub parts: Vec<PathBuf>,
    /// Run directory to make.
    #[arg(long, value_name = "DIR")]
    pub run: PathBuf,
}
