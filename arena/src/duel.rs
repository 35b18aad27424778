//! Matches: many games at once between two players, in pairs that share an opening with the sides swapped.
//!
//! Worker threads take whole games by number, each with players of its own. The caller's thread takes the finished
//! games back *in order of their numbers*, so that counts, the sequential test, what the observer sees and the error do
//! not depend on which thread was fast. For players without clocks the result is therefore the same on any number of
//! threads.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use hnefi_engine::{NamedRules, Rules, Side};

use super::MatchError;
use super::game::{GameParams, PlayedGame, play_game};
use super::opening::random_opening;
use super::result::{MatchResult, Score};
use super::sprt::{SprtParams, Verdict};
use crate::players::{ModelCache, Player, PlayerSpec};
use hnefi_run::GameRecord;
use hnefi_run::PlyCaps;

/// How often the observer is asked whether to stop while no game ends.
pub(crate) const POLL: Duration = Duration::from_millis(100);

/// The settings of a match.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchParams {
    /// The rules. Their ply cap is replaced by `ply_cap`.
    pub rules: Rules,
    /// Games at most; an even number, each opening is played twice.
    pub games: u32,
    /// Seed of the openings and of the players' random choices.
    pub seed: u64,
    /// Games at once, at least 1.
    pub threads: usize,
    /// Random plies before the players take over.
    pub opening_plies: u32,
    /// Plies after which a game is a technical draw; 0 for none.
    pub ply_cap: u16,
    /// Stop as soon as this question is answered.
    pub sprt: Option<SprtParams>,
}

impl MatchParams {
    /// A match of `games` games with the usual settings: all cores, four random plies, the rules' own ply cap or, where
    /// they have none, self-play's, all games played.
    pub fn new(rules: Rules, games: u32, seed: u64) -> MatchParams {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let ply_cap = PlyCaps::default().or_own(&rules);
        MatchParams { rules, games, seed, threads, opening_plies: 4, ply_cap, sprt: None }
    }

    /// Threads of a match: no more than games.
    pub fn workers(&self) -> usize {
        self.threads.clamp(1, self.games.max(1) as usize)
    }

    /// Whether there can be such a match.
    ///
    /// # Errors
    /// When a number cannot be.
    pub fn check(&self) -> Result<(), MatchError> {
        let refused = |problem| Err(MatchError::Params { problem });
        if self.games == 0 || !self.games.is_multiple_of(2) {
            return refused(format!(
                "{} games: expected an even number above 0, each opening is played twice",
                self.games
            ));
        }
        if self.threads == 0 {
            return refused("0 threads: expected at least 1".to_owned());
        }
        if self.ply_cap > 0 && u32::from(self.ply_cap) <= self.opening_plies {
            let (cap, opening) = (self.ply_cap, self.opening_plies);
            return refused(format!(
                "a ply cap of {cap}: expected more than the opening's {opening} plies, or 0 for none"
            ));
        }
        match self.sprt.and_then(|sprt| sprt.fault()) {
            Some(problem) => refused(format!("sprt: {problem}")),
            None => Ok(()),
        }
    }
}

/// Watches a match. All calls come from the thread that called [`play_match`].
pub trait MatchObserver {
    /// A game has ended; games come in order of their numbers. `so_far` includes it.
    fn game_finished(&mut self, game: &GameRecord, so_far: &MatchResult) {
        let _ = (game, so_far);
    }

    /// Whether to stop now. Games in progress are given up, finished games are counted.
    fn should_stop(&mut self) -> bool {
        false
    }
}

/// An observer that does nothing.
impl MatchObserver for () {}

/// Plays a match between `a` and `b`. In the first game of every pair `a` leads the attackers, in the second the
/// defenders. External programs that break off lose the game; [`MatchResult::forfeits`] names them.
///
/// # Errors
/// When the parameters are impossible, a player cannot be built, fails or plays an illegal move. The match stops there:
/// a result without the failed game would be another match's.
pub fn play_match(
    a: &PlayerSpec,
    b: &PlayerSpec,
    params: &MatchParams,
    models: &mut ModelCache,
    observer: &mut dyn MatchObserver,
) -> Result<MatchResult, MatchError> {
    let names = [a.to_string(), b.to_string()];
    play_match_as([&names[0], &names[1]], [a, b], params, models, observer)
}

