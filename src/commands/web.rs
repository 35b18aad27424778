//! Serving pages for `play --web` and `watch --web`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::Path;

use hnefi_engine::Preset;
use hnefi_inference::{DeviceChoice, PrecisionChoice};
use hnefi_play::web::{WebConfig, WebError, WebServer};
use hnefi_play::{WITHOUT_NETWORK, shipped_network};
use hnefi_run::Run;
use hnefi_run::store::{Location, RetryPolicy};

use super::clock_seed;
use crate::cli::{PlayArgs, Seat, ServeArgs, WatchArgs};
use crate::{output, progress};

/// Serves the board.
pub fn play(args: &PlayArgs, rules: Preset) -> anyhow::Result<()> {
    let mut config = config(&args.serve);
    config.runs = args.run.clone();
    config.folders = args.games.clone();
    config.rules = rules;
    config.fen = args.fen.clone();
    config.people = match args.side {
        Seat::Attackers => [true, false],
        Seat::Defenders => [false, true],
        Seat::Both => [true, true],
        Seat::Watch => [false, false],
    };
    config.opponent = args.opponent.clone();
    config.device = args.device.device;
    config.seed = args.seed.unwrap_or_else(clock_seed);
    if config.device != DeviceChoice::Cpu {
        // Any network shows whether the device is there.
        args.device.models().evaluators(Path::new("brandubh"), PrecisionChoice::Auto, 1)?;
    }
    if args.opponent.is_none()
        && args.run.is_empty()
        && let Err(problem) = shipped_network(rules)
    {
        progress::warn(&format!("{problem}; {WITHOUT_NETWORK} plays instead"));
    }
    serve(config, "")
}

/// Serves the training page of runs.
pub fn watch(args: &WatchArgs) -> anyhow::Result<()> {
    for run in &args.runs {
        open_run(run)?;
    }
    let mut config = config(&args.serve);
    config.runs = args.runs.clone();
    config.seed = clock_seed();
    serve(config, "watch")
}

/// Opens the run at a path or URL.
///
/// # Errors
/// When there is no run; the message says what is expected.
pub fn open_run(path: &Path) -> anyhow::Result<Run> {
    let location = Location::from(path);
    if let Location::Directory(folder) = &location {
        anyhow::ensure!(folder.is_dir(), "{}: not found; expected the directory of a run", folder.display());
    }
    let run = Run::open(&location, RetryPolicy::interactive())?;
    anyhow::ensure!(run.is_there()?, "{location}: expected the directory of a run, such as runs/quick");
    Ok(run)
}

fn config(args: &ServeArgs) -> WebConfig {
    WebConfig { listen: args.listen, hosts: args.host.clone(), ..WebConfig::default() }
}

fn serve(config: WebConfig, page: &str) -> anyhow::Result<()> {
    let server = WebServer::bind(config).map_err(|error| match error {
        WebError::Listen { .. } => anyhow::anyhow!("{error}; choose another port with --listen 127.0.0.1:PORT"),
        error => error.into(),
    })?;
    let address = server.address();
    if !address.ip().is_loopback() {
        progress::warn(&format!(
            "listening at {address}, not at this machine alone. Everybody who can reach it can play, search and read the \
             folders named here; there is no password."
        ));
    }
    let reached = SocketAddr::new(reached_at(address.ip()), address.port());
    output::line(format_args!("Open http://{reached}/{page} in a browser. Ctrl-C ends."))?;
    server.run()?;
    Ok(())
}

/// The address at which others reach a server that listens at `ip`: where that stands for all addresses, the one by
/// which this machine would speak to others, else the machine itself.
fn reached_at(ip: IpAddr) -> IpAddr {
    if !ip.is_unspecified() {
        return ip;
    }
    // Addresses of documents, which nobody has; a connection of this kind sends nothing, and only asks for the way.
    let (other, own) = match ip {
        IpAddr::V4(_) => (IpAddr::from([192, 0, 2, 1]), IpAddr::from(Ipv4Addr::LOCALHOST)),
        IpAddr::V6(_) => (IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1]), IpAddr::from(Ipv6Addr::LOCALHOST)),
    };
    let asked = UdpSocket::bind((ip, 0)).and_then(|socket| {
        socket.connect((other, 9))?;
        socket.local_addr()
    });
    asked.map_or(own, |found| found.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_stands_for_all_is_printed_as_one_that_can_be_opened() {
        for text in ["0.0.0.0", "::"] {
            let found = reached_at(text.parse().expect("an address"));
            assert!(!found.is_unspecified(), "{text}: {found}");
            // Whatever is printed, this machine has it.
            UdpSocket::bind((found, 0)).expect("an address of this machine");
        }
        for text in ["127.0.0.1", "192.0.2.7", "::1"] {
            let ip = text.parse().expect("an address");
            assert_eq!(reached_at(ip), ip);
        }
    }
}
