//! What the activations of a tower are like: the steps of eight-bit numbers are made of their largest.
//!
//! Measured on positions of random games, some of every board size. They reach further than play does, and need no data beside
//! the network; the games are the same every time, so that a checkpoint always makes the same evaluator.

use hnefi_engine::{BoardSize, Position, Preset};

use crate::Features;
use crate::mixing::Sequence;

/// The largest value of a layer on each board size, in the order of [`BoardSize::ALL`].
pub(super) type Peaks = [f32; BoardSize::ALL.len()];

/// Positions of each board size.
const POSITIONS: usize = 32;

/// Plies from one to the next.
const PLIES_APART: u32 = 5;

/// The positions of one board size.
pub(super) fn positions(size: BoardSize) -> Vec<Features> {
    let rules = match size {
        BoardSize::Seven => Preset::Brandubh,
        BoardSize::Nine => Preset::Tablut,
        BoardSize::Eleven => Preset::Copenhagen,
    }
    .rules();
    let mut sequence = Sequence::new(0);
    let mut positions = Vec::with_capacity(POSITIONS);
    let mut position = Position::start(&rules);
    while positions.len() < POSITIONS {
        positions.push(Features::of(&position));
        for _ in 0..PLIES_APART {
            match position.random_move(|count| (sequence.next_unit() * count as f32) as usize) {
                Some(mv) => _ = position.play_unchecked(mv),
                None => position = Position::start(&rules),
            }
        }
        if position.outcome().is_some() {
            position = Position::start(&rules);
        }
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_differ_and_are_the_same_every_time() {
        for size in BoardSize::ALL {
            let found = positions(size);
            assert_eq!(found.len(), POSITIONS);
            let planes = |features: &Features| format!("{:?}", features.planes);
            let mut distinct: Vec<String> = found.iter().map(planes).collect();
            distinct.sort();
            distinct.dedup();
            assert!(distinct.len() > POSITIONS / 2, "{size:?}: {}", distinct.len());
            assert!(positions(size).iter().zip(&found).all(|(a, b)| planes(a) == planes(b)));
        }
    }
}
