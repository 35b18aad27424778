//! `hnefi`: the command line over the crates. Parse, call, show.

// `output` writes results, and reports what cannot be written.
#![deny(clippy::print_stdout)]

mod cli;
mod commands;
mod hardware;
mod interrupt;
mod output;
mod progress;

use std::process::ExitCode;

use hnefi_inference::printable_lines;

use crate::cli::{Cli, Command, WrongValue};
use crate::hardware::Hardware;

/// Training allocates and frees tensors of a megabyte at every layer. The system's allocator returns such memory to the
/// system at once, and page faults take much of the time; this allocator keeps it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    interrupt::keep_hangup_ignored();
    let outcome = match Cli::of_this_process() {
        Ok(cli) => run(cli),
        Err(text) => output::clap(&text),
    };
    let failure = outcome.err().filter(|error| !reader_went_away(error));
    if let Some(error) = &failure {
        progress::say(format!("error: {}", printable_lines(&error_text(error))));
    }
    progress::finish();
    // An interrupted command has not done all of its work, which the exit status shows.
    match failure {
        _ if interrupt::asked() => ExitCode::from(interrupt::CODE),
        Some(error) if error.is::<WrongValue>() => ExitCode::from(WrongValue::CODE),
        Some(_) => ExitCode::FAILURE,
        None => ExitCode::SUCCESS,
    }
}

fn run(Cli { command, quiet }: Cli) -> anyhow::Result<()> {
    if quiet {
        progress::be_quiet();
    }
    let hardware = &Hardware::of_this_program();
    match command {
        #[cfg(feature = "train")]
        Command::Train(args) => commands::train::run(args, hardware),
        #[cfg(feature = "train")]
        Command::Worker(args) => commands::worker::run(args, hardware),
        Command::Fetch(args) => commands::fetch::run(args),
        Command::Selfplay(args) => commands::selfplay::run(args, hardware),
        Command::Play(args) => commands::play::run(args, hardware),
        Command::Uci(args) => commands::uci::run(args, hardware),
        Command::Watch(args) => commands::watch::run(args),
        Command::Metrics(args) => commands::watch::metrics(args),
        Command::Match(args) => commands::matches::run(args, hardware),
        Command::Tune(args) => commands::tune::run(&args, hardware),
        #[cfg(feature = "train")]
        Command::Check(args) => commands::check::run(args),
        #[cfg(feature = "train")]
        Command::Ladder(args) => commands::ladder::run(args, hardware),
        Command::Export(args) => commands::export::run(args),
        Command::Import(args) => commands::import::run(args),
        #[cfg(feature = "train")]
        Command::Imitate(args) => commands::imitate::run(args, hardware),
        Command::Puzzles(args) => commands::puzzles::run(args, hardware),
        Command::Analyse(args) => commands::analyse::run(args, hardware),
        Command::Relabel(args) => commands::relabel::run(args, hardware),
        Command::Review(args) => commands::review::run(args, hardware),
        Command::Judge(args) => commands::judge::run(args, hardware),
        Command::ExportNet(args) => commands::export_net::run(args),
        Command::Replay => commands::replay::run(),
        Command::Perft(args) => commands::perft::run(args),
        Command::Bench(args) => commands::bench::run(args, hardware),
        Command::Doctor(args) => commands::doctor::run(args, hardware),
        Command::Completions(args) => commands::shell::completions(&args),
        Command::Man(args) => commands::shell::man(&args),
    }
}

/// An error with its causes. Hnefi's errors include the text of their causes, errors of other crates often do not: a
/// cause is added if the text so far lacks it.
fn error_text(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Whether the command failed only because its output was closed, as by `hnefi export … | head`.
fn reader_went_away(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
}
