//! `hnefi ladder`: rates the checkpoints of a run against each other and fixed opponents, in Elo per side.

use std::time::Duration;

use hnefi_arena::Rating;
use hnefi_arena::ladder::{self, LadderParams, Opponent, Standings};
use hnefi_arena::players::ModelCache;
use hnefi_engine::NamedRules;
use hnefi_inference::{Card, Checkpoint, printable};
use hnefi_run::Run;
use hnefi_run::store::{Access, Store, checkpoint_key};

use super::work::Work;
use crate::cli::LadderArgs;
use crate::hardware::{Hardware, cores};
use crate::{output, progress};

/// Time between two looks at a run that is followed.
const LOOK: Duration = Duration::from_secs(5);

/// Longest player's name in the table, in characters.
const LONGEST_NAME: usize = 100;

/// Plays the matches that are missing, each saved with the run, and prints the ratings fitted to all of them.
pub fn run(args: LadderArgs, hardware: &Hardware) -> anyhow::Result<()> {
    let work = Work::begin(progress::count(0, "games"))?;
    let access = if args.show { Access::Read } else { Access::Add };
    let store = Store::open(&args.run, access, args.store.retry(work.clone()))?;
    if args.follow {
        follow(&args, hardware, &store, &work)?;
    } else if !args.show {
        play(&args, hardware, &store, &work)?;
    }
    work.bar.finish_and_clear();
    print(&store, args.json)
}

/// Plays what the arguments ask for.
fn play(args: &LadderArgs, hardware: &Hardware, store: &Store, work: &Work) -> anyhow::Result<()> {
    let known = store.checkpoints()?;
    anyhow::ensure!(!known.is_empty(), "{}: no checkpoints; expected a run, such as runs/quick", args.run);
    let rungs = ladder::evenly_spaced(&known, args.checkpoints);
    let mut models = args.device.models(hardware);
    let params = LadderParams {
        opponents: Opponent::all(&args.opponents, &mut models)?,
        previous: args.previous,
        rulesets: rulesets(args, store, &known)?,
        games: args.games,
        playouts: args.playouts,
        seed: args.seed,
        threads: args.threads.map_or_else(cores, usize::from),
    };
    if !climb_all(store, &rungs, &params, &mut models, work)? {
        work.note("stopped; the same command goes on");
    }
    Ok(())
}

/// Plays the run's own ladder whenever a checkpoint for it appears.
fn follow(args: &LadderArgs, hardware: &Hardware, store: &Store, work: &Work) -> anyhow::Result<()> {
    let mut models = args.device.models(hardware);
    let run = Run::open(&args.run, args.store.retry(work.clone()))?;
    // What was wanted, and how many matches there were, when nothing more could be played.
    let mut climbed = None;
    while !work.is_stopped() {
        let finished = run.is_finished()?;
        if let Some(mut config) = hnefi_train::configuration(store)? {
            let every = config.ladder.every;
            anyhow::ensure!(
                every > 0,
                "{}: its configuration has ladder.every = 0; expected a ladder to play",
                args.run
            );
            if let Some(threads) = args.threads {
                config.run.threads = threads.into();
            }
            let mut rungs = store.checkpoints()?;
            // As in training: the multiples, and in the end the last one.
            let last = rungs.last().copied().filter(|_| finished);
            rungs.retain(|&rung| rung.is_multiple_of(every) || Some(rung) == last);
            let wanted = (rungs, hnefi_train::trainer::ladder_params(&config, &mut models)?, run.matches_played()?);
            let is_settled = climbed.as_ref() == Some(&wanted);
            let is_done = !is_settled && climb_all(store, &wanted.0, &wanted.1, &mut models, work)?;
            // Where none could be played, none can be until something changes.
            if is_done && run.matches_played()? == wanted.2 {
                climbed = Some(wanted);
            }
        }
        work.wait(LOOK);
    }
    Ok(())
}

