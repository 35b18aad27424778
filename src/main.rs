//! `hnefi`: the command line over the crates. Parse, call, show.

mod cli;
mod commands;
mod interrupt;
mod progress;

use std::process::ExitCode;

use clap::Parser;
use hnefi_selfplay::printable_lines;

use crate::cli::{Cli, Command};

/// Training allocates and frees tensors of a megabyte at every layer. The system's allocator gives such memory back at once and
/// page faults take a good part of the time; this one keeps it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    hnefi_models::set_device_trial(commands::doctor::trial);
    let outcome = match Cli::parse().command {
        Command::Train(args) => commands::train::run(args),
        Command::Worker(args) => commands::worker::run(args),
        Command::Fetch(args) => commands::fetch::run(args),
        Command::Selfplay(args) => commands::selfplay::run(args),
        Command::Play(args) => commands::play::run(args),
        Command::Uci(args) => commands::uci::run(args),
        Command::Watch(args) => commands::watch::run(args),
        Command::Match(args) => commands::matches::run(args),
        Command::Pack(args) => commands::pack::run(args),
        Command::Unpack(args) => commands::pack::undo(args),
        Command::Check(args) => commands::check::run(args),
        Command::Ladder(args) => commands::ladder::run(args),
        Command::Export(args) => commands::export::run(args),
        Command::Import(args) => commands::import::run(args),
        Command::Imitate(args) => commands::imitate::run(args),
        Command::Judge(args) => commands::judge::run(args),
        Command::ExportNet(args) => commands::export_net::run(args),
        Command::Replay => commands::replay::run(),
        Command::Perft(args) => commands::perft::run(args),
        Command::Bench(args) => commands::bench::run(args),
        Command::Doctor(args) => commands::doctor::run(args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if reader_went_away(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", printable_lines(&format!("error: {error:#}")));
            ExitCode::FAILURE
        }
    }
}

/// Whether the command failed only because whoever read its output stopped reading, as `hnefi export … | head` does.
fn reader_went_away(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
}
