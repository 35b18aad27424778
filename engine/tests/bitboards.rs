//! Sets of squares against files and ranks counted one by one, on all boards.

use hnefi_engine::{Bitboard, BoardSize, Direction, Square};

/// The squares whose file and rank fulfil a condition.
fn squares(size: BoardSize, wanted: impl Fn(i32, i32) -> bool) -> Bitboard {
    let n = size.side();
    (0..n * n).filter(|i| wanted((i % n) as i32, (i / n) as i32)).map(Square::new).collect()
}

#[test]
fn regions_lie_where_they_are_said_to() {
    for size in BoardSize::ALL {
        let last = size.side() as i32 - 1;
        let outer = |line: i32| line == 0 || line == last;
        assert_eq!(Bitboard::board(size), squares(size, |_, _| true));
        assert_eq!(Bitboard::edge(size), squares(size, |file, rank| outer(file) || outer(rank)));
        assert_eq!(Bitboard::corners(size), squares(size, |file, rank| outer(file) && outer(rank)));
        assert_eq!(Bitboard::throne(size), squares(size, |file, rank| (2 * file, 2 * rank) == (last, last)));
        for line in 0..size.side() {
            assert_eq!(Bitboard::rank(line, size), squares(size, |_, rank| rank == line as i32));
            assert_eq!(Bitboard::file(line, size), squares(size, |file, _| file == line as i32));
        }
    }
}

#[test]
fn steps_do_not_wrap_around_the_board() {
    for size in BoardSize::ALL {
        let n = size.side() as i32;
        for square in Bitboard::board(size) {
            let (file, rank) = square.file_and_rank(size);
            let (file, rank) = (file as i32, rank as i32);
            let one = Bitboard::of(square);
            for (direction, (right, up)) in Direction::ALL.into_iter().zip([(1, 0), (0, 1), (-1, 0), (0, -1)]) {
                let expected = squares(size, |f, r| (f, r) == (file + right, rank + up));
                assert_eq!(one.step(direction, size), expected, "{} {direction:?}", square.name(size));
            }
            let beside = squares(size, |f, r| (f - file).abs() + (r - rank).abs() == 1);
            assert_eq!(one.neighbours(size), beside, "{}", square.name(size));
            assert_eq!(one.complement(size).len() as i32, n * n - 1);
            assert!(!one.complement(size).contains(square) && one.is_disjoint(one.complement(size)));
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
    assert_eq!(a.without(b), a - b);
    let mut assigned = [a; 4];
    assigned[0] &= b;
    assigned[1] |= b;
    assigned[2] ^= b;
    assigned[3] -= b;
    assert_eq!(assigned, expected);
    assert!((a & b).is_subset(a) && !a.is_subset(b) && (a - b).is_disjoint(b) && !a.is_disjoint(b));
    let drawn = a.diagram(size);
    assert_eq!(drawn.matches('X').count(), a.len());
    let rows: Vec<&str> = drawn.lines().take(19).flat_map(|row| row.split_whitespace().skip(1)).collect();
    assert_eq!(Bitboard::drawn(&rows), a);
}
