//! `hnefi watch` and `hnefi metrics`: show training runs.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use hnefi_run::Run;

use crate::cli::{MetricsArgs, WatchArgs};

/// Shows runs until the person leaves; without a terminal, prints their present state.
pub fn run(args: WatchArgs) -> anyhow::Result<()> {
    if args.web {
        return super::web::watch(&args);
    }
    let runs = open(&args.runs)?;
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        hnefi_play::watch::run(&runs)?;
    } else {
        hnefi_play::watch::print(&runs, std::io::stdout().lock())?;
    }
    Ok(())
}

/// Prints what runs have measured, or writes it to a file.
pub fn metrics(args: MetricsArgs) -> anyhow::Result<()> {
    let runs = open(&args.runs)?;
    let write = |out: &mut dyn Write| match args.csv {
        true => hnefi_play::watch::csv(&runs, out),
        false => hnefi_play::watch::print(&runs, out),
    };
    match &args.out {
        None => write(&mut BufWriter::new(std::io::stdout().lock()))?,
        Some(path) => {
            let file = File::create(path).with_context(|| path.display().to_string())?;
            write(&mut BufWriter::new(file))?;
        }
    }
    Ok(())
}

fn open(paths: &[PathBuf]) -> anyhow::Result<Vec<Arc<Run>>> {
    paths.iter().map(|path| super::web::open_run(path).map(Arc::new)).collect()
}
