//! `hnefi judge`: compares a checkpoint with recorded games.

use std::io::{self, Write};

use hnefi_data::{Agreement, Calibration, JudgeParams, Judgement, Rate, RecordedValues, contradicts, judge};
use hnefi_inference::{Precision, printable};
use hnefi_run::GameRecord;
use hnefi_search::SearchConfig;
use serde::Serialize;

use super::records::read_all;
use super::settled;
use super::work::Work;
use crate::cli::JudgeArgs;
use crate::hardware::{Hardware, cores};
use crate::{output, progress};

/// The output of `--json`.
#[derive(Serialize)]
struct Report<'a> {
    checkpoint: &'a str,
    generation: u32,
    rulesets: &'a [String],
    playouts: Option<u32>,
    #[serde(flatten)]
    judgement: &'a Judgement,
}

pub fn run(args: JudgeArgs, hardware: &Hardware) -> anyhow::Result<()> {
    let mut models = args.device.models(hardware);
    let checkpoint = models.checkpoint(&args.model)?;
    let devices = settled(&args.device.devices(hardware), &checkpoint.weights, Precision::F32.into())?;
    let make = devices.evaluators(&checkpoint.weights, Precision::F32.into())?;
    let games = read_all(&args.sources)?;
    // Check the records, which are not trusted, before any work.
    games.iter().try_for_each(GameRecord::check)?;
    let params = JudgeParams {
        playouts: args.playouts,
        search: SearchConfig::default(),
        rules: args.rules,
        threads: args.threads.map_or_else(cores, usize::from),
    };
    let work = Work::begin(progress::count(games.len(), "games"))?;
    let judgement = judge(&games, make.as_ref(), &params, &mut |so_far| {
        work.bar.set_message(format!("{} positions", so_far.positions));
        work.goes_on(so_far.games, games.len())
    })?;
    work.bar.finish_and_clear();
    let card = &checkpoint.card;
    if args.json {
        let report = Report {
            checkpoint: &card.id,
            generation: card.generation,
            rulesets: &card.rulesets,
            playouts: args.playouts,
            judgement: &judgement,
        };
        return output::line(serde_json::to_string(&report)?);
    }
    output::write(|out| {
        let rulesets = card.rulesets.join(", ");
        writeln!(out, "network of generation {}, trained on {}", card.generation, printable(&rulesets))?;
        print(out, &judgement, args.playouts)?;
        writeln!(out, "\n{}", RecordedValues::MEANING)
    })?;
    let finished = (judgement.games - judgement.unfinished) as u64;
    for (side, judged) in [("attackers", &judgement.attackers), ("defenders", &judgement.defenders)] {
        if let Some(Calibration { brier, brier_of_mean, predicted, observed, .. }) = &judged.value
            && contradicts(finished, brier.mean, observed.mean, *brier_of_mean)
        {
            progress::warn(&format!(
                "the values contradict these results: they give the {side} {predicted:.2}, who score {:.2} (Brier score \
                 {:.3}, always saying the mean has {brier_of_mean:.3})",
                observed.mean, brier.mean
            ));
        }
    }
    Ok(())
}

fn print(out: &mut impl Write, judgement: &Judgement, playouts: Option<u32>) -> io::Result<()> {
    writeln!(
        out,
        "{} games, {} positions, {} games without a result",
        judgement.games, judgement.positions, judgement.unfinished
    )?;
    if judgement.cut > 0 {
        writeln!(
            out,
            "{} games are judged in part, up to where the ruleset asked for ends or forbids them",
            judgement.cut
        )?;
    }
    if judgement.interrupted {
        writeln!(out, "stopped before all games were judged")?;
    }
    let sides = [("attackers", &judgement.attackers), ("defenders", &judgement.defenders), ("both", &judgement.both)];
    writeln!(out, "\nmove agreement, % (standard error over games)")?;
    writeln!(out, "{:<22} {:>9} {:>16} {:>16} {:>16}", "to move", "positions", "top 1", "top 5", "random 1 / 5")?;
    for (name, side) in sides {
        agreement(out, &format!("{name}, policy"), side.policy.as_ref())?;
        if let Some(playouts) = playouts {
            agreement(out, &format!("{name}, {playouts} playouts"), side.search.as_ref())?;
        }
    }
    writeln!(out, "\nvalue against results (score = P(win) + P(draw)/2 of the side to move)")?;
    writeln!(
        out,
        "{:<22} {:>9} {:>16} {:>13} {:>9} {:>16}",
        "to move, part of game", "positions", "Brier score", "of the mean", "predicted", "observed"
    )?;
    for (name, side) in sides {
        calibration(out, &format!("{name}, network"), side.value.as_ref())?;
        if let Some(playouts) = playouts {
            calibration(out, &format!("{name}, {playouts} playouts"), side.searched_value.as_ref())?;
        }
    }
    let phases = &judgement.phases;
    let thirds =
        ["first third", "second third", "last third"].into_iter().zip(&phases.value).zip(&phases.searched_value);
    for ((name, value), searched_value) in thirds {
        calibration(out, &format!("{name}, network"), value.as_ref())?;
        if let Some(playouts) = playouts {
            calibration(out, &format!("{name}, {playouts} playouts"), searched_value.as_ref())?;
        }
    }
    for (name, side) in sides {
        let Some(value) = &side.value else { continue };
        writeln!(
            out,
            "\nreliability, {name} to move\n{:<12} {:>9} {:>9} {:>18}",
            "score", "positions", "predicted", "observed"
        )?;
        for bin in &value.deciles {
            let (predicted, observed) = match (bin.predicted, &bin.observed) {
                (Some(predicted), Some(observed)) => (format!("{predicted:.3}"), *observed),
                _ => continue,
            };
            writeln!(
                out,
                "{:.1} to {:.1}   {:>9} {predicted:>9} {:>18}",
                bin.low,
                bin.high,
                observed.positions,
                share(observed)
            )?;
        }
    }
    Ok(())
}

fn agreement(out: &mut impl Write, name: &str, found: Option<&Agreement>) -> io::Result<()> {
    let Some(found) = found else { return Ok(()) };
    writeln!(
        out,
        "{name:<22} {:>9} {:>16} {:>16} {:>16}",
        found.top1.positions,
        percent(found.top1),
        percent(found.top5),
        format!("{:.1} / {:.1}", 100.0 * found.random_top1, 100.0 * found.random_top5),
    )
}

fn calibration(out: &mut impl Write, name: &str, found: Option<&Calibration>) -> io::Result<()> {
    let Some(found) = found else { return Ok(()) };
    writeln!(
        out,
        "{name:<22} {:>9} {:>16} {:>13.4} {:>9.3} {:>16}",
        found.brier.positions,
        share(found.brier),
        found.brier_of_mean,
        found.predicted,
        share(found.observed),
    )
}

fn percent(rate: Rate) -> String {
    let error = rate.standard_error.map_or_else(|| "-".to_owned(), |error| format!("{:.1}", 100.0 * error));
    format!("{:.1} ({error})", 100.0 * rate.mean)
}

fn share(rate: Rate) -> String {
    let error = rate.standard_error.map_or_else(|| "-".to_owned(), |error| format!("{error:.4}"));
    format!("{:.4} ({error})", rate.mean)
}