/// Plays the missing matches of these checkpoints. Returns false if stopped.
fn climb_all(
    store: &Store,
    rungs: &[u32],
    params: &LadderParams,
    models: &mut ModelCache,
    work: &Work,
) -> anyhow::Result<bool> {
    let mut missing = 0;
    for &rung in rungs {
        missing += ladder::matches_left(store, rung, rungs, params)?;
    }
    if missing > 0 {
        store.check_place("ladder")?;
    }
    work.bar.inc_length(missing as u64 * u64::from(params.games));
    let mut observer = work.observer(|_, so_far| {
        work.bar.inc(1);
        work.bar.set_message(format!("{} against {}", so_far.a, so_far.b));
    });
    for &rung in rungs {
        if ladder::matches_left(store, rung, rungs, params)? == 0 {
            continue;
        }
        let mut warn = |text: &str| progress::warning(&work.bar, text);
        let Some(readable) = ladder::readable_rungs(store, rung, rungs, params.previous, &mut warn)? else { continue };
        if !ladder::play_missing_matches(store, rung, &readable, params, models, &mut observer)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The requested rulesets, or the rulesets of the newest checkpoint.
fn rulesets(args: &LadderArgs, store: &Store, known: &[u32]) -> anyhow::Result<Vec<NamedRules>> {
    if !args.rules.is_empty() {
        return Ok(args.rules.clone());
    }
    let newest = known.last().copied().unwrap_or_default();
    let Card { rulesets, .. } = Checkpoint::load_card(&store.folder(&checkpoint_key(newest))?)?;
    let presets: Vec<NamedRules> = rulesets.iter().filter_map(|name| name.parse::<NamedRules>().ok()).collect();
    anyhow::ensure!(
        !presets.is_empty(),
        "checkpoint {newest} names no ruleset it was trained on; say which with --rules"
    );
    Ok(presets)
}

fn print(store: &Store, json: bool) -> anyhow::Result<()> {
    let (matches, damaged) = ladder::read_matches(store)?;
    damaged.iter().for_each(|problem| progress::warn(&format!("skipped {}", printable(&problem.to_string()))));
    let standings = Standings::fit(&matches);
    if json {
        return output::line(serde_json::to_string(&standings)?);
    }
    if standings.contestants.is_empty() {
        return output::line(format_args!("no match has been played on the ladder of the {}", store.place()));
    }
    output::text(table(&standings))
}

/// Elo per side of all players, with 95 % intervals.
pub fn table(standings: &Standings) -> String {
    // Names come from files and may be long; a format's width has sixteen bits.
    let named = |name: String| printable(&name).chars().take(LONGEST_NAME).collect::<String>();
    let names: Vec<String> = standings.contestants.iter().map(|one| named(one.contestant.to_string())).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(10);
    // Round first and add zero, to avoid "-0".
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
    let zero = standings.zero.as_ref().map_or_else(|| "the mean over all".to_owned(), |zero| named(zero.to_string()));
    text += &format!("0 is {zero}");
    for balance in &standings.balances {
        let rules = named(balance.rules.clone());
        text += &format!("; between equals under {rules} the attackers have {} Elo", elo(balance.attackers));
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use hnefi_arena::ladder::{Contestant, LadderMatch};
    use hnefi_arena::{MatchResult, Tally};

    use super::*;

    #[test]
    fn names_are_shown_on_one_line_and_cannot_steer_the_terminal() {
        let tally = Tally { wins: 5, draws: 0, losses: 5 };
        let (rules, player) = ("\u{1b}[31mrules".to_owned(), format!("\u{1b}[2J\n{}", "x".repeat(100_000)));
        let a = Contestant::Checkpoint { generation: 1, playouts: 8 };
        let b = Contestant::Player { player, network: None };
        let result = MatchResult { rules, as_attackers: tally, as_defenders: tally, ..MatchResult::default() };
        let played = LadderMatch { a, b, result };
        let text = table(&Standings::fit(&[played]));
        assert!(text.contains("\\u{1b}[2J\\u{a}xxx") && text.contains("under \\u{1b}[31mrules"), "{text}");
        assert!(!text.contains('\u{1b}') && text.lines().count() == 4, "{text}");
        assert!(text.lines().all(|line| line.chars().count() < 300), "{text}");
    }
}
