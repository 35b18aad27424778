//! Things to begin with.

use hnefi_engine::{MoveList, Position, Preset, Rules};
use hnefi_inference::{Handicap, Wdl};
use hnefi_record::{GameRecord, PlyRecord};

/// A game of moves that depend on the seed alone, of at most `most` plies.
pub fn game(rules: Rules, seed: u64, most: usize) -> GameRecord {
    let mut position = Position::start(&rules);
    let mut moves = MoveList::new();
    let mut plies = Vec::new();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    while plies.len() < most && position.outcome().is_none() {
        position.legal_moves(&mut moves);
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        let mv = moves[(state >> 33) as usize % moves.len()];
        let other = moves[0];
        plies.push(match plies.len() % 3 {
            0 => PlyRecord::unsearched(mv),
            1 => PlyRecord { policy: vec![(mv, 1.0)], trains: true, ..PlyRecord::unsearched(mv) },
            _ => PlyRecord {
                mv,
                policy: if mv == other { vec![(mv, 1.0)] } else { vec![(mv, 0.75), (other, 0.25)] },
                playouts: 48,
                raw: Wdl { win: 0.5, draw: 0.25, loss: 0.25 },
                searched: Wdl { win: 1.0, draw: 0.0, loss: 0.0 },
                trains: true,
            },
        });
        position.advance(mv);
    }
    GameRecord {
        game: seed,
        seed: 7,
        rules,
        start: None,
        players: ["model".to_owned(), "a \"person\"".to_owned()],
        handicap: Handicap::NONE,
        plies,
        outcome: position.outcome(),
        resigned: None,
        would_have_resigned: None,
    }
}

/// A short game under every preset, one of a mixture of rules, and one to its end.
pub fn games() -> Vec<GameRecord> {
    let mut games: Vec<GameRecord> =
        Preset::ALL.into_iter().zip(1..).map(|(preset, seed)| game(preset.rules(), seed, 6)).collect();
    games.push(game(Rules { shieldwall: true, ply_cap: 20, ..Preset::Brandubh.rules() }, 20, 100));
    games.push(game(Preset::Brandubh.rules(), 21, 12));
    games
}
