//! Arguments of `train`, `imitate`, `worker`, `fetch`, `selfplay` and `check`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
#[cfg(feature = "train")]
use clap::builder::ArgPredicate;
use clap::builder::{PathBufValueParser, TypedValueParser};
use hnefi_engine::NamedRules;
use hnefi_inference::DeviceList;
#[cfg(feature = "train")]
use hnefi_run::config::{ANY_NAME, BATCH_GAMES};
use hnefi_run::said_rules;
use hnefi_run::store::{Location, RetryPolicy, StoreWatch};

use super::{change, directory, seed, whole};

#[cfg(feature = "train")]
#[derive(Debug, Args)]
pub struct TrainArgs {
    /// A shipped config (quick, brandubh, copenhagen, copenhagen-gpu, tafl, or any with --rules) or a TOML file.
    #[arg(
        long,
        default_value = "quick",
        default_value_if("rules", ArgPredicate::IsPresent, ANY_NAME),
        value_name = "NAME|FILE"
    )]
    pub config: String,
    /// Train for one ruleset, by the config any: a published one, a rules record, or a file of rules.
    #[arg(long, value_name = "RULESET|RECORD|FILE")]
    pub rules: Option<String>,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[command(flatten)]
    pub store: StoreArgs,
    /// Change a key of the configuration, such as search.c_scale=0.3; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = change)]
    pub changes: Vec<String>,
    /// Print the reference of all keys of a configuration, or of a section or key, and end.
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    pub help_config: Option<String>,
    /// Print the whole configuration with the meaning of each key, and end.
    #[arg(long)]
    pub print_config: bool,
    /// Begin with the weights of a run (and its optimiser, and the games of its window), of a checkpoint, or of a
    /// shipped checkpoint, instead of random ones; a smaller network is grown.
    #[arg(long, value_name = "RUN|CHECKPOINT")]
    pub from: Option<PathBuf>,
    /// Seed of the run, instead of the config's.
    #[arg(long, value_parser = whole::<u64>(0..=i64::MAX as u64))]
    pub seed: Option<u64>,
    /// Devices that play and train, instead of the config's: cpu, cuda:N, several joined by commas, or auto, which
    /// tries what is faster.
    #[arg(long)]
    pub device: Option<DeviceList>,
    /// Worker threads [default: one per core, on a GPU one per 32 games].
    #[arg(long, value_parser = whole::<usize>(0..=1024))]
    pub threads: Option<usize>,
    /// Play no games here: workers do.
    #[arg(long)]
    pub no_selfplay: bool,
    /// Play games all the time, beside training; results then depend on timing.
    #[arg(long, conflicts_with = "no_selfplay")]
    pub overlap: bool,
    /// Train by a program of your own instead of our learner (docs/TRAINER.md).
    #[arg(long, value_name = "COMMAND")]
    pub trainer: Option<String>,
    /// Play no ladder here; `ladder --follow` may.
    #[arg(long)]
    pub no_ladder: bool,
    /// Skip the closing table.
    #[arg(long)]
    pub no_table: bool,
}

/// The location of a run.
#[derive(Debug, Args)]
pub struct PlaceArgs {
    /// Run directory [default: runs/CONFIG, or runs/RULES].
    #[arg(long, value_name = "DIR", conflicts_with = "store")]
    pub run: Option<PathBuf>,
    /// Where the run lies, if not in a run directory: file:DIR, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX,
    /// az://CONTAINER/PREFIX (docs/SCALING.md).
    #[arg(long, value_name = "URL")]
    pub store: Option<Location>,
}

impl PlaceArgs {
    /// The location, if one was given.
    #[cfg(feature = "train")]
    pub fn location(&self) -> Option<Location> {
        self.store.clone().or_else(|| self.run.as_deref().map(Location::from))
    }
}

/// Timeouts of requests to a bucket.
#[derive(Debug, Args)]
pub struct StoreArgs {
    /// Seconds after which a request to a bucket is repeated.
    #[arg(long, default_value_t = 60, value_name = "SECONDS", value_parser = whole::<u64>(1..=3600))]
    pub store_timeout: u64,
    /// Seconds without an answer after which a bucket is an error.
    #[arg(
        long,
        default_value_t = 3600,
        value_name = "SECONDS",
        value_parser = whole::<u64>(1..=10_000_000)
    )]
    pub store_patience: u64,
}

impl StoreArgs {
    /// The retry policy of these arguments.
    pub fn retry(&self, watch: impl StoreWatch + 'static) -> RetryPolicy {
        RetryPolicy {
            request: Duration::from_secs(self.store_timeout),
            limit: Duration::from_secs(self.store_patience),
            watch: Arc::new(watch),
        }
    }
}

