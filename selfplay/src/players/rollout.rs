//! A Monte Carlo baseline: upper confidence trees over random playouts.
//!
//! `rollout:N` makes N playouts for every move. A playout descends the tree by UCB1 (Kocsis and Szepesvári 2006), adds
//! one level below a leaf met for the second time, and plays the game out: the king's escape or capture is taken whenever
//! it can be done at once, all other moves are uniformly random. The most visited move is played. With a few hundred
//! playouts and a hundred moves that is close to flat Monte Carlo, which is what a baseline of this kind is.

use hnefi_engine::{Move, MoveList, Position, Side, Square};
use hnefi_models::Wdl;
use rand::RngExt;
use rand::seq::SliceRandom;

use super::{Choice, Player, PlayerError, immediate_finish, winning_move};
use crate::Rng;

/// Weight of the exploration term; sqrt(2) is UCB1's own.
const EXPLORATION: f64 = std::f64::consts::SQRT_2;

/// A playout that has gone on for this many plies per square of the board counts as a draw.
const PLIES_PER_SQUARE: usize = 6;

/// What stands in place of a move at the root.
const ROOT: Move = Move::new(Square::new(0), Square::new(0));

/// Monte Carlo tree search with random playouts.
#[derive(Debug)]
pub struct Rollout {
    name: String,
    playouts: u32,
    nodes: Vec<Node>,
    path: Vec<usize>,
}

/// A move in the tree; node 0 is the root and its move means nothing.
#[derive(Clone, Debug)]
struct Node {
    mv: Move,
    visits: u32,
    /// Points of the side that played `mv`: 1 a win, ½ a draw.
    points: f64,
    /// Where the replies begin; empty before the node is expanded.
    children: std::ops::Range<usize>,
}

impl Rollout {
    /// A player that makes `playouts` playouts a move, at least one.
    pub fn new(playouts: u32) -> Rollout {
        Rollout { name: format!("rollout:{playouts}"), playouts: playouts.max(1), nodes: Vec::new(), path: Vec::new() }
    }

    /// One playout from `position`, which is the root's and is played to the end.
    fn playout(&mut self, position: &mut Position, rng: &mut Rng) {
        let mut node = 0;
        self.path.clear();
        loop {
            self.path.push(node);
            if position.outcome().is_some() {
                break;
            }
            if self.nodes[node].children.is_empty() {
                if self.nodes[node].visits == 0 && node != 0 {
                    break;
                }
                self.expand(node, position, rng);
            }
            node = self.best_child(node);
            position.play_unchecked(self.nodes[node].mv);
        }
        let mover = self.path.len() % 2;
        // The points of whoever moved into the last node of the path: the opponent of the side to move there.
        let last_mover = position.side_to_move().opponent();
        let winner = finish_at_random(position, rng);
        for (depth, &node) in self.path.iter().enumerate() {
            let by_last_mover = (depth + 1) % 2 == mover;
            self.nodes[node].visits += 1;
            self.nodes[node].points += match winner {
                None => 0.5,
                Some(winner) => f64::from(u8::from((winner == last_mover) == by_last_mover)),
            };
        }
    }

    /// Adds every reply to `node`, in random order so that playouts too few for all of them are spread evenly.
    fn expand(&mut self, node: usize, position: &Position, rng: &mut Rng) {
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        let first = self.nodes.len();
        self.nodes.extend(moves.iter().map(|&mv| Node { mv, visits: 0, points: 0.0, children: 0..0 }));
        self.nodes[first..].shuffle(rng);
        self.nodes[node].children = first..self.nodes.len();
    }

    /// UCB1; a reply that was never tried comes first.
    fn best_child(&self, node: usize) -> usize {
        let explore = EXPLORATION * f64::from(self.nodes[node].visits.max(1)).ln().sqrt();
        let urgency = |child: &Node| {
            let visits = f64::from(child.visits);
            if child.visits == 0 { f64::INFINITY } else { child.points / visits + explore / visits.sqrt() }
        };
        let mut best = (self.nodes[node].children.start, f64::NEG_INFINITY);
        for index in self.nodes[node].children.clone() {
            let value = urgency(&self.nodes[index]);
            if value > best.1 {
                best = (index, value);
            }
        }
        best.0
    }
}

impl Player for Rollout {
    fn name(&self) -> &str {
        &self.name
    }

    fn new_game(&mut self) {}

    fn choose(&mut self, position: &Position, rng: &mut Rng) -> Result<Choice, PlayerError> {
        if position.outcome().is_some() {
            return Err(PlayerError::game_over(&self.name, position));
        }
        if let Some(mv) = winning_move(position) {
            return Ok(Choice { mv, wdl: Some(Wdl::WIN), playouts: 0, evaluations: 0 });
        }
        self.nodes.clear();
        self.nodes.push(Node { mv: ROOT, visits: 0, points: 0.0, children: 0..0 });
        let mut scratch = position.clone();
        for _ in 0..self.playouts {
            scratch.clone_from(position);
            self.playout(&mut scratch, rng);
        }
        let best = self.nodes[self.nodes[0].children.clone()]
            .iter()
            .max_by(|a, b| a.visits.cmp(&b.visits).then(a.points.total_cmp(&b.points)))
            .expect("a game that goes on has a legal move");
        let win = (best.points / f64::from(best.visits.max(1))) as f32;
        let wdl = Wdl { win, draw: 0.0, loss: 1.0 - win };
        Ok(Choice { mv: best.mv, wdl: Some(wdl), playouts: self.playouts, evaluations: u64::from(self.playouts) })
    }
}

/// Plays `position` out and returns the winner, `None` for a draw.
fn finish_at_random(position: &mut Position, rng: &mut Rng) -> Option<Side> {
    let mut scratch = MoveList::new();
    for _ in 0..PLIES_PER_SQUARE * position.size().squares() {
        if let Some(outcome) = position.outcome() {
            return outcome.winner();
        }
        if immediate_finish(position, &mut scratch).is_some() {
            return Some(position.side_to_move());
        }
        let mv = position.random_move(|count| rng.random_range(0..count)).expect("the game goes on");
        position.play_unchecked(mv);
    }
    position.outcome().and_then(|outcome| outcome.winner())
}
