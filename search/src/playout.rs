//! Playouts: selection of a leaf, expansion, backup.

use hnefi_inference::{EvalRequest, Evaluation, Wdl};

use super::leaf::{LeafId, LeafPosition, Step};
use super::tree::NodeId;
use super::{Proven, Search};

/// What [`Search::select_leaf`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// A position to evaluate; answer with [`Search::expand`] or [`Search::cancel`].
    Leaf(LeafId),
    /// The playout ended at a proven result or at a transposition, which needs no evaluation, and has been backed up;
    /// call again.
    Settled,
    /// The next playout waits for the evaluation of an outstanding leaf.
    Blocked,
    /// The search is over; outstanding leaves may still be expanded.
    Finished,
}

impl Search {
    /// Selects the leaf of the next playout.
    pub fn select_leaf(&mut self) -> Selection {
        let mut walk = self.walk();
        let mut kept = None;
        loop {
            let Selection::Leaf(leaf) = walk else { return walk };
            let Some(root) = &self.root else { return Selection::Finished };
            let slot = self.leaves.slot_mut(leaf);
            let leaf_position = slot.position.get_or_insert_with(|| Box::new(LeafPosition::new(root, self.handicap)));
            match kept {
                None => leaf_position.reset(root, self.handicap),
                Some(len) => leaf_position.undo_to(len),
            }
            leaf_position.make_moves(&slot.path);
            let Some(proven) = leaf_position.list_moves(slot.path.is_empty(), &self.among) else {
                let known = leaf_position.transposition(&self.tree);
                self.reserve(leaf);
                let Some((wdl, moves_left)) = known else { return Selection::Leaf(leaf) };
                let leaf_position = self.take_position(leaf);
                self.attach(leaf, wdl, moves_left, &leaf_position);
                self.leaves.slot_mut(leaf).position = Some(leaf_position);
                return Selection::Settled;
            };
            let Some((resumed, len)) = self.resume(leaf, proven) else { return Selection::Finished };
            (walk, kept) = (resumed, Some(len));
        }
    }

    /// Records that the position of a leaf is proven, and walks on from the nearest position above that is not. Returns
    /// where that walk ended, and the length of the path that it shares with the former one; `None` if the root is
    /// proven.
    pub(super) fn resume(&mut self, leaf: LeafId, proven: Proven) -> Option<(Selection, usize)> {
        match self.prove_upwards(leaf, proven) {
            Some(open) => {
                let kept = self.leaves.slot_mut(leaf).path.len();
                Some((self.walk_from(leaf, open), kept))
            }
            None => {
                self.leaves.give_back(leaf);
                None
            }
        }
    }

    /// Walks from the root to the end of the next playout, by the tree alone. The path of a returned leaf leads to a
    /// position without an evaluation, whose moves have not been tested yet.
    pub(super) fn walk(&mut self) -> Selection {
        if self.root.is_none() {
            return Selection::Finished;
        }
        let node = *self.tree.node(NodeId::ROOT);
        if node.proven.is_some() {
            return Selection::Finished;
        }
        if !node.is_evaluated() {
            if node.pending > 0 {
                return Selection::Blocked;
            }
            let leaf = self.leaves.take();
            self.leaves.slot_mut(leaf).node = Some(NodeId::ROOT);
            return Selection::Leaf(leaf);
        }
        let used_up = self.full || self.begun >= self.budget;
        let waits = !used_up && self.policy.waits_before(self.begun);
        if (used_up || waits) && self.leaves.outstanding() > 0 {
            return Selection::Blocked;
        }
        if used_up {
            return Selection::Finished;
        }
        let leaf = self.leaves.take();
        self.walk_from(leaf, NodeId::ROOT)
    }

    /// Walks on from an evaluated node, to which the path of `leaf` leads.
    pub(super) fn walk_from(&mut self, leaf: LeafId, mut id: NodeId) -> Selection {
        loop {
            let Some(index) = self.policy.choose(&self.config, &self.tree, id, self.begun) else {
                self.leaves.give_back(leaf);
                return Selection::Blocked;
            };
            let edge = self.tree.edges(id)[index];
            self.leaves.slot_mut(leaf).path.push(Step { node: id, edge: index as u16, mv: edge.mv() });
            if edge.proven().is_some() {
                self.begun += 1;
                self.count_playout(leaf);
                self.leaves.give_back(leaf);
                return Selection::Settled;
            }
            match edge.child {
                Some(child) if self.tree.node(child).is_evaluated() => id = child,
                // Without an evaluation, a child is left of a leaf that was cancelled.
                child => {
                    if child.is_none() && self.tree.len() >= self.config.max_nodes as usize {
                        self.full = true;
                        self.leaves.give_back(leaf);
                        return if self.leaves.outstanding() > 0 { Selection::Blocked } else { Selection::Finished };
                    }
                    self.leaves.slot_mut(leaf).node = child;
                    return Selection::Leaf(leaf);
                }
            }
        }
    }

