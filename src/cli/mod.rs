//! The arguments of the command line.

mod data;
mod examples;
mod help;
mod measuring;
mod playing;
mod puzzles;
mod shell;
mod training;

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use hnefi_arena::players::ModelCache;
use hnefi_engine::Rules;
use hnefi_inference::{DeviceChoice, DeviceList, Devices};
use hnefi_run::config::{ConfigError, TrainConfig};
use hnefi_run::store::Location;
use hnefi_search::SearchConfig;

use crate::hardware::Hardware;

pub use data::{ExportArgs, ExportNetArgs, ImportArgs};
#[cfg(feature = "train")]
pub use measuring::LadderArgs;
pub use measuring::{
    AnalyseArgs, AnalysisArgs, BenchArgs, Conditions, DoctorArgs, JudgeArgs, MatchArgs, PerftArgs, RelabelArgs,
    ReviewArgs, Stage, TuneArgs,
};
#[cfg(feature = "web")]
pub use playing::ServeArgs;
pub use playing::{MetricsArgs, PlayArgs, Seat, UciArgs, WatchArgs};
pub use puzzles::{FindArgs, PuzzlesArgs, PuzzlesCommand, SolveArgs};
pub use shell::{CompletionsArgs, ManArgs};
#[cfg(feature = "train")]
pub use training::{CheckArgs, ImitateArgs, StoreArgs, TrainArgs, WorkerArgs};
pub use training::{FetchArgs, SelfplayArgs};

/// A self-play training toolkit for Hnefatafl (Viking chess).
#[derive(Debug, Parser)]
#[command(name = "hnefi", version, about, max_term_width = 110, after_help = examples::PROGRAM)]
pub struct Cli {
    /// No progress and no notes: only results, warnings and errors.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// The arguments of this process. Wrong ones end it.
    ///
    /// # Errors
    /// The text that they ask for, help or the version.
    pub fn of_this_process() -> Result<Cli, clap::Error> {
        let read = with_negative_numbers(help::grouped(program())).try_get_matches();
        match read.and_then(|matches| Cli::from_arg_matches(&matches)) {
            Err(error) if error.use_stderr() => error.exit(),
            read => read,
        }
    }
}

/// The program with all commands, as completions and manual pages show it.
pub fn program() -> clap::Command {
    examples::added(Cli::command())
}

/// Lets every option be given a negative number, so that the error says which numbers it takes. Otherwise clap proposes
/// `-- -4`, which no option takes.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let allow = |arg: clap::Arg| {
        let takes_values = arg.get_action().takes_values();
        arg.allow_negative_numbers(takes_values)
    };
    command.mut_args(allow).mut_subcommands(with_negative_numbers)
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Train a network from random weights by self-play; the same command resumes.
    #[cfg(feature = "train")]
    Train(TrainArgs),
    /// Play games for a run that is trained elsewhere; any number of workers, on any machines (docs/SCALING.md).
    #[cfg(feature = "train")]
    Worker(WorkerArgs),
    /// Copy a run from a bucket into a directory.
    Fetch(FetchArgs),
    /// Play self-play games and write their records.
    Selfplay(SelfplayArgs),
    /// Play in the terminal or, with --web, in a browser.
    Play(PlayArgs),
    /// Serve a program by a UCI-style text protocol (docs/PLAYING.md).
    Uci(UciArgs),
    /// Watch training runs side by side, in the terminal or in a browser.
    Watch(WatchArgs),
    /// Print what runs have measured, as lines or as CSV.
    Metrics(MetricsArgs),
    /// Let two players meet and measure the difference.
    Match(MatchArgs),
    /// Seek better settings of a player's search by games; the same command goes on.
    Tune(TuneArgs),
    /// Check whether a run is whole (docs/RUNS.md).
    #[cfg(feature = "train")]
    Check(CheckArgs),
    /// Rate the checkpoints of a run, in Elo per side.
    #[cfg(feature = "train")]
    Ladder(LadderArgs),
    /// Write the games of a run for other tools: Parquet, NumPy, JSON lines, PGN.
    Export(ExportArgs),
    /// Read games that people played into a record file.
    Import(ImportArgs),
    /// Train a network on recorded games, to begin self-play with.
    #[cfg(feature = "train")]
    Imitate(ImitateArgs),
    /// Search the positions of recorded games again, for better targets to learn from.
    Relabel(RelabelArgs),
    /// Compare a checkpoint with recorded games: move agreement and value calibration.
    Judge(JudgeArgs),
    /// Find puzzles in games, set them to players, or prove them again.
    Puzzles(PuzzlesArgs),
    /// Write a checkpoint's network for other programs (ONNX).
    ExportNet(ExportNetArgs),
    /// Check games: lines of JSON in, a line of JSON each out.
    Replay,
    /// Analyse many positions: lines of JSON in, lines of JSON out (docs/ANALYSE.md).
    Analyse(AnalyseArgs),
    /// Mark the mistakes of games, with better lines, as PGN.
    Review(ReviewArgs),
    /// Count the move sequences of a given length.
    Perft(PerftArgs),
    /// Measure how fast this machine runs each stage.
    Bench(BenchArgs),
    /// Say what this machine can run and what would be chosen.
    Doctor(DoctorArgs),
    /// Print a script that completes commands and options in a shell.
    Completions(CompletionsArgs),
    /// Write manual pages.
    Man(ManArgs),
}

