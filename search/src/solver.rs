//! Results known for certain, and how they travel up the tree.
//!
//! A win is proven by one winning move; a draw or a loss only by knowing all moves. The tree is a tree (no
//! transpositions) and every position in it has its real history, so repetition and the ply cap need no care.

use hnefi_engine::{Outcome, Side};
use hnefi_inference::Wdl;
use serde::{Deserialize, Serialize};

/// A certain result, as one side sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// That side wins.
    Win,
    /// Nobody wins.
    Draw,
    /// That side loses.
    Loss,
}

impl Verdict {
    /// The verdict that certain chances are, from the same side.
    fn of(certain: Wdl) -> Verdict {
        if certain == Wdl::WIN {
            Verdict::Win
        } else if certain == Wdl::LOSS {
            Verdict::Loss
        } else {
            Verdict::Draw
        }
    }

    /// The verdict as chances, from the same side.
    fn wdl(self) -> Wdl {
        match self {
            Verdict::Win => Wdl::WIN,
            Verdict::Draw => Wdl::DRAW,
            Verdict::Loss => Wdl::LOSS,
        }
    }
}

/// A certain result and how long it takes, as one side sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Proven {
    /// The result under best play of both sides.
    pub verdict: Verdict,
    /// Plies until the game ends, as far as proven: the winner ends it within so many. 255 stands for more, too.
    pub plies: u8,
}

impl Proven {
    /// The certain result of a move that ends the game with `outcome`, as `viewer` sees it.
    pub fn ending(outcome: Outcome, viewer: Side) -> Proven {
        Proven { verdict: Verdict::of(Wdl::of_outcome(outcome, viewer)), plies: 1 }
    }

    /// The result of the move that led to a position with this result, as its mover sees it.
    #[must_use]
    pub fn for_move_before(self) -> Proven {
        Proven { verdict: Verdict::of(self.wdl().flipped()), plies: self.plies.saturating_add(1) }
    }

    /// The result as chances, from the same side.
    pub fn wdl(self) -> Wdl {
        self.verdict.wdl()
    }

    /// Orders results as the side that has them likes them: wins, the faster the better, then draws, then losses, the
    /// slower the better.
    pub fn preference(self) -> i32 {
        match self.verdict {
            Verdict::Win => 1000 - i32::from(self.plies),
            Verdict::Draw => 0,
            Verdict::Loss => i32::from(self.plies) - 1000,
        }
    }
}

/// What the results of all moves, as the mover sees them, say of the position: a win as soon as one move wins,
/// otherwise nothing while a move is open, else the result the mover likes best. `None` for no moves at all.
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
    best.filter(|best| !open || best.verdict == Verdict::Win)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn proven(verdict: Verdict, plies: u8) -> Option<Proven> {
        Some(Proven { verdict, plies })
    }

    #[test]
    fn one_win_is_enough_and_the_fastest_counts() {
        let moves = [None, proven(Verdict::Win, 5), proven(Verdict::Loss, 2), proven(Verdict::Win, 3)];
        assert_eq!(prove(moves.into_iter()), proven(Verdict::Win, 3));
    }

    #[test]
    fn draws_and_losses_need_every_move() {
        let open = [proven(Verdict::Draw, 1), None, proven(Verdict::Loss, 2)];
        assert_eq!(prove(open.into_iter()), None);
        let drawn = [proven(Verdict::Draw, 1), proven(Verdict::Loss, 6), proven(Verdict::Loss, 2)];
        assert_eq!(prove(drawn.into_iter()), proven(Verdict::Draw, 1));
        let lost = [proven(Verdict::Loss, 4), proven(Verdict::Loss, 6), proven(Verdict::Loss, 2)];
        assert_eq!(prove(lost.into_iter()), proven(Verdict::Loss, 6));
        assert_eq!(prove([].into_iter()), None);
    }

    #[test]
    fn the_viewpoint_changes_with_each_ply() {
        let win = Proven { verdict: Verdict::Win, plies: 1 };
        assert_eq!(win.for_move_before(), Proven { verdict: Verdict::Loss, plies: 2 });
        assert_eq!(win.for_move_before().for_move_before(), Proven { verdict: Verdict::Win, plies: 3 });
        let long = Proven { verdict: Verdict::Draw, plies: 255 };
        assert_eq!(long.for_move_before(), long);
    }
}
