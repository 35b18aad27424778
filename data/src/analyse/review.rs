//! Reviews games: searches every position and marks what each move cost.

use hnefi_inference::{Evaluator, Handicap};
use hnefi_record::{Chances, GameTree, Review, Searched};
use hnefi_run::GameRecord;

use super::question::Question;
use super::{AnalyseParams, PositionProgress, search_games};
use crate::DataError;

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
    let take = |review: &mut Review, ply: usize, report: &hnefi_search::SearchReport| {
        let mover = review.game_after(ply).position().side_to_move();
        let chances = Chances::of(report.wdl, mover);
        review.take(ply, Searched { chances, best: Some(report.best), line: report.pv.clone() });
    };
    let reviews = search_games(reviews, questions, take, make_evaluator, params, progress)?;
    Ok(reviews.map(|reviews| reviews.iter().zip(records).map(|(review, record)| review.tree(record)).collect()))
}
