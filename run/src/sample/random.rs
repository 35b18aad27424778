//! Games to measure training with.

use hnefi_engine::{MoveList, Position, Rules};
use hnefi_inference::Wdl;
use hnefi_record::{GameRecord, PlyRecord};
use hnefi_search::rng_for;

use super::below;

const MOST_PLIES: u16 = 120;

/// A game of random moves, with policy targets over all legal moves; always the same one of a number.
pub fn random_game(rules: Rules, number: u64) -> GameRecord {
    let mut rng = rng_for(&[2, number]);
    let rules = Rules { ply_cap: MOST_PLIES, ..rules };
    let mut position = Position::start(&rules);
    let (mut moves, mut plies) = (MoveList::new(), Vec::new());
    while position.outcome().is_none() {
        position.legal_moves(&mut moves);
        let weight = 1.0 / moves.len() as f32;
        let policy = moves.iter().map(|&mv| (mv, weight)).collect();
        let mv = moves[below(&mut rng, moves.len())];
        plies.push(PlyRecord { mv, policy, playouts: 32, raw: Wdl::DRAW, searched: Wdl::DRAW, trains: true });
        position.advance(mv);
    }
    GameRecord { plies, outcome: position.outcome(), ..GameRecord::new(2, number, rules) }
}