    /// Begins the playout of a leaf: its position becomes a node, and its path counts as pending.
    pub(super) fn reserve(&mut self, leaf: LeafId) {
        let slot = self.leaves.slot_mut(leaf);
        let id = *slot.node.get_or_insert_with(|| self.tree.add());
        if let Some(step) = slot.path.last() {
            self.begun += 1;
            let edge = &mut self.tree.edges_mut(step.node)[usize::from(step.edge)];
            if edge.child.is_none() {
                edge.child = Some(id);
                self.tree.order_next_edge(step.node);
            }
        }
        for step in &slot.path {
            self.tree.node_mut(step.node).pending += 1;
        }
        self.tree.node_mut(id).pending += 1;
        self.max_depth = self.max_depth.max(slot.path.len() as u32);
    }

    /// Takes back [`Search::reserve`] for a position that needs no node, because `proven` is its result.
    pub(super) fn release(&mut self, leaf: LeafId) {
        let id = self.end_wait(leaf);
        self.begun -= 1;
        self.tree.remove_newest(id);
        let slot = self.leaves.slot_mut(leaf);
        slot.node = None;
        if let Some(step) = slot.path.last() {
            self.tree.edges_mut(step.node)[usize::from(step.edge)].child = None;
        }
    }

    /// Records that the position at the end of a path is proven, propagates the result upwards, and returns the nearest
    /// position above that is not proven; `None` if the root is proven.
    fn prove_upwards(&mut self, leaf: LeafId, mut proven: Proven) -> Option<NodeId> {
        let slot = self.leaves.slot_mut(leaf);
        while let Some(step) = slot.path.pop() {
            self.tree.edges_mut(step.node)[step.edge as usize].set_proven(Some(proven.for_move_before()));
            self.tree.order_next_edge(step.node);
            match self.tree.prove_node(step.node) {
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

    pub(super) fn path(&mut self, leaf: LeafId) -> &[Step] {
        &self.leaves.slot_mut(leaf).path
    }

    /// The position and legal moves of an outstanding leaf.
    ///
    /// # Panics
    /// When the leaf is not outstanding.
    pub fn request(&self, leaf: LeafId) -> EvalRequest<'_> {
        let slot = self.leaves.outstanding_slot(leaf);
        slot.position.as_ref().expect("select_leaf made it").request()
    }

    /// Expands an outstanding leaf with its evaluation, from the view of the side to move, and with one prior for each
    /// move of its request; then backs up the playout.
    ///
    /// # Panics
    /// When the leaf is not outstanding or the number of priors is not the number of its moves.
    pub fn expand(&mut self, leaf: LeafId, evaluation: &Evaluation, priors: &[f32]) {
        self.leaves.outstanding_slot(leaf);
        let mut leaf_position = self.take_position(leaf);
        leaf_position.set_priors(priors, &self.config);
        self.attach_evaluation(leaf, evaluation, &leaf_position);
        self.leaves.slot_mut(leaf).position = Some(leaf_position);
    }

    /// The position that [`Search::select_leaf`] made, which the caller puts back.
    fn take_position(&mut self, leaf: LeafId) -> Box<LeafPosition> {
        self.leaves.slot_mut(leaf).position.take().expect("select_leaf made it")
    }

    /// As [`Search::expand`], with the edges of `leaf_position`, which have their priors.
    pub(super) fn attach_evaluation(&mut self, leaf: LeafId, evaluation: &Evaluation, leaf_position: &LeafPosition) {
        self.evaluations += 1;
        self.attach(leaf, evaluation.wdl, evaluation.moves_left, leaf_position);
    }

    /// As [`LeafPosition::transposition`].
    pub(super) fn transposition(&self, leaf_position: &mut LeafPosition) -> Option<(Wdl, f32)> {
        leaf_position.transposition(&self.tree)
    }

    /// Expands an outstanding leaf with the value of its position and the edges of `leaf_position`; then backs up the
    /// playout.
    pub(super) fn attach(&mut self, leaf: LeafId, wdl: Wdl, moves_left: f32, leaf_position: &LeafPosition) {
        let id = self.end_wait(leaf);
        let node = self.tree.node_mut(id);
        node.visits = 1;
        node.raw = wdl;
        node.value = wdl;
        node.moves_left = moves_left;
        node.raw_moves_left = moves_left;
        self.tree.index_position(id, leaf_position.position.hash());
        if id == NodeId::ROOT {
            // The root has had its edges from the beginning, because a report shows them.
            self.tree.edges_mut(id).copy_from_slice(&leaf_position.edges);
        } else {
            self.tree.attach(id, &leaf_position.edges);
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
        let id = slot.node.expect("a reserved leaf has a node");
        for step in &slot.path {
            self.tree.node_mut(step.node).pending -= 1;
        }
        self.tree.node_mut(id).pending -= 1;
        id
    }
}
