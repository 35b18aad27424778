//! Compares a network with recorded games: move agreement and calibration of its values. The network is told of the
//! handicap under which a game was played.
//!
//! Games are distributed over threads, each with its own evaluator. Plies of one game are not independent, so standard
//! errors are over games.

mod judged_ply;
mod rate;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use hnefi_engine::{NamedRules, Side};
use hnefi_inference::{EvalError, Evaluator};
use hnefi_run::GameRecord;
use hnefi_search::SearchConfig;
use serde::Serialize;

pub use rate::Rate;

use self::judged_ply::{Judge, JudgedPly};
use self::rate::rate;
use crate::DataError;

/// Parameters of a judgement.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgeParams {
    /// Playouts of a search per position, in addition to the raw network; `None` for no search.
    pub playouts: Option<u32>,
    /// The search's configuration.
    pub search: SearchConfig,
    /// Ruleset instead of the recorded one. A game is judged up to its end under this ruleset or its first illegal
    /// move.
    pub rules: Option<NamedRules>,
    /// Number of threads.
    pub threads: usize,
}

/// Progress of a judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JudgeProgress {
    /// Number of games judged.
    pub games: usize,
    /// Number of positions judged.
    pub positions: usize,
}

/// The result of a judgement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// Number of games judged.
    pub games: usize,
    /// Number of positions judged.
    pub positions: usize,
    /// Number of unfinished games, which count for the moves but not for the values.
    pub unfinished: usize,
    /// Number of games judged in part, because the requested ruleset ends them earlier or forbids a move.
    pub cut: usize,
    /// Whether it was stopped before all games were judged.
    pub interrupted: bool,
    /// Positions with either side to move.
    pub both: SideJudgement,
    /// Positions with the attackers to move.
    pub attackers: SideJudgement,
    /// Positions with the defenders to move.
    pub defenders: SideJudgement,
    /// The values, by parts of the game.
    pub phases: Phases,
}

/// Calibration of the values in the parts of a game, by plies of its record, over games that ended; `None` without
/// positions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Phases {
    /// The raw value in the first, second and last third.
    pub value: [Option<Calibration>; 3],
    /// The search's value in the first, second and last third.
    pub searched_value: [Option<Calibration>; 3],
}

/// The positions with one side (or either) to move.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SideJudgement {
    /// Moves of the raw policy; `None` without positions.
    pub policy: Option<Agreement>,
    /// Moves of the search.
    pub search: Option<Agreement>,
    /// The raw value, over games that ended.
    pub value: Option<Calibration>,
    /// The search's value, over games that ended.
    pub searched_value: Option<Calibration>,
}

/// Agreement with the moves played.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// The move played is the first choice.
    pub top1: Rate,
    /// The move played is among the first five.
    pub top5: Rate,
    /// Expected share of first choices for a random legal move.
    pub random_top1: f64,
    /// Expected share of the first five for a random legal move.
    pub random_top5: f64,
}

/// Calibration of expected scores. Scores are P(win) + P(draw)/2 of the side to move; results are 1, 1/2 or 0.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// Mean squared difference between score and result: 0 is perfect.
    pub brier: Rate,
    /// The same for a constant prediction of the mean result.
    pub brier_of_mean: f64,
    /// Mean score.
    pub predicted: f64,
    /// Mean result.
    pub observed: Rate,
    /// Ten bins of the score.
    pub deciles: Vec<Decile>,
}

/// Positions whose score lies in one tenth of 0..=1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decile {
    /// Least score.
    pub low: f64,
    /// Greatest score, which belongs to the next bin, except for 1.
    pub high: f64,
    /// Mean score; `None` for an empty bin.
    pub predicted: Option<f64>,
    /// Mean result.
    pub observed: Option<Rate>,
}

