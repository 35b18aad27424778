//! Monte Carlo tree search in two halves: [`Search::select_leaf`] gives a position to evaluate, [`Search::expand`] takes the
//! evaluation. The search never calls an evaluator, so one caller batches the leaves of many games and another looks
//! answers up in a cache first.
//!
//! Two ways to search share the tree and the solver: [`RootKind::Gumbel`] for budgets known in advance and
//! [`RootKind::Puct`] for clocks and analysis. Every new position has all its moves tested for an immediate end; what is
//! known for certain travels up the tree exactly, costs no evaluation and no playout, and moves that certainly lose are
//! not followed.
//!
//! A **playout** is one way down from the root to a new position (or to a draw known for certain) and back up. The root's
//! own evaluation is not one.

mod config;
mod gumbel;
#[cfg(test)]
mod invariants;
mod leaf;
mod noise;
mod puct;
mod report;
mod solver;
mod text;
mod tree;

use hnefi_engine::{Move, MoveList, Position};
use hnefi_models::{EvalError, EvalRequest, Evaluation, Evaluations, Evaluator};

use crate::Rng;
use gumbel::Schedule;
use leaf::{Leaves, Step};
use tree::{Growth, NodeId, Tree};

pub use config::{ConfigFault, RootKind, SearchConfig};
pub use leaf::LeafId;
pub use report::{RootMove, SearchReport};
pub use solver::{Proven, Verdict};

/// What [`Search::select_leaf`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// A position to evaluate; answer with [`Search::expand`] or [`Search::cancel`].
    Leaf(LeafId),
    /// The playout ended in a known result and has been counted; ask again.
    Settled,
    /// The next playout waits for the answer to an outstanding leaf.
    Blocked,
    /// The search is over; outstanding leaves may still be answered.
    Finished,
}

/// A search, reused from move to move and game to game so that playouts allocate nothing.
pub struct Search {
    config: SearchConfig,
    tree: Tree,
    /// Memory for the subtree that [`Search::advance`] keeps.
    spare: Tree,
    root: Option<Position>,
    leaves: Leaves,
    /// Gumbel variables or Dirichlet noise over the root's moves; empty without noise.
    noise: Vec<f32>,
    schedule: Schedule,
    /// Playouts granted, begun (outstanding ones included) and counted, since `begin` or `advance`.
    budget: u32,
    begun: u32,
    counted: u32,
    evaluations: u64,
    max_depth: u32,
    /// Whether the nodes are used up.
    full: bool,
    /// Weights of one node's moves.
    scratch: Vec<f32>,
}

impl Search {
    /// A search with nothing to do yet.
    pub fn new(config: SearchConfig) -> Search {
        Search {
            config,
            tree: Tree::default(),
            spare: Tree::default(),
            root: None,
            leaves: Leaves::default(),
            noise: Vec::new(),
            schedule: Schedule::default(),
            budget: 0,
            begun: 0,
            counted: 0,
            evaluations: 0,
            max_depth: 0,
            full: false,
            scratch: Vec::new(),
        }
    }

    /// The knobs it was made with.
    pub fn config(&self) -> &SearchConfig {
        &self.config
    }

    /// Forgets everything and begins at `position`, whose game must not be over. With `noise` the root explores as
    /// self-play wants (Gumbel variables or Dirichlet noise, drawn at once); without, the search is deterministic. No
    /// playouts at all are allowed: the report then rests on the root's evaluation alone.
    ///
    /// # Panics
    /// When the position has no legal move.
    pub fn begin(&mut self, position: &Position, playouts: u32, noise: Option<&mut Rng>) {
        let root = match &mut self.root {
            Some(root) => {
                root.clone_from(position);
                root
            }
            none => none.insert(position.clone()),
        };
        self.leaves.abandon_all();
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        assert!(!moves.is_empty(), "a search needs a legal move, and there is none in {}", position.fen());
        self.tree.plant(root, &moves);
        self.noise.clear();
        if let Some(rng) = noise {
            match self.config.root {
                RootKind::Gumbel => noise::gumbel(rng, moves.len(), &mut self.noise),
                RootKind::Puct => {
                    let alpha = f64::from(self.config.dirichlet_alpha_total) / moves.len() as f64;
                    noise::dirichlet(rng, alpha, moves.len(), &mut self.noise);
                }
            }
        }
        self.reset_counters();
        self.extend(playouts);
    }

    /// Goes on from the position after `mv` and keeps what is known of it: counters begin anew, noise is gone, outstanding
    /// leaves are void, and [`Search::extend`] grants playouts. False when nothing is known or the root is Gumbel's, which
    /// needs a fresh beginning; then call [`Search::begin`].
    pub fn advance(&mut self, mv: Move) -> bool {
        self.leaves.abandon_all();
        let (RootKind::Puct, Some(root)) = (self.config.root, &mut self.root) else { return false };
        let child = self.tree.edges(NodeId::ROOT).iter().find(|edge| edge.mv == mv).and_then(|edge| edge.child);
        let Some(child) = child.filter(|&child| self.tree.node(child).is_evaluated()) else {
            self.root = None;
            self.tree.clear();
            return false;
        };
        root.play_unchecked(mv);
        self.tree.copy_subtree(child, &mut self.spare);
        std::mem::swap(&mut self.tree, &mut self.spare);
        self.noise.clear();
        self.reset_counters();
        true
    }

