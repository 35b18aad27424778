//! The tree: nodes in a flat array and their edges in contiguous runs, reused from search to search.
//!
//! A node is a position that was selected for evaluation; its moves are a run of edges, at first in generation order. A
//! move that ends the game, or that the opponent answers with an immediate win, has a proven result and never gets a
//! node.
//!
//! PUCT without noise visits the moves of a node in the order of their priors, so the next untouched move is the one
//! with the highest prior. The tree keeps the touched moves in front and that one behind them, and a playout reads a
//! handful of edges per node instead of a hundred ([`Tree::moves_in_play`]).
//!
//! Every node has one parent, so its history is certain, and with it repetition, clocks and proofs. But a position that
//! another order of moves has reached before needs no evaluation: it begins with what the tree found there
//! ([`Tree::position`]).

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use hnefi_engine::{Move, MoveList, Position};
use hnefi_inference::Wdl;

use super::edge_arena::{EdgeArena, EdgeOffset};
use super::solver::{Proven, ProvenResult, prove};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeId(std::num::NonZeroU32);

impl NodeId {
    /// The first node of every tree.
    pub(super) const ROOT: NodeId = NodeId(std::num::NonZeroU32::MIN);

    fn new(index: usize) -> NodeId {
        let id = u32::try_from(index + 1).ok().and_then(std::num::NonZeroU32::new);
        NodeId(id.expect("max_nodes keeps the count of nodes far below 2^32"))
    }

    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A move of a node; values are from the view of the side that makes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// The move's bits; above them its proven result, as [`Proven::bits`] has it, 0 for none.
    packed: u32,
    /// The network's prior, without noise.
    pub(super) prior: f32,
    /// Playouts through the move that are backed up.
    pub(super) visits: u32,
    /// The node after the move, once a playout has visited it.
    pub(super) child: Option<NodeId>,
}

const _: () = assert!(size_of::<Edge>() == 16, "edges are most of the memory");

impl Edge {
    fn new(mv: Move, proven: Option<Proven>) -> Edge {
        let mut edge = Edge { packed: mv.bits(), prior: 0.0, visits: 0, child: None };
        edge.set_proven(proven);
        edge
    }

    pub(super) const fn mv(&self) -> Move {
        Move::of_bits(self.packed)
    }

    pub(super) fn proven(&self) -> Option<Proven> {
        Proven::of_bits(self.packed >> Move::BITS)
    }

    pub(super) fn set_proven(&mut self, proven: Option<Proven>) {
        let bits = proven.map_or(0, Proven::bits);
        self.packed = self.mv().bits() | bits << Move::BITS;
    }

    /// Whether the move is a proven loss, which no playout follows.
    pub(super) fn is_lost(&self) -> bool {
        matches!(self.proven(), Some(Proven { result: ProvenResult::Loss, .. }))
    }

    /// Whether the move has a child or a proven result.
    fn is_touched(&self) -> bool {
        self.child.is_some() || self.proven().is_some()
    }
}

/// A position; values are from the view of the side to move.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    first_edge: EdgeOffset,
    edge_count: u16,
    /// Outstanding leaves at or below this node.
    pub(super) pending: u16,
    /// 0 until evaluated; then 1 plus the number of playouts below.
    pub(super) visits: u32,
    /// [`Position::hash`] of an evaluated position.
    hash: u64,
    /// The evaluator's value.
    pub(super) raw: Wdl,
    /// The value of the subtree; see [`Tree::refresh`].
    pub(super) value: Wdl,
    /// Plies to the end of the game, the mean over the subtree.
    pub(super) moves_left: f32,
    /// Plies to the end of the game, the evaluator's estimate for this position.
    pub(super) raw_moves_left: f32,
    pub(super) proven: Option<Proven>,
}

impl Node {
    pub(super) fn is_evaluated(&self) -> bool {
        self.visits > 0
    }

    /// Playouts below this node that are backed up.
    pub(super) fn playouts(&self) -> u32 {
        self.visits.saturating_sub(1)
    }
}

/// Makes the edges of a position, whose legal moves are `moves`: every move is tested for an immediate end, up to the
/// first that wins. Returns the position's result (from the view of its side to move) if the immediate ends prove it.
pub(super) fn edges_with_results(position: &Position, moves: &[Move], edges: &mut Vec<Edge>) -> Option<Proven> {
    let mover = position.side_to_move();
    edges.clear();
    for &mv in moves {
        let proven = position.outcome_after(mv).map(|outcome| Proven::ending(outcome, mover));
        if proven.is_some_and(|proven| proven.result == ProvenResult::Win) {
            return proven;
        }
        edges.push(Edge::new(mv, proven));
    }
    prove(edges.iter().map(|edge| edge.proven()))
}

