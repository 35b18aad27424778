//! Positions and games to measure with, always the same.

use hnefi_engine::{BoardSize, MoveList, Position};
use hnefi_inference::{EvalRequest, Handicap};
#[cfg(feature = "train")]
use hnefi_run::{GameRecord, sample::random_game};
use hnefi_search::rng_for;
use rand::RngExt;

use super::preset;

pub(super) type Sample = Vec<(Position, MoveList)>;

/// Distinct positions, each from another random game.
pub(super) fn positions(size: BoardSize, count: usize) -> Sample {
    let mut sample = Sample::new();
    for game in 0.. {
        if sample.len() == count {
            break;
        }
        let mut rng = rng_for(&[1, game]);
        let mut position = Position::start(&preset(size).rules());
        for _ in 0..rng.random_range(0..40) {
            let Some(mv) = position.random_move(|count| rng.random_range(0..count)) else { break };
            position.advance(mv);
        }
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        if !moves.is_empty() {
            sample.push((position, moves));
        }
    }
    sample
}

/// What an evaluator is asked about these positions.
pub(super) fn requests(sample: &[(Position, MoveList)]) -> Vec<EvalRequest<'_>> {
    sample
        .iter()
        .map(|(position, moves)| EvalRequest { position, moves, handicap: Handicap::NONE, auxiliary: false })
        .collect()
}

#[cfg(feature = "train")]
/// Finished random games.
pub(super) fn games(size: BoardSize, count: u64) -> Vec<GameRecord> {
    (0..count).map(|number| random_game(preset(size).rules(), number)).collect()
}