    /// Grants more playouts. With a Gumbel root that was granted some before, they go to the two moves left over from the
    /// halving, in turns.
    pub fn extend(&mut self, more_playouts: u32) {
        if self.config.root == RootKind::Gumbel {
            if self.budget == 0 {
                self.schedule.set(self.considered(more_playouts), more_playouts);
            } else {
                self.schedule.extend(more_playouts);
            }
        }
        self.budget += more_playouts;
    }

    /// How many root moves a Gumbel search of so many playouts considers.
    fn considered(&self, playouts: u32) -> u32 {
        let open = self.tree.edges(NodeId::ROOT).iter().filter(|edge| !edge.is_lost()).count() as u32;
        self.config.considered.min(playouts / 2).min(open).max(1)
    }

    /// Goes down the tree for the next playout.
    pub fn select_leaf(&mut self) -> Selection {
        let Some(root) = &self.root else { return Selection::Finished };
        let node = *self.tree.node(NodeId::ROOT);
        if node.proven.is_some() {
            return Selection::Finished;
        }
        if !node.is_evaluated() {
            if node.pending > 0 {
                return Selection::Blocked;
            }
            let leaf = self.leaves.take(root);
            self.leaves.list_moves(leaf);
            return self.emit(leaf, NodeId::ROOT);
        }
        let halves =
            self.config.root == RootKind::Gumbel && self.begun < self.budget && self.schedule.halves_before(self.begun);
        if self.begun == self.budget || self.full || halves {
            if self.leaves.outstanding() > 0 {
                return Selection::Blocked;
            }
            if self.begun == self.budget || self.full {
                return Selection::Finished;
            }
        }
        let leaf = self.leaves.take(root);
        self.descend(leaf)
    }

    /// One way down from the root with a free leaf slot.
    fn descend(&mut self, leaf: LeafId) -> Selection {
        let mut id = NodeId::ROOT;
        loop {
            let Some(index) = self.choose(id) else {
                self.leaves.give_back(leaf);
                return Selection::Blocked;
            };
            let edge = self.tree.edges(id)[index];
            let slot = self.leaves.slot_mut(leaf);
            let undo = slot.position.play_unchecked(edge.mv);
            slot.path.push(Step { node: id, edge: index as u16, undo });
            if edge.proven.is_some() {
                self.begun += 1;
                self.count_playout(leaf);
                self.leaves.give_back(leaf);
                return Selection::Settled;
            }
            if let Some(child) = edge.child {
                if !self.tree.node(child).is_evaluated() {
                    // Cancelled earlier: ask again.
                    self.leaves.list_moves(leaf);
                    self.begun += 1;
                    return self.emit(leaf, child);
                }
                id = child;
                continue;
            }
            if self.tree.len() >= self.config.max_nodes as usize {
                self.full = true;
                self.leaves.give_back(leaf);
                return if self.leaves.outstanding() > 0 { Selection::Blocked } else { Selection::Finished };
            }
            let slot = self.leaves.slot_mut(leaf);
            slot.position.legal_moves(&mut slot.moves);
            match self.tree.grow(&slot.position, &slot.moves) {
                Growth::Open(child) => {
                    self.tree.edges_mut(id)[index].child = Some(child);
                    self.begun += 1;
                    return self.emit(leaf, child);
                }
                // The move is decided: look for another one, further up where that decided the position above as well.
                Growth::Settled(proven) => match self.prove_upwards(leaf, proven) {
                    Some(open) => id = open,
                    None => {
                        self.leaves.give_back(leaf);
                        return Selection::Finished;
                    }
                },
            }
        }
    }

    /// The move to follow from a node, `None` while all open moves wait for evaluations.
    fn choose(&mut self, id: NodeId) -> Option<usize> {
        let (config, tree) = (&self.config, &self.tree);
        match (config.root, id) {
            (RootKind::Puct, NodeId::ROOT) => puct::choose(config, tree, id, &self.noise),
            (RootKind::Puct, _) => puct::choose(config, tree, id, &[]),
            (RootKind::Gumbel, NodeId::ROOT) => {
                gumbel::choose_at_root(config, tree, &self.noise, &self.schedule, self.begun)
            }
            (RootKind::Gumbel, _) => gumbel::choose(config, tree, id, &mut self.scratch),
        }
    }