/// Orders the edges of a newly evaluated node: proven moves, then the one with the highest prior.
pub(super) fn order_edges(edges: &mut [Edge]) {
    let mut touched = 0;
    for index in 0..edges.len() {
        if edges[index].is_touched() {
            edges.swap(touched, index);
            touched += 1;
        }
    }
    order_next_edge(edges);
}

/// Moves the untouched edge with the highest prior behind the touched edges.
fn order_next_edge(edges: &mut [Edge]) {
    let Some(place) = edges.iter().position(|edge| !edge.is_touched()) else { return };
    let next = (place + 1..edges.len()).fold(place, |best, at| match edges[at].prior > edges[best].prior {
        true => at,
        false => best,
    });
    edges.swap(place, next);
}

/// Index of the first of the admitted edges with the highest `key`, which is given the index, too.
#[inline]
pub(super) fn first_with_highest<K: PartialOrd>(
    edges: &[Edge],
    admits: impl Fn(&Edge) -> bool,
    key: impl Fn(usize, &Edge) -> K,
) -> Option<usize> {
    let mut best: Option<(usize, K)> = None;
    for (index, edge) in edges.iter().enumerate().filter(|(_, edge)| admits(edge)) {
        let key = key(index, edge);
        if best.as_ref().is_none_or(|(_, best)| key > *best) {
            best = Some((index, key));
        }
    }
    best.map(|(index, _)| index)
}

/// Raises priors to `power` and normalises them. The search uses the power 1 / prior_temperature.
pub(super) fn apply_temperature(edges: &mut [Edge], power: f32) {
    if power == 1.0 {
        return;
    }
    edges.iter_mut().for_each(|edge| edge.prior = edge.prior.powf(power));
    let sum: f32 = edges.iter().map(|edge| edge.prior).sum();
    edges.iter_mut().filter(|_| sum > 0.0).for_each(|edge| edge.prior /= sum);
}

/// Hashes a key that is a hash already.
#[derive(Clone, Debug, Default)]
struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are u64");
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    edges: EdgeArena<Edge>,
    /// The first evaluated node of each board and side to move, where moves are ordered.
    first: HashMap<u64, NodeId, BuildHasherDefault<AlreadyHashed>>,
    /// Whether moves are ordered by prior.
    by_prior: bool,
}

