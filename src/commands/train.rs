//! `hnefi train`: trains a network from random weights, then measures it against the baselines.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use hnefi_arena::MatchResult;
use hnefi_arena::ladder::Standings;
use hnefi_engine::RulesRecord;
use hnefi_inference::{NetworkConfig, pretrained_names};
use hnefi_play::watch::Pace;
use hnefi_run::store::{Access, Location, Store, checkpoint_key};
use hnefi_run::{GenerationMetrics, named_rules};
use hnefi_selfplay::FleetProgress;
use hnefi_train::config::{ANY_NAME, reference};
use hnefi_train::trainer::{RunStart, SelfPlay, TrainerParams, TrainingProgress};
use hnefi_train::{TrainConfig, TrainObserver};
use indicatif::HumanDuration;

use super::work::Work;
use super::{set_once, table};
use crate::cli::TrainArgs;
use crate::hardware::{Hardware, cores, processor_name};
use crate::{output, progress};

/// Trains until the budget is used up, then plays the closing table.
pub fn run(args: TrainArgs, hardware: &Hardware) -> anyhow::Result<()> {
    if let Some(name) = &args.help_config {
        return output::text(reference(Some(name.as_str()).filter(|name| !name.is_empty()))?);
    }
    let (has_device, changes) = (args.device.is_some(), &args.changes);
    set_once(
        changes,
        &[
            ("--rules", args.rules.is_some(), "selfplay.rulesets"),
            ("--seed", args.seed.is_some(), "run.seed"),
            ("--device", has_device, "run.device"),
            ("--device", has_device, "run.train_device"),
            ("--threads", args.threads.is_some(), "run.threads"),
            ("--overlap", args.overlap, "run.overlap"),
        ],
    )?;
    let mut config = match &args.rules {
        Some(rules) if args.config == ANY_NAME => {
            let rules = named_rules(rules).map_err(|problem| anyhow!("--rules: {problem}"))?;
            hnefi_train::config::any(&rules, &args.changes)?
        }
        Some(_) => bail!("--rules: config {} names its rulesets; expected --config {ANY_NAME}", args.config),
        None if args.config == ANY_NAME => bail!("--config {ANY_NAME}: expected the ruleset to train for, by --rules"),
        None => hnefi_train::config::load(&args.config, &args.changes)?,
    };
    if let Some(seed) = args.seed {
        config.run.seed = seed;
    }
    if let Some(device) = args.device {
        (config.run.device, config.run.train_device) = (device.clone(), device);
    }
    if let Some(threads) = args.threads {
        config.run.threads = threads;
    }
    config.run.overlap |= args.overlap;
    if args.print_config {
        return output::text(config.commented());
    }
    let name = args.rules.as_deref().map_or_else(|| stem(&args.config), rules_name);
    let location = args.place.location().unwrap_or_else(|| Location::Directory(default_run(name, args.seed)));
    table::check_opponents(&config, &hardware.devices, !args.no_ladder, !args.no_table)?;
    let work = Work::begin(progress::share())?;
    let retry = args.store.retry(work.clone());
    let watcher =
        Watcher { work: work.clone(), origin: args.from.clone(), begun: Instant::now(), pace: Mutex::default() };
    let params = TrainerParams {
        location: location.clone(),
        origin: args.from.as_deref(),
        selfplay: match (args.no_selfplay, config.run.overlap) {
            (true, _) => SelfPlay::Elsewhere,
            (false, true) => SelfPlay::Overlapping,
            (false, false) => SelfPlay::InTurns,
        },
        trainer: args.trainer.as_deref(),
        ladder: !args.no_ladder,
        retry: retry.clone(),
        cards: hardware.cards.clone(),
        machine: format!("{}, {} threads", processor_name(), cores()),
    };
    let summary = hnefi_train::train_at(&config, &params, &watcher)?;
    work.bar.finish_and_clear();
    if summary.stopped {
        work.note(&format!("stopped after generation {}; the same command goes on", summary.generations));
        return Ok(());
    }
    output::line(format_args!(
        "trained {} generations, {} steps, {} samples in {}",
        summary.generations,
        summary.steps,
        summary.samples,
        clock(summary.elapsed_seconds)
    ))?;
    if !args.no_table && config.evaluate.games > 0 {
        let store = Store::open(&location, Access::Read, retry)?;
        let checkpoint = store.folder(&checkpoint_key(summary.checkpoint_generation))?;
        output::text(format_args!("\n{}", table::play(&config, &checkpoint, &hardware.devices, &work.stop)?))?;
    }
    output::line(format_args!("\ncheckpoint  {}", summary.checkpoint))?;
    output::line(match &location {
        Location::Directory(dir) => {
            let name = dir.display().to_string();
            let place = if pretrained_names().contains(&&*name) { "./" } else { "" };
            format!("play it     {} play model:{place}{name}", super::program())
        }
        Location::Bucket(url) => format!("get it      {} fetch {url} --run DIR", super::program()),
    })
}

