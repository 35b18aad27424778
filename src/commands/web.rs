//! Serving pages for `play --web` and `watch --web`.

use std::path::Path;

use hnefi_engine::NamedRules;
use hnefi_inference::{DeviceChoice, PrecisionChoice, WITHOUT_NETWORK, pretrained_for};
use hnefi_web::{WebConfig, WebError, WebServer};

use super::clock_seed;
use crate::cli::{PlayArgs, Seat, ServeArgs, WatchArgs};
use crate::hardware::Hardware;
use crate::{output, progress};

pub fn play(args: &PlayArgs, rules: NamedRules, hardware: &Hardware) -> anyhow::Result<()> {
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
    config.devices = args.device.devices(hardware);
    config.seed = args.seed.unwrap_or_else(clock_seed);
    if args.device.device != DeviceChoice::Cpu.into() {
        // Any network shows whether the device is there.
        args.device.models(hardware).evaluators(Path::new("brandubh"), PrecisionChoice::Auto, 1)?;
    }
    if args.opponent.is_none()
        && args.run.is_empty()
        && let Err(problem) = pretrained_for(rules)
    {
        progress::warn(&format!("{problem}; {WITHOUT_NETWORK} plays instead"));
    }
    serve(config, "")
}

pub fn watch(args: &WatchArgs) -> anyhow::Result<()> {
    let mut config = config(&args.serve);
    config.runs = args.runs.clone();
    config.seed = clock_seed();
    serve(config, "watch")
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
    output::line(format_args!("Open http://{}/{page} in a browser. Ctrl-C ends.", server.reached_at()))?;
    server.run()?;
    Ok(())
}