impl Tree {
    /// An empty tree; with `by_prior`, moves are tried in the order of their priors.
    pub(super) fn new(by_prior: bool) -> Tree {
        Tree { by_prior, ..Tree::default() }
    }

    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.edges.clear();
        self.first.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    pub(super) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.index()]
    }

    pub(super) fn edges(&self, id: NodeId) -> &[Edge] {
        let node = &self.nodes[id.index()];
        self.edges.get(node.first_edge, usize::from(node.edge_count))
    }

    pub(super) fn edges_mut(&mut self, id: NodeId) -> &mut [Edge] {
        let node = &self.nodes[id.index()];
        self.edges.get_mut(node.first_edge, usize::from(node.edge_count))
    }

    /// The moves of a node that a playout may choose: all touched moves and, at the end, the untouched move with the
    /// highest prior. All moves of a node without an order.
    pub(super) fn moves_in_play(&self, id: NodeId) -> &[Edge] {
        let edges = self.edges(id);
        if !self.is_ordered(id) {
            return edges;
        }
        let touched = edges.iter().position(|edge| !edge.is_touched()).unwrap_or(edges.len());
        &edges[..edges.len().min(touched + 1)]
    }

    /// Moves the untouched move with the highest prior behind the touched moves, where the moves are ordered.
    pub(super) fn order_next_edge(&mut self, id: NodeId) {
        if self.is_ordered(id) {
            order_next_edge(self.edges_mut(id));
        }
    }

    /// Whether the moves of a node are ordered. A root has them in generation order until it is evaluated.
    fn is_ordered(&self, id: NodeId) -> bool {
        self.by_prior && self.node(id).is_evaluated()
    }

    /// Makes `position` the root of an empty tree. Every move is tested for an immediate end and kept, so that a report
    /// shows all winning moves.
    pub(super) fn set_root(&mut self, position: &Position, moves: &MoveList) {
        self.clear();
        let mover = position.side_to_move();
        let edges = moves.iter().map(|&mv| {
            let proven = position.outcome_after(mv).map(|outcome| Proven::ending(outcome, mover));
            Edge { prior: 1.0 / moves.len() as f32, ..Edge::new(mv, proven) }
        });
        let edges: Vec<Edge> = edges.collect();
        let root = self.add();
        self.attach(root, &edges);
        self.prove_node(root);
    }

    /// Makes an evaluated node known as a node of this board and side to move.
    pub(super) fn index_position(&mut self, id: NodeId, hash: u64) {
        self.node_mut(id).hash = hash;
        if self.by_prior {
            self.first.entry(hash).or_insert(id);
        }
    }

    /// The first node of a position with this hash, where another order of moves has reached it before.
    pub(super) fn position(&self, hash: u64) -> Option<NodeId> {
        self.first.get(&hash).copied()
    }

    pub(super) fn attach(&mut self, id: NodeId, edges: &[Edge]) {
        let first_edge = self.edges.begin(edges.len());
        self.edges.extend(edges);
        let node = self.node_mut(id);
        (node.first_edge, node.edge_count) = (first_edge, edges.len() as u16);
    }

    /// Removes a node without edges that nothing names any more, if it is the newest one.
    pub(super) fn remove_newest(&mut self, id: NodeId) {
        if id.index() + 1 == self.nodes.len() {
            self.nodes.pop();
        }
    }

    /// Adds a node without edges, which it gets with its evaluation.
    pub(super) fn add(&mut self) -> NodeId {
        self.nodes.push(Node {
            first_edge: self.edges.begin(0),
            edge_count: 0,
            pending: 0,
            visits: 0,
            hash: 0,
            raw: Wdl::DRAW,
            value: Wdl::DRAW,
            moves_left: 0.0,
            raw_moves_left: 0.0,
            proven: None,
        });
        NodeId::new(self.nodes.len() - 1)
    }

    /// The value of a move, from the view of the side that makes it: its proven result, else the value of its child;
    /// `None` for an unvisited move.
    pub(super) fn edge_value(&self, edge: &Edge) -> Option<Wdl> {
        if let Some(proven) = edge.proven() {
            return Some(proven.wdl());
        }
        let child = self.node(edge.child?);
        child.is_evaluated().then(|| child.value.flipped())
    }

    /// Plies to the end of the game, including the move; `None` for an unvisited move.
    pub(super) fn edge_moves_left(&self, edge: &Edge) -> Option<f32> {
        if let Some(proven) = edge.proven() {
            return Some(f32::from(proven.plies));
        }
        let child = self.node(edge.child?);
        child.is_evaluated().then_some(child.moves_left + 1.0)
    }

    /// Outstanding playouts through a move.
    pub(super) fn edge_pending(&self, edge: &Edge) -> u32 {
        edge.child.map_or(0, |child| u32::from(self.node(child).pending))
    }

    /// Whether a playout may follow the move: it is not a proven loss, and its position does not wait for an
    /// evaluation.
    pub(super) fn is_open(&self, edge: &Edge) -> bool {
        let awaited = edge.child.is_some_and(|child| {
            let child = self.node(child);
            !child.is_evaluated() && child.pending > 0
        });
        !edge.is_lost() && !awaited
    }

    /// Computes a node's value: the mean of its raw value and its moves' values, each move weighted by its visits. A
    /// proven loss has weight 0, because it would not be played, however often it was visited before the proof. A
    /// proven node has its exact value.
    pub(super) fn refresh(&mut self, id: NodeId) {
        let node = self.node(id);
        if node.proven.is_some() {
            return;
        }
        let (mut sum, mut moves_left, mut weight) = (node.raw, node.raw_moves_left, 1.0);
        for edge in self.moves_in_play(id).iter().filter(|edge| edge.visits > 0 && !edge.is_lost()) {
            if let Some(value) = self.edge_value(edge) {
                let visits = edge.visits as f32;
                sum.win += visits * value.win;
                sum.draw += visits * value.draw;
                sum.loss += visits * value.loss;
                moves_left += visits * self.edge_moves_left(edge).unwrap_or_default();
                weight += visits;
            }
        }
        self.node_mut(id).moves_left = moves_left / weight;
        self.node_mut(id).value = Wdl { win: sum.win / weight, draw: sum.draw / weight, loss: sum.loss / weight };
    }

    /// The most visited of the admitted moves; ties go to the higher score, then to the higher prior.
    pub(super) fn most_visited(&self, id: NodeId, admits: impl Fn(&Edge) -> bool) -> Option<usize> {
        let key = |_, edge: &Edge| (edge.visits, self.edge_value(edge).map_or(-1.0, Wdl::score), edge.prior);
        first_with_highest(self.edges(id), admits, key)
    }

    /// Proves a node from the proven results of its moves, if they suffice, and returns the result.
    pub(super) fn prove_node(&mut self, id: NodeId) -> Option<Proven> {
        let proven = prove(self.edges(id).iter().map(|edge| edge.proven()));
        if let Some(proven) = proven {
            let node = self.node_mut(id);
            node.proven = Some(proven);
            node.value = proven.wdl();
            node.moves_left = f32::from(proven.plies);
        }
        proven
    }

    /// Fills `kept` with the subtree under `id`, which becomes its root. No leaf is outstanding in it.
    pub(super) fn copy_subtree(&self, id: NodeId, kept: &mut Tree) {
        kept.clear();
        kept.nodes.push(Node { pending: 0, ..*self.node(id) });
        // Breadth first: `next` runs behind the nodes being added. Until then a node names its edges in the old tree.
        let mut next = 0;
        while next < kept.nodes.len() {
            let node = kept.nodes[next];
            if node.is_evaluated() {
                kept.index_position(NodeId::new(next), node.hash);
            }
            let count = usize::from(node.edge_count);
            let first_edge = kept.edges.begin(count);
            kept.edges.extend(self.edges.get(node.first_edge, count));
            kept.nodes[next].first_edge = first_edge;
            for edge in kept.edges.get_mut(first_edge, count) {
                if let Some(child) = edge.child {
                    kept.nodes.push(Node { pending: 0, ..*self.node(child) });
                    edge.child = Some(NodeId::new(kept.nodes.len() - 1));
                }
            }
            next += 1;
        }
    }
}

