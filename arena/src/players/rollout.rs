//! A Monte Carlo baseline: upper confidence trees over random playouts.
//!
//! `rollout:N` makes N playouts for every move. A playout descends the tree by UCB1 (Kocsis and Szepesvári 2006), adds
//! one level below a leaf met for the second time, and plays the game out by uniformly random moves, which do not take
//! a win when there is one. The most visited move is played, or a win in one if there is any. With a few hundred
//! playouts and a hundred moves that is close to flat Monte Carlo, which is what a baseline of this kind is. (Playouts
//! that take the king's escape or capture would make it much stronger on the small board: `alphabeta:2` scores 98 %
//! against 200 playouts as they are, and 82 % against such.)

use hnefi_engine::{Game, GameResult, Move, MoveList, Position, Side, Square};
use hnefi_inference::Wdl;
use rand::RngExt;
use rand::seq::SliceRandom;

use super::{Choice, Player, PlayerError};
use hnefi_search::{Rng, winning_move};

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
            position.advance(self.nodes[node].mv);
        }
        let mover = self.path.len() % 2;
        // The points of the side that moved into the last node of the path: the opponent of the side to move there.
        let last_mover = position.side_to_move().opponent();
        let winner = play_out(position, rng);
        for (depth, &node) in self.path.iter().enumerate() {
            let by_last_mover = (depth + 1) % 2 == mover;
            self.nodes[node].visits += 1;
            let mover = if by_last_mover { last_mover } else { last_mover.opponent() };
            self.nodes[node].points += GameResult::of_winner(winner, mover).score();
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

    fn choose(&mut self, game: &Game, rng: &mut Rng) -> Result<Choice, PlayerError> {
        if game.ending().is_some() {
            return Err(PlayerError::game_over(&self.name, game));
        }
        let position = game.position();
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
fn play_out(position: &mut Position, rng: &mut Rng) -> Option<Side> {
    for _ in 0..PLIES_PER_SQUARE * position.size().squares() {
        if let Some(outcome) = position.outcome() {
            return outcome.winner();
        }
        let mv = position.random_move(|count| rng.random_range(0..count)).expect("the game goes on");
        position.advance(mv);
    }
    position.outcome().and_then(|outcome| outcome.winner())
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Preset;

    use super::*;
    use hnefi_search::rng_for;

    fn game(fen: &str) -> Game {
        Game::from_fen(&Preset::Brandubh.rules(), fen).expect("a legal position")
    }

    fn choose(playouts: u32, game: &Game) -> Choice {
        Rollout::new(playouts).choose(game, &mut rng_for(&[4])).expect("the game goes on")
    }

    #[test]
    fn takes_a_win_in_one_without_playouts() {
        for (fen, mv) in [("7/3a3/3a3/aa3aa/3d2k/3a3/3a3 d", "g3g1"), ("7/1ak4/7/2d4/7/7/3a3 a", "d1d6")] {
            let choice = choose(50, &game(fen));
            assert_eq!((choice.mv.text(game(fen).rules().size()), choice.wdl), (mv.to_owned(), Some(Wdl::WIN)));
        }
    }

    #[test]
    fn bars_the_way_of_a_king_who_is_about_to_go_home() {
        // The king on g3 goes to g1 next; only a man on g1's file or rank can stop him, and one stands ready on f2.
        let choice = choose(800, &game("3a3/7/1a5/a5a/3d2k/a4a1/3a3 a"));
        assert_eq!(choice.mv.text(hnefi_engine::BoardSize::SEVEN), "f2g2");
    }

    #[test]
    fn visits_add_up_and_points_are_shared() {
        let start = Game::new(&Preset::Brandubh.rules());
        let mut player = Rollout::new(300);
        let choice = player.choose(&start, &mut rng_for(&[4])).expect("the game goes on");
        assert_eq!((choice.playouts, player.nodes[0].visits), (300, 300));
        let replies = &player.nodes[player.nodes[0].children.clone()];
        assert_eq!(replies.len(), 40);
        assert_eq!(replies.iter().map(|node| node.visits).sum::<u32>(), 300);
        // The root's points belong to the side that is not to move.
        let points: f64 = replies.iter().map(|node| node.points).sum();
        assert!((points + player.nodes[0].points - 300.0).abs() < 1e-9);
    }

    #[test]
    fn a_single_playout_is_enough_for_a_legal_move() {
        let start = Game::new(&Preset::Copenhagen.rules());
        assert!(start.position().is_legal(choose(1, &start).mv));
    }
}
