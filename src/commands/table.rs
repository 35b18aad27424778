//! The closing table of a run: the network's score against the baselines, per side.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use hnefi_arena::players::{Limit, ModelCache, ModelSpec, PlayerSpec};
use hnefi_arena::{MatchObserver, MatchParams, MatchResult, Tally, play_match};
use hnefi_engine::Preset;
use hnefi_inference::Devices;
use hnefi_search::SearchConfig;
use hnefi_train::TrainConfig;

use crate::hardware::cores;
use crate::progress;

/// Results against each opponent.
pub struct EvaluationTable {
    playouts: u32,
    seconds: f64,
    results: Vec<MatchResult>,
    /// Opponents skipped for lack of time.
    skipped: Vec<String>,
}

/// Finds out, before the run, whether the opponents of its ladder and of its closing table can play.
pub fn check_opponents(config: &TrainConfig, devices: &Devices, ladder: bool, table: bool) -> anyhow::Result<()> {
    let mut models = ModelCache::new(devices.named(config.run.device.clone()), SearchConfig::default());
    let (ladder, table) = (ladder && config.ladder.every > 0, table && config.evaluate.games > 0);
    for (plays, key, opponents) in [
        (ladder, "ladder.opponents", &config.ladder.opponents),
        (table, "evaluate.opponents", &config.evaluate.opponents),
    ] {
        for opponent in opponents.iter().filter(|_| plays) {
            opponent.parse::<PlayerSpec>()?.build(&mut models).with_context(|| key)?;
        }
    }
    Ok(())
}

/// Plays the matches of the configuration's `evaluate` section.
pub fn play(
    config: &TrainConfig,
    checkpoint: &Path,
    devices: &Devices,
    stop: &AtomicBool,
) -> anyhow::Result<EvaluationTable> {
    let begun = Instant::now();
    let section = &config.evaluate;
    let limit = (section.seconds > 0).then(|| Duration::from_secs(u64::from(section.seconds)));
    let spec = ModelSpec::new(checkpoint, Limit::Playouts(section.playouts));
    let model = PlayerSpec::Model(spec.in_precision(config.run.precision));
    // Search as `match` and `play` do, not as self-play.
    let mut models = ModelCache::new(devices.named(config.run.device.clone()), SearchConfig::default());
    let mut table =
        EvaluationTable { playouts: section.playouts, seconds: 0.0, results: Vec::new(), skipped: Vec::new() };
    let rules =
        config.last_stage()?.selfplay.rulesets_played().first().copied().unwrap_or(Preset::Brandubh.into()).rules();
    for opponent in &section.opponents {
        let spec: PlayerSpec = opponent.parse()?;
        let bar = progress::count(2 * section.games as usize, "games");
        let threads = if config.run.threads == 0 { cores() } else { config.run.threads };
        let params = MatchParams { threads, ..MatchParams::new(rules, 2 * section.games, config.run.seed) };
        let mut watcher = Watcher { bar, stop, until: limit.map(|limit| begun + limit) };
        if watcher.should_stop() {
            table.skipped.push(opponent.clone());
            continue;
        }
        table.results.push(play_match(&model, &spec, &params, &mut models, &mut watcher)?);
        watcher.bar.finish_and_clear();
    }
    table.seconds = begun.elapsed().as_secs_f64();
    Ok(table)
}

struct Watcher<'a> {
    bar: indicatif::ProgressBar,
    stop: &'a AtomicBool,
    until: Option<Instant>,
}

impl MatchObserver for Watcher<'_> {
    fn game_finished(&mut self, _: &hnefi_run::GameRecord, so_far: &MatchResult) {
        self.bar.set_position(u64::from(so_far.games));
        self.bar.set_message(format!("against {}", so_far.b));
    }

    fn should_stop(&mut self) -> bool {
        self.stop.load(Ordering::SeqCst) || self.until.is_some_and(|until| Instant::now() >= until)
    }
}

impl fmt::Display for EvaluationTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "score of the network at {} playouts a move, won + drawn/2 ({:.0} s)",
            self.playouts, self.seconds
        )?;
        writeln!(f, "{:<14} {:>22} {:>22} {:>9}", "against", "as attackers", "as defenders", "overall")?;
        let cell = |tally: Tally| {
            format!("{:.1}% (+{} ={} -{})", 100.0 * tally.score(), tally.wins, tally.draws, tally.losses)
        };
        for result in &self.results {
            writeln!(
                f,
                "{:<14} {:>22} {:>22} {:>8.1}%{}",
                result.b,
                cell(result.as_attackers),
                cell(result.as_defenders),
                100.0 * result.score,
                if result.interrupted { "  (cut short)" } else { "" }
            )?;
        }
        for opponent in &self.skipped {
            writeln!(f, "{opponent:<14} no time left")?;
        }
        Ok(())
    }
}
