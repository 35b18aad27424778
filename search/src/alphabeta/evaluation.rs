//! The hand-made evaluation: what a club player would count on the board.
//!
//! All terms are counted for the defenders, in hundredths of a defending man, and turned round at the end if the
//! attackers are to move. The weights were set by judgement and a few hundred matches between variants, then left
//! alone: this is a yardstick, and yardsticks should not move.

use std::sync::LazyLock;

use hnefi_engine::{Bitboard, BoardSize, Escape, KingCapture, Position, Side, Square};

/// What the terms are worth on one board.
struct Weights {
    /// A defending man.
    defender: i32,
    /// An attacking man; there are twice as many.
    attacker: i32,
    /// A gate: a square one move from the king and one move from a goal. The first, and each one up to four.
    first_gate: i32,
    gate: i32,
    /// A gate with two goals in reach, which can hardly be parried; with the defenders to move, that much more.
    double_gate: i32,
    double_gate_to_move: i32,
    /// Each gate at two moves from the king, up to six.
    far_gate: i32,
    /// Each direction in which the king can slide to the edge.
    open_way: i32,
    /// Each square the king can go to, up to ten.
    king_mobility: i32,
    /// Each free step of a defending man; half of it for an attacking one.
    mobility: i32,
    /// One, two, three attackers beside the king.
    pressure: [i32; 4],
    /// The king cannot reach the edge through squares without attackers.
    king_enclosed: i32,
    /// Each defending man who cannot.
    man_enclosed: i32,
    /// Each attacker on the short diagonal that bars a corner.
    corner_guard: i32,
    /// A corner wholly barred.
    corner_barred: i32,
    /// Each attacker in the quarter of the board where they are fewest.
    quarter: i32,
    /// The side to move can capture at least one man.
    capture: i32,
}

const SEVEN: Weights = Weights {
    defender: 100,
    attacker: 100,
    first_gate: 40,
    gate: 12,
    double_gate: 40,
    double_gate_to_move: 150,
    far_gate: 8,
    open_way: 10,
    king_mobility: 5,
    mobility: 12,
    pressure: [0, 15, 50, 120],
    king_enclosed: 60,
    man_enclosed: 8,
    corner_guard: 12,
    corner_barred: 20,
    quarter: 6,
    capture: 45,
};

const NINE: Weights = Weights { first_gate: 60, king_enclosed: 150, man_enclosed: 6, quarter: 15, ..SEVEN };

const ELEVEN: Weights = Weights {
    attacker: 80,
    first_gate: 80,
    gate: 15,
    double_gate: 60,
    king_mobility: 4,
    mobility: 1,
    pressure: [0, 10, 35, 110],
    king_enclosed: 180,
    man_enclosed: 10,
    corner_guard: 20,
    corner_barred: 30,
    quarter: 12,
    ..SEVEN
};

/// Value of a position whose game goes on, for the side to move.
pub(super) fn evaluate(position: &Position) -> i32 {
    let weights = match position.size() {
        BoardSize::SEVEN => &SEVEN,
        BoardSize::NINE => &NINE,
        size if size < BoardSize::NINE => &SEVEN,
        size if size < BoardSize::ELEVEN => &NINE,
        _ => &ELEVEN,
    };
    let for_defenders = material(position, weights) + king_paths(position, weights) + mobility(position, weights)
        - danger(position, weights)
        - enclosure(position, weights)
        - corners(position, weights);
    let side = position.side_to_move();
    let value = if side == Side::Defenders { for_defenders } else { -for_defenders };
    let can_capture = !position.capture_threats(side).victims.is_empty();
    value + if can_capture { weights.capture } else { 0 }
}

/// Whether the attackers are to move and the king stands on an open line to a goal.
pub(super) fn king_threatens(position: &Position) -> bool {
    position.side_to_move() == Side::Attackers
        && position
            .board()
            .king()
            .is_some_and(|king| !(position.king_destinations(Bitboard::of(king)) & position.king_goals()).is_empty())
}

fn material(position: &Position, weights: &Weights) -> i32 {
    let board = position.board();
    board.defenders().len() as i32 * weights.defender - board.attackers().len() as i32 * weights.attacker
}

/// How near the king is to a goal in moves, and by how many ways.
fn king_paths(position: &Position, weights: &Weights) -> i32 {
    let Some(king) = position.board().king() else { return 0 };
    let goals = position.king_goals();
    let reach = position.king_destinations(Bitboard::of(king));
    // The king slides both ways alike, so what he reaches from the goals is where he reaches them from.
    let lines = position.king_destinations(goals);
    let gates = lines & reach;
    let mut value = weights.king_mobility * (reach.len() as i32).min(10);
    value += weights.open_way * (reach & Bitboard::edge(position.size())).len() as i32;
    if !gates.is_empty() {
        value += weights.first_gate + weights.gate * (gates.len() as i32).min(4);
        let mut gates = gates;
        if gates.any(|gate| (position.king_destinations(Bitboard::of(gate)) & goals).len() > 1) {
            let to_move = position.side_to_move() == Side::Defenders;
            value += weights.double_gate + if to_move { weights.double_gate_to_move } else { 0 };
        }
    }
    let far_gates = (position.king_destinations(lines) & reach).without(gates);
    value + weights.far_gate * (far_gates.len() as i32).min(6)
}

/// Free steps of the defenders' men less the free steps of the attackers, who have twice the men.
fn mobility(position: &Position, weights: &Weights) -> i32 {
    let board = position.board();
    let size = position.size();
    let free = |men: Bitboard| men.neighbours(size).without(board.occupied()).len() as i32;
    weights.mobility * (2 * free(board.defenders()) - free(board.attackers())) / 2
}