#[cfg(feature = "train")]
#[derive(Debug, Args)]
pub struct ImitateArgs {
    /// Record files and run directories; `import` makes them of games that people played.
    #[arg(required = true, value_name = "FILE|RUN")]
    pub sources: Vec<PathBuf>,
    /// Folder of the checkpoint to write.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Mean number of times that a ply is trained on.
    #[arg(long, default_value_t = 10.0, value_parser = epochs)]
    pub epochs: f64,
    /// A shipped config or a TOML file: its network, and its rates, batches and losses.
    #[arg(long, default_value = "quick", value_name = "NAME|FILE")]
    pub config: String,
    /// Change a key that imitation reads, such as train.rate=0.001; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = change)]
    pub changes: Vec<String>,
    /// Begin with the weights of a checkpoint, a run or a shipped checkpoint, instead of random ones.
    #[arg(long, value_name = "CHECKPOINT")]
    pub from: Option<PathBuf>,
}

#[cfg(feature = "train")]
fn epochs(text: &str) -> Result<f64, String> {
    let epochs = text.parse().ok().filter(|epochs| (0.01..=10_000.0).contains(epochs));
    epochs.ok_or_else(|| "expected a number from 0.01 to 10000".to_owned())
}

#[cfg(feature = "train")]
#[derive(Debug, Args)]
pub struct WorkerArgs {
    /// The run to play for: its directory, or file:DIR, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX.
    #[arg(value_name = "RUN|URL")]
    pub run: Location,
    #[command(flatten)]
    pub store: StoreArgs,
    /// Device, instead of the run's: cpu, cuda:N, several joined by commas, or auto.
    #[arg(long)]
    pub device: Option<DeviceList>,
    /// Threads [default: one per core, on a GPU one per 32 games].
    #[arg(long, value_parser = whole::<usize>(0..=1024))]
    pub threads: Option<usize>,
    /// Games played at once, a multiple of 32 [default: the run's].
    #[arg(long, value_parser = whole_batches)]
    pub games_in_flight: Option<usize>,
    /// Seconds between two uploads of finished games, and between two looks for a newer network.
    #[arg(
        long,
        default_value_t = 30,
        value_name = "SECONDS",
        value_parser = whole::<u64>(1..=86_400)
    )]
    pub upload_seconds: u64,
    /// Wait for a run that has not begun yet.
    #[arg(long)]
    pub wait: bool,
    /// Wait when the run is finished: it may go on.
    #[arg(long)]
    pub stay: bool,
    /// Seed of all randomness of its games, unique among the workers of a run and their restarts [default: random].
    #[arg(long, value_parser = seed)]
    pub seed: Option<u64>,
}

#[cfg(feature = "train")]
fn whole_batches(text: &str) -> Result<usize, String> {
    let games = text.parse().ok().filter(|games| (BATCH_GAMES..=65_536).contains(games));
    let whole = games.filter(|games| games.is_multiple_of(BATCH_GAMES));
    whole.ok_or_else(|| format!("expected a multiple of {BATCH_GAMES} from {BATCH_GAMES} to 65536"))
}

#[derive(Debug, Args)]
pub struct FetchArgs {
    /// The run: s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX, or a directory.
    #[arg(value_name = "URL")]
    pub from: Location,
    /// Run directory to copy into; existing objects stay.
    #[arg(long, value_name = "DIR", value_parser = PathBufValueParser::new().try_map(directory))]
    pub run: PathBuf,
    /// Also copy training states and games in flight, to resume training here.
    #[arg(long)]
    pub all: bool,
    /// Copy new objects until Ctrl-C.
    #[arg(long)]
    pub follow: bool,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Args)]
pub struct SelfplayArgs {
    /// A shipped config or a TOML file: its sections self-play and search are used, but not the handicaps of training.
    #[arg(long, default_value = "quick", value_name = "NAME|FILE")]
    pub config: String,
    /// Change a key that self-play reads, such as search.c_scale=0.3; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = change)]
    pub changes: Vec<String>,
    /// Checkpoint, run (its newest checkpoint) or shipped checkpoint to play with; without one, fresh random weights
    /// from the seed.
    #[arg(long, value_name = "CHECKPOINT")]
    pub model: Option<PathBuf>,
    /// One ruleset: a name, a rules record or a file of rules [default: the one that the network was trained for, or
    /// the config's].
    #[arg(long, value_parser = said_rules)]
    pub rules: Option<NamedRules>,
    /// Games to play.
    #[arg(long, value_parser = whole::<u64>(1..=u64::MAX))]
    pub games: u64,
    /// Seed of all randomness.
    #[arg(long, default_value_t = 1, value_parser = seed)]
    pub seed: u64,
    /// Playouts a move, instead of the config's.
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub playouts: Option<u32>,
    /// Run directory to write to.
    #[arg(long, value_name = "RUN", value_parser = PathBufValueParser::new().try_map(directory))]
    pub out: PathBuf,
    /// Worker threads [default: one per core, on a GPU one per 32 games]; the records do not depend on it.
    #[arg(long, value_parser = whole::<usize>(1..=1024))]
    pub threads: Option<usize>,
    /// Device, instead of the config's: cpu, cuda:N, several joined by commas, or auto.
    #[arg(long)]
    pub device: Option<DeviceList>,
}

#[cfg(feature = "train")]
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Run directory, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX.
    #[arg(value_name = "RUN|URL")]
    pub run: Location,
    #[command(flatten)]
    pub store: StoreArgs,
}
