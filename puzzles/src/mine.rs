//! Puzzles in a game that was played.

use hnefi_engine::{Game, Move, Position, Preset, Symmetry};

use crate::puzzle::{Puzzle, Theme, identity};
use crate::{OutOfBudget, Solver};

/// What makes a puzzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MineParams {
    /// Plies of the longest forced win; odd.
    pub longest: u32,
    /// Most right moves of a puzzle.
    pub answers: usize,
    /// Positions before the end of a game that are looked at.
    pub last: usize,
    /// Positions that a question may cost; a question that costs more is no puzzle.
    pub budget: u64,
}

impl Default for MineParams {
    fn default() -> MineParams {
        MineParams { longest: 5, answers: 1, last: 16, budget: 1_000_000 }
    }
}

/// Fewest legal moves of a puzzle: with few moves an answer is found by chance.
const FEWEST_MOVES: usize = 10;

/// The puzzles among the last positions of a game under the rules of `rules`, latest first. A position stands for
/// itself, without its past.
pub fn mine(rules: Preset, game: &Game, params: &MineParams) -> Vec<Puzzle> {
    let winner = game.ending().and_then(|ending| ending.winner());
    // A position holds its whole past, so the game goes back, and only the texts stay.
    let mut back = game.clone();
    let positions = std::iter::successors(Some(game.position().fen()), |_| back.undo().map(|_| back.position().fen()));
    let last = (0..=game.len()).zip(positions).filter(|(left, _)| *left > 0 || game.position().outcome().is_none());
    last.take(params.last)
        .filter_map(|(left, fen)| {
            let position = Position::from_fen(&rules.rules(), &fen).ok()?;
            // Long wins cost most to look for, and are where somebody soon won.
            let is_likely = winner == Some(position.side_to_move()) && left <= params.longest as usize + 2;
            let longest = if is_likely { params.longest } else { params.longest.min(3) };
            puzzle(rules, &position, fen, &MineParams { longest, ..*params }).ok().flatten()
        })
        .collect()
}

/// The puzzle that a position is, if it is one.
fn puzzle(rules: Preset, position: &Position, fen: String, params: &MineParams) -> Result<Option<Puzzle>, OutOfBudget> {
    if position.outcome().is_some() || position.count_legal_moves() < FEWEST_MOVES {
        return Ok(None);
    }
    let mut solver = Solver::new(params.budget);
    let id = identity(rules, &fen);
    let whole = |theme, plies, answers: Vec<Move>, line| Puzzle { id, rules, fen, theme, plies, answers, line };
    match solver.shortest_win(position, params.longest)? {
        Some(1) => Ok(None),
        Some(plies) => {
            let answers = solver.winning_moves(position, plies)?;
            if answers.len() > params.answers {
                return Ok(None);
            }
            let Some(line) = solver.line(position, plies)? else { return Ok(None) };
            let mut end = position.clone();
            line.iter().for_each(|&mv| {
                end.advance(mv);
            });
            Ok(end.outcome().map(|outcome| whole(Theme::of_win(outcome), plies, answers, line)))
        }
        None => {
            // The plies within which the other moves lose: as few as show that there is one answer.
            for plies in [1, 3] {
                let safe = solver.safe_moves(position, plies, params.answers + 1)?;
                if safe.is_empty() {
                    return Ok(None);
                }
                if safe.len() > params.answers {
                    continue;
                }
                // A move that only puts off the end is no answer.
                for &mv in &safe {
                    let mut after = position.clone();
                    after.advance(mv);
                    if solver.shortest_win(&after, params.longest)?.is_some() {
                        return Ok(None);
                    }
                }
                let theme = Theme::of_only_move(position.side_to_move());
                let line = vec![safe[0]];
                return Ok(Some(whole(theme, plies, safe, line)));
            }
            Ok(None)
        }
    }
}

/// A text that is the same for all positions that the symmetries of the board make of one.
pub fn orbit(position: &Position) -> String {
    let fens = Symmetry::ALL.into_iter().map(|symmetry| position.transformed(symmetry).fen());
    fens.min().unwrap_or_default()
}
