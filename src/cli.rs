//! What can be said on the command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use hnefi_data::{BoardColumns, Bounds, Format, GameResult, PolicyColumns, Splits, Table};
use hnefi_engine::{Preset, Rules};
use hnefi_models::DeviceChoice;
use hnefi_selfplay::players::PlayerSpec;
use serde::Serialize;

/// A self-play training toolkit for Hnefatafl (Viking chess).
#[derive(Debug, Parser)]
#[command(name = "hnefi", version, about, max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Train a network from random weights by self-play; the same command resumes.
    Train(TrainArgs),
    /// Play self-play games and write their records.
    Selfplay(SelfplayArgs),
    /// Play in the terminal or, with --web, in a browser.
    Play(PlayArgs),
    /// Serve a program by a UCI-style text protocol (docs/PLAYING.md).
    Uci(UciArgs),
    /// Watch a training run, in the terminal or in a browser.
    Watch(WatchArgs),
    /// Let two players meet and measure the difference.
    Match(MatchArgs),
    /// Rate the checkpoints of a run, in Elo per side.
    Ladder(LadderArgs),
    /// Put a run into a few files of bounded size.
    Pack(PackArgs),
    /// Make a run of such files again.
    Unpack(UnpackArgs),
    /// Write the games of a run for other tools: Parquet, NumPy, JSON lines, PGN.
    Export(ExportArgs),
    /// Read games that people played into a record file.
    Import(ImportArgs),
    /// Compare a checkpoint with recorded games: move agreement and value calibration.
    Judge(JudgeArgs),
    /// Write a checkpoint's network for other programs (ONNX).
    ExportNet(ExportNetArgs),
    /// Check games: lines of JSON in, a line of JSON each out.
    Replay,
    /// Count the move sequences of a given length.
    Perft(PerftArgs),
    /// Measure how fast this machine runs each stage.
    Bench(BenchArgs),
    /// Say what this machine can run and what would be chosen.
    Doctor,
}

/// Arguments of `train`.
#[derive(Debug, Args)]
pub struct TrainArgs {
    /// A shipped config (quick, brandubh, copenhagen, copenhagen-gpu) or a TOML file.
    #[arg(long, default_value = "quick", value_name = "NAME|FILE")]
    pub config: String,
    /// Run directory [default: runs/CONFIG].
    #[arg(long, value_name = "DIR")]
    pub run: Option<PathBuf>,
    /// Change a key of the configuration, such as search.c_scale=0.3; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub changes: Vec<String>,
    /// Begin with the weights of a run (and its optimiser), of a checkpoint, or of a shipped checkpoint, instead of random
    /// ones.
    #[arg(long, value_name = "RUN|CHECKPOINT")]
    pub from: Option<PathBuf>,
    /// Seed of the run, instead of the config's.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Device, instead of the config's: cpu, flex, cuda:N, vulkan:N.
    #[arg(long)]
    pub device: Option<DeviceChoice>,
    /// Worker threads [default: one per core, on a GPU one per 32 games].
    #[arg(long)]
    pub threads: Option<usize>,
    /// Skip the closing table.
    #[arg(long)]
    pub no_table: bool,
}

/// Arguments of `selfplay`.
#[derive(Debug, Args)]
pub struct SelfplayArgs {
    /// A shipped config or a TOML file: its rules, search and self-play sections are used.
    #[arg(long, default_value = "quick", value_name = "NAME|FILE")]
    pub config: String,
    /// Checkpoint to play with; without one, fresh random weights from the seed.
    #[arg(long, value_name = "PATH")]
    pub model: Option<PathBuf>,
    /// Games to play.
    #[arg(long)]
    pub games: u64,
    /// Seed of all randomness.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Playouts a move, instead of the config's.
    #[arg(long)]
    pub playouts: Option<u32>,
    /// Run directory to write to.
    #[arg(long, value_name = "RUN")]
    pub out: PathBuf,
    /// Worker threads [default: one per core, on a GPU one per 32 games]; the records do not depend on it.
    #[arg(long)]
    pub threads: Option<usize>,
    /// Device, instead of the config's.
    #[arg(long)]
    pub device: Option<DeviceChoice>,
}

/// Which seat a person takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Seat {
    /// The besiegers, who move first.
    Attackers,
    /// The king and his men.
    Defenders,
    /// Two people at one board.
    Both,
    /// Nobody: watch the opponent play itself.
    Watch,
}

