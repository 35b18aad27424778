//! A training run: its configuration, game records and their codec, metrics, and the store of its objects.

pub mod codec;
pub mod config;
mod metrics;
mod run;
pub mod store;

pub use codec::{GameReader, decode_games, encode_games};
pub use config::PlyCaps;
pub use hnefi_record::{GameRecord, PlyRecord, RecordError, Replay};
pub use metrics::{GenerationMetrics, Handicap, LossValues, ResignSummary, SelfPlayMetrics, TrainingMetrics};
pub use run::{Run, flat};
