//! Arguments of `puzzles`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hnefi_arena::players::PlayerSpec;
use hnefi_engine::NamedRules;
use hnefi_run::named_rules;

use super::{DeviceArgs, seed};

#[derive(Debug, Args)]
pub struct PuzzlesArgs {
    #[command(subcommand)]
    pub command: PuzzlesCommand,
}

#[derive(Debug, Subcommand)]
pub enum PuzzlesCommand {
    /// Set puzzles to players and count the right moves.
    Solve(SolveArgs),
    /// Find puzzles in recorded games.
    Find(FindArgs),
    /// Prove puzzles again by exhaustive search.
    Check {
        /// A file of puzzles [default: the shipped puzzles].
        file: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub struct SolveArgs {
    /// Players, as for `hnefi match`.
    #[arg(required = true, value_name = "PLAYER")]
    pub players: Vec<PlayerSpec>,
    /// A file of puzzles [default: the shipped puzzles].
    #[arg(long)]
    pub file: Option<PathBuf>,
    /// Puzzles of this ruleset alone; may be given several times.
    #[arg(long, value_parser = named_rules)]
    pub rules: Vec<NamedRules>,
    /// Only every Nth puzzle, for a quick look.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub every: u32,
    /// Seed of the players' random choices.
    #[arg(long, default_value_t = 1, value_parser = seed)]
    pub seed: u64,
    /// Worker threads [default: all cores].
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Print a line of JSON for each player instead of a table.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct FindArgs {
    /// Record files and run directories.
    #[arg(required = true, value_name = "FILE")]
    pub sources: Vec<PathBuf>,
    /// The file to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Plies of the longest forced win.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(3..=9))]
    pub longest: u32,
    /// Most right moves of a puzzle.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=9))]
    pub answers: u8,
    /// Most puzzles of one ruleset, theme and length.
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u16).range(1..))]
    pub each: u16,
    /// Worker threads [default: all cores].
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
}
