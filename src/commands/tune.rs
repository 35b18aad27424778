//! `hnefi tune`: seeks better settings of a player's search by games, and tests what it has found.

use std::io::{self, ErrorKind, Write};

use anyhow::{Context, bail};
use hnefi_arena::players::{ModelCache, PlayerSpec};
use hnefi_arena::{Tuning, TuningError, play_match};
use hnefi_inference::file;

use super::matches::{answer, conditions, interval};
use super::work::Work;
use crate::cli::{TuneArgs, WrongValue};
use crate::hardware::Hardware;
use crate::{output, progress};

/// More bytes than any state has.
const LARGEST_STATE: u64 = 1 << 20;

/// Number of notes about the progress of a tuning without a bar.
const LINES: u64 = 100;

/// Tunes and tests, from the state on if there is one, and prints where that ended.
pub fn run(args: &TuneArgs, hardware: &Hardware) -> anyhow::Result<()> {
    let mut models = args.conditions.device.models(hardware);
    let PlayerSpec::Model(player) = &args.player else {
        let problem = "expected model:PATH, since only a network's search has keys";
        return Err(WrongValue::new("<PLAYER>", &args.player, problem).into());
    };
    let mut params = conditions(&args.conditions, args.games, &[&args.player], &mut models)?;
    params.sprt = Some(args.sprt);
    let network = models.checkpoint(&player.path)?.card.id.clone();
    let mut tuning = match Tuning::new(player, &network, args.keys.clone(), params, models.search()) {
        Err(TuningError::Key { key, problem }) => return Err(WrongValue::new("--set", key, problem).into()),
        made => made?,
    };
    let state = read_state(args)?;
    match &state {
        Some(state) => tuning = tuning.resume(state).with_context(|| format!("--state {}", args.state.display()))?,
        None => hnefi_data::check_new_file(&args.state)?,
    }
    let work = Work::begin(progress::count(0, "games"))?;
    play(args, &mut tuning, state, &mut models, &work)?;
    work.bar.finish_and_clear();
    output::write(|out| print(out, &tuning))
}

/// The state on disk, if there is one.
fn read_state(args: &TuneArgs) -> anyhow::Result<Option<Vec<u8>>> {
    match file::read(&args.state, LARGEST_STATE) {
        Ok(state) => Ok(Some(state)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => bail!("--state {}: {error}", args.state.display()),
    }
}

/// Plays until the test is over or a signal comes. The state lies on disk after every iteration; `state` is what lies
/// there.
fn play(
    args: &TuneArgs,
    tuning: &mut Tuning,
    mut state: Option<Vec<u8>>,
    models: &mut ModelCache,
    work: &Work,
) -> anyhow::Result<()> {
    while !tuning.is_over() {
        let ([a, b], params) = tuning.ask();
        let (done, all) = tuning.rounds();
        // The test begins anew.
        let before = u64::from(done % all) * u64::from(params.games);
        work.bar.set_length(u64::from(all) * u64::from(params.games));
        work.bar.set_message(told(tuning));
        let mut observer = work.observer(|_, so_far| work.bar.set_position(before + u64::from(so_far.games)));
        let result = play_match(&a, &b, &params, models, &mut observer)?;
        if result.interrupted {
            work.note("stopped; the same command goes on");
            break;
        }
        tuning.tell(result.pairs);
        if read_state(args)? != state {
            bail!("--state {}: another process has gone on with it; expected one at a time", args.state.display());
        }
        let saved = tuning.saved().into_bytes();
        hnefi_data::replace_file(&args.state, &saved)?;
        state = Some(saved);
        let done = u64::from(tuning.rounds().0);
        if work.bar.is_hidden() && done * LINES / u64::from(all) > (done - 1) * LINES / u64::from(all) {
            work.note(&format!("{done}/{all} {}", told(tuning)));
        }
    }
    Ok(())
}

/// Where the tuning stands, or its test.
fn told(tuning: &Tuning) -> String {
    let (pairs, report) = tuning.test();
    if pairs.pairs() > 0 {
        return answer(&report);
    }
    let values: Vec<_> = tuning.values().map(|(key, _, value)| format!("{} {value}", key.name())).collect();
    values.join(", ")
}

fn print(out: &mut impl Write, tuning: &Tuning) -> io::Result<()> {
    writeln!(out, "{:<40} {:>10} {:>10}", "", "from", "to")?;
    for (key, from, to) in tuning.values() {
        writeln!(out, "{:<40} {from:>10} {to:>10}", key.to_string())?;
    }
    let ((done, all), (pairs, report)) = (tuning.rounds(), tuning.test());
    if pairs.pairs() == 0 {
        writeln!(out, "iteration {done} of {all}")?;
    } else {
        let (games, score, elo) = (2 * u64::from(pairs.pairs()), 100.0 * pairs.mean(), interval(pairs.elo()));
        writeln!(out, "{games} games against the original player: {score:.1}%, elo (95 %) {elo}")?;
        writeln!(out, "{}", answer(&report))?;
    }
    writeln!(out, "{}", tuning.tuned())
}