/// Arguments of `play`.
#[derive(Debug, Args)]
pub struct PlayArgs {
    /// Who to play against: random, alphabeta:DEPTH, rollout:N, `model:PATH[,playouts=N|,time=S][,precision=P]`, uci:COMMAND,
    /// htp:COMMAND (see `match`).
    /// [default: the shipped network of the ruleset at 200 playouts]
    pub opponent: Option<PlayerSpec>,
    /// Ruleset [default: what the opponent's checkpoint was trained on, else brandubh].
    #[arg(long, value_parser = preset)]
    pub rules: Option<Preset>,
    /// Your seat.
    #[arg(long, value_enum, default_value = "defenders")]
    pub side: Seat,
    /// Position to begin from.
    #[arg(long)]
    pub fen: Option<String>,
    /// Plain lines instead of a full-screen board (the default when the output is no terminal).
    #[arg(long)]
    pub plain: bool,
    /// Seed of the opponent's choices [default: from the clock].
    #[arg(long)]
    pub seed: Option<u64>,
    /// Serve a board to browsers instead; open the address that is printed.
    #[arg(long)]
    pub web: bool,
    /// With --web: run directory whose checkpoints play and whose games and metrics are shown; may be repeated.
    #[arg(long, value_name = "DIR", requires = "web")]
    pub run: Vec<PathBuf>,
    /// With --web: folder with game files (.pgn, .jsonl, .csv, .hgames); may be repeated.
    #[arg(long, value_name = "FOLDER", requires = "web")]
    pub games: Vec<PathBuf>,
    /// How to serve.
    #[command(flatten)]
    pub serve: ServeArgs,
}

/// Arguments of whatever serves a page.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// With --web: address and port to listen at. Other addresses than this machine's own let everybody in who can reach them.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8037", requires = "web")]
    pub listen: SocketAddr,
    /// With --web: a name this machine is reached by, besides localhost; may be repeated.
    #[arg(long, value_name = "NAME", requires = "web")]
    pub host: Vec<String>,
}

/// Arguments of `watch`.
#[derive(Debug, Args)]
pub struct WatchArgs {
    /// Run directory.
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// Serve a page to browsers instead; open the address that is printed.
    #[arg(long)]
    pub web: bool,
    /// How to serve.
    #[command(flatten)]
    pub serve: ServeArgs,
}

/// Arguments of `uci`; `setoption` changes all but the device.
#[derive(Debug, Args)]
pub struct UciArgs {
    /// Ruleset [default: what the model was trained on, else brandubh].
    #[arg(long, value_parser = preset)]
    pub rules: Option<Preset>,
    /// A checkpoint, a run directory (its newest checkpoint) or the name of a shipped checkpoint [default: the shipped one
    /// of the ruleset].
    #[arg(long, value_name = "PATH")]
    pub model: Option<String>,
    /// Threads that search together.
    #[arg(long, default_value_t = 1)]
    pub threads: usize,
    /// Device of the network.
    #[arg(long, default_value_t)]
    pub device: DeviceChoice,
}

/// Arguments of `match`.
#[derive(Debug, Args)]
pub struct MatchArgs {
    /// Player A: random, alphabeta:DEPTH, rollout:N, `model:PATH[,playouts=N|,time=S][,precision=P]`,
    /// uci:COMMAND[,nodes=N|,movetime=MS], htp:COMMAND.
    ///
    /// model: plays a checkpoint, a run's newest one or a shipped one. P is what its network computes in: f32, or bf16 or
    /// int8, which are made for CPUs with AVX-512 BF16 and AVX-512 VNNI (slower than f32 on others).
    ///
    /// uci: starts an external program. COMMAND is the program and its arguments, split at spaces; quotes and backslashes work
    /// as in a shell, but no shell runs. The settings are the last parts after a comma: `,nodes=N` or `,movetime=MS` for what `go`
    /// says (1000 ms unless told otherwise), and `,timeout=S` for the seconds that an answer may take beyond that (30). A program
    /// that does not answer in time, ends, or plays an illegal move loses the game.
    ///
    /// htp: starts a program of the Hnefatafl Text Protocol, which calls at port 49152 of this machine, such as
    /// `hnefatafl-text-protocol --ai monte-carlo --seconds 1 --host localhost`; 11x11 by the rules of copenhagen-hnefatafl-org.
    pub a: PlayerSpec,
    /// Player B.
    pub b: PlayerSpec,
    /// Ruleset.
    #[arg(long, value_parser = preset, default_value = "brandubh")]
    pub rules: Preset,
    /// Games, half of them with A as attackers.
    #[arg(long, default_value_t = 100)]
    pub games: u32,
    /// Seed of openings and players.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Random plies at the start of each pair of games.
    #[arg(long, default_value_t = 4)]
    pub opening_plies: u32,
    /// Plies after which a game is a draw [default: 150, 200, 400 on 7x7, 9x9, 11x11].
    #[arg(long)]
    pub ply_cap: Option<u16>,
    /// Stop early by a sequential test of A - B: ELO0,ELO1 or ELO0,ELO1,ALPHA,BETA.
    #[arg(long, value_name = "E0,E1[,A,B]")]
    pub sprt: Option<String>,
    /// Worker threads [default: all cores].
    #[arg(long)]
    pub threads: Option<usize>,
    /// Also print one line of JSON at the end.
    #[arg(long)]
    pub json: bool,
    /// Save the games as a record file.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
}

