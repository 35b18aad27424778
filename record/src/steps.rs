//! The steps of a record, with their positions.

use hnefi_engine::{Bitboard, Position};

use crate::{GameRecord, PlyRecord, RecordError};

/// One ply of a recorded game.
pub struct Step<'a> {
    /// The position the move was played in.
    pub before: &'a Position,
    /// The recorded ply.
    pub ply: &'a PlyRecord,
    /// All squares of captured pieces.
    pub captured: Bitboard,
}

/// Checks a record and calls `visit` with each step.
///
/// # Errors
/// When the record is inconsistent; then `visit` is not called.
pub fn walk(game: &GameRecord, mut visit: impl FnMut(Step<'_>)) -> Result<(), RecordError> {
    game.check()?;
    let mut position = game.start_position()?;
    for ply in &game.plies {
        // Play, undo and play again: a copy of the position would copy the whole history at every ply.
        let undo = position.play_unchecked(ply.mv);
        position.undo(undo);
        visit(Step { before: &position, ply, captured: undo.captured() });
        position.advance(ply.mv);
    }
    Ok(())
}
