//! A training run: its configuration, game records and their codec, metrics, and the store of its objects.

pub mod codec;
pub mod config;
mod differences;
mod metrics;
mod read_error;
mod rules_file;
mod run;
pub mod sample;
pub mod store;

pub use codec::{GameReader, decode_games, encode_games};
pub use config::PlyCaps;
pub use differences::differences;
pub use hnefi_record::{GameKey, GameRecord, PlyRecord, RecordError, Replay, recorded_policy};
pub use metrics::{GenerationMetrics, LossValues, ResignSummary, SelfPlayMetrics, TrainingMetrics};
pub use read_error::ReadError;
pub use rules_file::{named_rules, said_rules};
pub use run::{Run, flat};

/// Name and version of this program, as the objects of a run have them.
pub const PROGRAM: &str = concat!("hnefi ", env!("CARGO_PKG_VERSION"));