/// Arguments of `ladder`.
#[derive(Debug, Args)]
pub struct LadderArgs {
    /// Run directory. Every match is saved in it; what was played before is not played again.
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// How many of the run's checkpoints climb, evenly spread, the first and the last among them.
    #[arg(long, default_value_t = 6)]
    pub checkpoints: usize,
    /// Earlier ones of those that each meets.
    #[arg(long, default_value_t = 2)]
    pub previous: usize,
    /// Fixed opponents that each meets, players as for `match`; may be repeated.
    #[arg(long = "opponent", value_name = "PLAYER", default_values = ["alphabeta:1", "alphabeta:2"])]
    pub opponents: Vec<PlayerSpec>,
    /// Ruleset; may be repeated [default: those that the newest checkpoint was trained on].
    #[arg(long, value_parser = preset)]
    pub rules: Vec<Preset>,
    /// Games of a match, half as each side.
    #[arg(long, default_value_t = 100)]
    pub games: u32,
    /// Playouts a move of the checkpoints.
    #[arg(long, default_value_t = 64)]
    pub playouts: u32,
    /// Seed of openings and players.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Games at once [default: all cores].
    #[arg(long)]
    pub threads: Option<usize>,
    /// Play nothing: show the ratings that follow from what was played.
    #[arg(long)]
    pub show: bool,
    /// Print the ratings as one line of JSON.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `pack`.
#[derive(Debug, Args)]
pub struct PackArgs {
    /// Run directory; nobody may be training it.
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// What the parts are called: OUT.01, OUT.02 and so on [default: RUN.pack here].
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// The most MiB of a part.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=65_536))]
    pub part_mib: u64,
    /// The most parts. The newest games take what the rest of the run leaves.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=99))]
    pub parts: u32,
}

/// Arguments of `unpack`.
#[derive(Debug, Args)]
pub struct UnpackArgs {
    /// All parts.
    #[arg(required = true, value_name = "PART")]
    pub parts: Vec<PathBuf>,
    /// Run directory to make.
    #[arg(long, value_name = "DIR")]
    pub run: PathBuf,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Run directories and record files.
    #[arg(required = true, value_name = "RUN|FILE")]
    pub sources: Vec<PathBuf>,
    /// parquet or npz (tables), jsonl (a game per line) or pgn (game texts).
    #[arg(long)]
    pub format: Format,
    /// A row per ply (positions) or per game (games) [default: positions for parquet and npz].
    #[arg(long)]
    pub table: Option<Table>,
    /// Tables of positions: the network's planes, or compact (what stands on each square).
    #[arg(long, default_value = "planes")]
    pub board: BoardColumns,
    /// Tables of positions: policy targets sparse (indices and weights) or dense.
    #[arg(long, default_value = "sparse")]
    pub policy: PolicyColumns,
    /// The same as --policy dense.
    #[arg(long, hide = true)]
    pub dense_policy: bool,
    /// Parts of the dataset, split by game: NAME=SHARE,... such as train=0.9,validation=0.05,test=0.05.
    #[arg(long, value_name = "SPLIT")]
    pub split: Option<Splits>,
    /// Only games under these rulesets; own for a mixture of options.
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    pub rules: Vec<RulesetName>,
    /// Only games of these generations: 3-7, 3-, -7 or 3.
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    pub generations: Option<Bounds>,
    /// Only games of so many plies: 10-200, 10-, -200 or 41.
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    pub plies: Option<Bounds>,
    /// Only games that ended so: attackers, defenders (who won), draw, ongoing.
    #[arg(long, value_delimiter = ',', value_name = "RESULT,...")]
    pub result: Vec<GameResult>,
    /// Only this share of the games, drawn by their identity.
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    pub sample: f64,
    /// Seed of that draw.
    #[arg(long, default_value_t = 0)]
    pub sample_seed: u64,
    /// End a file once it has so many rows [default: what suits the format].
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u64).range(1..))]
    pub shard_rows: Option<u64>,
    /// Name of the dataset in its card.
    #[arg(long, default_value = "Hnefatafl games")]
    pub title: String,
    /// Licence in its card, by the Hugging Face hub's names.
    #[arg(long, default_value = "unknown", value_name = "NAME")]
    pub license: String,
    /// New file, or new folder for parquet, npz and splits [default: standard output, or RUN-FORMAT].
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
}