/// Judges all games. `make` makes the evaluator of a thread; `progress` is called after every game and returns whether
/// to continue.
///
/// # Errors
/// When an evaluator fails, or a game was played on another board than the requested ruleset's.
pub fn judge(
    games: &[GameRecord],
    make: &(dyn Fn() -> Box<dyn Evaluator> + Send + Sync),
    params: &JudgeParams,
    progress: &mut dyn FnMut(JudgeProgress) -> bool,
) -> Result<Judgement, DataError> {
    if let Some(rules) = params.rules {
        check_boards(games, rules)?;
    }
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (sender, receiver) = mpsc::channel::<Result<Judged, EvalError>>();
    let mut all = Judged::default();
    let mut done = 0;
    std::thread::scope(|scope| {
        for _ in 0..params.threads.clamp(1, games.len().max(1)) {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            scope.spawn(move || {
                let mut judge = Judge::new(make(), params);
                while !stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(game) = games.get(index) else { return };
                    let judged = judge.game(index, game).map(|(judged, cut)| Judged {
                        judged,
                        cut: usize::from(cut),
                        unfinished: usize::from(!game.is_finished()),
                    });
                    if sender.send(judged).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for judged in receiver {
            let judged = judged.inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
            all.judged.extend(judged.judged);
            all.cut += judged.cut;
            all.unfinished += judged.unfinished;
            done += 1;
            if !progress(JudgeProgress { games: done, positions: all.judged.len() }) {
                stop.store(true, Ordering::Relaxed);
            }
        }
        Ok::<(), EvalError>(())
    })?;
    // Sort, because threads finish in any order and floating-point sums depend on it.
    all.judged.sort_by_key(|ply| ply.game);
    let of = |side: Option<Side>| {
        let chosen = all.judged.iter().filter(move |ply| side.is_none_or(|side| ply.side == side));
        SideJudgement::of(&chosen.collect::<Vec<_>>())
    };
    Ok(Judgement {
        games: done,
        positions: all.judged.len(),
        unfinished: all.unfinished,
        cut: all.cut,
        interrupted: done < games.len(),
        both: of(None),
        attackers: of(Some(Side::Attackers)),
        defenders: of(Some(Side::Defenders)),
        phases: Phases {
            value: thirds(&all.judged, |ply| Some(ply.score)),
            searched_value: thirds(&all.judged, |ply| ply.searched_score),
        },
    })
}

/// Checks that all games were played on the board of this ruleset.
fn check_boards(games: &[GameRecord], rules: NamedRules) -> Result<(), DataError> {
    let side = rules.rules().size().side();
    let Some(other) = games.iter().find(|game| game.rules.size().side() != side) else { return Ok(()) };
    let played = other.rules.size().side();
    let problem = format!(
        "a ruleset for {side}x{side}; game {} was played on {played}x{played}: expected a ruleset for that board",
        other.game
    );
    Err(DataError::BadOption { option: "rules", found: rules.name(), problem })
}

/// Calibration in each third of the games.
fn thirds(judged: &[JudgedPly], score: fn(&JudgedPly) -> Option<f64>) -> [Option<Calibration>; 3] {
    std::array::from_fn(|third| {
        let inside = judged.iter().filter(|ply| ply.third == third);
        Calibration::of(inside.filter_map(|ply| Some((ply.game, score(ply)?, ply.result?))).collect())
    })
}

/// Result of a thread for one game.
#[derive(Default)]
struct Judged {
    judged: Vec<JudgedPly>,
    cut: usize,
    unfinished: usize,
}

impl SideJudgement {
    fn of(judged: &[&JudgedPly]) -> SideJudgement {
        let scored = |score: fn(&JudgedPly) -> Option<f64>| {
            Calibration::of(judged.iter().filter_map(|v| Some((v.game, score(v)?, v.result?))).collect())
        };
        SideJudgement {
            policy: Agreement::of(judged.iter().map(|v| (v.game, v.rank, v.legal)).collect()),
            search: Agreement::of(judged.iter().filter_map(|v| Some((v.game, v.searched_rank?, v.legal))).collect()),
            value: scored(|v| Some(v.score)),
            searched_value: scored(|v| v.searched_score),
        }
    }
}

impl Agreement {
    /// From the game, rank (from 0) of the move played and number of legal moves of each position.
    fn of(ranks: Vec<(usize, usize, usize)>) -> Option<Agreement> {
        let within =
            |most: usize| rate(ranks.iter().map(move |&(game, rank, _)| (game, if rank < most { 1.0 } else { 0.0 })));
        let random = |most: usize| {
            ranks.iter().map(|&(_, _, legal)| most.min(legal) as f64 / legal as f64).sum::<f64>() / ranks.len() as f64
        };
        Some(Agreement { top1: within(1)?, top5: within(5)?, random_top1: random(1), random_top5: random(5) })
    }
}

/// Bins of a reliability table.
const BINS: usize = 10;

impl Calibration {
    /// From the game, the score and the result of each position.
    fn of(scores: Vec<(usize, f64, f64)>) -> Option<Calibration> {
        let observed = rate(scores.iter().map(|&(game, _, result)| (game, result)))?;
        let brier = rate(scores.iter().map(|&(game, score, result)| (game, (score - result).powi(2))))?;
        let mean = |values: &mut dyn Iterator<Item = f64>| {
            let (sum, count) = values.fold((0.0, 0usize), |(sum, count), value| (sum + value, count + 1));
            (count > 0).then(|| sum / count as f64)
        };
        let bin_of = |score: f64| ((score * BINS as f64) as usize).min(BINS - 1);
        let deciles = (0..BINS).map(|bin| {
            let inside = || scores.iter().filter(move |&&(_, score, _)| bin_of(score) == bin);
            Decile {
                low: bin as f64 / BINS as f64,
                high: (bin + 1) as f64 / BINS as f64,
                predicted: mean(&mut inside().map(|&(_, score, _)| score)),
                observed: rate(inside().map(|&(game, _, result)| (game, result))),
            }
        });
        Some(Calibration {
            brier_of_mean: mean(&mut scores.iter().map(|&(_, _, result)| (result - observed.mean).powi(2)))?,
            predicted: mean(&mut scores.iter().map(|&(_, score, _)| score))?,
            deciles: deciles.collect(),
            brier,
            observed,
        })
    }
}
