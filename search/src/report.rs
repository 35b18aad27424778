//! The result of a search: the move to play, the root's value, the policy target and the principal variation.

use hnefi_engine::Move;
use hnefi_inference::Wdl;

use super::Search;
use super::finish::winning_move;
use super::policy::shares;
use super::solver::{Proven, ProvenResult};
use super::tree::{self, Edge, NodeId, generation_order};

/// One legal move of the root, from the view of the side to move.
#[derive(Clone, Debug, PartialEq)]
pub struct RootMove {
    /// The move.
    pub mv: Move,
    /// The network's prior, without noise.
    pub prior: f32,
    /// Playouts through the move, including playouts of a subtree kept by [`Search::advance`].
    pub visits: u32,
    /// Score of `wdl`, 0 to 1.
    pub score: Option<f32>,
    /// Value of the move; `None` for a move without visits or proof.
    pub wdl: Option<Wdl>,
    /// The move's proven result; a move that wins at once wins in 1 ply.
    pub proven: Option<Proven>,
}

/// The result of a search, from the view of the root's side to move.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchReport {
    /// The move to play: the best proven move of a proven root; else, with Gumbel, the most visited move, ties going to
    /// Gumbel + logit + sigma; with PUCT, the move with the highest lower confidence bound of its score.
    pub best: Move,
    /// Value of the root: proven, or under the improved policy (Gumbel), or the mean of the playouts (PUCT).
    pub wdl: Wdl,
    /// The evaluator's value of the root; the proven result if the root needed no evaluation.
    pub raw: Wdl,
    /// All legal moves in generation order.
    pub moves: Vec<RootMove>,
    /// The policy target: a weight for each legal move in generation order, summing to 1. It is the improved policy
    /// (Gumbel) or the shares of the visits (PUCT), without proven losses. If the root is proven, the best moves have
    /// all the weight: the fastest wins in equal parts, draws and the slowest losses in proportion to their priors.
    pub policy_target: Vec<(Move, f32)>,
    /// Playouts since `begin` or `advance`.
    pub playouts: u32,
    /// Evaluations since `begin` or `advance`.
    pub evaluations: u64,
    /// Nodes in the tree.
    pub nodes: u32,
    /// The principal variation, beginning with `best`.
    pub pv: Vec<Move>,
    /// Plies from the root to the deepest position evaluated since `begin` or `advance`.
    pub max_depth: u32,
    /// The root's proven result.
    pub proven: Option<Proven>,
}

impl Search {
    /// The present result of the search. Before the root is evaluated, priors are uniform and unknown values are those
    /// of a draw.
    ///
    /// # Panics
    /// When no search has begun.
    pub fn report(&self) -> SearchReport {
        let root = *self.tree.node(NodeId::ROOT);
        let edges = self.tree.edges(NodeId::ROOT);
        let admits = |edge: &Edge| match root.proven {
            Some(_) => is_best_proven(edges, edge),
            None => !edge.is_lost(),
        };
        let best = self.policy.best(&self.config, &self.tree, &admits);
        let best = best.expect("a root has legal moves, and one of them is not lost or all are proven");
        let unevaluated = root.proven.filter(|_| !root.is_evaluated());
        let policy = self.policy_weights();
        let wdl = root.proven.map_or_else(|| self.policy.value(&self.tree, &policy), Proven::wdl);
        let mut network = edges.to_vec();
        let mut policy_target: Vec<(Move, f32)> = edges.iter().map(|edge| edge.mv()).zip(policy).collect();
        if self.config.root.orders_moves() {
            network.sort_unstable_by_key(|edge| generation_order(edge.mv()));
            policy_target.sort_unstable_by_key(|&(mv, _)| generation_order(mv));
            tree::apply_temperature(&mut network, self.config.prior_temperature);
        }
        let moves = network.iter().map(|edge| {
            let wdl = self.tree.edge_value(edge);
            RootMove {
                mv: edge.mv(),
                prior: edge.prior,
                visits: edge.visits,
                score: wdl.map(Wdl::score),
                wdl,
                proven: edge.proven(),
            }
        });
        SearchReport {
            best: edges[best].mv(),
            wdl,
            raw: unevaluated.map_or(root.raw, Proven::wdl),
            moves: moves.collect(),
            policy_target,
            playouts: self.counted,
            evaluations: self.evaluations,
            nodes: self.tree.len() as u32,
            pv: self.principal_variation(best),
            max_depth: self.max_depth,
            proven: root.proven,
        }
    }

    /// The principal variation that begins with `mv`; empty if `mv` is not a move of the root.
    pub fn line(&self, mv: Move) -> Vec<Move> {
        let edges = if self.root.is_some() { self.tree.edges(NodeId::ROOT) } else { &[] };
        edges.iter().position(|edge| edge.mv() == mv).map_or_else(Vec::new, |index| self.principal_variation(index))
    }

    /// Weights of the policy target, one per legal move in generation order.
    fn policy_weights(&self) -> Vec<f32> {
        let edges = self.tree.edges(NodeId::ROOT);
        let Some(proven) = self.tree.node(NodeId::ROOT).proven else {
            return self.policy.target(&self.config, &self.tree);
        };
        shares(edges, |edge| match proven.result {
            _ if !is_best_proven(edges, edge) => 0.0,
            ProvenResult::Win => 1.0,
            ProvenResult::Draw | ProvenResult::Loss => edge.prior.max(1e-12),
        })
    }

    /// The principal variation: move `first` of the root, then each position's best proven move or its most visited
    /// one. A final win in one ply, which has no edge, is added.
    fn principal_variation(&self, first: usize) -> Vec<Move> {
        let mut line = Vec::new();
        let Some(root) = &self.root else { return line };
        let mut position = root.clone();
        let (mut id, mut index) = (NodeId::ROOT, first);
        loop {
            let edge = &self.tree.edges(id)[index];
            line.push(edge.mv());
            position.advance(edge.mv());
            let Some(child) = edge.child else {
                let unseen_win =
                    edge.proven().is_some_and(|proven| proven.result == ProvenResult::Loss && proven.plies == 2);
                line.extend(unseen_win.then(|| winning_move(&position)).flatten());
                return line;
            };
            let edges = self.tree.edges(child);
            let certain = self.tree.node(child).proven.is_some();
            let next = self.tree.most_visited(child, |edge| match certain {
                true => is_best_proven(edges, edge),
                false => edge.visits > 0 && !edge.is_lost(),
            });
            match next {
                Some(next) => (id, index) = (child, next),
                None => return line,
            }
        }
    }
}

/// Whether no other move of the node has a better proven result.
fn is_best_proven(edges: &[Edge], edge: &Edge) -> bool {
    let best = edges.iter().filter_map(|edge| edge.proven()).map(Proven::preference).max();
    edge.proven().is_some_and(|proven| Some(proven.preference()) == best)
}
