//! `hnefi match`: a match between two players, with their difference in Elo.

use std::io::{self, Write};

use hnefi_arena::players::{ModelCache, PlayerSpec};
use hnefi_arena::{EloInterval, Forfeit, MatchParams, MatchResult, SprtReport, Tally, play_match};
use hnefi_engine::{NamedRules, Preset};
use hnefi_inference::printable;
use hnefi_run::{GameRecord, encode_games};
use indicatif::ProgressBar;

use super::only_ruleset;
use super::work::Work;
use crate::cli::{Conditions, MatchArgs, WrongValue};
use crate::hardware::Hardware;
use crate::{output, progress};

/// Plays the match and prints its result; with `--json` the last line is the result for programs.
pub fn run(args: MatchArgs, hardware: &Hardware) -> anyhow::Result<()> {
    let mut models = args.conditions.device.models(hardware);
    let mut params = conditions(&args.conditions, args.games, &[&args.a, &args.b], &mut models)?;
    params.sprt = args.sprt;
    if let Some(path) = &args.save {
        hnefi_data::check_new_file(path)?;
    }
    let work = Work::begin(progress::count(args.games as usize, "games"))?;
    let mut records: Vec<GameRecord> = Vec::new();
    let result = {
        let mut observer = work.observer(|game, so_far| {
            show(&work, so_far, args.games);
            if args.save.is_some() {
                records.push(game.clone());
            }
        });
        play_match(&args.a, &args.b, &params, &mut models, &mut observer)?
    };
    work.bar.finish_and_clear();
    let json = args.json.then(|| serde_json::to_string(&result)).transpose()?;
    // Neither the games nor the result are lost where the other cannot be written.
    let saved = match &args.save {
        Some(path) => hnefi_data::write_new_file(path, &encode_games(&records)).map_err(Into::into),
        None => Ok(()),
    };
    let printed = output::write(|out| {
        print(out, &result)?;
        json.map_or(Ok(()), |json| writeln!(out, "{json}"))
    });
    output::both(saved, printed)
}

/// The match that these arguments ask for; warns of what these players do slowly on this machine.
pub(super) fn conditions(
    args: &Conditions,
    games: u32,
    players: &[&PlayerSpec],
    models: &mut ModelCache,
) -> anyhow::Result<MatchParams> {
    let rules = match args.rules {
        Some(rules) => rules,
        None => trained_for(models, players)?.unwrap_or(Preset::Brandubh.into()),
    };
    let mut params = MatchParams::new(rules.rules(), games, args.seed);
    params.opening_plies = args.opening_plies;
    params.threads = args.threads.map_or(params.threads, usize::from);
    params.ply_cap = args.ply_cap.unwrap_or(params.ply_cap);
    if params.ply_cap > 0 && u32::from(params.ply_cap) <= params.opening_plies {
        let problem = format!("expected fewer than the {} plies of the longest game, --ply-cap", params.ply_cap);
        return Err(WrongValue::new("--opening-plies", params.opening_plies, problem).into());
    }
    for player in players {
        describe(player, Some(rules), models)?;
    }
    Ok(params)
}

/// Tells what this machine makes of a player, and warns of rules that its network has never seen.
pub(super) fn describe(player: &PlayerSpec, rules: Option<NamedRules>, models: &mut ModelCache) -> anyhow::Result<()> {
    player.warnings().iter().for_each(|text| progress::warn(text));
    if let Some(text) = player.taken(models)? {
        progress::note(&ProgressBar::hidden(), &text);
    }
    if let (PlayerSpec::Model(spec), Some(rules)) = (player, rules)
        && let Some(text) = models.checkpoint(&spec.path)?.card.foreign_to(rules)
    {
        progress::warn(&format!("player {player}: {text}"));
    }
    Ok(())
}

/// The ruleset of the first player whose network was trained for one alone.
fn trained_for(models: &mut ModelCache, players: &[&PlayerSpec]) -> anyhow::Result<Option<NamedRules>> {
    for player in players {
        if let PlayerSpec::Model(spec) = player
            && let Some(rules) = only_ruleset(models, &spec.path)?
        {
            return Ok(Some(rules));
        }
    }
    Ok(None)
}

/// Number of notes about the progress of a match without a bar.
const LINES: u64 = 10;

/// Shows how a match of `all` games stands.
fn show(work: &Work, so_far: &MatchResult, all: u32) {
    work.bar.set_position(u64::from(so_far.games));
    let tally = format!("+{} ={} -{}", so_far.wins, so_far.draws, so_far.losses);
    let (games, all) = (u64::from(so_far.games), u64::from(all));
    // Without a bar, for instance in a log, notes show the progress of a long match.
    if work.bar.is_hidden() && games < all && games * LINES / all > (games - 1) * LINES / all {
        work.note(&format!("{games}/{all} games {tally}"));
    }
    work.bar.set_message(tally);
}

fn print(out: &mut impl Write, result: &MatchResult) -> io::Result<()> {
    writeln!(out, "{} against {}, {}, seed {}", result.a, result.b, result.rules, result.seed)?;
    writeln!(out, "{:<14} {:>6} {:>6} {:>6} {:>8}   elo (95 %)", "", "wins", "draws", "losses", "score")?;
    let mut row = |name: &str, tally: Tally, elo: EloInterval| {
        let Tally { wins, draws, losses } = tally;
        writeln!(out, "{name:<14} {wins:>6} {draws:>6} {losses:>6} {:>7.1}%   {}", 100.0 * tally.score(), interval(elo))
    };
    row("as attackers", result.as_attackers, result.elo_as_attackers)?;
    row("as defenders", result.as_defenders, result.elo_as_defenders)?;
    row("both", Tally { wins: result.wins, draws: result.draws, losses: result.losses }, result.elo)?;
    let ends: Vec<String> = result.ends.iter().map(|(end, count)| format!("{end} {count}")).collect();
    writeln!(out, "ends: {}; {:.0} plies a game", ends.join(", "), result.mean_plies)?;
    for forfeit in &result.forfeits {
        let Forfeit { game, ply, player, side, problem, .. } = forfeit;
        writeln!(out, "game {game} lost at ply {ply} by {player} ({side}): {}", printable(problem))?;
    }
    if let Some(sprt) = &result.sprt {
        writeln!(out, "{}", answer(sprt))?;
    }
    if result.interrupted {
        writeln!(out, "stopped after {} games", result.games)?;
    }
    Ok(())
}

/// How a sequential test stands.
pub(super) fn answer(SprtReport { params, llr, lower, upper, verdict }: &SprtReport) -> String {
    let (elo0, elo1) = (params.elo0, params.elo1);
    format!("sprt elo0 {elo0} elo1 {elo1}: llr {llr:.2} in [{lower:.2}, {upper:.2}], {verdict:?}")
}

/// `+120 [+80, +170]`; an end may be unbounded.
pub(super) fn interval(elo: EloInterval) -> String {
    let text =
        |value: Option<f64>, unbounded: &str| value.map_or(unbounded.to_string(), |value| format!("{value:+.0}"));
    format!("{} [{}, {}]", text(elo.elo, "unbounded"), text(elo.low, "-inf"), text(elo.high, "+inf"))
}