    /// Hands out a leaf whose position and path are set.
    fn emit(&mut self, leaf: LeafId, id: NodeId) -> Selection {
        let slot = self.leaves.slot_mut(leaf);
        slot.node = id;
        for step in &slot.path {
            self.tree.node_mut(step.node).pending += 1;
        }
        self.tree.node_mut(id).pending += 1;
        self.max_depth = self.max_depth.max(slot.path.len() as u32);
        Selection::Leaf(leaf)
    }

    /// Notes that the position at the end of a path is decided, takes back the moves up to the nearest position that is not,
    /// and gives that; `None` when the root is decided.
    fn prove_upwards(&mut self, leaf: LeafId, mut proven: Proven) -> Option<NodeId> {
        let slot = self.leaves.slot_mut(leaf);
        while let Some(step) = slot.path.pop() {
            slot.position.undo(step.undo);
            self.tree.edges_mut(step.node)[step.edge as usize].proven = Some(proven.for_move_before());
            match self.tree.settle(step.node) {
                Some(decided) => proven = decided,
                None => {
                    self.tree.refresh(step.node);
                    for above in slot.path.iter().rev() {
                        self.tree.refresh(above.node);
                    }
                    return Some(step.node);
                }
            }
        }
        None
    }

    /// Counts a playout along its path, from the end up.
    fn count_playout(&mut self, leaf: LeafId) {
        for step in self.leaves.slot_mut(leaf).path.iter().rev() {
            self.tree.edges_mut(step.node)[step.edge as usize].visits += 1;
            self.tree.node_mut(step.node).visits += 1;
            self.tree.refresh(step.node);
        }
        self.counted += 1;
    }

    /// The position of an outstanding leaf and its legal moves.
    ///
    /// # Panics
    /// When the leaf is not outstanding.
    pub fn request(&self, leaf: LeafId) -> EvalRequest<'_> {
        let slot = self.leaves.outstanding_slot(leaf);
        EvalRequest { position: &slot.position, moves: slot.moves.as_slice(), auxiliary: false }
    }

    /// Takes the evaluation of an outstanding leaf, with a prior for each move of its request, and counts its playout.
    ///
    /// # Panics
    /// When the leaf is not outstanding or the number of priors is not the number of its moves.
    pub fn expand(&mut self, leaf: LeafId, evaluation: &Evaluation, priors: &[f32]) {
        let id = self.end_wait(leaf);
        let node = self.tree.node_mut(id);
        node.visits = 1;
        node.raw = evaluation.wdl;
        node.value = evaluation.wdl;
        let edges = self.tree.edges_mut(id);
        assert_eq!(priors.len(), edges.len(), "one prior for each legal move of the leaf");
        for (edge, &prior) in edges.iter_mut().zip(priors) {
            edge.prior = prior;
        }
        self.evaluations += 1;
        if id != NodeId::ROOT {
            self.count_playout(leaf);
        }
        self.leaves.give_back(leaf);
    }

    /// Gives up on an outstanding leaf; its playout may be chosen again.
    ///
    /// # Panics
    /// When the leaf is not outstanding.
    pub fn cancel(&mut self, leaf: LeafId) {
        if self.end_wait(leaf) != NodeId::ROOT {
            self.begun -= 1;
        }
        self.leaves.give_back(leaf);
    }

    /// Takes an outstanding leaf off the counts of its path.
    fn end_wait(&mut self, leaf: LeafId) -> NodeId {
        let slot = self.leaves.outstanding_slot(leaf);
        for step in &slot.path {
            self.tree.node_mut(step.node).pending -= 1;
        }
        self.tree.node_mut(slot.node).pending -= 1;
        slot.node
    }

    /// Whether [`Search::select_leaf`] has nothing more to give. A proven root ends a search early.
    pub fn is_finished(&self) -> bool {
        if self.root.is_none() {
            return true;
        }
        let root = self.tree.node(NodeId::ROOT);
        let used_up = self.full || self.counted >= self.budget;
        root.proven.is_some() || (root.is_evaluated() && used_up && self.leaves.outstanding() == 0)
    }

    fn reset_counters(&mut self) {
        self.budget = 0;
        self.begun = 0;
        self.counted = 0;
        self.evaluations = 0;
        self.max_depth = 0;
        self.full = false;
    }
}

/// Runs a search to its end with one evaluator, one leaf at a time. `scratch` is overwritten.
///
/// # Errors
/// When the evaluator fails; the search can go on with another one.
pub fn run_to_end(
    search: &mut Search,
    evaluator: &mut dyn Evaluator,
    scratch: &mut Evaluations,
) -> Result<(), EvalError> {
    loop {
        match search.select_leaf() {
            Selection::Leaf(leaf) => {
                if let Err(error) = evaluator.evaluate(&[search.request(leaf)], scratch) {
                    search.cancel(leaf);
                    return Err(error);
                }
                search.expand(leaf, scratch.get(0), scratch.priors(0));
            }
            Selection::Settled => {}
            Selection::Blocked | Selection::Finished => return Ok(()),
        }
    }
}
