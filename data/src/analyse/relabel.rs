//! Relabels games: searches the positions that train again, for better targets.

use hnefi_inference::Evaluator;
use hnefi_run::{GameRecord, recorded_policy};
use hnefi_search::SearchReport;

use super::question::Question;
use super::{AnalyseParams, PositionProgress, search_games};
use crate::DataError;

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
