//! `hnefi check`: checks a run, or a pack of one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use hnefi_inference::printable;
use hnefi_run::store::{Access, Location, Store, unpack};
use hnefi_train::run::{CheckedObjects, check};

use super::delays::Delays;
use crate::cli::CheckArgs;
use crate::{interrupt, output, progress};

/// Reads every object and prints a line for each kind and for each problem. Any problem is an error.
pub fn run(args: CheckArgs) -> anyhow::Result<()> {
    let parts: Vec<PathBuf> = args.run.iter().filter_map(file).collect();
    if !parts.is_empty() {
        ensure!(parts.len() == args.run.len(), "expected one run, or all parts of one pack");
        // Unpack a pack and check the run.
        let folder = tempfile::tempdir().context("a folder to unpack into")?;
        let run = folder.path().join("run");
        unpack(&parts, &run, None)?;
        return report(&Store::open_to_read(&run)?, Some(&run));
    }
    let [run] = args.run.as_slice() else { bail!("expected one run, or all parts of one pack") };
    if let Location::Directory(dir) = run {
        super::web::open_run(dir)?;
    }
    let stop = interrupt::stop_flag()?;
    let retry = args.store.retry(Delays { bar: progress::spinner(), stop: Arc::clone(&stop) });
    report(&Store::open(run, Access::Read, retry)?, None)
}

/// The file at a location, if there is one.
fn file(location: &Location) -> Option<PathBuf> {
    match location {
        Location::Directory(path) if path.is_file() => Some(path.clone()),
        _ => None,
    }
}

/// Prints the findings, with names relative to `within`.
fn report(store: &Store, within: Option<&Path>) -> anyhow::Result<()> {
    let found = check(store)?;
    let plain = |text: &str| match within {
        Some(within) => text.replace(&format!("{}/", within.display()), ""),
        None => text.to_owned(),
    };
    for CheckedObjects { kind, objects, without_checksum, damage } in &found {
        let old = match without_checksum {
            0 => String::new(),
            count => format!(", {count} of them from before JSON had checksums"),
        };
        let state = match damage.len() {
            0 => "whole".to_owned(),
            count => format!("{count} damaged"),
        };
        output::line(format_args!("{kind:<12} {objects:>6} objects: {state}{old}"))?;
        for problem in damage {
            output::line(format_args!("damaged: {}", printable(&plain(problem))))?;
        }
    }
    let damaged: usize = found.iter().map(|kind| kind.damage.len()).sum();
    ensure!(damaged == 0, "{damaged} damaged; docs/RUNS.md says what the program does about each");
    Ok(())
}
