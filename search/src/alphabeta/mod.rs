//! An honest baseline: alpha-beta search with a hand-made evaluation.
//!
//! The player `alphabeta:D` deepens iteratively to `D` plies with negamax alpha-beta, a transposition table, and moves
//! ordered by the table's move, captures, killers and history. At the horizon the evaluation of `evaluation.rs` speaks,
//! with two exceptions: if the side to move can take or bring home the king at once, it wins; and if the king threatens
//! to go home, the attackers' answers are tried first. There is no other quiescence search: a capture beyond the
//! horizon is only estimated.
//!
//! So that two games from one opening are not the same game, every move at the root is given a random bonus of up to
//! [`JITTER`] hundredths of a man, which decides between moves of nearly equal value.

mod evaluation;
mod ordering;
mod table;

use hnefi_engine::{GameResult, Move, MoveList, Outcome, Position};
use hnefi_inference::Wdl;
use rand::RngExt;

use self::ordering::Ordering;
use self::table::{Bound, TranspositionTable};
use crate::Rng;
use crate::finish::immediate_finish;

/// Value of a won game, less one for every ply it takes. Values are in hundredths of a defending man.
const WIN: i32 = 1_000_000;

/// Values beyond this are wins that the search has seen to the end.
const PROVEN: i32 = WIN - 10_000;
const MINUS_PROVEN: i32 = -PROVEN;

/// The largest random bonus of a move at the root.
const JITTER: i32 = 8;

/// Alpha-beta search to a fixed depth.
#[derive(Debug)]
pub struct AlphaBeta {
    depth: u32,
    search: Search,
}

/// What an alpha-beta search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlphaBetaFound {
    /// The move to play.
    pub mv: Move,
    /// The mover's chances, where the search has seen the end of the game; its evaluation says nothing of chances.
    pub wdl: Option<Wdl>,
    /// Positions evaluated.
    pub evaluations: u64,
}

impl AlphaBeta {
    /// A search of `depth` plies, at least one.
    pub fn new(depth: u32) -> AlphaBeta {
        let depth = depth.max(1);
        AlphaBeta { depth, search: Search::new(depth) }
    }

    /// The plies it searches.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Forgets everything about the game so far.
    pub fn new_game(&mut self) {
        self.search.table.clear();
        self.search.ordering = Ordering::default();
    }

    /// Searches a position; `None` when the game is over.
    pub fn search(&mut self, position: &Position, rng: &mut Rng) -> Option<AlphaBetaFound> {
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        if moves.is_empty() {
            return None;
        }
        let mut candidates: Vec<Candidate> =
            moves.iter().map(|&mv| Candidate { mv, bonus: rng.random_range(0..=JITTER), value: 0 }).collect();
        self.search.evaluations = 0;
        self.search.ordering.new_search(position.size());
        let mut scratch = position.clone();
        let mut best = (candidates[0].mv, 0);
        for depth in 1..=self.depth {
            best = self.search.root(&mut scratch, depth, &mut candidates);
            if best.1.abs() >= PROVEN {
                break;
            }
            // Stable: equals keep generation order, so the game depends on nothing but its random numbers.
            candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.value));
        }
        let (mv, value) = best;
        let wdl = match value {
            PROVEN.. => Some(Wdl::WIN),
            ..=MINUS_PROVEN => Some(Wdl::LOSS),
            _ => None,
        };
        Some(AlphaBetaFound { mv, wdl, evaluations: self.search.evaluations })
    }
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    mv: Move,
    bonus: i32,
    /// What the last iteration found; an upper bound where the move was refuted.
    value: i32,
}

/// The search and what it remembers between moves of one game.
#[derive(Debug)]
struct Search {
    table: TranspositionTable,
    ordering: Ordering,
    evaluations: u64,
}

impl Search {
    fn new(depth: u32) -> Search {
        // Room for the nodes of a search of that depth, within reason: 24 kB to 25 MB.
        Search {
            table: TranspositionTable::new((6 + 2 * depth).clamp(10, 20)),
            ordering: Ordering::default(),
            evaluations: 0,
        }
    }

    /// The best move and its value, every candidate searched to `depth` plies.
    fn root(&mut self, position: &mut Position, depth: u32, candidates: &mut [Candidate]) -> (Move, i32) {
        let mut best = (candidates[0].mv, -WIN);
        for candidate in candidates.iter_mut() {
            let undo = position.play_unchecked(candidate.mv);
            // The bonus never bends a proven result, where a faster win is worth a single point more.
            let alpha = (best.1 - candidate.bonus).max(-WIN);
            let value = -self.node(position, depth - 1, -WIN, -alpha, 1);
            position.undo(undo);
            candidate.value = if value.abs() >= PROVEN { value } else { value + candidate.bonus };
            if candidate.value > best.1 {
                best = (candidate.mv, candidate.value);
            }
        }
        best
    }

    /// Value of `position` for the side to move: exact within `alpha..beta`, a bound outside (fail-soft).
    fn node(&mut self, position: &mut Position, depth: u32, mut alpha: i32, beta: i32, ply: i32) -> i32 {
        if let Some(outcome) = position.outcome() {
            return value_of(outcome, position, ply);
        }
        let mut moves = MoveList::new();
        if immediate_finish(position, &mut moves).is_some() {
            return WIN - ply - 1;
        }
        if depth == 0 && !evaluation::king_threatens(position) {
            self.evaluations += 1;
            return evaluation::evaluate(position);
        }
        // A position met again has another future than when it was new, so the table speaks of new ones only.
        let key = position.hash();
        let use_table = position.occurrences() == 1;
        let mut expected = None;
        if use_table && let Some(entry) = self.table.get(key) {
            expected = Some(entry.mv);
            let value = table::counted_from_root(entry.value, ply);
            let decides = match entry.bound {
                Bound::Exact => true,
                Bound::AtLeast => value >= beta,
                Bound::AtMost => value <= alpha,
            };
            if entry.depth >= depth as u8 && decides {
                return value;
            }
        }
        position.legal_moves(&mut moves);
        let mut ranked = self.ordering.rank(position, &moves, expected, ply as usize);
        let (mut best, mut best_move, full_alpha) = (-WIN, moves[0], alpha);
        while let Some(mv) = ranked.next_best() {
            let undo = position.play_unchecked(mv);
            let value = -self.node(position, depth.saturating_sub(1), -beta, -alpha, ply + 1);
            position.undo(undo);
            if value > best {
                (best, best_move) = (value, mv);
                alpha = alpha.max(value);
                if alpha >= beta {
                    self.ordering.refuted_by(mv, position.side_to_move(), depth, ply as usize);
                    break;
                }
            }
        }
        if use_table {
            let bound = match best {
                _ if best >= beta => Bound::AtLeast,
                _ if best > full_alpha => Bound::Exact,
                _ => Bound::AtMost,
            };
            self.table.put(key, best_move, table::counted_from_node(best, ply), depth as u8, bound);
        }
        best
    }
}

/// Value of a finished game for the side that would be to move, `ply` plies below the root.
fn value_of(outcome: Outcome, position: &Position, ply: i32) -> i32 {
    match outcome.result_for(position.side_to_move()) {
        GameResult::Draw => 0,
        GameResult::Win => WIN - ply,
        GameResult::Loss => ply - WIN,
    }
}

#[cfg(test)]
mod tests;
