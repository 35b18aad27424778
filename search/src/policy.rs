//! What distinguishes the two algorithms. The tree, the solver, the playouts and the threads know them only by
//! [`RootPolicy`]; `gumbel.rs` and `puct.rs` implement it.

use hnefi_inference::Wdl;

use super::config::{RootKind, SearchConfig};
use super::tree::{Edge, NodeId, Tree};
use crate::Rng;

/// How playouts are distributed and what the root's result is made of.
pub(super) trait RootPolicy: Send + Sync {
    /// Begins a search of a root with `moves` moves.
    fn begin(&mut self, _moves: usize, _noise: Option<&mut Rng>) {}

    /// Grants playouts; the first ones of a search if `is_first`.
    fn extend(&mut self, _config: &SearchConfig, _tree: &Tree, _playouts: u32, _is_first: bool) {}

    /// Whether playout `index` needs the values of all earlier playouts.
    fn waits_before(&self, _index: u32) -> bool {
        false
    }

    /// Index of the move that playout `index` follows from a node; `None` while all open moves wait for evaluations.
    fn choose(&mut self, config: &SearchConfig, tree: &Tree, id: NodeId, index: u32) -> Option<usize>;

    /// Index of the move to play, among the root's moves that `admits` names.
    fn best(&self, config: &SearchConfig, tree: &Tree, admits: &dyn Fn(&Edge) -> bool) -> Option<usize>;

    /// The policy target of a root without a proven result: a weight for each of its moves, in the tree's order.
    fn target(&self, config: &SearchConfig, tree: &Tree) -> Vec<f32>;

    /// The value of a root without a proven result and with this policy target.
    fn value(&self, tree: &Tree, target: &[f32]) -> Wdl;
}

impl RootKind {
    /// Whether the moves of a node are tempered and tried in the order of their priors, which lets a search go on with
    /// the subtree of a move.
    pub(super) fn orders_moves(self) -> bool {
        self == RootKind::Puct
    }
}

/// The weights of the moves, made to sum to 1.
pub(super) fn shares(edges: &[Edge], weight: impl Fn(&Edge) -> f32) -> Vec<f32> {
    let weights: Vec<f32> = edges.iter().map(weight).collect();
    let sum: f32 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}
