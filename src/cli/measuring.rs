//! Arguments of `match`, `tune`, `ladder`, `judge`, `analyse`, `relabel`, `review`, `perft`, `bench` and `doctor`.

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use hnefi_arena::players::PlayerSpec;
use hnefi_arena::{SprtParams, TunedKey};
use hnefi_engine::NamedRules;
use hnefi_inference::{DeviceChoice, PrecisionChoice};
use hnefi_record::REVIEW_PLAYOUTS;
use hnefi_run::named_rules;
#[cfg(feature = "train")]
use hnefi_run::{said_rules, store::Location};
use serde::Serialize;

use super::{DeviceArgs, even, record_file, seed};
#[cfg(feature = "train")]
use super::{StoreArgs, whole};

#[derive(Debug, Args)]
pub struct MatchArgs {
    /// Player A: random, alphabeta:DEPTH, rollout:N, `model:PATH[,KEY=VALUE]...`,
    /// uci:COMMAND[,nodes=N|,movetime=MS].
    ///
    /// model: plays a checkpoint, a run's newest one or a shipped one. Its keys: `playouts=N` or `time=S` (seconds) for
    /// a move; `precision=P`, what its network computes in: f32, int8 (for CPUs with AVX-VNNI or AVX-512 VNNI), which
    /// is slower than f32 on others, or auto, the default with a time; `threads=N`, which search one tree, so that on
    /// more than one no game can be repeated exactly; and `search.KEY=VALUE` for a setting of its search, such as
    /// `search.c_puct=1.5` (docs/PLAYING.md lists them).
    ///
    /// uci: starts an external program. COMMAND is the program and its arguments, split at spaces; quotes and
    /// backslashes work as in a shell, but no shell runs. The settings are the last parts after a comma: `,nodes=N` or
    /// `,movetime=MS` for what `go` says (1000 ms by default), `,timeout=S` for the seconds that an answer may take
    /// beyond that (30), and `,option.NAME=VALUE` for an option that it is told before its first game. A program that
    /// does not answer in time, ends, or plays an illegal move loses the game.
    pub a: PlayerSpec,
    /// Player B.
    pub b: PlayerSpec,
    /// Games, half of them with A as attackers.
    #[arg(long, default_value_t = 100, value_parser = even)]
    pub games: u32,
    #[command(flatten)]
    pub conditions: Conditions,
    /// Stop early by a sequential test of A - B: ELO0,ELO1 or ELO0,ELO1,ALPHA,BETA.
    #[arg(long, value_name = "E0,E1[,A,B]", allow_hyphen_values = true, value_parser = sprt)]
    pub sprt: Option<SprtParams>,
    /// Also print one line of JSON at the end.
    #[arg(long)]
    pub json: bool,
    /// Save the games as a record file, ending in .hgames.
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(record_file))]
    pub save: Option<PathBuf>,
}

/// How the games of `match` and `tune` are played.
#[derive(Debug, Args)]
pub struct Conditions {
    /// Ruleset: a name, a rules record or a file of rules [default: the one that a network was trained for, or
    /// brandubh].
    #[arg(long, value_parser = named_rules)]
    pub rules: Option<NamedRules>,
    /// Seed of openings and players.
    #[arg(long, default_value_t = 1, value_parser = seed)]
    pub seed: u64,
    /// Random plies at the start of each pair of games.
    #[arg(long, default_value_t = 4)]
    pub opening_plies: u32,
    /// Plies after which a game is a draw [default: the rules' own, else 150, 200, 400 on 7x7, 9x9, 11x11].
    #[arg(long)]
    pub ply_cap: Option<u16>,
    /// Worker threads [default: all cores].
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    #[command(flatten)]
    pub device: DeviceArgs,
}

