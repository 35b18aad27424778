//! One file per command. Commands that need burn or a training configuration are in the feature `train`.

pub mod analyse;
pub mod bench;
#[cfg(feature = "train")]
pub mod check;
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
pub mod perft;
pub mod play;
pub mod puzzles;
mod records;
pub mod relabel;
pub mod replay;
pub mod review;
pub mod selfplay;
pub mod shell;
#[cfg(feature = "train")]
mod table;
#[cfg(feature = "train")]
pub mod train;
pub mod tune;
pub mod uci;
pub mod watch;
#[cfg(feature = "web")]
mod web;
mod work;
#[cfg(feature = "train")]
pub mod worker;

use std::path::Path;

use hnefi_arena::players::ModelCache;
use hnefi_engine::NamedRules;
use hnefi_inference::{Devices, EvalError, PrecisionChoice, Weights};
use indicatif::ProgressBar;

use crate::progress;

/// What to say where lines of text take the place of what is drawn in the terminal.
#[cfg(not(feature = "terminal"))]
const WITHOUT_TERMINAL: &str =
    "this program was built without the feature terminal, so nothing is drawn; build it with --features terminal";

/// Refuses what the feature `web` brings, by its name.
///
/// # Errors
/// Always: it is called where the feature is missing.
#[cfg(not(feature = "web"))]
fn without_web() -> anyhow::Result<()> {
    anyhow::bail!("--web: this program was built without the feature web; build it with --features web")
}

/// What to type before a command of this program in the way that it was started itself: its path, or Cargo's command.
#[cfg(feature = "train")]
fn program() -> String {
    // Cargo tells the programs that it runs.
    let path = std::env::args_os().next().filter(|_| std::env::var_os("CARGO_MANIFEST_DIR").is_none());
    path.map_or_else(|| "cargo run --release --".to_owned(), |path| path.to_string_lossy().into_owned())
}

/// Refuses changes of a key that an option sets, too; `options` are the options given, each with its key.
fn set_once(changes: &[String], options: &[(&str, bool, &str)]) -> anyhow::Result<()> {
    let twice = options.iter().find(|(_, given, key)| {
        *given && changes.iter().any(|change| hnefi_run::config::TrainConfig::changes(change, key))
    });
    match twice {
        None => Ok(()),
        Some((option, _, key)) => {
            anyhow::bail!("{option} and --set {key}: both set the same key; expected one of them")
        }
    }
}

/// The rules that a network was trained for, where these are one ruleset.
fn only_ruleset(models: &mut ModelCache, path: &Path) -> anyhow::Result<Option<NamedRules>> {
    let card = &models.checkpoint(path)?.card;
    Ok(card.rulesets.first().filter(|_| card.rulesets.len() == 1).and_then(|name| name.parse().ok()))
}

/// The devices that evaluate; tells what this machine makes of what was left to it.
fn settled(devices: &Devices, weights: &Weights, precision: PrecisionChoice) -> Result<Devices, EvalError> {
    let (devices, told) = devices.settled(weights, precision)?;
    told.iter().for_each(|told| progress::note(&ProgressBar::hidden(), told));
    Ok(devices)
}

/// A seed from the clock, for games that need not be repeatable.
fn clock_seed() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_nanos() as u64)
}
