//! `hnefi ladder`: the checkpoints of a run against one another and against fixed opponents, in Elo per side.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use hnefi_engine::Preset;
use hnefi_models::{Card, Checkpoint, DeviceChoice};
use hnefi_selfplay::GameRecord;
use hnefi_selfplay::arena::{MatchObserver, MatchResult, Rating};
use hnefi_selfplay::ladder::{self, LadderParams, Standings};
use hnefi_selfplay::players::ModelCache;
use hnefi_selfplay::search::SearchConfig;
use hnefi_selfplay::store::{Store, checkpoint_key};
use indicatif::ProgressBar;

use crate::cli::LadderArgs;
use crate::{interrupt, progress};

/// Plays the matches that are missing, each saved in the run directory, and prints the ratings fitted to all of them.
pub fn run(args: LadderArgs) -> anyhow::Result<()> {
    if args.show {
        return print(&Store::open_to_read(&args.run)?, args.json);
    }
    let known = Store::open_to_read(&args.run)?.checkpoints()?;
    anyhow::ensure!(
        !known.is_empty(),
        "{}: no checkpoints; expected the directory of a run, such as runs/quick",
        args.run.display()
    );
    anyhow::ensure!(
        args.games > 0 && args.games.is_multiple_of(2),
        "--games {}: expected an even number above 0",
        args.games
    );
    let store = Store::open_or_create(&args.run)
        .context("playing on the ladder writes to the run; --show only shows what was played")?;
    let rungs = ladder::spread(&known, args.checkpoints);
    let params = LadderParams {
        opponents: args.opponents.clone(),
        previous: args.previous,
        rulesets: rulesets(&args, &store, &known)?,
        games: args.games,
        playouts: args.playouts,
        seed: args.seed,
        threads: args.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
    };
    let missing: usize = rungs.iter().map(|&rung| ladder::missing(&store, rung, &rungs, &params)).sum();
    let mut models = ModelCache::new(DeviceChoice::default(), SearchConfig::default());
    let mut watcher =
        Watcher { bar: progress::games(missing as u64 * u64::from(args.games)), stop: interrupt::stop_flag()? };
    for &rung in &rungs {
        if !ladder::climb(&store, rung, &rungs, &params, &mut models, &mut watcher)? {
            watcher.bar.finish_and_clear();
            println!("stopped; the same command goes on");
            break;
        }
    }
    watcher.bar.finish_and_clear();
    print(&store, args.json)
}

/// The rulesets asked for, or those that the newest checkpoint was trained on.
fn rulesets(args: &LadderArgs, store: &Store, known: &[u32]) -> anyhow::Result<Vec<Preset>> {
    if !args.rules.is_empty() {
        return Ok(args.rules.clone());
    }
    let newest = known.last().copied().unwrap_or_default();
    let Card { rulesets, .. } = Checkpoint::load_card(&store.path(&checkpoint_key(newest)))?;
    let presets: Vec<Preset> = rulesets.iter().filter_map(|name| Preset::from_name(name)).collect();
    anyhow::ensure!(
        !presets.is_empty(),
        "checkpoint {newest} names no ruleset it was trained on; say which with --rules"
    );
    Ok(presets)
}

struct Watcher {
    bar: ProgressBar,
    stop: Arc<AtomicBool>,
}

impl MatchObserver for Watcher {
    fn game_finished(&mut self, _: &GameRecord, so_far: &MatchResult) {
        self.bar.inc(1);
        self.bar.set_message(format!("{} against {}", so_far.a, so_far.b));
    }

    fn should_stop(&mut self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}

fn print(store: &Store, json: bool) -> anyhow::Result<()> {
    let standings = Standings::fit(&ladder::matches(store)?);
    if json {
        println!("{}", serde_json::to_string(&standings)?);
        return Ok(());
    }
    if standings.contestants.is_empty() {
        println!("no match has been played on the ladder of {}", store.dir().display());
        return Ok(());
    }
    print!("{}", table(&standings));
    Ok(())
}

/// Everybody's Elo per side with 95 % intervals.
pub fn table(standings: &Standings) -> String {
    let names: Vec<String> = standings.contestants.iter().map(|one| one.contestant.to_string()).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(10);
    // Rounded first, and zero added: no strength is "-0".
    let elo = |Rating { elo, error }: Rating| format!("{:+} ± {error:.0}", elo.round() as i64);
    let mut text = format!(
        "{:<width$} {:>14} {:>14} {:>14} {:>7} {:>8}\n",
        "elo (95 %)", "attackers", "defenders", "overall", "games", "score"
    );
    for (name, one) in names.iter().zip(&standings.contestants) {
        let sides = [one.attackers, one.defenders, one.overall].map(elo);
        text += &format!(
            "{name:<width$} {:>14} {:>14} {:>14} {:>7} {:>7.1}%\n",
            sides[0],
            sides[1],
            sides[2],
            one.games,
            100.0 * one.score
        );
    }
    let zero = standings.zero.as_ref().map_or_else(|| "the mean over all".to_owned(), ToString::to_string);
    text += &format!("0 is {zero}");
    for balance in &standings.balances {
        text += &format!("; between equals under {} the attackers have {} Elo", balance.rules, elo(balance.attackers));
    }
    text + "\n"
}
