//! Judges the positions of one game.

use hnefi_engine::{Move, MoveList, Position, Rules, Side};
use hnefi_inference::{EvalError, EvalRequest, Evaluations, Evaluator, Handicap, Wdl};
use hnefi_run::{GameRecord, PlyRecord};
use hnefi_search::{Search, SearchConfig};

use super::JudgeParams;
use crate::analyse::next_leaf;

/// Positions per evaluation, and number of concurrent searches.
const BATCH: usize = 32;

/// The judgement of one position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct JudgedPly {
    /// Index of the game.
    pub(super) game: usize,
    /// Side to move.
    pub(super) side: Side,
    /// Third of the recorded game, 0 to 2, by plies.
    pub(super) third: usize,
    /// Number of legal moves.
    pub(super) legal: usize,
    /// Number of moves with a higher prior than the move played.
    pub(super) rank: usize,
    /// Number of moves that the search prefers to the move played.
    pub(super) searched_rank: Option<usize>,
    /// Expected score of the side to move from the raw value, 0 to 1.
    pub(super) score: f64,
    /// Expected score of the side to move from the search, 0 to 1.
    pub(super) searched_score: Option<f64>,
    /// Result for the side to move, 0 to 1; `None` in an unfinished game.
    pub(super) result: Option<f64>,
}

/// The judge of one thread.
pub(super) struct Judge<'a> {
    evaluator: Box<dyn Evaluator>,
    params: &'a JudgeParams,
    searches: Vec<Search>,
    answers: Evaluations,
}

/// A position with the move played.
struct Played {
    position: Position,
    moves: MoveList,
    mv: Move,
}

/// Iterates over the positions of a game.
struct Walk<'g> {
    /// The present position; `None` after the last one.
    position: Option<Position>,
    plies: std::slice::Iter<'g, PlyRecord>,
    /// Whether the game goes on after the rules end it.
    cut: bool,
}

impl Iterator for Walk<'_> {
    type Item = Played;

    fn next(&mut self) -> Option<Played> {
        let position = self.position.as_mut()?;
        let ply = self.plies.next()?;
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        if position.outcome().is_some() || !moves.contains(&ply.mv) {
            (self.position, self.cut) = (None, true);
            return None;
        }
        let played = Played { position: position.clone(), moves, mv: ply.mv };
        position.advance(ply.mv);
        Some(played)
    }
}

impl<'a> Judge<'a> {
    pub(super) fn new(evaluator: Box<dyn Evaluator>, params: &'a JudgeParams) -> Judge<'a> {
        Judge { evaluator, params, searches: Vec::new(), answers: Evaluations::new() }
    }

    /// Judges every position of a game in which a move was played. The second value is whether the game goes on beyond
    /// the last of them.
    pub(super) fn game(&mut self, index: usize, game: &GameRecord) -> Result<(Vec<JudgedPly>, bool), EvalError> {
        let mut walk = self.walk(game);
        let winner = game.is_finished().then(|| game.winner());
        let mut judged = Vec::with_capacity(game.plies.len());
        loop {
            // Positions hold their histories, so take few at a time.
            let batch: Vec<Played> = walk.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return Ok((judged, walk.cut));
            }
            let requests: Vec<EvalRequest<'_>> = batch
                .iter()
                .map(|played| EvalRequest {
                    position: &played.position,
                    moves: &played.moves,
                    handicap: game.handicap,
                    auxiliary: false,
                })
                .collect();
            self.evaluator.evaluate(&requests, &mut self.answers)?;
            for (row, played) in batch.iter().enumerate() {
                let side = played.position.side_to_move();
                let result = winner.map(|winner| Wdl::of_winner(winner, side));
                judged.push(JudgedPly {
                    game: index,
                    side,
                    third: third(judged.len(), game.plies.len()),
                    legal: played.moves.len(),
                    rank: rank_by_prior(&played.moves, self.answers.priors(row), played.mv),
                    searched_rank: None,
                    score: self.answers.get(row).wdl.score().into(),
                    searched_score: None,
                    result: result.map(|result| result.score().into()),
                });
            }
            if let Some(playouts) = self.params.playouts {
                let begin = judged.len() - batch.len();
                self.search(&batch, (playouts, game.handicap), &mut judged[begin..])?;
            }
        }
    }