#[derive(Debug, Args)]
pub struct TuneArgs {
    /// The player whose search is tuned, model:PATH[,KEY=VALUE]... as for `match`. Its own settings are where the
    /// tuning begins and what its end is tested against.
    pub player: PlayerSpec,
    /// A key of the search and the range in which its best value is sought, such as search.c_puct=0.5..4; may be
    /// repeated. docs/PLAYING.md lists the keys.
    #[arg(long = "set", value_name = "search.KEY=LOW..HIGH", required = true)]
    pub keys: Vec<TunedKey>,
    /// File with what has been found so far. The same command goes on from it.
    #[arg(long, value_name = "FILE", default_value = "tune.json")]
    pub state: PathBuf,
    /// Games of the tuning, and the most games of the test after it, each rounded up to four games a thread.
    #[arg(long, default_value_t = 8000, value_parser = even)]
    pub games: u32,
    /// The sequential test of the tuned player less the original one.
    #[arg(
        long,
        value_name = "E0,E1[,A,B]",
        default_value = "0,20",
        allow_hyphen_values = true,
        value_parser = sprt
    )]
    pub sprt: SprtParams,
    #[command(flatten)]
    pub conditions: Conditions,
}

#[cfg(feature = "train")]
#[derive(Debug, Args)]
pub struct LadderArgs {
    /// Run directory or bucket. Every match is saved there and not played again.
    #[arg(value_name = "RUN|URL")]
    pub run: Location,
    /// Play the run's own ladder, as its configuration describes it, while it is trained, until Ctrl-C; any number may.
    #[arg(
        long,
        conflicts_with_all = ["checkpoints", "previous", "opponents", "rules", "games", "playouts", "seed", "show"]
    )]
    pub follow: bool,
    #[command(flatten)]
    pub store: StoreArgs,
    /// Number of checkpoints on the ladder, evenly spread, including the first and the last.
    #[arg(long, default_value_t = 6, value_parser = whole::<usize>(1..=1_000_000))]
    pub checkpoints: usize,
    /// Number of earlier checkpoints that each meets.
    #[arg(long, default_value_t = 2, value_parser = whole::<usize>(0..=1_000_000))]
    pub previous: usize,
    /// Fixed opponents that each meets, players as for `match`; may be repeated.
    #[arg(long = "opponent", value_name = "PLAYER", default_values = ["alphabeta:1", "alphabeta:2"])]
    pub opponents: Vec<PlayerSpec>,
    /// Ruleset; may be repeated [default: the rulesets of the newest checkpoint].
    #[arg(long, value_parser = said_rules)]
    pub rules: Vec<NamedRules>,
    /// Games of a match, half as each side.
    #[arg(long, default_value_t = 100, value_parser = even)]
    pub games: u32,
    /// Playouts a move of the checkpoints.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub playouts: u32,
    /// Seed of openings and players.
    #[arg(long, default_value_t = 1, value_parser = seed)]
    pub seed: u64,
    /// Games at once [default: all cores].
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Play nothing: show the ratings of the matches played.
    #[arg(
        long,
        conflicts_with_all = ["checkpoints", "previous", "opponents", "rules", "games", "playouts", "seed", "threads"]
    )]
    pub show: bool,
    /// Print the ratings as one line of JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct JudgeArgs {
    /// A checkpoint, a run directory (its newest checkpoint) or the name of a shipped checkpoint.
    #[arg(value_name = "CHECKPOINT")]
    pub model: PathBuf,
    /// Record files and run directories.
    #[arg(required = true, value_name = "FILE")]
    pub sources: Vec<PathBuf>,
    /// Also search every position with this many playouts.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub playouts: Option<u32>,
    /// Show the network the games under this ruleset instead of the recorded one.
    #[arg(long, value_parser = named_rules)]
    pub rules: Option<NamedRules>,
    /// Worker threads [default: all cores].
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Print one line of JSON instead of tables.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct AnalyseArgs {
    /// A checkpoint, a run directory (its newest checkpoint) or the name of a shipped checkpoint.
    #[arg(value_name = "CHECKPOINT")]
    pub model: PathBuf,
    #[command(flatten)]
    pub analysis: AnalysisArgs,
}

#[derive(Debug, Args)]
pub struct RelabelArgs {
    /// Record files and run directories.
    #[arg(required = true, value_name = "FILE|RUN")]
    pub sources: Vec<PathBuf>,
    /// A checkpoint, a run directory (its newest checkpoint) or the name of a shipped checkpoint [default: the first
    /// source, if it is a run].
    #[arg(long, value_name = "CHECKPOINT")]
    pub model: Option<PathBuf>,
    /// Take the newest games alone.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub games: Option<u32>,
    /// Record file to write, ending in .hgames.
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(record_file))]
    pub out: PathBuf,
    #[command(flatten)]
    pub analysis: AnalysisArgs,
}

