//! Games and batches for the tests, made by random play.

use hnefi_engine::{Move, MoveList, Position, Preset, Rules};
use hnefi_inference::{Handicap, Wdl};
use hnefi_run::{GameRecord, PlyRecord};
use hnefi_search::{Rng, rng_for};
use rand_xoshiro::rand_core::Rng as _;

/// [`random_game_by`] the rules of a preset.
pub fn random_game(preset: Preset, number: u64) -> GameRecord {
    random_game_by(preset.rules(), number)
}

/// A game of random moves to its end. Every third ply does not train; policy targets lie on up to three legal moves.
pub fn random_game_by(rules: Rules, number: u64) -> GameRecord {
    let rules = Rules { ply_cap: 80, ..rules };
    let mut rng = rng_for(&[0x7465_7374, number]);
    let mut position = Position::start(&rules);
    let mut plies = Vec::new();
    let mut legal = MoveList::new();
    while position.outcome().is_none() {
        position.legal_moves(&mut legal);
        let mv = legal[below(&mut rng, legal.len())];
        let trains = plies.len() % 3 != 0;
        let policy = if trains { target(&legal, &mut rng) } else { Vec::new() };
        let value = Wdl { win: 0.5, draw: 0.25, loss: 0.25 };
        plies.push(PlyRecord { mv, policy, playouts: 16, raw: value, searched: value, trains });
        position.play_unchecked(mv);
    }
    GameRecord {
        game: number,
        seed: 1,
        rules,
        start: None,
        players: ["one".into(), "one".into()],
        handicap: Handicap::NONE,
        plies,
        outcome: position.outcome(),
        resigned: None,
        would_have_resigned: None,
    }
}

/// Weights on up to three different legal moves, summing to 1.
fn target(legal: &MoveList, rng: &mut Rng) -> Vec<(Move, f32)> {
    let count = legal.len().min(3);
    let first = below(rng, legal.len() - count + 1);
    let weights: &[f32] = [&[1.0][..], &[0.75, 0.25], &[0.5, 0.25, 0.25]][count - 1];
    legal[first..first + count].iter().copied().zip(weights.iter().copied()).collect()
}

pub fn below(rng: &mut Rng, bound: usize) -> usize {
    (rng.next_u64() % bound as u64) as usize
}