/// As [`play_match`], with other names for the players in the result.
///
/// # Errors
/// As [`play_match`].
pub fn play_match_as(
    names: [&str; 2],
    [a, b]: [&PlayerSpec; 2],
    params: &MatchParams,
    models: &mut ModelCache,
    observer: &mut dyn MatchObserver,
) -> Result<MatchResult, MatchError> {
    params.check()?;
    let build = |_| Ok([a.build(models)?, b.build(models)?]);
    let players = (0..params.workers()).map(build).collect::<Result<Vec<_>, MatchError>>()?;
    play_match_with(names, players, params, observer)
}

/// As [`play_match`] with ready-made players: one pair `[a, b]` for each worker thread.
///
/// # Errors
/// As [`play_match`].
pub fn play_match_with(
    names: [&str; 2],
    players: Vec<[Box<dyn Player>; 2]>,
    params: &MatchParams,
    observer: &mut dyn MatchObserver,
) -> Result<MatchResult, MatchError> {
    params.check()?;
    let rules = Rules { ply_cap: params.ply_cap, ..params.rules };
    let (next, stop) = (AtomicU32::new(0), Arc::new(AtomicBool::new(false)));
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for [mut a, mut b] in players {
            a.stop_by(&stop);
            b.stop_by(&stop);
            let (sender, rules, next, stop) = (sender.clone(), &rules, &next, &*stop);
            scope.spawn(move || {
                loop {
                    let game = next.fetch_add(1, Ordering::Relaxed);
                    if game >= params.games || stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let Some(finished) = one_game(game, [a.as_mut(), b.as_mut()], rules, params, stop).transpose()
                    else {
                        continue;
                    };
                    // Games that follow a failure do not count.
                    let has_failed = finished.is_err();
                    if sender.send((game, finished)).is_err() || has_failed {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let result = collect(names, params, &rules, observer, &receiver, &stop);
        // The workers still at a game end it at the next ply.
        stop.store(true, Ordering::Relaxed);
        result
    })
}

fn one_game(
    game: u32,
    [a, b]: [&mut dyn Player; 2],
    rules: &Rules,
    params: &MatchParams,
    stop: &AtomicBool,
) -> Result<Option<PlayedGame>, MatchError> {
    let opening = random_opening(rules, params.opening_plies, params.seed, u64::from(game / 2));
    let players = match side_of_a(game) {
        Side::Attackers => [a, b],
        Side::Defenders => [b, a],
    };
    let params = GameParams { rules, game: u64::from(game), seed: params.seed, opening: &opening };
    play_game(&params, players, &|| stop.load(Ordering::Relaxed))
}

/// The side that player A has in a game.
fn side_of_a(game: u32) -> Side {
    if game.is_multiple_of(2) { Side::Attackers } else { Side::Defenders }
}

type Finished = (u32, Result<PlayedGame, MatchError>);

/// Counts the games in order until all are played, the question is answered, the observer stops, or a player fails.
fn collect(
    names: [&str; 2],
    params: &MatchParams,
    rules: &Rules,
    observer: &mut dyn MatchObserver,
    receiver: &mpsc::Receiver<Finished>,
    stop: &AtomicBool,
) -> Result<MatchResult, MatchError> {
    let named = NamedRules::from(*rules);
    let rules_name = if named.is_published() { named.name() } else { "custom".to_owned() };
    let mut score = Score::default();
    let judge = |score: &Score| params.sprt.zip(score.complete_pairs()).map(|(sprt, pairs)| sprt.judge(pairs));
    let mut sprt = judge(&score);
    let mut early = BTreeMap::new();
    let mut counted = 0;
    while counted < params.games {
        if observer.should_stop() {
            stop.store(true, Ordering::Relaxed);
            break;
        }
        match receiver.recv_timeout(POLL) {
            Ok((game, finished)) => early.insert(game, finished),
            Err(RecvTimeoutError::Timeout) => continue,
            // All workers have gone, and this game never came: its worker panicked, and the scope passes that on.
            Err(RecvTimeoutError::Disconnected) => break,
        };
        while let Some(finished) = early.remove(&counted) {
            let game = finished?;
            score.add(&game, side_of_a(counted));
            counted += 1;
            sprt = judge(&score).or(sprt);
            observer.game_finished(&game.record, &score.result(names, &rules_name, params.seed, sprt));
            if sprt.is_some_and(|sprt| sprt.verdict != Verdict::Undecided) {
                return Ok(score.result(names, &rules_name, params.seed, sprt));
            }
        }
    }
    let result = score.result(names, &rules_name, params.seed, sprt);
    Ok(MatchResult { interrupted: counted < params.games, ..result })
}

#[cfg(test)]
mod tests;
