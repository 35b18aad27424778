//! Forced wins, proven by trying every move.
//!
//! There is no transposition table and no pruning by a heuristic, so an answer is exact for the given position with the
//! history that it knows. The cost grows with the number of moves to the power of the plies: on 11x11 a win in
//! three plies takes milliseconds, a win in five up to a second.

use hnefi_engine::{Move, MoveList, Position, Side};

/// The search was given up after its budget of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no answer within {0} positions")]
pub struct OutOfBudget(pub u64);

/// Searches for forced wins.
///
/// ```
/// use hnefi_engine::{Position, Preset};
/// use hnefi_puzzles::Solver;
///
/// // The king stands beside the edge with a corner in reach.
/// let position = Position::from_fen(&Preset::Brandubh.rules(), "7/1k5/7/a5a/7/7/7 d")?;
/// assert_eq!(Solver::new(100_000).shortest_win(&position, 3)?, Some(3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Solver {
    budget: u64,
    /// Positions whose moves were listed since the last question.
    positions: u64,
}

impl Solver {
    /// A solver that lists the moves of at most `budget` positions for one question.
    pub const fn new(budget: u64) -> Solver {
        Solver { budget, positions: 0 }
    }

    /// The fewest plies, at most `most`, in which the side to move wins against every defence; always odd. `None` when
    /// there is no such win or the game is over.
    ///
    /// # Errors
    /// When the budget is spent.
    pub fn shortest_win(&mut self, position: &Position, most: u32) -> Result<Option<u32>, OutOfBudget> {
        self.positions = 0;
        self.shortest(&mut position.clone(), most)
    }

    /// Every move after which the side to move wins within `plies` plies in all against every defence, in generation
    /// order.
    ///
    /// # Errors
    /// When the budget is spent.
    pub fn winning_moves(&mut self, position: &Position, plies: u32) -> Result<Vec<Move>, OutOfBudget> {
        self.positions = 0;
        let mut position = position.clone();
        self.filter(&mut position, usize::MAX, |solver, position, side| solver.is_lost(position, side, plies))
    }

    /// Whether the side to move wins within `plies` plies in all against every defence if it begins with the legal move
    /// `mv`.
    ///
    /// # Errors
    /// When the budget is spent.
    pub fn wins_by(&mut self, position: &Position, mv: Move, plies: u32) -> Result<bool, OutOfBudget> {
        self.positions = 0;
        let (mut after, side) = (position.clone(), position.side_to_move());
        after.advance(mv);
        self.is_lost(&mut after, side, plies)
    }

    /// Moves after which the other side has no forced win within `plies` plies, in generation order: the first `most`.
    ///
    /// # Errors
    /// When the budget is spent.
    pub fn safe_moves(&mut self, position: &Position, plies: u32, most: usize) -> Result<Vec<Move>, OutOfBudget> {
        self.positions = 0;
        let mut position = position.clone();
        self.filter(&mut position, most, |solver, position, side| match position.outcome() {
            Some(outcome) => Ok(outcome.winner() != Some(side.opponent())),
            None => Ok(!solver.wins(position, plies)?),
        })
    }

    /// The line of a win within `plies` plies: the winner takes the shortest way, the loser the longest. Of equal moves
    /// the first in generation order is taken. `None` when there is no such win.
    ///
    /// # Errors
    /// When the budget is spent.
    pub fn line(&mut self, position: &Position, plies: u32) -> Result<Option<Vec<Move>>, OutOfBudget> {
        self.positions = 0;
        let mut position = position.clone();
        let Some(mut left) = self.shortest(&mut position, plies)? else { return Ok(None) };
        let mut line = Vec::new();
        loop {
            let winning =
                self.filter(&mut position, 1, |solver, position, side| solver.is_lost(position, side, left))?;
            let Some(&mv) = winning.first() else { return Ok(None) };
            line.push(mv);
            position.advance(mv);
            if position.outcome().is_some() {
                return Ok(Some(line));
            }
            let reply = self.longest_defence(&mut position, left - 2)?;
            line.push(reply);
            position.advance(reply);
            let Some(next) = self.shortest(&mut position, left - 2)? else { return Ok(Some(line)) };
            left = next;
        }
    }

    /// The reply of the side to move, which loses, that puts off the end for longest, at most `plies` plies.
    ///
    /// # Errors
    /// When the budget is spent.
    pub fn defence(&mut self, position: &Position, plies: u32) -> Result<Option<Move>, OutOfBudget> {
        self.positions = 0;
        if position.outcome().is_some() {
            return Ok(None);
        }
        self.longest_defence(&mut position.clone(), plies).map(Some)
    }