    /// The positions of the game under the requested rules, up to the first illegal move.
    fn walk<'g>(&self, game: &'g GameRecord) -> Walk<'g> {
        let rules =
            self.params.rules.map_or(game.rules, |preset| Rules { ply_cap: game.rules.ply_cap, ..preset.rules() });
        // Another ruleset may begin elsewhere: the game began where its own does.
        let start = game.start_position().ok();
        let position = match self.params.rules {
            None => start,
            Some(_) => start.and_then(|start| Position::from_fen(&rules, &start.fen()).ok()),
        };
        Walk { cut: position.is_none(), position, plies: game.plies.iter() }
    }

    /// Searches the positions of a batch concurrently, so that leaves are evaluated together.
    fn search(
        &mut self,
        batch: &[Played],
        (playouts, handicap): (u32, Handicap),
        judged: &mut [JudgedPly],
    ) -> Result<(), EvalError> {
        let config: &SearchConfig = &self.params.search;
        while self.searches.len() < batch.len() {
            self.searches.push(Search::new(config.clone()));
        }
        let searches = &mut self.searches[..batch.len()];
        for (search, played) in searches.iter_mut().zip(batch) {
            search.set_handicap(handicap);
            search.begin(&played.position, playouts, None);
        }
        loop {
            let mut leaves = Vec::with_capacity(batch.len());
            for (index, search) in searches.iter_mut().enumerate() {
                leaves.extend(next_leaf(search).map(|leaf| (index, leaf)));
            }
            if leaves.is_empty() {
                break;
            }
            let requests: Vec<_> = leaves.iter().map(|&(index, leaf)| searches[index].request(leaf)).collect();
            self.evaluator.evaluate(&requests, &mut self.answers)?;
            for (row, &(index, leaf)) in leaves.iter().enumerate() {
                searches[index].expand(leaf, self.answers.get(row), self.answers.priors(row));
            }
        }
        for ((search, played), judged) in searches.iter().zip(batch).zip(judged) {
            let report = search.report();
            let better = |mv: Move| {
                let target = |mv| report.policy_target.iter().position(|&(known, _)| known == mv);
                let Some(own) = target(mv) else { return played.moves.len() };
                let key = |index: usize| (report.policy_target[index].1, report.moves[index].prior);
                let ahead = (0..report.moves.len()).filter(|&other| {
                    report.moves[other].mv != report.best
                        && (key(other) > key(own) || key(other) == key(own) && other < own)
                });
                // The chosen move has rank 0 with any weights.
                if mv == report.best { 0 } else { 1 + ahead.count() }
            };
            judged.searched_rank = Some(better(played.mv));
            judged.searched_score = Some(report.wdl.score().into());
        }
        Ok(())
    }
}

/// The third of a game of `plies` plies that ply number `ply`, from 0, is in.
fn third(ply: usize, plies: usize) -> usize {
    3 * ply / plies
}

/// Number of moves with a higher prior than `mv`; among equal priors, earlier generated moves count as higher.
fn rank_by_prior(moves: &[Move], priors: &[f32], mv: Move) -> usize {
    let Some(own) = moves.iter().position(|&known| known == mv) else { return moves.len() };
    priors
        .iter()
        .enumerate()
        .filter(|&(other, &prior)| prior > priors[own] || prior == priors[own] && other < own)
        .count()
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Preset;

    use super::*;

    #[test]
    fn thirds_of_a_game() {
        let thirds = |plies| (0..plies).map(|ply| third(ply, plies)).collect::<Vec<_>>();
        assert_eq!(thirds(1), [0]);
        assert_eq!(thirds(2), [0, 1]);
        assert_eq!(thirds(9), [0, 0, 0, 1, 1, 1, 2, 2, 2]);
    }

    #[test]
    fn ranks_count_better_moves_and_break_ties_by_order() {
        let mut moves = MoveList::new();
        Position::start(&Preset::Brandubh.rules()).legal_moves(&mut moves);
        let moves = &moves[..4];
        let priors = [0.1, 0.4, 0.4, 0.1];
        let ranks: Vec<_> = moves.iter().map(|&mv| rank_by_prior(moves, &priors, mv)).collect();
        assert_eq!(ranks, [2, 0, 1, 3]);
    }
}