/// `runs/NAME`, and with a seed from the command line `runs/NAME-seedN`, so that runs with other seeds have other
/// directories.
fn default_run(name: String, seed: Option<u64>) -> PathBuf {
    Path::new("runs").join(seed.map_or(name.clone(), |seed| format!("{name}-seed{seed}")))
}

/// A name for rules on the command line: the record's own, or the file's without its ending.
fn rules_name(text: &str) -> String {
    let record = text.parse::<RulesRecord>().ok();
    let name = record.map_or_else(|| stem(text), |record| record.name().unwrap_or(ANY_NAME).to_lowercase());
    name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-")
}

fn stem(path: &str) -> String {
    Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// `7:05`, minutes and seconds.
fn clock(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

/// Shows a run: a bar for the present activity and a line per generation.
struct Watcher {
    work: Work,
    /// The origin given on the command line.
    origin: Option<PathBuf>,
    begun: Instant,
    /// The newest generation, and how fast the latest ones were begun.
    pace: Mutex<(u32, Pace)>,
}

impl Watcher {
    /// `run 77%, 2 hours left; generation 12: ...`.
    fn so_far(&self, generation: u32, run: f64, what: std::fmt::Arguments<'_>) -> String {
        let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.begun.elapsed().as_secs_f64();
        // Games of the next generation may be played while this one still trains.
        if generation > pace.0 {
            pace.0 = generation;
            pace.1.add(now, run);
        }
        let ends = pace.1.measured().map(|(_, ends)| ends).filter(|&ends| ends > 0.0);
        let left = ends.map(|ends| Duration::try_from_secs_f64(ends - now).unwrap_or_default());
        let left = left.map_or_else(String::new, |left| format!(", {} left", HumanDuration(left)));
        format!("run {:.0}%{left}; generation {generation}: {what}", run * 100.0)
    }
}

impl TrainObserver for Watcher {
    fn begins(&self, start: &RunStart<'_>) {
        let RunStart { location, generations, elapsed_seconds, parameters, .. } = start;
        let from = match generations {
            0 => match &self.origin {
                Some(origin) => format!("the weights of {}", origin.display()),
                None => "random weights".to_string(),
            },
            done => format!("generation {done} after {}", clock(*elapsed_seconds)),
        };
        self.work.note(&format!("{location}: {parameters} parameters, from {from}"));
        self.work.note(LEGEND);
        self.work.note(&header());
    }

    fn stage(&self, index: usize, count: usize, name: &str, config: &TrainConfig) {
        let NetworkConfig { blocks, channels, .. } = config.network;
        let rules: Vec<String> = config.selfplay.rulesets.iter().map(|ruleset| ruleset.rules.name()).collect();
        let rules = rules.join(", ");
        self.work
            .note(&format!("stage {} of {count}, {name}: {rules}; {blocks} blocks of {channels} channels", index + 1));
    }

    fn chose(&self, text: &str) {
        self.work.note(text);
    }

    fn warning(&self, text: &str) {
        progress::warning(&self.work.bar, text);
    }

    fn generating(&self, generation: u32, progress: &FleetProgress, run: f64) {
        self.work.bar.set_prefix("self-play");
        self.work.bar.set_position((progress.done * 1000.0) as u64);
        self.work.bar.set_message(self.so_far(generation, run, format_args!("{} games", progress.games)));
    }

    fn training(&self, generation: u32, progress: &TrainingProgress, run: f64) {
        self.work.bar.set_prefix("training");
        self.work.bar.set_position(1000 * progress.step / progress.steps.max(1));
        let what = format_args!("loss {:.3}", progress.losses.total);
        self.work.bar.set_message(self.so_far(generation, run, what));
    }

    fn generation(&self, metrics: &GenerationMetrics) {
        self.work.note(&row(metrics));
    }

    fn rating(&self, generation: u32, so_far: &MatchResult, games: u32) {
        self.work.bar.set_prefix("ladder");
        self.work.bar.set_position(u64::from(1000 * so_far.games / games.max(1)));
        self.work.bar.set_message(format!("generation {generation} against {}", so_far.b));
    }

    fn standings(&self, generation: u32, standings: &Standings) {
        let checkpoints = standings.checkpoints();
        if let Some((_, one)) = checkpoints.into_iter().find(|&(number, _)| number == generation) {
            let zero = standings.zero.as_ref().map_or("the mean".to_owned(), ToString::to_string);
            self.work.note(&format!(
                "{generation:>4}    Elo {:+.0} ± {:.0} (attackers {:+.0}, defenders {:+.0}; {zero} is 0)",
                one.overall.elo, one.overall.error, one.attackers.elo, one.defenders.elo
            ));
        }
    }

    fn should_stop(&self) -> bool {
        self.work.is_stopped()
    }
}

/// What the columns are, in lines that fit 80 columns.
const LEGEND: &str = "\
att%, def%, draw%  games won by the attackers, by the defenders, drawn
policy, value      losses, in nats
uniq%              games that differ after eight plies; low means repetition
eval/s, smpl/s     positions evaluated, and samples trained on, per second
window             training plies in the replay window";

fn header() -> String {
    format!(
        "{:>4} {:>6} {:>5} {:>5} {:>4} {:>4} {:>5} {:>6} {:>5} {:>5} {:>6} {:>6} {:>7}",
        "gen",
        "time",
        "games",
        "plies",
        "att%",
        "def%",
        "draw%",
        "policy",
        "value",
        "uniq%",
        "eval/s",
        "smpl/s",
        "window"
    )
}

fn row(metrics: &GenerationMetrics) -> String {
    let (played, trained) = (&metrics.selfplay, &metrics.training);
    format!(
        "{:>4} {:>6} {:>5} {:>5.0} {:>4.0} {:>4.0} {:>5.0} {:>6.3} {:>5.3} {:>5.0} {:>6.0} {:>6.0} {:>7}",
        metrics.generation,
        clock(metrics.elapsed_seconds),
        played.games,
        played.mean_plies,
        100.0 * played.attackers,
        100.0 * played.defenders,
        100.0 * played.draws,
        trained.losses.policy,
        trained.losses.value,
        100.0 * metrics.distinct_openings(),
        played.evaluations_per_second,
        trained.samples_per_second,
        trained.window_plies
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_and_its_legend_fit_80_columns() {
        let row =
            row(&GenerationMetrics { generation: 1234, elapsed_seconds: 59_999.0, ..GenerationMetrics::default() });
        for line in LEGEND.lines().chain([header().as_str(), row.as_str()]) {
            assert!(line.chars().count() <= 80, "{line}");
        }
        // Every column that is no plain word is explained.
        for column in header().split_whitespace().filter(|name| name.contains(['%', '/'])) {
            assert!(LEGEND.contains(column), "{column}");
        }
    }
}