    fn longest_defence(&mut self, position: &mut Position, plies: u32) -> Result<Move, OutOfBudget> {
        let mut moves = MoveList::new();
        self.list(position, &mut moves)?;
        let mut best = (0, moves[0]);
        for &mv in moves.iter() {
            let undo = position.play_unchecked(mv);
            let length = match position.outcome() {
                Some(_) => 0,
                // Beyond the horizon: the loser is not lost after all.
                None => self.shortest(position, plies)?.unwrap_or(u32::MAX),
            };
            position.undo(undo);
            if length > best.0 {
                best = (length, mv);
            }
        }
        Ok(best.1)
    }

    fn shortest(&mut self, position: &mut Position, most: u32) -> Result<Option<u32>, OutOfBudget> {
        if position.outcome().is_some() {
            return Ok(None);
        }
        for plies in (1..=most).step_by(2) {
            if self.wins(position, plies)? {
                return Ok(Some(plies));
            }
        }
        Ok(None)
    }

    /// The moves, the first `most`, after which `accepts` says yes; it is given the position after the move and the
    /// side that moved.
    fn filter(
        &mut self,
        position: &mut Position,
        most: usize,
        mut accepts: impl FnMut(&mut Solver, &mut Position, Side) -> Result<bool, OutOfBudget>,
    ) -> Result<Vec<Move>, OutOfBudget> {
        let (mut moves, side) = (MoveList::new(), position.side_to_move());
        self.list(position, &mut moves)?;
        let mut found = Vec::new();
        for &mv in moves.iter() {
            if found.len() == most {
                break;
            }
            let undo = position.play_unchecked(mv);
            let accepted = accepts(self, position, side)?;
            position.undo(undo);
            if accepted {
                found.push(mv);
            }
        }
        Ok(found)
    }

    /// Whether the position is won for `side`, which has just moved, within `plies` plies, that move included.
    fn is_lost(&mut self, position: &mut Position, side: Side, plies: u32) -> Result<bool, OutOfBudget> {
        match position.outcome() {
            Some(outcome) => Ok(plies >= 1 && outcome.winner() == Some(side)),
            None => Ok(plies >= 3 && self.loses(position, plies - 1, &mut None)?),
        }
    }

    fn list(&mut self, position: &Position, moves: &mut MoveList) -> Result<(), OutOfBudget> {
        self.positions += 1;
        if self.positions > self.budget {
            return Err(OutOfBudget(self.budget));
        }
        moves.clear();
        position.legal_moves(moves);
        Ok(())
    }

    /// Whether the side to move wins within `plies` plies, an odd number. The game is not over.
    fn wins(&mut self, position: &mut Position, plies: u32) -> Result<bool, OutOfBudget> {
        let (mut moves, side) = (MoveList::new(), position.side_to_move());
        self.list(position, &mut moves)?;
        let wins_at_once =
            |&mv: &Move| position.outcome_after(mv).is_some_and(|outcome| outcome.winner() == Some(side));
        if moves.iter().any(wins_at_once) {
            return Ok(true);
        }
        if plies < 3 {
            return Ok(false);
        }
        // The reply that answered the last move is likely to answer the next.
        let mut killer = None;
        for &mv in moves.iter() {
            let undo = position.play_unchecked(mv);
            let won = position.outcome().is_none() && self.loses(position, plies - 1, &mut killer)?;
            position.undo(undo);
            if won {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the side to move loses within `plies` plies, an even number, whatever it plays. The game is not over.
    /// `killer` is the reply to try first, and becomes the reply that saves the side to move.
    fn loses(&mut self, position: &mut Position, plies: u32, killer: &mut Option<Move>) -> Result<bool, OutOfBudget> {
        let (mut moves, side) = (MoveList::new(), position.side_to_move());
        self.list(position, &mut moves)?;
        let first = killer.filter(|killer| moves.contains(killer));
        for mv in first.into_iter().chain(moves.iter().copied().filter(|&mv| Some(mv) != first)) {
            let undo = position.play_unchecked(mv);
            let lost = match position.outcome() {
                Some(outcome) => outcome.winner() == Some(side.opponent()),
                None => self.wins(position, plies - 1)?,
            };
            position.undo(undo);
            if !lost {
                *killer = Some(mv);
                return Ok(false);
            }
        }
        Ok(true)
    }
}
