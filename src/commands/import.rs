//! `hnefi import`: imports games as a record file.

use anyhow::bail;
use hnefi_inference::printable;
use hnefi_run::{GameRecord, encode_games};

use crate::cli::ImportArgs;
use crate::{output, progress};

/// Reads all files, reports omitted games on standard error, and writes the record file.
pub fn run(args: ImportArgs) -> anyhow::Result<()> {
    hnefi_data::check_new_file(&args.out)?;
    let mut games: Vec<GameRecord> = Vec::new();
    let (mut left_out, mut played_on, mut agreed_draws) = (0, 0, 0);
    for file in &args.files {
        let imported = hnefi_data::import(file, args.rules)?;
        for error in &imported.left_out {
            progress::warn(&format!("left out: {}", printable(&error.to_string())));
        }
        for differing in &imported.differing {
            progress::warn(&printable(&differing.to_string()));
        }
        left_out += imported.left_out.len();
        played_on += imported.played_on;
        agreed_draws += imported.agreed_draws;
        games.extend(imported.games);
    }
    if args.strict && left_out > 0 {
        bail!("{left_out} games have errors and --strict was asked for; nothing was written");
    }
    if games.is_empty() {
        bail!("no game could be read; nothing was written");
    }
    hnefi_data::write_new_file(&args.out, &encode_games(&games))?;
    let plies: usize = games.iter().map(|game| game.plies.len()).sum();
    let finished = games.iter().filter(|game| game.is_finished()).count();
    let games = games.len();
    output::line(format_args!("{games} games, {plies} plies, {finished} with a result; {left_out} left out"))?;
    if played_on > 0 {
        output::line(format_args!(
            "{played_on} games went on where the ruleset ends them: their records' rules lack what ended them"
        ))?;
    }
    if agreed_draws > 0 {
        output::line(format_args!(
            "{agreed_draws} games were drawn by agreement, which records do not know: they count as unfinished"
        ))?;
    }
    Ok(())
}
