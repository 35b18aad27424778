//! One file per command. Commands that need burn or a training configuration are in the feature `train`.

pub mod bench;
#[cfg(feature = "train")]
pub mod check;
mod delays;
pub mod doctor;
pub mod export;
pub mod export_net;
pub mod fetch;
#[cfg(feature = "train")]
pub mod imitate;
pub mod import;
pub mod judge;
#[cfg(feature = "train")]
pub mod ladder;
pub mod matches;
pub mod online;
#[cfg(feature = "train")]
mod pace;
pub mod perft;
pub mod play;
pub mod puzzles;
mod records;
pub mod replay;
pub mod selfplay;
pub mod shell;
#[cfg(feature = "train")]
mod table;
#[cfg(feature = "train")]
pub mod train;
pub mod uci;
pub mod watch;
mod web;
#[cfg(feature = "train")]
pub mod worker;

/// What to type before a command of this program in the way that it was started itself: its path, or Cargo's command.
#[cfg(feature = "train")]
fn program() -> String {
    // Cargo tells the programs that it runs.
    let path = std::env::args_os().next().filter(|_| std::env::var_os("CARGO_MANIFEST_DIR").is_none());
    path.map_or_else(|| "cargo run --release --".to_owned(), |path| path.to_string_lossy().into_owned())
}

/// A seed from the clock, for games that need not be repeatable.
fn clock_seed() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_nanos() as u64)
}
