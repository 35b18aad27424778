//! Everything that plays without a person: search, players, the fleet of self-play games, matches, ladders, records and
//! their store.

pub mod arena;
mod codec;
pub mod config;
pub mod fleet;
pub mod ladder;
pub mod players;
mod printable;
mod record;
mod rng;
pub mod search;
pub mod store;

pub use codec::{GameReader, decode_games, encode_games};
pub use printable::{printable, printable_lines};
pub use record::{GameRecord, PlyRecord, RecordError, Replay};
pub use rng::{Rng, rng_for};
