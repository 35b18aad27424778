//! `hnefi export`: the games of a run for other tools.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use hnefi_data::{ExportParams, ExportSummary, Format};
use hnefi_selfplay::GameRecord;
use hnefi_selfplay::store::{Store, games_number, read_games};

use crate::cli::ExportArgs;

/// Writes the games and says on standard error how many there were.
pub fn run(args: ExportArgs) -> anyhow::Result<()> {
    let files = record_files(&args.run)?;
    let mut damaged = 0;
    // One file of games in memory at a time.
    let games = files.iter().flat_map(|file| match read_games(file) {
        Ok(games) => games,
        Err(error) => {
            eprintln!("skipped: {error}");
            damaged += 1;
            Vec::<GameRecord>::new()
        }
    });
    let params = ExportParams { dense_policy: args.dense_policy, ..ExportParams::new(args.format) };
    let summary = match (&args.out, args.format) {
        (Some(out), _) => hnefi_data::export(games, &params, out)?,
        (None, Format::Npz) => hnefi_data::export(games, &params, &default_folder(&args.run))?,
        (None, format) => to_standard_output(games, format)?,
    };
    report(&summary, damaged, files.len());
    Ok(())
}

/// The record files of a run directory, oldest first, or the one file that was named.
fn record_files(run: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if run.is_file() {
        return Ok(vec![run.to_owned()]);
    }
    if !run.is_dir() {
        bail!("{}: neither a run directory nor a record file", run.display());
    }
    let store = Store::open_to_read(run)?;
    let files: Vec<PathBuf> =
        store.list("games/")?.iter().filter(|key| games_number(key).is_some()).map(|key| store.path(key)).collect();
    if files.is_empty() {
        bail!("{}: no games/*.hgames in it; expected a run directory with recorded games", run.display());
    }
    Ok(files)
}

fn default_folder(run: &Path) -> PathBuf {
    let mut name = run.file_stem().unwrap_or_default().to_owned();
    name.push("-npz");
    PathBuf::from(name)
}

fn to_standard_output(games: impl Iterator<Item = GameRecord>, format: Format) -> anyhow::Result<ExportSummary> {
    // A handle and not `println!`, which would panic when the reader goes away.
    let stdout = std::io::stdout();
    let mut out = BufWriter::new(stdout.lock());
    let summary = match format {
        Format::Jsonl => hnefi_data::write_jsonl(games, &mut out)?,
        Format::Pgn => hnefi_data::write_pgn(games, &mut out)?,
        Format::Npz => unreachable!("npz always goes to a folder"),
    };
    out.flush().context("writing to standard output")?;
    Ok(summary)
}

fn report(summary: &ExportSummary, damaged: usize, files: usize) {
    let mut text = format!("{} games, {} plies", summary.games, summary.plies);
    if summary.unfinished > 0 {
        text += &format!("; {} unfinished games left out", summary.unfinished);
    }
    if damaged > 0 {
        text += &format!("; {damaged} of {files} record files skipped");
    }
    eprintln!("{text}");
}
