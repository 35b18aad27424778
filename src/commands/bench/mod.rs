//! `hnefi bench`: the speed of each stage on this machine, compared with the peak.
//!
//! | module | what it measures | its peak |
//! |---|---|---|
//! | [`engine`] | moves made, positions counted, random games | moves without any rule |
//! | [`evaluate`] | evaluations of distinct positions, encoding and softmax included | multiply-adds of the network |
//! | [`selfplay`] | evaluations within self-play, and its memory | evaluations alone, times the threads |
//! | `train` | samples of training steps | three times the multiply-adds of the network |
//! | [`search`] | playouts of one search without a network, share of time that its tree is locked | – |
//! | [`protocol`] | playouts of one search, answers to `stop` and to the clock | evaluations alone, times the threads |
//!
//! With `--device` the network, self-play and training are measured on a card instead (`gpu`).
//!
//! Every figure is the median of several repeats, on 1, 2, 4 and so on up to all threads. Nothing here passes or fails.

mod engine;
mod evaluate;
#[cfg(feature = "train")]
mod gpu;
mod measure;
mod peak;
mod protocol;
mod sample;
mod search;
mod selfplay;
#[cfg(feature = "train")]
mod train;

use std::collections::HashMap;

use clap::ValueEnum;
use hnefi_engine::{BoardSize, Preset};
use hnefi_inference::NetworkConfig;
use serde::Serialize;

use crate::cli::{BenchArgs, Stage};
use crate::hardware::{Hardware, cores, processor_name};
use crate::output;
#[cfg(feature = "train")]
pub(super) use gpu::compare_training;
use measure::Effort;

/// The boards of engine and evaluation, each with the ruleset of [`preset`].
const SIZES: [BoardSize; 3] = [BoardSize::SEVEN, BoardSize::NINE, BoardSize::ELEVEN];

/// One measured figure; with `--json` a line.
#[derive(Clone, Debug, Serialize)]
struct Figure {
    stage: Stage,
    name: String,
    /// Such as `11x11`.
    board: String,
    /// Blocks by channels, and whether it has pooling.
    net: Option<String>,
    precision: Option<&'static str>,
    threads: usize,
    value: f64,
    unit: &'static str,
    /// The most that this machine could do, in the same unit.
    peak: Option<f64>,
}

impl Figure {
    /// A figure without a network and without a peak.
    fn new(stage: Stage, name: &str, size: BoardSize, threads: usize, value: f64, unit: &'static str) -> Figure {
        let board = format!("{0}x{0}", size.side());
        Figure { stage, name: name.to_owned(), board, net: None, precision: None, threads, value, unit, peak: None }
    }

    /// The same of a network in a precision.
    fn of(self, network: &NetworkConfig, precision: &'static str) -> Figure {
        Figure { net: Some(evaluate::network_name(network)), precision: Some(precision), ..self }
    }
}

/// A figure as a line of JSON.
#[derive(Serialize)]
struct FigureLine {
    #[serde(flatten)]
    figure: Figure,
    /// Of a rate: how many times the rate of one thread.
    times_one: Option<f64>,
}

/// Runs the benches that are asked for and prints each figure when it is known.
#[cfg_attr(not(feature = "train"), expect(unused_variables, reason = "training alone opens devices"))]
pub fn run(args: BenchArgs, hardware: &Hardware) -> anyhow::Result<()> {
    #[cfg(feature = "train")]
    let gpu = args.device.map(|choice| gpu::open(hardware, choice, args.stage)).transpose()?;
    let threads = args.threads.map_or_else(cores, usize::from);
    let effort = Effort { seconds: args.seconds, repeats: usize::from(args.repeats), threads };
    let mut report = Report { json: args.json, stage: None, alone: HashMap::new() };
    if !args.json {
        let (processor, cores) = (processor_name(), cores());
        output::line(format_args!("{processor}, {cores} threads; medians of {} repeats", args.repeats))?;
    }
    #[cfg(feature = "train")]
    if let Some((choice, card)) = args.device.zip(gpu.as_ref()) {
        return gpu::run(hardware, (choice, card), args.stage, effort, &mut report);
    }
    let peak = peak::measure(effort);
    for &stage in Stage::value_variants().iter().filter(|&&stage| args.stage.is_none_or(|only| only == stage)) {
        match stage {
            Stage::Engine => engine::run(effort, &mut report)?,
            Stage::Evaluate => evaluate::run(effort, peak, &mut report)?,
            Stage::Selfplay => selfplay::run(effort, &mut report)?,
            #[cfg(feature = "train")]
            Stage::Train => train::run(effort, peak, &mut report)?,
            Stage::Search => search::run(effort, &mut report)?,
            Stage::Protocol => protocol::run(effort, &mut report)?,
        }
    }
    Ok(())
}

