//! A record, ply by ply, with the positions it only implies.

use hnefi_engine::{Bitboard, Position};
use hnefi_run::{GameRecord, PlyRecord};

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
    for ply in &game.plies {
        // Played, taken back and played: a copy of the position would hold the whole game at every ply.
        let undo = position.play_unchecked(ply.mv);
        position.undo(undo);
        visit(Step { before: &position, ply, captured: undo.captured() });
        position.advance(ply.mv);
    }
    Ok(())
}
