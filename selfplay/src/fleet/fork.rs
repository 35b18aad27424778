//! A fork: the first ply of a game that begins from an early position of an earlier game, and leaves it.
//!
//! Between three and ten moves, drawn at random, are each looked at once by the network, and the best one for the mover
//! is played (KataGo, arXiv 1902.10565, appendix D): variety that policy and search would not come upon, without losing
//! the game by it. The move that the earlier game made is left out, and so is every move that ends the game or allows
//! an immediate win.

use hnefi_engine::{Move, MoveList, Position};
use hnefi_inference::{EvalRequest, Wdl};

use super::chance::unit;
use super::opening::is_safe;
use crate::Rng;
use crate::record::PlyRecord;

/// The fewest and the most moves that are looked at.
const LOOKED_AT: [usize; 2] = [3, 10];

/// A fork being thought about.
pub(super) struct Fork {
    /// Moves to look at.
    candidates: Vec<Move>,
    /// What the network says of the position before them.
    before: Option<Wdl>,
    /// Candidates whose value is known.
    known: usize,
    /// The best score for the mover so far, and its move.
    best: Option<(f32, Move)>,
    /// The position after the candidate being looked at, with its legal moves.
    after: Position,
    replies: MoveList,
}

impl Fork {
    /// A fork at `position` with these legal moves; `None` when there is no other safe move than `left`. The position
    /// is unchanged afterwards.
    pub(super) fn new(position: &mut Position, moves: &[Move], left: Option<Move>, rng: &mut Rng) -> Option<Fork> {
        let [fewest, most] = LOOKED_AT;
        let wanted = fewest + (unit(rng) * (most - fewest + 1) as f64) as usize;
        let mut drawn: Vec<Move> = moves.iter().copied().filter(|&mv| Some(mv) != left).collect();
        let (mut candidates, mut replies) = (Vec::new(), MoveList::new());
        while candidates.len() < wanted && !drawn.is_empty() {
            let mv = drawn.swap_remove((unit(rng) * drawn.len() as f64) as usize);
            if is_safe(position, mv, &mut replies) {
                candidates.push(mv);
            }
        }
        let after = position.clone();
        (!candidates.is_empty()).then_some(Fork { candidates, before: None, known: 0, best: None, after, replies })
    }

    /// Whether the position before the candidates has still to be evaluated.
    pub(super) fn wants_root(&self) -> bool {
        self.before.is_none()
    }

    /// Takes the value of the position before the candidates.
    pub(super) fn note_root(&mut self, wdl: Wdl) {
        self.before = Some(wdl);
    }

    /// Turns to the next candidate; false when all are known.
    pub(super) fn look(&mut self, position: &Position) -> bool {
        let Some(&mv) = self.candidates.get(self.known) else { return false };
        self.after.clone_from(position);
        self.after.advance(mv);
        self.after.legal_moves(&mut self.replies);
        true
    }

    /// The request about the candidate being looked at.
    pub(super) fn request(&self) -> EvalRequest<'_> {
        EvalRequest { position: &self.after, moves: &self.replies, auxiliary: false }
    }

    /// Takes the value after the candidate being looked at, from the view of the side to move there, the opponent.
    pub(super) fn note(&mut self, wdl: Wdl) {
        let score = wdl.flipped().score();
        let mv = self.candidates[self.known];
        self.known += 1;
        if self.best.is_none_or(|(best, _)| score > best) {
            self.best = Some((score, mv));
        }
    }

    /// The ply, when all candidates are known. It trains nothing, like a ply of the opening.
    pub(super) fn ply(&self) -> Option<PlyRecord> {
        let (before, (_, mv)) = (self.before?, self.best?);
        let all = self.known == self.candidates.len();
        all.then_some(PlyRecord { mv, policy: Vec::new(), playouts: 0, raw: before, searched: before, trains: false })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use hnefi_engine::Preset;

    use super::*;
    use crate::rng_for;

    #[test]
    fn the_best_of_some_other_moves_is_played() {
        let mut position = Position::start(&Preset::Brandubh.rules());
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        let (mut counts, mut played) = (HashSet::new(), HashSet::new());
        for seed in 0..200 {
            let left = moves[seed as usize % moves.len()];
            let mut fork = Fork::new(&mut position, &moves, Some(left), &mut rng_for(&[seed])).unwrap();
            assert_eq!(position.ply(), 0);
            assert!(!fork.candidates.contains(&left));
            assert_eq!(fork.candidates.iter().collect::<HashSet<_>>().len(), fork.candidates.len(), "no move twice");
            assert!(fork.wants_root() && fork.ply().is_none());
            fork.note_root(Wdl::DRAW);
            // The opponent's chances fall up to the second candidate and rise from there.
            let mut seen = 0;
            while fork.look(&position) {
                assert_eq!(fork.request().position.last_move(), Some(fork.candidates[seen]));
                let win = 0.2 + 0.05 * (seen as f32 - 1.0).abs();
                assert!(fork.ply().is_none());
                fork.note(Wdl { win, draw: 0.0, loss: 1.0 - win });
                seen += 1;
            }
            let ply = fork.ply().unwrap();
            assert_eq!((ply.mv, ply.trains, ply.playouts), (fork.candidates[1], false, 0));
            assert_eq!((ply.raw, ply.searched), (Wdl::DRAW, Wdl::DRAW));
            counts.insert(seen);
            played.insert(ply.mv);
        }
        assert_eq!(counts, (LOOKED_AT[0]..=LOOKED_AT[1]).collect());
        assert!(played.len() > 20, "{} moves", played.len());
    }

    #[test]
    fn nothing_that_loses_at_once_is_tried() {
        // The king on b1 goes to the corner whatever the attackers do, unless they capture him from c1, which ends the
        // game.
        let rules = Preset::Brandubh.rules();
        let mut position = Position::from_fen(&rules, "7/3a3/3d3/aad2aa/3d3/3a3/1k1a3 a").unwrap();
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        assert!(Fork::new(&mut position, &moves, None, &mut rng_for(&[1])).is_none());
    }
}