/// Attackers beside the king. A king who is captured like a man fears them sooner.
fn danger(position: &Position, weights: &Weights) -> i32 {
    let Some(king) = position.board().king() else { return 0 };
    let beside = (Bitboard::of(king).neighbours(position.size()) & position.board().attackers()).len();
    let weak = position.rules().king_capture == KingCapture::Weak;
    weights.pressure[(beside + usize::from(weak && beside > 0)).min(3)]
}

/// Who is cut off from the edge, and how evenly the attackers surround the middle.
fn enclosure(position: &Position, weights: &Weights) -> i32 {
    let board = position.board();
    let outside = position.edge_flood();
    let enclosed = board.defenders().without(outside).len() as i32;
    let king_enclosed = board.king().is_some_and(|king| !outside.contains(king));
    let fewest = quarters(position.size()).map(|quarter| (board.attackers() & quarter).len() as i32).into_iter().min();
    weights.man_enclosed * enclosed
        + if king_enclosed { weights.king_enclosed } else { 0 }
        + weights.quarter * fewest.unwrap_or(0)
}

/// Attackers on the short diagonals that bar the corners: `a2 b1` on 7x7, `a3 b2 c1` on the larger boards.
fn corners(position: &Position, weights: &Weights) -> i32 {
    if position.rules().escape != Escape::Corner {
        return 0;
    }
    let attackers = position.board().attackers();
    corner_bars(position.size())
        .map(|bar| {
            let held = (attackers & bar).len();
            let barred = if held == bar.len() { weights.corner_barred } else { 0 };
            weights.corner_guard * held as i32 + barred
        })
        .into_iter()
        .sum()
}

/// The four quarters of the board, the middle rank and file in none.
fn quarters(size: BoardSize) -> [Bitboard; 4] {
    REGIONS[size.index()].0
}

/// The short diagonals that bar the corners: `a2 b1` up to 7x7, `a3 b2 c1` on the larger boards.
fn corner_bars(size: BoardSize) -> [Bitboard; 4] {
    REGIONS[size.index()].1
}

static REGIONS: LazyLock<[([Bitboard; 4], [Bitboard; 4]); BoardSize::ALL.len()]> = LazyLock::new(|| {
    BoardSize::ALL.map(|size| {
        let steps = if size.side() <= 7 { 1 } else { 2 };
        let quarter = |up: usize, right: usize| up.max(right) < size.side() / 2;
        (at_corners(size, quarter), at_corners(size, |up, right| up + right == steps))
    })
});

/// A region at each corner of a board: the squares that are `wanted` by their steps from the corner along its file and
/// its rank.
fn at_corners(size: BoardSize, wanted: impl Fn(usize, usize) -> bool) -> [Bitboard; 4] {
    let from = |far: bool, line: usize| if far { size.side() - 1 - line } else { line };
    [(false, false), (true, false), (false, true), (true, true)].map(|(top, last)| {
        let is_wanted = |&square: &Square| {
            let (file, rank) = square.file_and_rank(size);
            wanted(from(top, rank), from(last, file))
        };
        Bitboard::board(size).filter(is_wanted).collect()
    })
}

#[cfg(test)]
mod tests {
    use hnefi_engine::{Preset, Symmetry};
    use rand::RngExt;

    use super::*;
    use crate::rng_for;

    fn value(preset: Preset, fen: &str) -> i32 {
        let position = Position::from_fen(&preset.rules(), fen).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(position.outcome(), None, "{fen}");
        evaluate(&position)
    }

    #[test]
    fn symmetric_positions_have_equal_values() {
        for preset in [Preset::Brandubh, Preset::Tablut, Preset::Copenhagen] {
            let mut rng = rng_for(&[3]);
            let mut position = Position::start(&preset.rules());
            while position.outcome().is_none() && position.ply() < 60 {
                let value = evaluate(&position);
                for symmetry in Symmetry::ALL {
                    assert_eq!(evaluate(&position.transformed(symmetry)), value, "{}", position.fen());
                }
                let mv = position.random_move(|n| rng.random_range(0..n)).expect("the game goes on");
                position.play_unchecked(mv);
            }
        }
    }

    #[test]
    fn a_defending_man_and_an_open_line_are_worth_something() {
        let with = value(Preset::Copenhagen, "3aaaaa3/5a5/11/a4d4a/a3ddd3a/aa1ddkdd1aa/a3ddd3a/a4d4a/11/5a5/3aaaaa3 d");
        let without =
            value(Preset::Copenhagen, "3aaaaa3/5a5/11/a4d4a/a3ddd3a/aa1ddkdd1aa/a3d1d3a/a4d4a/11/5a5/3aaaaa3 d");
        assert!(with > without + 50, "{with} {without}");
        let home = value(Preset::Brandubh, "7/3a3/3a3/aa3aa/3d1k1/3a3/3a3 d");
        let shut = value(Preset::Brandubh, "7/7/3a3/aa3aa/3d1k1/6a/3a1a1 d");
        assert!(home > shut + 50, "{home} {shut}");
    }

    #[test]
    fn regions_lie_where_they_are_said_to() {
        let names = |set: Bitboard, size| set.map(|square| square.name(size)).collect::<Vec<_>>();
        assert_eq!(names(corner_bars(BoardSize::SEVEN)[0], BoardSize::SEVEN), ["b1", "a2"]);
        assert_eq!(names(corner_bars(BoardSize::ELEVEN)[3], BoardSize::ELEVEN), ["k9", "j10", "i11"]);
        for size in BoardSize::ALL {
            let n = size.side();
            assert!(quarters(size).iter().all(|quarter| quarter.len() == (n / 2) * (n / 2)));
        }
    }
}
