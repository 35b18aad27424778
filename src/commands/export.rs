//! `hnefi export`: the games of a run for other tools.

use std::ffi::OsStr;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use hnefi_data::{CardText, ExportParams, ExportSummary, Filter, Format, SourceGame};
use indicatif::ProgressBar;

use super::records::{Games, record_files};
use crate::cli::ExportArgs;
use crate::{interrupt, progress};

/// Writes the games and prints their number on standard error.
pub fn run(args: ExportArgs) -> anyhow::Result<()> {
    let params = params(&args);
    params.check()?;
    let out = args.out.clone().or_else(|| params.is_folder().then(|| default_folder(&args)));
    match &out {
        Some(out) if params.is_folder() => hnefi_data::check_new_folder(out)?,
        Some(out) => hnefi_data::check_new_file(out)?,
        None => {}
    }
    let mut files = record_files(&args.sources)?;
    // Skip files whose generation the filter refuses.
    let generations = params.filter.generations;
    files.retain(|file| file.generation.is_none_or(|number| generations.hold(number.into())));
    let count = files.len();
    let bar = progress::share();
    bar.set_prefix("export");
    // Set at Ctrl-C and when a file cannot be read; then nothing is written.
    let stop = match out {
        Some(_) => interrupt::stop_flag()?,
        None => Arc::default(),
    };
    let mut games = Games::new(files, bar.clone(), Arc::clone(&stop));
    let outcome = match out {
        Some(out) => hnefi_data::export_unless(&mut games, &params, &out, &stop).map_err(Into::into),
        None => to_standard_output(&mut games, &params),
    };
    bar.finish_and_clear();
    // The error that ended the games says more than that the export was stopped.
    games.check()?;
    report(&bar, &outcome?, games.damaged(), count);
    Ok(())
}

fn params(args: &ExportArgs) -> ExportParams {
    let filter = Filter {
        rules: args.rules.iter().map(|name| name.0).collect(),
        generations: args.generations.unwrap_or_default(),
        plies: args.plies.unwrap_or_default(),
        results: args.result.clone(),
        sample: args.sample,
        sample_seed: args.sample_seed,
    };
    ExportParams {
        rows: args.table,
        board: args.board,
        policy: args.policy,
        filter,
        splits: args.split.clone(),
        disjoint: args.disjoint,
        shard_rows: args.shard_rows.map(|rows| usize::try_from(rows).unwrap_or(usize::MAX)),
        card: CardText { title: args.title.clone(), license: args.license.clone(), command: Some(command(args)) },
        ..ExportParams::new(args.format)
    }
}

/// The command for a dataset card, with file names but without their folders.
fn command(args: &ExportArgs) -> String {
    let mut words = vec!["hnefi".to_owned()];
    let mut after_out = false;
    for word in std::env::args_os().skip(1) {
        let path = Path::new(&word);
        let is_path = after_out || args.sources.iter().any(|source| source == path);
        let text = word.to_string_lossy();
        words.push(match text.strip_prefix("--out=") {
            Some(out) => format!("--out={}", last_part(Path::new(out))),
            None if is_path => last_part(path),
            None if text.contains(' ') => format!("'{text}'"),
            None => text.clone().into_owned(),
        });
        after_out = text == "--out";
    }
    words.join(" ")
}

fn last_part(path: &Path) -> String {
    path.file_name().unwrap_or(OsStr::new("RUN")).to_string_lossy().into_owned()
}

fn default_folder(args: &ExportArgs) -> PathBuf {
    // Names of folders have no endings: `net-0.1` and `net-0.2` are two runs.
    let name_of = |path: &Path| {
        let name = if path.is_dir() { path.file_name() } else { path.file_stem() };
        name.map(ToOwned::to_owned)
    };
    let first = args.sources.first();
    let named = first.and_then(|source| name_of(source));
    // `.` and `..` have no name of their own.
    let found = || name_of(&first?.canonicalize().ok()?);
    let mut name = named.or_else(found).unwrap_or_else(|| "games".into());
    name.push(format!("-{}", args.format));
    PathBuf::from(name)
}

fn to_standard_output(games: impl Iterator<Item = SourceGame>, params: &ExportParams) -> anyhow::Result<ExportSummary> {
    let stdout = std::io::stdout();
    let mut out = BufWriter::new(stdout.lock());
    let mut filtered = 0;
    let games = games.filter(|game| {
        let accepted = params.filter.accepts(game);
        filtered += u64::from(!accepted);
        accepted
    });
    let mut summary = match params.format {
        Format::Pgn => hnefi_data::write_pgn(games, &mut out)?,
        _ => hnefi_data::write_jsonl(games, &mut out)?,
    };
    summary.filtered = filtered;
    out.flush().context("writing to standard output")?;
    Ok(summary)
}

fn report(bar: &ProgressBar, summary: &ExportSummary, damaged: usize, files: usize) {
    let mut text = format!("{} games, {} plies", summary.games, summary.plies);
    let splits: Vec<_> = summary.splits.iter().map(|(name, games)| format!("{name} {games}")).collect();
    if !splits.is_empty() {
        text += &format!(" ({})", splits.join(", "));
    }
    if summary.filtered > 0 {
        text += &format!("; {} games did not pass the filter", summary.filtered);
    }
    if summary.shared > 0 {
        text += &format!("; {} positions of later parts stand in earlier ones and were left out", summary.shared);
    }
    if !summary.overlap.is_empty() {
        let shares = summary.overlap.iter().map(|(name, share)| format!("{:.0} % of {name}", 100.0 * share));
        let shares = shares.collect::<Vec<_>>().join(", ");
        text += &format!("; an earlier part has {shares}, too, as they are or mirrored (--disjoint leaves them out)");
    }
    if summary.unfinished > 0 {
        text += &format!("; {} unfinished games left out", summary.unfinished);
    }
    if damaged > 0 {
        text += &format!("; {damaged} of {files} record files skipped");
    }
    progress::note(bar, &text);
    summary.warnings.iter().for_each(|warning| progress::warning(bar, warning));
}
