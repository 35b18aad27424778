//! Playouts: selection of a leaf, expansion, backup.

use hnefi_inference::{EvalRequest, Evaluation};

use super::leaf::{LeafId, Step};
use super::tree::{Growth, NodeId};
use super::{Proven, RootKind, Search, gumbel, puct};

/// What [`Search::select_leaf`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// A position to evaluate; answer with [`Search::expand`] or [`Search::cancel`].
    Leaf(LeafId),
    /// The playout ended at a proven result and has been backed up; call again.
    Settled,
    /// The next playout waits for the evaluation of an outstanding leaf.
    Blocked,
    /// The search is over; outstanding leaves may still be expanded.
    Finished,
}

impl Search {
    /// Selects the leaf of the next playout.
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
        let used_up = self.full || self.begun >= self.budget;
        let halves = !used_up && self.config.root == RootKind::Gumbel && self.schedule.halves_before(self.begun);
        if (used_up || halves) && self.leaves.outstanding() > 0 {
            return Selection::Blocked;
        }
        if used_up {
            return Selection::Finished;
        }
        let leaf = self.leaves.take(root);
        self.descend(leaf)
    }

    /// Descends from the root; `leaf` is a free slot.
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
                    // Its evaluation was cancelled earlier.
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
                    self.tree.line_up_next(id);
                    self.begun += 1;
                    return self.emit(leaf, child);
                }
                // The move is proven: choose another one, further up if that proved the positions above too.
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

    /// Index of the move to follow from a node; `None` while all open moves wait for evaluations.
    fn choose(&mut self, id: NodeId) -> Option<usize> {
        let (config, tree) = (&self.config, &self.tree);
        match (config.root, id) {
            (RootKind::Puct, _) => puct::choose(config, tree, id),
            (RootKind::Gumbel, NodeId::ROOT) => {
                gumbel::choose_at_root(config, tree, &self.noise, &self.schedule, self.begun)
            }
            (RootKind::Gumbel, _) => gumbel::choose(config, tree, id, &mut self.scratch),
        }
    }

    /// Returns a leaf whose position and path are set, and marks its path as pending.
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

    /// Records that the position at the end of a path is proven, propagates the result upwards, and returns the nearest
    /// position above that is not proven; `None` if the root is proven.
    fn prove_upwards(&mut self, leaf: LeafId, mut proven: Proven) -> Option<NodeId> {
        let slot = self.leaves.slot_mut(leaf);
        while let Some(step) = slot.path.pop() {
            slot.position.undo(step.undo);
            self.tree.edges_mut(step.node)[step.edge as usize].proven = Some(proven.for_move_before());
            self.tree.line_up_next(step.node);
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

    /// Backs up a playout along its path.
    fn count_playout(&mut self, leaf: LeafId) {
        for step in self.leaves.slot_mut(leaf).path.iter().rev() {
            self.tree.edges_mut(step.node)[step.edge as usize].visits += 1;
            self.tree.node_mut(step.node).visits += 1;
            self.tree.refresh(step.node);
        }
        self.counted += 1;
    }

    /// The position and legal moves of an outstanding leaf.
    ///
    /// # Panics
    /// When the leaf is not outstanding.
    pub fn request(&self, leaf: LeafId) -> EvalRequest<'_> {
        let slot = self.leaves.outstanding_slot(leaf);
        EvalRequest { position: &slot.position, moves: slot.moves.as_slice(), auxiliary: false }
    }

    /// Expands an outstanding leaf with its evaluation, from the view of the side to move, and with one prior for each
    /// move of its request; then backs up the playout.
    ///
    /// # Panics
    /// When the leaf is not outstanding or the number of priors is not the number of its moves.
    pub fn expand(&mut self, leaf: LeafId, evaluation: &Evaluation, priors: &[f32]) {
        let id = self.end_wait(leaf);
        let node = self.tree.node_mut(id);
        node.visits = 1;
        node.raw = evaluation.wdl;
        node.value = evaluation.wdl;
        node.moves_left = evaluation.moves_left;
        node.raw_moves_left = evaluation.moves_left;
        let edges = self.tree.edges_mut(id);
        assert_eq!(priors.len(), edges.len(), "one prior for each legal move of the leaf");
        for (edge, &prior) in edges.iter_mut().zip(priors) {
            edge.prior = prior;
        }
        if self.config.root == RootKind::Puct {
            puct::temper(edges, 1.0 / self.config.prior_temperature);
            self.tree.line_up(id);
        }
        self.evaluations += 1;
        if id != NodeId::ROOT {
            self.count_playout(leaf);
        }
        self.leaves.give_back(leaf);
    }

    /// Cancels an outstanding leaf; the leaf may be selected again.
    ///
    /// # Panics
    /// When the leaf is not outstanding.
    pub fn cancel(&mut self, leaf: LeafId) {
        if self.end_wait(leaf) != NodeId::ROOT {
            self.begun -= 1;
        }
        self.leaves.give_back(leaf);
    }

    /// Removes an outstanding leaf from the pending counts of its path.
    fn end_wait(&mut self, leaf: LeafId) -> NodeId {
        let slot = self.leaves.outstanding_slot(leaf);
        for step in &slot.path {
            self.tree.node_mut(step.node).pending -= 1;
        }
        self.tree.node_mut(slot.node).pending -= 1;
        slot.node
    }
}
