//! `hnefi watch` and `hnefi metrics`: show training runs.

use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hnefi_run::Run;
use hnefi_run::store::{Location, RetryPolicy};

use crate::cli::{MetricsArgs, WatchArgs};

/// Shows runs until the person leaves; without a terminal, prints their present state.
pub fn run(args: WatchArgs) -> anyhow::Result<()> {
    #[cfg(not(feature = "web"))]
    if args.web {
        return super::without_web();
    }
    let runs = open(&args.runs)?;
    #[cfg(feature = "web")]
    if args.web {
        return super::web::watch(&args);
    }
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        #[cfg(feature = "terminal")]
        {
            crate::interrupt::end_after(hnefi_terminal::give_back)?;
            return Ok(hnefi_terminal::watch::run(&runs)?);
        }
        #[cfg(not(feature = "terminal"))]
        crate::progress::warn(super::WITHOUT_TERMINAL);
    }
    Ok(hnefi_play::watch::print(&runs, std::io::stdout().lock())?)
}

/// Prints what runs have measured, or writes it to a file.
pub fn metrics(args: MetricsArgs) -> anyhow::Result<()> {
    if let Some(path) = &args.out {
        hnefi_data::check_new_file(path)?;
    }
    let runs = open(&args.runs)?;
    let write = |out: &mut dyn Write| match args.csv {
        true => hnefi_play::watch::csv(&runs, out),
        false => hnefi_play::watch::print(&runs, out),
    };
    match &args.out {
        None => write(&mut BufWriter::new(std::io::stdout().lock()))?,
        Some(path) => {
            let mut text = Vec::new();
            write(&mut text)?;
            hnefi_data::write_new_file(path, &text)?;
        }
    }
    Ok(())
}

/// Opens the run at a path or URL.
///
/// # Errors
/// When there is no run; the message says what is expected.
pub fn open_run(path: &Path) -> anyhow::Result<Run> {
    let location = Location::from(path);
    let run = Run::open(&location, RetryPolicy::interactive())?;
    anyhow::ensure!(run.is_there()?, "{location}: expected the directory of a run, such as runs/quick");
    Ok(run)
}

fn open(paths: &[PathBuf]) -> anyhow::Result<Vec<Arc<Run>>> {
    paths.iter().map(|path| open_run(path).map(Arc::new)).collect()
}
