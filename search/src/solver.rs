//! Proven results and their propagation up the tree.
//!
//! One winning move proves a win; a draw or a loss needs the results of all moves. Every node has one parent and
//! its real history, so repetition and the ply cap need no special treatment.

use hnefi_engine::{Outcome, Side};
use hnefi_inference::Wdl;
use serde::{Deserialize, Serialize};

/// A proven result, from the view of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProvenResult {
    /// The side wins.
    Win,
    /// The game is drawn.
    Draw,
    /// The side loses.
    Loss,
}

impl ProvenResult {
    /// The result for chances of which one is 1, from the same side.
    fn of(certain: Wdl) -> ProvenResult {
        if certain == Wdl::WIN {
            ProvenResult::Win
        } else if certain == Wdl::LOSS {
            ProvenResult::Loss
        } else {
            ProvenResult::Draw
        }
    }

    /// The result as chances, from the same side.
    fn wdl(self) -> Wdl {
        match self {
            ProvenResult::Win => Wdl::WIN,
            ProvenResult::Draw => Wdl::DRAW,
            ProvenResult::Loss => Wdl::LOSS,
        }
    }
}

/// A proven result with its length, from the view of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Proven {
    /// The result under best play of both sides.
    pub result: ProvenResult,
    /// Upper bound of the plies until the winner ends the game; 255 stands for 255 or more.
    pub plies: u8,
}

impl Proven {
    /// The proven result of a move that ends the game with `outcome`, from the view of `viewer`.
    pub fn ending(outcome: Outcome, viewer: Side) -> Proven {
        Proven { result: ProvenResult::of(Wdl::of_winner(outcome.winner(), viewer)), plies: 1 }
    }

    /// Ten bits, never 0.
    pub(crate) const fn bits(self) -> u32 {
        (self.result as u32 + 1) << 8 | self.plies as u32
    }

    /// What has these bits, `None` for 0.
    pub(crate) const fn of_bits(bits: u32) -> Option<Proven> {
        let result = match bits >> 8 {
            0 => return None,
            1 => ProvenResult::Win,
            2 => ProvenResult::Draw,
            _ => ProvenResult::Loss,
        };
        Some(Proven { result, plies: bits as u8 })
    }

    /// The result of the move that led to a position with this result, from the view of the side that made the move.
    #[must_use]
    pub fn for_move_before(self) -> Proven {
        Proven { result: ProvenResult::of(self.wdl().flipped()), plies: self.plies.saturating_add(1) }
    }

    /// The result as chances, from the same side.
    pub fn wdl(self) -> Wdl {
        self.result.wdl()
    }

    /// Orders results by preference: fast wins, slow wins, draws, slow losses, fast losses.
    pub fn preference(self) -> i32 {
        match self.result {
            ProvenResult::Win => 1000 - i32::from(self.plies),
            ProvenResult::Draw => 0,
            ProvenResult::Loss => i32::from(self.plies) - 1000,
        }
    }
}

/// The result of a position from the results of its moves, both from the view of the side to move: a win if one move
/// wins, else `None` while a move has no proven result, else the best result. `None` without moves.
pub(super) fn prove(moves: impl Iterator<Item = Option<Proven>>) -> Option<Proven> {
    let mut best: Option<Proven> = None;
    let mut open = false;
    for result in moves {
        match result {
            None => open = true,
            Some(result) => {
                if best.is_none_or(|best| result.preference() > best.preference()) {
                    best = Some(result);
                }
            }
        }
    }
    best.filter(|best| !open || best.result == ProvenResult::Win)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn proven(result: ProvenResult, plies: u8) -> Option<Proven> {
        Some(Proven { result, plies })
    }

    #[test]
    fn one_win_is_enough_and_the_fastest_counts() {
        let moves = [None, proven(ProvenResult::Win, 5), proven(ProvenResult::Loss, 2), proven(ProvenResult::Win, 3)];
        assert_eq!(prove(moves.into_iter()), proven(ProvenResult::Win, 3));
    }

    #[test]
    fn draws_and_losses_need_every_move() {
        let open = [proven(ProvenResult::Draw, 1), None, proven(ProvenResult::Loss, 2)];
        assert_eq!(prove(open.into_iter()), None);
        let drawn = [proven(ProvenResult::Draw, 1), proven(ProvenResult::Loss, 6), proven(ProvenResult::Loss, 2)];
        assert_eq!(prove(drawn.into_iter()), proven(ProvenResult::Draw, 1));
        let lost = [proven(ProvenResult::Loss, 4), proven(ProvenResult::Loss, 6), proven(ProvenResult::Loss, 2)];
        assert_eq!(prove(lost.into_iter()), proven(ProvenResult::Loss, 6));
        assert_eq!(prove([].into_iter()), None);
    }

    #[test]
    fn the_viewpoint_changes_with_each_ply() {
        let win = Proven { result: ProvenResult::Win, plies: 1 };
        assert_eq!(win.for_move_before(), Proven { result: ProvenResult::Loss, plies: 2 });
        assert_eq!(win.for_move_before().for_move_before(), Proven { result: ProvenResult::Win, plies: 3 });
        let long = Proven { result: ProvenResult::Draw, plies: 255 };
        assert_eq!(long.for_move_before(), long);
    }
}
