//! What comes from outside, as a fuzzer thinks it up (docs/TRUST.md).
//!
//! A target takes any bytes. What the product refuses is fine; what it accepts must come back from its own writer as it
//! was, and memory must stay within a multiple of the input. [`TARGETS`] lists them, each with where a fuzzer begins.
//! `scripts/fuzz.sh` runs them; without the nightly compiler `tests/seeds.rs` tries the seeds and small changes.

pub mod checkpoint;
pub mod envelope;
pub mod fleet;
pub mod games;
mod memory;
pub mod metrics;
pub mod notation;
pub mod protocol;
mod sample;
pub mod texts;

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

pub use memory::within;

/// A target: its name, what it does with an input, and the inputs that a fuzzer begins with.
pub type Target = (&'static str, fn(&[u8]), fn() -> Vec<Vec<u8>>);

/// All targets.
pub static TARGETS: [Target; 13] = [
    ("fen", notation::fen, notation::fen_seeds),
    ("rules_record", notation::rules_record, notation::rules_record_seeds),
    ("moves", notation::moves, notation::move_seeds),
    ("game_records", games::records, games::seeds),
    ("snapshot", fleet::snapshot, fleet::snapshot_seeds),
    ("upload", fleet::upload, fleet::upload_seeds),
    ("pgn", texts::pgn, texts::pgn_seeds),
    ("csv", texts::csv, texts::csv_seeds),
    ("opentafl", texts::opentafl, texts::opentafl_seeds),
    ("replay", texts::replay, texts::replay_seeds),
    ("protocol", protocol::lines, protocol::seeds),
    ("checkpoint", checkpoint::checkpoint, checkpoint::seeds),
    ("metrics", metrics::metrics, metrics::seeds),
];

/// The one that `HNEFI_TARGET` names, for the fuzzer.
static CHOSEN: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("HNEFI_TARGET").expect("HNEFI_TARGET names a target");
    let found = TARGETS.into_iter().find(|(known, ..)| *known == name);
    found.unwrap_or_else(|| panic!("HNEFI_TARGET={name}: expected one of {:?}", TARGETS.map(|(known, ..)| known)))
});

/// Before the first input: writes the seeds into the folder that `HNEFI_SEEDS` names, if it names one.
///
/// # Panics
/// When the folder cannot be written.
pub fn begin() {
    let Some(folder) = std::env::var_os("HNEFI_SEEDS").map(PathBuf::from) else { return };
    fs::create_dir_all(&folder).expect("a folder for seeds");
    for (number, seed) in CHOSEN.2().iter().enumerate() {
        fs::write(folder.join(format!("seed-{number:02}")), seed).expect("room for a seed");
    }
}

/// Tries an input.
pub fn run(input: &[u8]) {
    CHOSEN.1(input);
}