/// Where figures go.
struct Report {
    json: bool,
    /// The stage of the table being printed.
    stage: Option<Stage>,
    /// Rates on one thread, by what was measured.
    alone: HashMap<String, f64>,
}

impl Report {
    /// A line between the rows for people.
    fn note(&self, text: &str) -> anyhow::Result<()> {
        if self.json { Ok(()) } else { output::line(text) }
    }

    fn add(&mut self, figure: Figure) -> anyhow::Result<()> {
        let times_one = self.times_one(&figure);
        if self.json {
            return output::line(serde_json::to_string(&FigureLine { figure, times_one })?);
        }
        if self.stage != Some(figure.stage) {
            self.stage = Some(figure.stage);
            let title = format!("{:?}", figure.stage).to_lowercase();
            output::line(format_args!(
                "\n{title:<30} {:>5} {:>12} {:>4} {:>3} {:>18} {:>5} {:>14} {:>6}",
                "board", "net", "prec", "thr", "figure", "x one", "peak", "share"
            ))?;
        }
        let none = "-".to_string();
        output::line(format_args!(
            "{:<30} {:>5} {:>12} {:>4} {:>3} {:>18} {:>5} {:>14} {:>6}",
            figure.name,
            figure.board,
            figure.net.as_ref().unwrap_or(&none),
            figure.precision.unwrap_or("-"),
            figure.threads,
            format!("{} {}", rounded(figure.value), figure.unit),
            times_one.map_or_else(|| none.clone(), |times| format!("{times:.2}")),
            figure.peak.map_or_else(|| none.clone(), rounded),
            figure.peak.map_or_else(|| none.clone(), |peak| share(&figure, peak)),
        ))
    }

    /// How many times the rate of one thread this is.
    fn times_one(&mut self, figure: &Figure) -> Option<f64> {
        if !figure.unit.ends_with("/s") {
            return None;
        }
        let Figure { stage, name, board, net, precision, threads, value, .. } = figure;
        let what = format!("{stage:?} {name} {board:?} {net:?} {precision:?}");
        if *threads == 1 {
            self.alone.insert(what.clone(), *value);
        }
        self.alone.get(&what).map(|alone| value / alone)
    }
}

/// The share of the peak that was reached; for durations less is more.
fn share(figure: &Figure, peak: f64) -> String {
    let share = if figure.unit == "ms" { peak / figure.value } else { figure.value / peak };
    format!("{:.0}%", 100.0 * share)
}

/// A number of any size in a few characters: `12.3 M`, `5,970`, `34.1`.
fn rounded(value: f64) -> String {
    match value {
        1e9.. => format!("{:.2} G", value / 1e9),
        1e6.. => format!("{:.2} M", value / 1e6),
        1e3.. => format!("{},{:03}", (value / 1e3) as u64, value as u64 % 1000),
        100.0.. => format!("{value:.0}"),
        _ => format!("{value:.2}"),
    }
}

/// The ruleset that stands for a board.
fn preset(size: BoardSize) -> Preset {
    match size {
        BoardSize::SEVEN => Preset::Brandubh,
        BoardSize::NINE => Preset::Tablut,
        _ => Preset::Copenhagen,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_shares_turn_round_for_durations() {
        let texts = [0.8123, 34.14, 340.4, 5_970.9, 52_300_000.0, 2.1e9].map(rounded);
        assert_eq!(texts, ["0.81", "34.14", "340", "5,970", "52.30 M", "2.10 G"]);
        let figure = |value, unit| Figure::new(Stage::Engine, "", BoardSize::SEVEN, 1, value, unit);
        assert_eq!(share(&figure(50.0, "ms"), 10.0), "20%");
        assert_eq!(share(&figure(50.0, "moves/s"), 200.0), "25%");
    }
}
