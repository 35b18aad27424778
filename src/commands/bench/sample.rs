//! Positions and games to measure with, always the same.

use hnefi_engine::{BoardSize, MoveList, Position};
#[cfg(feature = "train")]
use hnefi_inference::{Handicap, Wdl};
#[cfg(feature = "train")]
use hnefi_run::{GameRecord, PlyRecord};
use hnefi_search::rng_for;
use rand::RngExt;

use super::preset;

/// A position and its legal moves.
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

#[cfg(feature = "train")]
/// Finished random games with policy targets over all legal moves.
pub(super) fn games(size: BoardSize, count: u64) -> Vec<GameRecord> {
    (0..count).map(|game| random_game(size, game)).collect()
}

#[cfg(feature = "train")]
fn random_game(size: BoardSize, game: u64) -> GameRecord {
    let mut rng = rng_for(&[2, game]);
    let mut rules = preset(size).rules();
    rules.ply_cap = 120;
    let mut position = Position::start(&rules);
    let (mut moves, mut plies) = (MoveList::new(), Vec::new());
    while position.outcome().is_none() {
        position.legal_moves(&mut moves);
        let weight = 1.0 / moves.len() as f32;
        let policy = moves.iter().map(|&mv| (mv, weight)).collect();
        let mv = moves[rng.random_range(0..moves.len())];
        plies.push(PlyRecord { mv, policy, playouts: 32, raw: Wdl::DRAW, searched: Wdl::DRAW, trains: true });
        position.advance(mv);
    }
    GameRecord {
        game,
        seed: 2,
        rules,
        start: None,
        players: [String::new(), String::new()],
        handicap: Handicap::NONE,
        plies,
        outcome: position.outcome(),
        resigned: None,
        would_have_resigned: None,
    }
}
