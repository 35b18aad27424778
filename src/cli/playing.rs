//! Arguments of `play`, `watch`, `metrics` and `uci`.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hnefi_arena::players::PlayerSpec;
use hnefi_engine::NamedRules;
use hnefi_run::named_rules;

use super::{DeviceArgs, seed, whole};

/// The side that a person plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Seat {
    /// The besiegers.
    Attackers,
    /// The king and his men.
    Defenders,
    /// Two people at one board.
    Both,
    /// No side: watch the opponent play itself.
    Watch,
}

#[derive(Debug, Args)]
pub struct PlayArgs {
    /// Who to play against: random, alphabeta:DEPTH, rollout:N, `model:PATH[,playouts=N|,time=S]`, uci:COMMAND
    /// (`match --help` has their settings).
    /// [default: the shipped network of the ruleset at 200 playouts, else alphabeta:2; with --web the easiest level]
    pub opponent: Option<PlayerSpec>,
    /// Ruleset [default: what the opponent's checkpoint was trained on, else brandubh].
    #[arg(long, value_parser = named_rules)]
    pub rules: Option<NamedRules>,
    /// Your seat.
    #[arg(long, value_enum, default_value = "defenders")]
    pub side: Seat,
    /// Position to begin from.
    #[arg(long)]
    pub fen: Option<String>,
    /// Plain lines instead of a full-screen board (the default when input or output is no terminal).
    #[arg(long)]
    pub plain: bool,
    /// Seed of the opponent's choices [default: from the clock].
    #[arg(long, value_parser = seed)]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Serve a board to browsers instead; open the address that is printed.
    #[arg(long)]
    pub web: bool,
    /// With --web: run directory whose checkpoints play and whose games and metrics are shown; may be repeated.
    #[arg(long, value_name = "DIR", requires = "web")]
    pub run: Vec<PathBuf>,
    /// With --web: folder with game files (.hgames, and what `import` reads but .parquet); may be repeated.
    #[arg(long, value_name = "FOLDER", requires = "web")]
    pub games: Vec<PathBuf>,
    #[command(flatten)]
    pub serve: ServeArgs,
}

/// Arguments of the commands that serve a page.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// With --web: port to listen at, or address and port. At another address than this machine's own, everybody who
    /// can reach it can use the page.
    #[arg(
        long,
        value_name = "[ADDRESS:]PORT",
        default_value = "127.0.0.1:8037",
        requires = "web",
        value_parser = listen
    )]
    pub listen: SocketAddr,
    /// With --web: a host name of this machine besides localhost; may be repeated.
    #[arg(long, value_name = "NAME", requires = "web")]
    pub host: Vec<String>,
}

/// Reads `8037`, `localhost:8037` or `127.0.0.1:8037`.
fn listen(text: &str) -> Result<SocketAddr, String> {
    let expected = "expected a port, or an address and a port, such as 8037, localhost:8037 or 0.0.0.0:8037";
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    // A port alone is on this machine only.
    if let Ok(port) = text.strip_prefix(':').unwrap_or(text).parse::<u16>() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    let parts = text.rsplit_once(':');
    let has_port = |(name, port): (&str, &str)| !name.is_empty() && !name.contains(':') && port.parse::<u16>().is_ok();
    if !parts.is_some_and(has_port) {
        return Err(expected.to_owned());
    }
    let found: Vec<SocketAddr> =
        text.to_socket_addrs().map_err(|error| format!("no such address ({error}); {expected}"))?.collect();
    // A name may have several addresses; all browsers try IPv4.
    let first = found.iter().find(|address| address.is_ipv4()).or(found.first());
    first.copied().ok_or_else(|| format!("a name without an address; {expected}"))
}

#[derive(Debug, Args)]
pub struct WatchArgs {
    /// The runs, any number side by side: directories, or buckets such as s3://BUCKET/runs/first.
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<PathBuf>,
    /// Serve a page to browsers instead; open the address that is printed.
    #[arg(long)]
    pub web: bool,
    #[command(flatten)]
    pub serve: ServeArgs,
}

#[derive(Debug, Args)]
pub struct MetricsArgs {
    /// The runs: directories, or buckets such as s3://BUCKET/runs/first.
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<PathBuf>,
    /// Every number as CSV, a row for each generation of each run (docs/RUNS.md), instead of lines to read.
    #[arg(long)]
    pub csv: bool,
    /// Write to a file instead.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct UciArgs {
    /// Ruleset [default: what the model was trained on, else brandubh].
    #[arg(long, value_parser = named_rules)]
    pub rules: Option<NamedRules>,
    /// A checkpoint, a run directory (its newest checkpoint) or the name of a shipped checkpoint [default: the shipped
    /// one of the ruleset].
    #[arg(long, value_name = "PATH")]
    pub model: Option<String>,
    /// Threads that search together [default: one per core, at most 4].
    #[arg(long, value_parser = whole::<usize>(0..=65_535))]
    pub threads: Option<usize>,
    #[command(flatten)]
    pub device: DeviceArgs,
}
