//! `hnefi review`: marks the moves of games by what they cost, as the page's review does.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use hnefi_data::{check_new_file, review, write_new_file};
use hnefi_engine::Rules;
use hnefi_inference::{pretrained_for, printable};
use hnefi_record::pgn;
use hnefi_run::GameRecord;

use super::records::read_all;
use super::work::Work;
use crate::cli::ReviewArgs;
use crate::hardware::Hardware;
use crate::{interrupt, output, progress};

pub fn run(args: ReviewArgs, hardware: &Hardware) -> anyhow::Result<()> {
    args.out.as_deref().map(check_new_file).transpose()?;
    let (games, mut models) = (games(&args)?, args.analysis.device.models(hardware));
    let (stop, mut text) = (interrupt::stop_flag()?, String::new());
    for (model, games) in by_model(&args, games)? {
        let rules: Vec<Rules> = games.iter().map(|game| game.rules).collect();
        let make = args.analysis.evaluators(&mut models, Path::new(&model), hardware, &rules)?;
        let work = Work { bar: progress::count(0, "positions"), stop: Arc::clone(&stop) };
        let goes_on = |done, total| work.goes_on(done, total);
        let reviewed = review(games, make.as_ref(), &args.analysis.params(), &goes_on)?;
        work.bar.finish_and_clear();
        let Some(trees) = reviewed else { bail!("interrupted; nothing was written") };
        for tree in trees {
            text += &pgn::tree_text(&tree)?;
        }
    }
    match &args.out {
        None => output::write(|out| write!(out, "{text}")),
        Some(path) => Ok(write_new_file(path, text.as_bytes())?),
    }
}

/// The games of all files, which have moves.
fn games(args: &ReviewArgs) -> anyhow::Result<Vec<GameRecord>> {
    let mut games = Vec::new();
    for path in &args.files {
        if path.extension().is_some_and(|ending| ending == "hgames") {
            games.extend(read_all(std::slice::from_ref(path))?);
            continue;
        }
        let imported = hnefi_data::import(path, args.rules)?;
        for game in &imported.left_out {
            progress::warn(&format!("left out: {}", printable(&game.to_string())));
        }
        for differing in &imported.differing {
            progress::warn(&printable(&differing.to_string()));
        }
        games.extend(imported.games);
    }
    games.retain(|game| !game.plies.is_empty());
    if games.is_empty() {
        bail!("no game with moves could be read; expected at least one");
    }
    Ok(games)
}

/// The games beside the network that reviews them, in their order.
fn by_model(args: &ReviewArgs, games: Vec<GameRecord>) -> anyhow::Result<Vec<(String, Vec<GameRecord>)>> {
    let mut of: Vec<(String, Vec<GameRecord>)> = Vec::new();
    for game in games {
        let model = match &args.model {
            Some(model) => model.clone(),
            None => pretrained_for(game.rules)?.to_owned(),
        };
        match of.last_mut().filter(|(last, _)| *last == model) {
            Some((_, games)) => games.push(game),
            None => of.push((model, vec![game])),
        }
    }
    Ok(of)
}
