//! Everything that plays without a person: search, players, the fleet of self-play games, matches, records and their store.

pub mod arena;
pub mod fleet;
pub mod players;
mod record;
mod rng;
pub mod search;
pub mod store;

pub use record::{GameRecord, PlyRecord};
pub use rng::{Rng, rng_for};
