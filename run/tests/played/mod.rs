//! Records of random games for tests: real games with made-up opinions, as varied as the format allows.

use hnefi_engine::{MoveList, Position, Preset, Rules, Side};
use hnefi_inference::{Handicap, Wdl};
use hnefi_run::{GameRecord, PlyRecord};
use hnefi_search::{Rng, rng_for};
use rand_xoshiro::rand_core::Rng as _;

/// A number below `n`.
pub fn below(rng: &mut Rng, n: usize) -> usize {
    (rng.next_u64() % n as u64) as usize
}

/// A game of random moves under one of the presets, ended by the rules or by a cap of 60 plies.
pub fn random_game(seed: u64, number: u64) -> GameRecord {
    let mut rng = rng_for(&[seed, number]);
    let preset = Preset::ALL[below(&mut rng, Preset::ALL.len())];
    let rules = Rules { ply_cap: 60, ..preset.rules() };
    let mut position = Position::start(&rules);
    let mut legal = MoveList::new();
    let mut plies = Vec::new();
    while position.outcome().is_none() {
        position.legal_moves(&mut legal);
        let mv = legal[below(&mut rng, legal.len())];
        let trains = below(&mut rng, 4) > 0;
        let targets = if trains { legal.len().min(1 + below(&mut rng, 5)) } else { 0 };
        let first = below(&mut rng, legal.len() + 1 - targets);
        let policy = legal[first..first + targets].iter().map(|&mv| (mv, 1.0 / targets as f32)).collect();
        let playouts = 8 * below(&mut rng, 5) as u32;
        plies.push(PlyRecord { mv, policy, playouts, raw: chances(&mut rng), searched: chances(&mut rng), trains });
        position.play(mv).expect("a legal move");
    }
    GameRecord {
        game: number,
        seed,
        rules,
        start: None,
        players: [format!("checkpoint-{}", number % 3), "alphabeta:2".to_string()],
        handicap: Handicap { doublings: (number % 3) as f32 * 0.5, blunders: (number % 2) as f32 * -0.25 },
        plies,
        outcome: position.outcome(),
        resigned: None,
        would_have_resigned: number.is_multiple_of(5).then_some(Side::BOTH[number as usize / 5 % 2]),
    }
}

fn chances(rng: &mut Rng) -> Wdl {
    let win = below(rng, 1 << 20) as f32 / (1 << 20) as f32;
    let draw = (1.0 - win) * 0.25;
    Wdl { win, draw, loss: 1.0 - win - draw }
}
