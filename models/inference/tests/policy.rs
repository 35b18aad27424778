//! The policy index: a bijection between moves and places, which turns with the board.

mod random_play;

use std::collections::{HashMap, HashSet};

use hnefi_engine::{BoardSize, Preset, Symmetry};
use hnefi_inference::{POLICY_ROWS, PolicyIndex, policy_planes};
use random_play::{legal, positions};

#[test]
fn places_and_moves_are_one_to_one() {
    for size in BoardSize::ALL {
        let mut moves = HashSet::new();
        let all: Vec<PolicyIndex> = PolicyIndex::all(size.side()).collect();
        assert_eq!(all.len(), policy_planes(size.side()) * size.squares());
        for (flat, index) in all.into_iter().enumerate() {
            assert_eq!(index, PolicyIndex::from_flat(flat, size));
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
    let place = |text: &str, size| PolicyIndex::of(hnefi_engine::Move::parse(text, size).unwrap(), size);
    let at = |direction, distance, square| PolicyIndex { direction, distance, square };
    let size = BoardSize::ELEVEN;
    // Planes `direction * (N - 1) + distance - 1`, rows of weights `direction * 18 + distance - 1`.
    for (text, expected, plane, row) in [
        ("a1a2", at(0, 1, 0), 0, 0),
        ("a1a11", at(0, 10, 0), 9, 9),
        ("b1d1", at(1, 2, 1), 11, 19),
        ("a3a2", at(2, 1, 22), 20, 36),
        ("k2a2", at(3, 10, 21), 39, 63),
    ] {
        let found = place(text, size);
        assert_eq!((found, found.row()), (expected, row), "{text}");
        assert_eq!(found.flat(size), plane * 121 + found.square, "{text}");
    }
    let size = BoardSize::SEVEN;
    let found = place("g2a2", size);
    assert_eq!((found.row(), found.flat(size)), (59, 23 * 49 + 13));
    // The longest move of the largest board has the last row.
    assert_eq!(at(3, 18, 18).row() + 1, POLICY_ROWS);
}

#[test]
fn a_symmetry_turns_directions_and_keeps_distances() {
    for size in BoardSize::ALL {
        for symmetry in Symmetry::ALL {
            let mut directions = HashMap::new();
            for index in PolicyIndex::all(size.side()) {
                let Some(mv) = index.to_move(size) else { continue };
                let image = PolicyIndex::of(symmetry.mv(mv, size), size);
                assert_eq!(image.distance, index.distance, "the distance of {}", mv.text(size));
                assert_eq!(image.square, symmetry.square(mv.from(), size).index());
                let turned = *directions.entry(index.direction).or_insert(image.direction);
                assert_eq!(image.direction, turned, "the direction of {}", mv.text(size));
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
            let (moves, size) = (legal(&position), position.size());
            let places: HashSet<_> = moves.iter().map(|mv| PolicyIndex::of(*mv, size).flat(size)).collect();
            assert_eq!(places.len(), moves.len(), "{}", position.fen());
            assert!(places.iter().all(|place| *place < policy_planes(size.side()) * size.squares()));
        }
    }
}
