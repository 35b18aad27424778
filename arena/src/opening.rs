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
pub fn random_opening(rules: &Rules, plies: u32, seed: u64, pair: u64) -> Vec<Move> {
    for plies in (0..=plies).rev() {
        for attempt in 0..ATTEMPTS {
            let mut rng = rng_for(&[seed, OPENING, pair, u64::from(plies), u64::from(attempt)]);
            if let Some(moves) = attempt_opening(rules, plies, &mut rng) {
                return moves;
            }
        }
    }
    Vec::new()
}

fn attempt_opening(rules: &Rules, plies: u32, rng: &mut Rng) -> Option<Vec<Move>> {
    let mut position = Position::start(rules);
    let mut moves = Vec::with_capacity(plies as usize);
    let mut legal = MoveList::new();
    for _ in 0..plies {
        position.legal_moves(&mut legal);
        let mv = *legal.get(rng.random_range(0..legal.len()))?;
        position.advance(mv);
        if position.outcome().is_some() {
            return None;
        }
        moves.push(mv);
    }
    winning_move(&position).is_none().then_some(moves)
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
    fn an_opening_depends_on_seed_and_pair_alone() {
        let rules = Preset::Brandubh.rules();
        assert_eq!(random_opening(&rules, 4, 7, 3), random_opening(&rules, 4, 7, 3));
        assert_ne!(random_opening(&rules, 4, 7, 3), random_opening(&rules, 4, 8, 3));
        assert_ne!(random_opening(&rules, 4, 7, 3), random_opening(&rules, 4, 7, 4));
        assert!(random_opening(&rules, 0, 7, 3).is_empty());
    }
}
