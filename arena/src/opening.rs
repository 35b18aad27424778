//! Random openings: a few random plies that leave the game undecided.

use hnefi_engine::{Move, MoveList, Position, Rules};
use rand::RngExt;

use hnefi_search::{Rng, rng_for, winning_move};

/// Keeps an opening's random numbers apart from the games' random numbers; spells "OPENING".
const OPENING: u64 = 0x4F_50_45_4E_49_4E_47;

/// How often a random opening is begun anew before it is made shorter.
const ATTEMPTS: u32 = 100;

/// The opening of pair `pair`: `plies` uniformly random moves from the start, none of which ends the game, and after
/// which the side to move has no win in one. On the rare boards where random play finds none, it is shorter.
pub fn random_opening(rules: &Rules, mut plies: u32, seed: u64, pair: u64) -> Vec<Move> {
    loop {
        let mut longest = 0;
        for attempt in 0..ATTEMPTS {
            let mut rng = rng_for(&[seed, OPENING, pair, u64::from(plies), u64::from(attempt)]);
            match attempt_opening(rules, plies, &mut rng) {
                Ok(moves) => return moves,
                Err(made) => longest = longest.max(made),
            }
        }
        // No game went on for longer.
        let Some(fewer) = plies.checked_sub(1) else { return Vec::new() };
        plies = fewer.min(longest);
    }
}

/// An opening of that length, or else how many of its plies could be made.
fn attempt_opening(rules: &Rules, plies: u32, rng: &mut Rng) -> Result<Vec<Move>, u32> {
    let mut position = Position::start(rules);
    let mut moves = Vec::new();
    let mut legal = MoveList::new();
    for _ in 0..plies {
        position.legal_moves(&mut legal);
        let mv = legal[rng.random_range(0..legal.len())];
        position.advance(mv);
        if position.outcome().is_some() {
            return Err(moves.len() as u32);
        }
        moves.push(mv);
    }
    if winning_move(&position).is_none() { Ok(moves) } else { Err(plies) }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use hnefi_engine::Preset;

    use super::*;

    #[test]
    fn openings_are_undecided_and_differ() {
        for preset in Preset::ALL {
            let openings: Vec<_> = (0..40).map(|pair| random_opening(&preset.rules(), 6, 1, pair)).collect();
            for moves in &openings {
                assert_eq!(moves.len(), 6, "{}", preset.name());
                let mut position = Position::start(&preset.rules());
                for &mv in moves {
                    position.play(mv).expect("a legal opening");
                }
                assert_eq!((position.outcome(), winning_move(&position)), (None, None));
            }
            assert!(openings.iter().collect::<HashSet<_>>().len() >= 39, "{}", preset.name());
        }
    }

    #[test]
    fn more_plies_than_any_game_has_are_fewer_at_once() {
        let rules = Rules { ply_cap: 0, ..Preset::Brandubh.rules() };
        let count = random_opening(&rules, 1_000_000, 1, 0).len();
        assert!((1..10_000).contains(&count), "{count}");
    }

    #[test]
    fn an_opening_depends_on_seed_and_pair_alone() {
        let rules = Preset::Brandubh.rules();
        assert_eq!(random_opening(&rules, 4, 7, 3), random_opening(&rules, 4, 7, 3));
        assert_ne!(random_opening(&rules, 4, 7, 3), random_opening(&rules, 4, 8, 3));
        assert_ne!(random_opening(&rules, 4, 7, 3), random_opening(&rules, 4, 7, 4));
        assert!(random_opening(&rules, 0, 7, 3).is_empty());
    }
}
