//! A record, ply by ply, with the positions it only implies.

use hnefi_engine::{Bitboard, Outcome, Position};
use hnefi_selfplay::{GameRecord, PlyRecord};

use crate::DataError;

/// One ply of a recorded game.
pub(crate) struct Step<'a> {
    /// The position the move was played in.
    pub(crate) before: &'a Position,
    /// The move and what the search thought.
    pub(crate) ply: &'a PlyRecord,
    /// Every square the move emptied by capture.
    pub(crate) captured: Bitboard,
}

/// Replays a record, shows each step to `visit`, and returns the position it ends in.
///
/// # Errors
/// When the start is no position, a move is illegal, or the recorded end is not where the moves lead.
pub(crate) fn walk(game: &GameRecord, mut visit: impl FnMut(Step<'_>)) -> Result<Position, DataError> {
    let bad = |problem: String| DataError::BadGame { game: game.game, problem };
    let mut position = start(game).map_err(bad)?;
    let mut before = position.clone();
    for (index, ply) in game.plies.iter().enumerate() {
        before.clone_from(&position);
        let captured = position.play(ply.mv).map_err(|error| bad(format!("ply {}: {error}", index + 1)))?;
        visit(Step { before: &before, ply, captured });
    }
    if game.resigned.is_none() && game.outcome != position.outcome() {
        return Err(bad(format!(
            "the record ends {}, its moves lead to {}",
            describe(game.outcome),
            describe(position.outcome())
        )));
    }
    Ok(position)
}

/// The position the game began from.
pub(crate) fn start(game: &GameRecord) -> Result<Position, String> {
    match &game.start {
        None => Ok(Position::start(&game.rules)),
        Some(fen) => Position::from_fen(&game.rules, fen).map_err(|error| error.to_string()),
    }
}

fn describe(outcome: Option<Outcome>) -> String {
    outcome.map_or("unfinished".to_owned(), |outcome| format!("{} by {}", outcome.status(), outcome.reason().as_str()))
}
