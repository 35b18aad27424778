//! The largest activations of a tower, from which the steps of int8 values are made.
//!
//! They are measured on games that the network plays by its own policy, on every board that has a published ruleset:
//! random games hardly reach what play reaches, and activations beyond the largest are cut off. Some moves are any
//! legal ones, since a search looks at such moves too. The games need no data beside the network and are the same every
//! time, so that a checkpoint always makes the same evaluator on a machine.

use hnefi_engine::{BoardSize, Move, MoveList, NamedRules, Position};

use crate::evaluation::softmax;
use crate::mixing::Sequence;

/// The largest value of a layer on each board size, in the order of [`BoardSize::ALL`].
pub(super) type Peaks = [f32; BoardSize::ALL.len()];

/// Positions of each board size up to 11x11, and of each larger one, which take longer.
pub(super) const POSITIONS: [usize; 2] = [96, 48];

/// Plies of a game at most, so that there are several of them.
const PLIES: u32 = 48;

/// Share of the moves that are any legal ones.
const RANDOM_SHARE: f32 = 0.125;

/// How much further than the largest activation of these games the steps reach, since other games go a little beyond.
pub(super) const MARGIN: f32 = 1.125;

/// Games on one board, one after the other, whose moves are drawn from a policy.
pub(super) struct Games {
    start: Position,
    position: Position,
    sequence: Sequence,
    moves: MoveList,
    chances: Vec<f32>,
}

impl Games {
    /// The first game before its first move, by the first published ruleset on such a board, if there is one.
    pub fn new(size: BoardSize, seed: u64) -> Option<Games> {
        let rules = NamedRules::published().map(|rules| rules.rules()).find(|rules| rules.size() == size)?;
        let start = Position::start(&rules);
        let (position, moves) = (start.clone(), MoveList::new());
        Some(Games { start, position, sequence: Sequence::new(seed), moves, chances: Vec::new() })
    }

    /// The position now; the game goes on.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// Plays a move. `policy` is given the position and its legal moves and appends a logit for each.
    pub fn go_on(&mut self, policy: impl FnOnce(&Position, &[Move], &mut Vec<f32>)) {
        let Games { start, position, sequence, moves, chances } = self;
        position.legal_moves(moves);
        chances.clear();
        if sequence.next_unit() < RANDOM_SHARE {
            chances.resize(moves.len(), 0.0);
        } else {
            policy(position, moves, chances);
        }
        softmax(chances);
        let mut left = sequence.next_unit();
        let drawn = moves.iter().zip(chances.iter()).find(|&(_, &chance)| {
            left -= chance;
            left < 0.0
        });
        // Rounding may carry the point past the end: the last one then.
        if let Some(&mv) = drawn.map(|(mv, _)| mv).or(moves.last()) {
            position.play_unchecked(mv);
        }
        if position.outcome().is_some() || position.ply() >= PLIES {
            position.clone_from(start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The positions of games whose policy likes the first moves a little more than the last.
    fn positions(size: BoardSize, seed: u64) -> Vec<String> {
        let mut games = Games::new(size, seed).expect("a published ruleset");
        let mut next = || {
            let fen = games.position().fen();
            games.go_on(|_, moves, logits| logits.extend((0..moves.len()).map(|index| -0.01 * index as f32)));
            fen
        };
        (0..POSITIONS[0]).map(|_| next()).collect()
    }

    #[test]
    fn positions_differ_and_are_the_same_every_time() {
        for size in [BoardSize::SEVEN, BoardSize::NINE, BoardSize::ELEVEN] {
            let found = positions(size, 0);
            assert_eq!(found, positions(size, 0));
            assert_ne!(found, positions(size, 1));
            let mut distinct = found.clone();
            distinct.sort();
            distinct.dedup();
            assert!(distinct.len() > POSITIONS[0] / 2, "{size:?}: {}", distinct.len());
        }
    }

    #[test]
    fn what_the_policy_insists_on_is_played_but_for_some_moves() {
        let mut games = Games::new(BoardSize::SEVEN, 0).expect("Brandubh");
        let (mut asked, mut played) = (0, 0);
        for _ in 0..400 {
            let mut last = None;
            games.go_on(|_, moves, logits| {
                last = moves.last().copied();
                logits.extend((0..moves.len()).map(|index| index as f32 * 100.0));
            });
            asked += usize::from(last.is_some());
            // After the end of a game nothing has been played.
            played += usize::from(last.is_some() && games.position().last_move().is_none_or(|mv| Some(mv) == last));
        }
        assert_eq!(played, asked);
        assert!((320..380).contains(&asked), "asked for {asked} of 400 moves");
    }
}
