//! `hnefi check`: checks a run.

use std::sync::Arc;

use anyhow::ensure;
use hnefi_inference::printable;
use hnefi_run::store::{Access, Location, Store};
use hnefi_train::trainer::{CheckedObjects, check};

use super::work::Work;
use crate::cli::CheckArgs;
use crate::{output, progress};

/// Reads every object and prints a line for each kind and for each problem. Any problem is an error.
pub fn run(args: CheckArgs) -> anyhow::Result<()> {
    if let Location::Directory(dir) = &args.run {
        super::watch::open_run(dir)?;
    }
    // Nothing is written, so there is no safe point to wait for: a signal ends the command.
    let work = Work { bar: progress::spinner(), stop: Arc::default() };
    let found = check(&Store::open(&args.run, Access::Read, args.store.retry(work))?)?;
    for CheckedObjects { kind, objects, damage } in &found {
        let state = match damage.len() {
            0 => "whole".to_owned(),
            count => format!("{count} damaged"),
        };
        output::line(format_args!("{kind:<12} {objects:>6} objects: {state}"))?;
        for problem in damage {
            output::line(format_args!("damaged: {}", printable(problem)))?;
        }
    }
    let damaged: usize = found.iter().map(|kind| kind.damage.len()).sum();
    ensure!(damaged == 0, "{damaged} damaged; docs/RUNS.md says what the program does about each");
    Ok(())
}