/// Sort key of the generation order: by origin, then by destination.
pub(super) fn generation_order(mv: Move) -> (usize, usize) {
    (mv.from().index(), mv.to().index())
}

#[cfg(test)]
impl Tree {
    /// A root with the given evaluation and with moves of the given prior, visits, mean value and proven result, to
    /// check formulae against figures worked out by hand.
    pub(super) fn by_hand(raw: Wdl, moves: &[(f32, u32, Option<Wdl>, Option<Proven>)]) -> Tree {
        use hnefi_engine::Square;
        let visits = 1 + moves.iter().map(|&(_, visits, ..)| visits).sum::<u32>();
        let mut tree = Tree::default();
        let mut add = |wdl, visits| {
            let id = tree.add();
            let node = tree.node_mut(id);
            (node.visits, node.raw, node.value) = (visits, wdl, wdl);
            id
        };
        let root = add(raw, visits);
        let edges = moves.iter().enumerate().map(|(index, &(prior, visits, wdl, proven))| {
            let mv = Move::new(Square::new(0), Square::new(index + 1));
            let child = wdl.map(|wdl| add(wdl.flipped(), visits));
            Edge { prior, visits, child, ..Edge::new(mv, proven) }
        });
        let edges: Vec<Edge> = edges.collect();
        tree.attach(root, &edges);
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_the_mean_over_visits_without_lost_moves() {
        let lost = Some(Proven { result: ProvenResult::Loss, plies: 2 });
        let drawn = Some(Proven { result: ProvenResult::Draw, plies: 1 });
        let wdl = |win, draw, loss| Wdl { win, draw, loss };
        let mut tree = Tree::by_hand(
            wdl(0.5, 0.25, 0.25),
            &[
                (0.5, 2, Some(wdl(0.25, 0.5, 0.25)), None),
                (0.3, 5, Some(wdl(1.0, 0.0, 0.0)), lost),
                (0.1, 1, None, drawn),
                (0.1, 0, None, None),
            ],
        );
        tree.refresh(NodeId::ROOT);
        // win (0.5 + 2 * 0.25 + 0) / 4, draw (0.25 + 2 * 0.5 + 1) / 4, loss (0.25 + 2 * 0.25 + 0) / 4
        assert_eq!(tree.node(NodeId::ROOT).value, wdl(0.25, 0.5625, 0.1875));
        assert_eq!(tree.prove_node(NodeId::ROOT), None);
    }
}
