//! `hnefi selfplay`: games by one checkpoint against itself, written as records.

use std::sync::Arc;
use std::time::Duration;

use hnefi_arena::players::ModelCache;
use hnefi_data::RecordedValues;
use hnefi_engine::Side;
use hnefi_inference::{Devices, Weights};
use hnefi_run::config::{ConfigError, RulesetShare, TrainConfig};
use hnefi_run::store::{Store, StoreError};
use hnefi_selfplay::{
    FleetControl, FleetError, FleetProgress, GenerationStats, RecordingParams, record_games, search_config,
};
use indicatif::ProgressBar;

use super::records::{Games, record_files};
use super::work::Work;
use super::{only_ruleset, set_once, settled};
use crate::cli::SelfplayArgs;
use crate::hardware::Hardware;
use crate::{output, progress};

/// Games in a record file.
const GAMES_PER_FILE: u64 = 1000;

/// The keys that decide how games are played. The handicaps are not among them: they change from generation to
/// generation of a run, and games in which one side plays worse on purpose are no dataset of that network's play.
const USED: [&str; 14] = [
    "run.device",
    "run.precision",
    "run.save_seconds",
    "run.threads",
    "selfplay.games_in_flight",
    "selfplay.opening_mean_plies",
    "selfplay.opening_temperature",
    "selfplay.ply_caps",
    "selfplay.resign",
    "selfplay.rulesets",
    "search",
    "budget.playouts",
    "stages",
    // Without a checkpoint.
    "network",
];

pub fn config(args: &SelfplayArgs) -> Result<TrainConfig, ConfigError> {
    let used = if args.model.is_some() { &USED[..USED.len() - 1] } else { &USED };
    TrainConfig::load_part(&args.config, &args.changes, used)?.last_stage()
}

/// Plays the games; the same command resumes after an interruption.
pub fn run(args: SelfplayArgs, hardware: &Hardware) -> anyhow::Result<()> {
    set_once(
        &args.changes,
        &[
            ("--rules", args.rules.is_some(), "selfplay.rulesets"),
            ("--playouts", args.playouts.is_some(), "budget.playouts"),
            ("--device", args.device.is_some(), "run.device"),
            ("--threads", args.threads.is_some(), "run.threads"),
        ],
    )?;
    let mut config = config(&args)?;
    let devices = hardware.devices.named(args.device.unwrap_or_else(|| config.run.device.clone()));
    let mut rules = args.rules;
    let (weights, id) = match &args.model {
        Some(path) => {
            let mut models = ModelCache::new(Devices::cpu(), search_config(&config.search));
            // Without rulesets by a configuration or a change, the network's are played.
            let named = TrainConfig::gives(&args.config, &args.changes, "selfplay.rulesets")?;
            rules = rules.or(if named { None } else { only_ruleset(&mut models, path)? });
            let checkpoint = models.checkpoint(path)?;
            (checkpoint.weights.clone(), checkpoint.card.id.clone())
        }
        None => (Weights::fresh(&config.network, args.seed), format!("random-{}", args.seed)),
    };
    if let Some(rules) = rules {
        config.selfplay.rulesets = vec![RulesetShare { rules, share: 1.0 }];
    }
    // Check all settings before the directory is made.
    let devices = settled(&devices, &weights, config.run.precision)?;
    let evaluators = devices.evaluators(&weights, config.run.precision)?;
    let store = Store::open_or_create(&args.out)?;
    let params = RecordingParams {
        games: args.games,
        seed: args.seed,
        playouts: args.playouts.unwrap_or_else(|| config.budget.playouts.last().copied().unwrap_or(32)),
        checkpoint_id: &id,
        games_per_file: GAMES_PER_FILE,
        save_every: Duration::from_secs(u64::from(config.run.save_seconds)),
        threads: args.threads.unwrap_or(match config.run.threads {
            0 => config.selfplay.threads_on(devices.names()),
            threads => threads,
        }),
    };
    let mut work = Work::begin(progress::share())?;
    work.bar.set_prefix("self-play");
    let idle = args.threads.is_none().then(|| config.selfplay.idle_threads(params.threads)).flatten();
    for text in config.run.precision.warning().into_iter().chain(idle) {
        progress::warn(&text);
    }
    let search = search_config(&config.search);
    let played = record_games(&store, &config.selfplay, &search, &params, &*evaluators, &mut work);
    if let Err(FleetError::Stopped) = played {
        work.bar.finish_and_clear();
        work.note("stopped; the same command goes on");
        return Ok(());
    }
    let summary = played?;
    work.bar.finish_and_clear();
    output::line(format_args!("{} games in {}", summary.games, args.out.display()))?;
    for (file, stats) in &summary.files {
        output::line(format_args!("{file}: {}", describe(stats)))?;
    }
    let mut games = Games::new(record_files(std::slice::from_ref(&args.out))?, ProgressBar::hidden(), Arc::default());
    let mut values = RecordedValues::default();
    games.by_ref().for_each(|game| values.count(&game.record));
    games.check()?;
    values.described().iter().try_for_each(output::line)?;
    work.note(RecordedValues::MEANING);
    values.warnings().iter().for_each(|warning| progress::warn(warning));
    Ok(())
}

fn describe(stats: &GenerationStats) -> String {
    let share = |count: u64| 100.0 * count as f64 / stats.games.max(1) as f64;
    format!(
        "{} games, {:.0} plies each; attackers {:.0}%, defenders {:.0}%, draws {:.0}%; {} evaluations",
        stats.games,
        stats.mean_plies,
        share(stats.wins(Side::Attackers)),
        share(stats.wins(Side::Defenders)),
        share(stats.draws()),
        stats.evaluations
    )
}

impl FleetControl for Work {
    fn go_on(&mut self, progress: &FleetProgress) -> Result<bool, StoreError> {
        self.bar.set_position((progress.done * 1000.0) as u64);
        self.bar
            .set_message(format!("{} games, {} plies, {} playouts", progress.games, progress.plies, progress.playouts));
        Ok(!self.is_stopped())
    }
}