/// How `analyse`, `relabel` and `review` search.
#[derive(Debug, Args)]
pub struct AnalysisArgs {
    /// Playouts of a position.
    #[arg(long, default_value_t = REVIEW_PLAYOUTS, value_parser = clap::value_parser!(u32).range(1..=5_000_000))]
    pub playouts: u32,
    /// Worker threads [default: all cores].
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Precision of the network: auto, f32 or int8.
    #[arg(long, default_value_t)]
    pub precision: PrecisionChoice,
    #[command(flatten)]
    pub device: DeviceArgs,
}

#[derive(Debug, Args)]
pub struct ReviewArgs {
    /// Files of games: .pgn, .otg (OpenTafl), .csv (public archives), .json, .jsonl, .parquet, .hgames. Their comments
    /// and variations are left out.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// A checkpoint, a run directory (its newest checkpoint) or the name of a shipped checkpoint [default: the shipped
    /// one of each game's rules].
    #[arg(long, value_name = "CHECKPOINT")]
    pub model: Option<String>,
    /// Ruleset of games that name none.
    #[arg(long, value_parser = named_rules)]
    pub rules: Option<NamedRules>,
    /// PGN file to write [default: standard output].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub analysis: AnalysisArgs,
}

#[derive(Debug, Args)]
pub struct PerftArgs {
    /// Ruleset: a name, a rules record or a file of rules.
    #[arg(long, value_parser = named_rules)]
    pub rules: NamedRules,
    /// Position to count from [default: the start].
    #[arg(long)]
    pub fen: Option<String>,
    /// Plies to count.
    #[arg(long)]
    pub depth: u32,
}

/// The stages of `bench`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// The rules.
    Engine,
    /// The network on the CPU.
    Evaluate,
    /// Games by search and network.
    Selfplay,
    /// Training steps.
    #[cfg(feature = "train")]
    Train,
    /// One search on several threads, without a network.
    Search,
    /// The engine behind its protocol.
    Protocol,
}

#[derive(Debug, Args)]
pub struct BenchArgs {
    /// One stage [default: all].
    #[arg(value_enum)]
    pub stage: Option<Stage>,
    /// A GPU that evaluates, plays and trains instead of the CPU: cuda:N. The stages are evaluate, selfplay
    /// and train.
    #[cfg(feature = "train")]
    #[arg(long)]
    pub device: Option<DeviceChoice>,
    /// A line of JSON per figure.
    #[arg(long)]
    pub json: bool,
    /// Seconds of each repeat.
    #[arg(long, default_value_t = 1.0, value_parser = seconds)]
    pub seconds: f64,
    /// Most threads: figures are measured on 1, 2, 4 and so on up to them [default: all cores].
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..))]
    pub threads: Option<u8>,
    /// Repeats of each figure; the median is printed.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..))]
    pub repeats: u8,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Only test this device: evaluate and train a small network on it, compared with the CPU.
    #[arg(long)]
    pub device: Option<DeviceChoice>,
}

/// Reads `ELO0,ELO1[,ALPHA,BETA]`.
fn sprt(text: &str) -> Result<SprtParams, String> {
    let expected = "expected ELO0,ELO1 or ELO0,ELO1,ALPHA,BETA such as 0,20 or 0,20,0.05,0.05";
    let number = |part: &str| part.trim().parse().map_err(|_| format!("{part:?} is no number; {expected}"));
    let params = match text.split(',').map(number).collect::<Result<Vec<f64>, _>>()?[..] {
        [elo0, elo1] => SprtParams { elo0, elo1, ..SprtParams::default() },
        [elo0, elo1, alpha, beta] => SprtParams { elo0, elo1, alpha, beta },
        ref numbers => return Err(format!("{} numbers; {expected}", numbers.len())),
    };
    params.fault().map_or(Ok(params), Err)
}

/// Reads a duration.
fn seconds(text: &str) -> Result<f64, String> {
    let allowed = 0.01..=600.0;
    match text.parse::<f64>() {
        Ok(seconds) if allowed.contains(&seconds) => Ok(seconds),
        _ => Err(format!("{text:?} is not a number of seconds from 0.01 to 600")),
    }
}
