//! A record, ply by ply, with the positions it only implies.

use hnefi_engine::{Bitboard, Position};
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

/// Checks a record and shows each step of it to `visit`.
///
/// # Errors
/// When the record does not hold together: before the first visit.
pub(crate) fn walk(game: &GameRecord, mut visit: impl FnMut(Step<'_>)) -> Result<(), DataError> {
    game.check()?;
    let mut position = game.start_position()?;
    let mut before = position.clone();
    for ply in &game.plies {
        before.clone_from(&position);
        let captured = position.advance(ply.mv);
        visit(Step { before: &before, ply, captured });
    }
    Ok(())
}
