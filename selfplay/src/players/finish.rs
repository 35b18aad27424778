//! Moves that end the game at once, found without trying every move.
//!
//! The two common ends show on the board before they happen: the king stands on an open line to a goal, or enough
//! attackers stand around him and one more can arrive. Looking for just these costs a few set operations, so even a
//! random playout can afford it at every ply. Encirclements, edge forts and stalemates are not looked for.

use hnefi_engine::{Bitboard, KingCapture, KingOnEdge, Move, MoveList, Position, Rules, Side, Square};

/// A move by which the side to move wins at once by the king's escape or capture; `None` if there is none.
/// `scratch` is overwritten.
pub fn immediate_finish(position: &Position, scratch: &mut MoveList) -> Option<Move> {
    let king = position.board().king()?;
    match position.side_to_move() {
        Side::Defenders => {
            let goal = (position.king_destinations(Bitboard::of(king)) & position.king_goals()).first()?;
            let mv = Move::new(king, goal);
            // Where a repetition is forbidden or the game is already over, the way is not enough.
            position.is_legal(mv).then_some(mv)
        }
        Side::Attackers => {
            let beside = beside(Bitboard::of(king), position.size().side());
            let empty = beside.without(position.board().occupied());
            if empty.is_empty() || (beside & hostile_to_king(position)).len() < hostile_needed(position.rules()) {
                return None;
            }
            position.legal_moves(scratch);
            scratch
                .iter()
                .copied()
                .filter(|mv| empty.contains(mv.to()))
                .find(|&mv| position.outcome_after(mv).is_some_and(|outcome| outcome.winner() == Some(Side::Attackers)))
        }
    }
}

/// A move by which the side to move wins at once in any way; `None` if there is none. Tries every legal move.
pub fn winning_move(position: &Position) -> Option<Move> {
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    let side = position.side_to_move();
    moves.iter().copied().find(|&mv| position.outcome_after(mv).is_some_and(|outcome| outcome.winner() == Some(side)))
}

/// Squares that may take part in capturing the king: attackers, the empty throne, corners.
fn hostile_to_king(position: &Position) -> Bitboard {
    let (board, rules) = (position.board(), position.rules());
    let throne = Bitboard::of(Square::new(position.size().squares() / 2)).without(board.occupied());
    let corners = if rules.corners { position.king_goals() } else { Bitboard::EMPTY };
    board.attackers() | throne | corners
}

/// How many hostile squares there have to be beside the king before one more attacker may capture him.
fn hostile_needed(rules: &Rules) -> usize {
    match (rules.king_capture, rules.king_on_edge) {
        (KingCapture::Strong, KingOnEdge::Safe) => 3,
        (KingCapture::Strong, KingOnEdge::CapturedByThree) => 2,
        // Like a man, wherever he is not strong.
        (KingCapture::StrongNearThrone | KingCapture::Weak, _) => 1,
    }
}

/// The squares orthogonally beside a set, on a board with `side` squares along its edge.
pub(super) fn beside(set: Bitboard, side: usize) -> Bitboard {
    let board = (1_u128 << (side * side)) - 1;
    let first_file = (0..side).fold(0_u128, |files, rank| files | 1 << (rank * side));
    let last_file = first_file << (side - 1);
    let set = set.0;
    Bitboard((set << side | set >> side | (set & !last_file) << 1 | (set & !first_file) >> 1) & board)
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Preset;
    use rand::RngExt;

    use super::*;
    use crate::rng_for;

    #[test]
    fn beside_does_not_wrap_around_the_board() {
        for side in [7, 9, 11] {
            for index in 0..side * side {
                let (rank, file) = ((index / side) as i32, (index % side) as i32);
                let expected: Bitboard = [(0, 1), (1, 0), (0, -1), (-1, 0)]
                    .iter()
                    .map(|(dr, df)| (rank + dr, file + df))
                    .filter(|(r, f)| (0..side as i32).contains(r) && (0..side as i32).contains(f))
                    .map(|(r, f)| Square::new(r as usize * side + f as usize))
                    .collect();
                assert_eq!(beside(Bitboard::of(Square::new(index)), side), expected, "square {index} of {side}x{side}");
            }
        }
    }

    /// The shortcut against trying every move, on random games under every ruleset.
    #[test]
    fn finds_exactly_the_escapes_and_captures_that_trying_every_move_finds() {
        use hnefi_engine::Reason;
        let (mut found, mut scratch) = ([0; 2], MoveList::new());
        for (number, preset) in Preset::ALL.into_iter().enumerate() {
            for game in 0..30 {
                let mut rng = rng_for(&[7, number as u64, game]);
                let mut position = Position::start(&preset.rules());
                for _ in 0..300 {
                    if position.outcome().is_some() {
                        break;
                    }
                    let side = position.side_to_move();
                    let mut moves = MoveList::new();
                    position.legal_moves(&mut moves);
                    let expected = moves.iter().any(|&mv| {
                        position.outcome_after(mv).is_some_and(|outcome| {
                            outcome.winner() == Some(side)
                                && matches!(outcome.reason(), Reason::KingCaptured | Reason::KingEscaped)
                        })
                    });
                    let finish = immediate_finish(&position, &mut scratch);
                    let context = || format!("{}: {}", preset.name(), position.fen());
                    if expected {
                        let mv = finish.unwrap_or_else(|| panic!("no finish found in {}", context()));
                        let outcome = position.outcome_after(mv);
                        assert_eq!(outcome.and_then(|o| o.winner()), Some(side), "{}", context());
                        found[side.index()] += 1;
                    } else if let Some(mv) = finish {
                        // The capturing square may at once complete an encirclement, which is as good.
                        let outcome = position.outcome_after(mv);
                        assert_eq!(outcome.and_then(|o| o.winner()), Some(side), "{}", context());
                    }
                    let mv = position.random_move(|n| rng.random_range(0..n)).expect("the game goes on");
                    position.play_unchecked(mv);
                }
            }
        }
        assert!(found[0] > 50 && found[1] > 200, "too few finishes to test: {found:?}");
    }
}
