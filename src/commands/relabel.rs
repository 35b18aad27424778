//! `hnefi relabel`: searches the positions of games again, for better targets.

use anyhow::bail;
use hnefi_data::{check_new_file, relabel, write_new_file};
use hnefi_engine::Rules;
use hnefi_run::encode_games;

use super::records::read_all;
use super::work::Work;
use crate::cli::RelabelArgs;
use crate::hardware::Hardware;
use crate::{output, progress};

pub fn run(args: RelabelArgs, hardware: &Hardware) -> anyhow::Result<()> {
    check_new_file(&args.out)?;
    let run = args.sources.first().filter(|source| source.is_dir());
    // A misspelt source is named as such.
    let mut games = read_all(&args.sources)?;
    let Some(model) = args.model.as_ref().or(run) else {
        bail!("--model is missing; expected a checkpoint, a run or a shipped network, since the first source is no run")
    };
    let spare = args.games.map_or(0, |newest| games.len().saturating_sub(newest as usize));
    games.drain(..spare);
    let rules: Vec<Rules> = games.iter().map(|game| game.rules).collect();
    let mut models = args.analysis.device.models(hardware);
    let make = args.analysis.evaluators(&mut models, model, hardware, &rules)?;
    let id = models.checkpoint(model)?.card.id.clone();
    let work = Work::begin(progress::count(0, "positions"))?;
    let goes_on = |done, total| work.goes_on(done, total);
    let relabelled = relabel(games, &id, make.as_ref(), &args.analysis.params(), &goes_on)?;
    let positions = work.bar.position();
    work.bar.finish_and_clear();
    let Some(games) = relabelled else { bail!("interrupted; nothing was written") };
    write_new_file(&args.out, &encode_games(&games))?;
    let (playouts, out) = (args.analysis.playouts, args.out.display());
    output::line(format_args!("{} games, {positions} positions searched with {playouts} playouts: {out}", games.len()))
}