/// A ruleset to choose games by.
#[derive(Clone, Copy, Debug)]
pub struct RulesetName(pub Option<Preset>);

impl std::str::FromStr for RulesetName {
    type Err = String;

    fn from_str(text: &str) -> Result<RulesetName, String> {
        if text == "own" { Ok(RulesetName(None)) } else { preset(text).map(|preset| RulesetName(Some(preset))) }
    }
}

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Files of games: .csv (public archives), .otg (OpenTafl), .pgn.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Ruleset they were played by; .pgn files name theirs.
    #[arg(long, value_parser = preset)]
    pub rules: Option<Preset>,
    /// Record file to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Write nothing when a game has a fault, instead of leaving it out.
    #[arg(long)]
    pub strict: bool,
}

/// Arguments of `judge`.
#[derive(Debug, Args)]
pub struct JudgeArgs {
    /// A checkpoint, a run directory (its newest checkpoint) or the name of a shipped checkpoint.
    #[arg(value_name = "CHECKPOINT")]
    pub model: PathBuf,
    /// Record files and run directories.
    #[arg(required = true, value_name = "FILE")]
    pub sources: Vec<PathBuf>,
    /// Also search every position with so many playouts.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub playouts: Option<u32>,
    /// Show the network the games under this ruleset instead of the recorded one.
    #[arg(long, value_parser = preset)]
    pub rules: Option<Preset>,
    /// Show the network this ply cap instead of the recorded one; 0 for none.
    #[arg(long)]
    pub ply_cap: Option<u16>,
    /// Worker threads [default: all cores].
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Device of the network.
    #[arg(long, default_value_t)]
    pub device: DeviceChoice,
    /// Print one line of JSON instead of tables.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `export-net`.
#[derive(Debug, Args)]
pub struct ExportNetArgs {
    /// A checkpoint, a run directory (its newest checkpoint) or the name of a shipped checkpoint.
    #[arg(value_name = "CHECKPOINT")]
    pub model: PathBuf,
    /// ONNX file to write; docs/NETWORK.md describes its inputs and outputs.
    #[arg(long, value_name = "FILE", required_unless_present = "reference")]
    pub onnx: Option<PathBuf>,
    /// NumPy file to write: positions on every board and this network's outputs, to check other programs by.
    #[arg(long, value_name = "FILE")]
    pub reference: Option<PathBuf>,
}

/// Arguments of `perft`.
#[derive(Debug, Args)]
pub struct PerftArgs {
    /// Ruleset.
    #[arg(long, value_parser = preset)]
    pub rules: Preset,
    /// Position to count from [default: the start].
    #[arg(long)]
    pub fen: Option<String>,
    /// Plies to count.
    #[arg(long)]
    pub depth: u32,
}

/// What `bench` measures.
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
    Train,
    /// The engine behind its protocol.
    Protocol,
}

/// Arguments of `bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// One stage [default: all].
    #[arg(value_enum)]
    pub stage: Option<Stage>,
    /// A line of JSON per figure.
    #[arg(long)]
    pub json: bool,
    /// Seconds of each repeat.
    #[arg(long, default_value_t = 1.0, value_parser = seconds)]
    pub seconds: f64,
    /// Repeats of each figure, of which the median counts.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..))]
    pub repeats: u8,
}

/// Reads a duration.
fn seconds(text: &str) -> Result<f64, String> {
    let allowed = 0.01..=600.0;
    match text.parse::<f64>() {
        Ok(seconds) if allowed.contains(&seconds) => Ok(seconds),
        _ => Err(format!("{text:?} is not a number of seconds from 0.01 to 600")),
    }
}

/// Reads a preset's name.
fn preset(text: &str) -> Result<Preset, String> {
    Preset::from_name(text).ok_or_else(|| {
        let names: Vec<&str> = Preset::ALL.iter().map(|preset| preset.name()).collect();
        format!("unknown ruleset {text:?}: expected one of {}", names.join(", "))
    })
}

/// The position a `--fen` names, or the start.
pub fn position(rules: &Rules, fen: Option<&str>) -> anyhow::Result<hnefi_engine::Position> {
    Ok(match fen {
        Some(fen) => hnefi_engine::Position::from_fen(rules, fen)?,
        None => hnefi_engine::Position::start(rules),
    })
}
