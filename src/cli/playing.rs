//! Arguments of `play`, `online`, `watch`, `metrics` and `uci`.

use std::net::{Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use hnefi_arena::players::PlayerSpec;
use hnefi_engine::Preset;
use hnefi_inference::names::ruleset;
use hnefi_play::online::PORT;
use hnefi_play::{PlayError, format_of};

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

/// Arguments of `play`.
#[derive(Debug, Args)]
pub struct PlayArgs {
    /// Who to play against: random, alphabeta:DEPTH, rollout:N, `model:PATH[,playouts=N|,time=S]`, uci:COMMAND,
    /// htp:COMMAND (`match --help` has their settings).
    /// [default: the shipped network of the ruleset at 200 playouts]
    pub opponent: Option<PlayerSpec>,
    /// Ruleset [default: what the opponent's checkpoint was trained on, else brandubh].
    #[arg(long, value_parser = ruleset)]
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
    /// With --web: folder with game files (.hgames, and what `import` reads); may be repeated.
    #[arg(long, value_name = "FOLDER", requires = "web")]
    pub games: Vec<PathBuf>,
    /// How to serve.
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
    if let Ok(port) = text.trim_start_matches(':').parse::<u16>() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    let has_port = text.rsplit_once(':').is_some_and(|(name, port)| !name.is_empty() && port.parse::<u16>().is_ok());
    if !has_port {
        return Err(expected.to_owned());
    }
    let found: Vec<SocketAddr> =
        text.to_socket_addrs().map_err(|error| format!("no such address ({error}); {expected}"))?.collect();
    // A name may have several addresses; all browsers try IPv4.
    let first = found.iter().find(|address| address.is_ipv4()).or(found.first());
    first.copied().ok_or_else(|| format!("a name without an address; {expected}"))
}

/// Arguments of `watch`.
#[derive(Debug, Args)]
pub struct WatchArgs {
    /// The runs, any number side by side: directories, or buckets such as s3://BUCKET/runs/first.
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<PathBuf>,
    /// Serve a page to browsers instead; open the address that is printed.
    #[arg(long)]
    pub web: bool,
    /// How to serve.
    #[command(flatten)]
    pub serve: ServeArgs,
}

/// Arguments of `metrics`.
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

/// Arguments of `uci`; `setoption` changes all but the device.
#[derive(Debug, Args)]
pub struct UciArgs {
    /// Ruleset [default: what the model was trained on, else brandubh].
    #[arg(long, value_parser = ruleset)]
    pub rules: Option<Preset>,
    /// A checkpoint, a run directory (its newest checkpoint) or the name of a shipped checkpoint [default: the shipped
    /// one of the ruleset].
    #[arg(long, value_name = "PATH")]
    pub model: Option<String>,
    /// Threads that search together [default: one per core, at most 4].
    #[arg(long)]
    pub threads: Option<usize>,
    #[command(flatten)]
    pub device: DeviceArgs,
}

/// Arguments of `online`.
#[derive(Debug, Args)]
pub struct OnlineArgs {
    /// Who plays: random, alphabeta:DEPTH, rollout:N, `model:PATH[,playouts=N|,time=S]`, uci:COMMAND, htp:COMMAND.
    /// [default: the shipped Copenhagen network with 2 seconds a move]
    pub player: Option<PlayerSpec>,
    /// Name of the account. The password is read from the variable HNEFI_PASSWORD; it may be empty.
    #[arg(long, value_name = "NAME", value_parser = word)]
    pub user: String,
    /// Make the account first.
    #[arg(long)]
    pub create_account: bool,
    /// The server.
    #[arg(long, value_name = "HOST[:PORT]", default_value = "hnefatafl.org", value_parser = server)]
    pub server: String,
    /// Ask for this game, which somebody else offers, instead of offering games.
    #[arg(
        long,
        value_name = "NUMBER",
        conflicts_with_all = ["games", "side", "rated", "minutes", "increment", "untimed"]
    )]
    pub join: Option<u128>,
    /// Games to offer, one after another.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub games: u32,
    /// The side to play in them.
    #[arg(long, value_enum, default_value = "defenders")]
    pub side: OnlineSide,
    /// Let them count for the ratings.
    #[arg(long)]
    pub rated: bool,
    /// Minutes of each side for a game.
    #[arg(long, default_value_t = 15, value_parser = whole::<u64>(1..=4320))]
    pub minutes: u64,
    /// Seconds that every move adds.
    #[arg(long, default_value_t = 10, value_parser = whole::<u64>(0..=86400))]
    pub increment: u64,
    /// Play without clocks.
    #[arg(long, conflicts_with_all = ["minutes", "increment"])]
    pub untimed: bool,
    #[command(flatten)]
    pub device: DeviceArgs,
    /// What the server expects of a client of its version.
    #[arg(long, value_name = "TEXT", default_value = hnefi_play::online::PROTOCOL, value_parser = word)]
    pub protocol: String,
    /// Save the games, each when it has ended, in a file ending in .pgn or .jsonl.
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(games_file))]
    pub save: Option<PathBuf>,
    /// Seed of the player's choices [default: from the clock].
    #[arg(long, value_parser = seed)]
    pub seed: Option<u64>,
}

/// Reads what is one word in the protocol of the server.
fn word(text: &str) -> Result<String, String> {
    let is_one = !text.is_empty() && !text.contains(|letter: char| letter.is_whitespace() || letter.is_control());
    if is_one { Ok(text.to_owned()) } else { Err("expected one word".to_owned()) }
}

/// Reads `HOST` or `HOST:PORT` and adds the usual port where none is given.
fn server(text: &str) -> Result<String, String> {
    let bad = || "expected a host, or a host and a port, such as hnefatafl.org or localhost:49152".to_owned();
    // An address of version 6 has colons of its own.
    if text.parse::<Ipv6Addr>().is_ok() {
        return Ok(format!("[{text}]:{PORT}"));
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !text.ends_with(']') => (host, port.parse().map_err(|_| bad())?),
        _ => (text, PORT),
    };
    let bare = host.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
    let is_host = bare.map_or_else(
        || word(host).is_ok() && !host.contains([':', '[', ']', '/']),
        |inner| inner.parse::<Ipv6Addr>().is_ok(),
    );
    if is_host && port > 0 { Ok(format!("{host}:{port}")) } else { Err(bad()) }
}

/// Reads the name of a file of games to write.
fn games_file(path: PathBuf) -> Result<PathBuf, PlayError> {
    format_of(&path)?;
    Ok(path)
}

/// The side that a player takes at a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnlineSide {
    /// The besiegers.
    Attackers,
    /// The king and his men.
    Defenders,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_a_host_and_a_port() {
        for (text, expected) in [
            ("hnefatafl.org", "hnefatafl.org:49152"),
            ("localhost:7", "localhost:7"),
            ("127.0.0.1", "127.0.0.1:49152"),
            ("::1", "[::1]:49152"),
            ("[::1]", "[::1]:49152"),
            ("[::1]:7", "[::1]:7"),
        ] {
            assert_eq!(server(text).as_deref(), Ok(expected), "{text}");
        }
        for text in ["", ":", ":7", "localhost:", "localhost:0", "localhost:99999", "a b", "a:b:7", "[a]:7", "http://a"]
        {
            assert!(server(text).is_err_and(|error| error.starts_with("expected a host")), "{text}");
        }
    }
}
