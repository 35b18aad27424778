//! `hnefi uci`: the engine for other programs.

use std::io::BufReader;

use hnefi_play::uci::UciParams;

use crate::cli::UciArgs;
use crate::hardware::Hardware;

/// Serves a client at standard input and output until it quits.
pub fn run(args: UciArgs, hardware: &Hardware) -> anyhow::Result<()> {
    let UciArgs { rules, model, threads, device } = args;
    let threads = threads.unwrap_or_else(hnefi_play::search_threads);
    let params = UciParams { rules, model, threads, devices: device.devices(hardware) };
    hnefi_play::uci::run(&params, BufReader::new(std::io::stdin()), std::io::stdout())?;
    Ok(())
}