/// The argument of every command that asks networks.
#[derive(Clone, Debug, Args)]
pub struct DeviceArgs {
    /// Device of the networks: cpu, cuda:N, several joined by commas, or auto, which tries what is faster.
    #[arg(long, default_value_t = DeviceChoice::Cpu.into())]
    pub device: DeviceList,
}

impl DeviceArgs {
    pub fn devices(&self, hardware: &Hardware) -> Devices {
        hardware.devices.named(self.device.clone())
    }

    pub fn models(&self, hardware: &Hardware) -> ModelCache {
        ModelCache::new(self.devices(hardware), SearchConfig::default())
    }
}

/// A value that only another argument shows to be wrong; it ends the command as any wrong argument does.
#[derive(Debug, thiserror::Error)]
#[error("invalid value '{value}' for '{option}': {problem}")]
pub struct WrongValue {
    option: &'static str,
    value: String,
    problem: String,
}

impl WrongValue {
    /// The exit status, clap's for wrong arguments.
    pub const CODE: u8 = 2;

    pub fn new(option: &'static str, value: impl ToString, problem: impl ToString) -> WrongValue {
        WrongValue { option, value: value.to_string(), problem: problem.to_string() }
    }
}

/// Reads `KEY=VALUE`, a change of a configuration.
fn change(text: &str) -> Result<String, ConfigError> {
    TrainConfig::check_change(text).map(|()| text.to_owned())
}

/// A reader of whole numbers in a range, which says the range also of negative and of huge ones; clap's own for large
/// types does not.
fn whole<T: TryFrom<u64>>(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number =
            text.parse().ok().filter(|number| range.contains(number)).and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| format!("{text} is not in {}..={}", range.start(), range.end()))
    }
}

fn seed(text: &str) -> Result<u64, String> {
    whole(0..=u64::MAX)(text)
}

/// Reads a number of games in which each opening is played twice.
fn even(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|&number: &u32| number > 0 && number.is_multiple_of(2));
    number.ok_or_else(|| "expected an even number above 0: each opening is played twice".to_owned())
}

/// Reads the name of a record file to write, which other commands and the web board find by its ending.
fn record_file(path: PathBuf) -> Result<PathBuf, &'static str> {
    let is_one = path.extension().is_some_and(|ending| ending == "hgames");
    if is_one { Ok(path) } else { Err("expected a name ending in .hgames") }
}

/// A folder of this machine, also as `file:DIR`. The URL of a bucket would become a folder of that name.
fn directory(path: PathBuf) -> Result<PathBuf, &'static str> {
    match Location::from(path.as_path()) {
        Location::Directory(folder) => Ok(folder),
        Location::Bucket(_) => Err("that is a bucket; expected a directory"),
    }
}

/// The position a `--fen` names, or the start.
///
/// # Errors
/// When the position cannot stand under these rules.
pub fn position(rules: &Rules, fen: Option<&str>) -> Result<hnefi_engine::Position, WrongValue> {
    let Some(fen) = fen else { return Ok(hnefi_engine::Position::start(rules)) };
    let wrong = |problem: String| WrongValue::new("--fen", fen, problem);
    hnefi_engine::Position::from_fen(rules, fen).map_err(|error| wrong(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A command line as the program parses it, without redirections and pipes.
    fn parse(line: &str) -> Result<Cli, clap::Error> {
        let words = shlex::split(line).unwrap_or_else(|| panic!("{line}: no words"));
        let ours = words.into_iter().take_while(|word| ![">", "<", "|", "&&", "&"].contains(&word.as_str()));
        Cli::try_parse_from(ours)
    }

    #[test]
    fn every_command_has_examples_that_can_be_said() {
        Cli::command().debug_assert();
        every_command_below(&program(), "hnefi");
    }

    /// Checks the examples of all commands below one, which is called by `path`.
    fn every_command_below(command: &clap::Command, path: &str) {
        for command in command.get_subcommands() {
            let name = &format!("{path} {}", command.get_name());
            let help = command.get_after_help().unwrap_or_else(|| panic!("{name} has no examples")).to_string();
            let examples: Vec<&str> = help.lines().skip(1).map(str::trim).collect();
            assert!(help.starts_with("Examples:\n") && !examples.is_empty(), "{name}: {help}");
            for example in examples {
                assert!(example.starts_with(name.as_str()), "{name}: {example}");
                parse(example).unwrap_or_else(|error| panic!("{example}: {error}"));
                assert!(example.chars().count() <= 77, "{example}: too long for 80 columns");
            }
            every_command_below(command, name);
        }
    }
}
