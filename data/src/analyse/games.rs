//! Searches recorded games: reviews them, and relabels them for better targets.

use std::sync::{Arc, Mutex, PoisonError};

use hnefi_engine::Position;
use hnefi_inference::{Evaluator, Handicap};
use hnefi_record::{Chances, GameTree, Review, Searched};
use hnefi_run::{GameRecord, recorded_policy};
use hnefi_search::SearchReport;

use super::answer::Found;
use super::question::Question;
use super::queue::{Queue, Task};
use super::{AnalyseParams, MakeEvaluator, lock, work};
use crate::DataError;

/// Called with the number of positions searched and the number of all; returns whether to go on.
pub type PositionProgress<'a> = &'a (dyn Fn(usize, usize) -> bool + Sync);

/// Searches for games, whose places are the ids of the questions, and hands each report to `take` with its game and
/// its ply. `None`: `progress` stopped it.
fn search_games<G: Send>(
    games: Vec<G>,
    questions: Vec<Question>,
    take: fn(&mut G, usize, &SearchReport),
    make_evaluator: MakeEvaluator<'_>,
    params: &AnalyseParams,
    progress: PositionProgress<'_>,
) -> Result<Option<Vec<G>>, DataError> {
    let total = questions.iter().map(|question| question.plies.len()).sum();
    // The games, the positions done, and whether to go on.
    let state = Mutex::new((games, 0, true));
    let queue = Queue::default();
    let receive = |task: &Task, _: &Position, found: Option<&Found<'_>>, _| {
        let mut state = lock(&state);
        let (games, done, goes_on) = &mut *state;
        let game = task.question.id.parse::<usize>().ok().and_then(|place| games.get_mut(place));
        if let Some((game, found)) = game.zip(found) {
            take(game, task.ply, &found.report);
        }
        *done += 1;
        if !progress(*done, total) {
            *goes_on = false;
            queue.end();
        }
        Ok(())
    };
    work(&queue, &receive, make_evaluator, params, &|| (), || {
        questions.into_iter().for_each(|question| queue.ask(Arc::new(question)));
        Ok(())
    })?;
    let (games, _, goes_on) = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(goes_on.then_some(games))
}

/// Searches every training ply of the games anew with the playouts of `params`, under the game's handicap, and replaces
/// its policy target and values. Moves and results stay as they were played; `by` names the network of the searches in
/// the names of the players. `None`: `progress` stopped it.
///
/// # Errors
/// When a record breaks its rules or an evaluator fails.
pub fn relabel(
    mut records: Vec<GameRecord>,
    by: &str,
    make_evaluator: &(dyn Fn() -> Box<dyn Evaluator> + Sync),
    params: &AnalyseParams,
    progress: PositionProgress<'_>,
) -> Result<Option<Vec<GameRecord>>, DataError> {
    let mut questions = Vec::with_capacity(records.len());
    for (place, record) in records.iter_mut().enumerate() {
        record.check()?;
        record.players.iter_mut().for_each(|player| *player += &format!(", relabelled by {by}"));
        let game = (record.start_position()?, record.plies.iter().map(|ply| ply.mv).collect());
        let trains = record.plies.iter().enumerate().filter_map(|(ply, played)| played.trains.then_some(ply));
        questions.push(Question::of_game(place, game, trains.collect(), params.playouts, record.handicap));
    }
    let take = |record: &mut GameRecord, ply: usize, report: &SearchReport| {
        let played = &mut record.plies[ply];
        played.policy = recorded_policy(&report.policy_target);
        (played.playouts, played.raw, played.searched) = (report.playouts, report.raw, report.wdl);
    };
    search_games(records, questions, take, make_evaluator, params, progress)
}

/// Searches every position of the games with the playouts of `params`, and returns the games with the marks, values
/// and better lines of [`Review::tree`]. `None`: `progress` stopped it.
///
/// # Errors
/// When a record breaks its rules or an evaluator fails.
pub fn review(
    records: Vec<GameRecord>,
    make_evaluator: &(dyn Fn() -> Box<dyn Evaluator> + Sync),
    params: &AnalyseParams,
    progress: PositionProgress<'_>,
) -> Result<Option<Vec<GameTree>>, DataError> {
    let reviews = records.iter().map(|record| record.game().map(Review::new)).collect::<Result<Vec<_>, _>>()?;
    let ask = |(place, review): (usize, &Review)| {
        let open = |(ply, searched): (usize, &Option<Searched>)| searched.is_none().then_some(ply);
        let plies = review.positions().iter().enumerate().filter_map(open).collect();
        let game = (review.game().start().clone(), review.game().moves().collect());
        Question::of_game(place, game, plies, params.playouts, Handicap::NONE)
    };
    let questions = reviews.iter().enumerate().map(ask).collect();
    let take = |review: &mut Review, ply: usize, report: &SearchReport| {
        let mover = review.game_after(ply).position().side_to_move();
        let chances = Chances::of(report.wdl, mover);
        review.take(ply, Searched { chances, best: Some(report.best), line: report.pv.clone() });
    };
    let reviews = search_games(reviews, questions, take, make_evaluator, params, progress)?;
    Ok(reviews.map(|reviews| reviews.iter().zip(records).map(|(review, record)| review.tree(record)).collect()))
}
