//! Sets of squares against files and ranks counted one by one, on all boards.

use hnefi_engine::{Bitboard, BoardSize, Square};

/// The squares whose file and rank fulfil a condition.
fn squares(size: BoardSize, wanted: impl Fn(i32, i32) -> bool) -> Bitboard {
    let n = size.side();
    (0..n * n).filter(|i| wanted((i % n) as i32, (i / n) as i32)).map(Square::new).collect()
}

#[test]
fn regions_and_neighbours_lie_where_they_are_said_to() {
    for size in BoardSize::ALL {
        let last = size.side() as i32 - 1;
        let outer = |line: i32| line == 0 || line == last;
        assert_eq!(Bitboard::board(size), squares(size, |_, _| true));
        assert_eq!(Bitboard::edge(size), squares(size, |file, rank| outer(file) || outer(rank)));
        assert_eq!(Bitboard::corners(size), squares(size, |file, rank| outer(file) && outer(rank)));
        assert_eq!(Bitboard::throne(size), squares(size, |file, rank| (2 * file, 2 * rank) == (last, last)));
        for square in Bitboard::board(size) {
            let (file, rank) = square.file_and_rank(size);
            let (file, rank) = (file as i32, rank as i32);
            let one = Bitboard::of(square);
            let beside = squares(size, |f, r| (f - file).abs() + (r - rank).abs() == 1);
            assert_eq!(one.neighbours(size), beside, "{}", square.name(size));
            assert_eq!(one.complement(size), squares(size, |f, r| (f, r) != (file, rank)));
        }
    }
}

#[test]
fn operators_are_the_operations_on_sets() {
    let size = BoardSize::LARGEST;
    let word = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C834_u128;
    let drawn = |by: u32| (0..6).map(|at| word.rotate_left(by + 37 * at) as u64).collect::<Vec<_>>();
    let [a, b] = [0, 41].map(|by| Bitboard(drawn(by).try_into().unwrap()) & Bitboard::board(size));
    let of = |wanted: &dyn Fn(Square) -> bool| Bitboard::board(size).filter(|&square| wanted(square)).collect();
    let expected: [Bitboard; 4] = [
        of(&|square| a.contains(square) && b.contains(square)),
        of(&|square| a.contains(square) || b.contains(square)),
        of(&|square| a.contains(square) != b.contains(square)),
        of(&|square| a.contains(square) && !b.contains(square)),
    ];
    assert_eq!([a & b, a | b, a ^ b, a - b], expected);
    assert_eq!([a.and(b), a.or(b), a ^ b, a.without(b)], expected);
    let mut assigned = [a; 4];
    assigned[0] &= b;
    assigned[1] |= b;
    assigned[2] ^= b;
    assigned[3] -= b;
    assert_eq!(assigned, expected);
    assert!((a & b).is_subset(a) && !a.is_subset(b) && (a - b).is_disjoint(b) && !a.is_disjoint(b));
}
