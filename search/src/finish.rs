//! Moves that end the game at once, found without trying every move.
//!
//! The two common ends show on the board before they happen: the king stands on an open line to a goal, or enough
//! attackers stand around him and one more can arrive. Looking for just these costs a few set operations, so a search
//! can afford it at every node. Encirclements, edge forts and stalemates are not looked for.

use hnefi_engine::{Bitboard, KingCapture, KingOnEdge, Move, MoveList, Piece, Position, Rules, Side};

/// A move by which the side to move wins at once by the king's escape or capture; `None` if there is none.
/// `scratch` is overwritten.
pub(crate) fn immediate_finish(position: &Position, scratch: &mut MoveList) -> Option<Move> {
    let king = position.board().king()?;
    match position.side_to_move() {
        Side::Defenders => {
            let goal = (position.king_destinations(Bitboard::of(king)) & position.king_goals()).first()?;
            let mv = Move::new(king, goal);
            // Where a repetition is forbidden or the game is already over, the way is not enough.
            position.is_legal(mv).then_some(mv)
        }
        Side::Attackers => {
            let beside = Bitboard::of(king).neighbours(position.size());
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

/// Squares that may take part in capturing the king: attackers, and special squares that are hostile to him.
fn hostile_to_king(position: &Position) -> Bitboard {
    position.board().attackers() | position.rules().hostile_squares(Piece::King)
}

/// How many hostile squares there have to be beside the king before one more attacker may capture him.
fn hostile_needed(rules: &Rules) -> usize {
    match (rules.king_capture, rules.king_on_edge) {
        (KingCapture::Strong, KingOnEdge::Safe) => 3,
        // In a corner of the board there are two squares beside him.
        (KingCapture::Strong, KingOnEdge::CapturedByThree) => 1,
        // Like a man, wherever he is not strong.
        (KingCapture::StrongNearThrone | KingCapture::Weak, _) => 1,
    }
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Preset;
    use rand::RngExt;

    use super::*;
    use crate::rng_for;

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
                    // The capturing square may at once complete an encirclement, which is as good.
                    let winner = finish.and_then(|mv| position.outcome_after(mv)?.winner());
                    assert_eq!(winner, finish.map(|_| side), "{}: {}", preset.name(), position.fen());
                    assert!(finish.is_some() || !expected, "no finish found: {}: {}", preset.name(), position.fen());
                    found[side.index()] += usize::from(expected);
                    let mv = position.random_move(|n| rng.random_range(0..n)).expect("the game goes on");
                    position.advance(mv);
                }
            }
        }
        assert!(found[0] > 50 && found[1] > 200, "too few finishes to test: {found:?}");
    }
}
