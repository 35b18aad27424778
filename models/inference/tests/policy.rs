//! The policy index: a bijection between moves and places, which turns with the board.

mod random_play;

use std::collections::{HashMap, HashSet};

use hnefi_engine::{BoardSize, Preset, Symmetry};
use hnefi_inference::{POLICY_PLANES, PolicyIndex};
use random_play::{legal, positions};

#[test]
fn places_and_moves_are_one_to_one() {
    for size in BoardSize::ALL {
        let mut moves = HashSet::new();
        for flat in 0..POLICY_PLANES * size.squares() {
            let index = PolicyIndex::from_flat(flat, size);
            assert_eq!(index.flat(size), flat);
            if let Some(mv) = index.to_move(size) {
                assert_eq!(PolicyIndex::of(mv, size), index, "{}", mv.text(size));
                moves.insert(mv);
            }
        }
        // From every square one can go to every other square of its row and column.
        assert_eq!(moves.len(), size.squares() * 2 * (size.side() - 1));
    }
}

#[test]
fn the_documented_places() {
    let size = BoardSize::Eleven;
    let place = |text: &str| PolicyIndex::of(hnefi_engine::Move::parse(text, size).unwrap(), size);
    assert_eq!(place("a1a2"), PolicyIndex { plane: 0, square: 0 });
    assert_eq!(place("a1a11"), PolicyIndex { plane: 9, square: 0 });
    assert_eq!(place("b1d1"), PolicyIndex { plane: 11, square: 1 });
    assert_eq!(place("a3a2"), PolicyIndex { plane: 20, square: 22 });
    assert_eq!(place("k2a2"), PolicyIndex { plane: 39, square: 21 });
}

#[test]
fn a_symmetry_turns_directions_and_keeps_distances() {
    for size in BoardSize::ALL {
        for symmetry in Symmetry::ALL {
            let mut directions = HashMap::new();
            for flat in 0..POLICY_PLANES * size.squares() {
                let index = PolicyIndex::from_flat(flat, size);
                let Some(mv) = index.to_move(size) else { continue };
                let image = PolicyIndex::of(symmetry.mv(mv, size), size);
                assert_eq!(image.plane % 10, index.plane % 10, "the distance of {}", mv.text(size));
                assert_eq!(image.square, symmetry.square(mv.from(), size).index());
                let turned = *directions.entry(index.plane / 10).or_insert(image.plane / 10);
                assert_eq!(image.plane / 10, turned, "the direction of {}", mv.text(size));
            }
            let distinct: HashSet<_> = directions.values().collect();
            assert_eq!(distinct.len(), 4);
        }
    }
}

#[test]
fn legal_moves_have_places_of_their_own() {
    for (seed, preset) in Preset::ALL.into_iter().enumerate() {
        for position in positions(&preset.rules(), 50, seed as u64) {
            let moves = legal(&position);
            let places: HashSet<_> =
                moves.iter().map(|mv| PolicyIndex::of(*mv, position.size()).flat(position.size())).collect();
            assert_eq!(places.len(), moves.len(), "{}", position.fen());
            assert!(places.iter().all(|place| *place < POLICY_PLANES * position.size().squares()));
        }
    }
}
