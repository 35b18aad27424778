//! Outstanding leaves: positions that wait for evaluation, each with its path.

use hnefi_engine::{Move, MoveList, Position, Undo};
use hnefi_inference::{EvalRequest, Handicap, Wdl};

use super::config::SearchConfig;
use super::solver::Proven;
use super::tree::{Edge, NodeId, Tree, apply_temperature, edges_with_results, generation_order, order_edges};

/// Names an outstanding leaf of one search. It is void once the leaf is expanded or cancelled or a new search begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeafId {
    slot: u32,
    /// How often the slot was used before, to detect a stale id.
    serial: u32,
}

/// One move of a path: its node, its index among the node's edges, and the move itself.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) node: NodeId,
    pub(super) edge: u16,
    pub(super) mv: Move,
}

/// One path down the tree.
pub(super) struct Slot {
    pub(super) path: Vec<Step>,
    /// The node at its end, once there is one.
    pub(super) node: Option<NodeId>,
    /// The position at its end, for the caller of [`super::Search::select_leaf`].
    pub(super) position: Option<Box<LeafPosition>>,
    serial: u32,
    taken: bool,
}

/// The position at the end of a path and the edges that it will have. Everything here is computed without the tree, so
/// that several threads can do so at once.
#[derive(Clone)]
pub(super) struct LeafPosition {
    pub(super) position: Position,
    pub(super) moves: MoveList,
    pub(super) edges: Vec<Edge>,
    handicap: Handicap,
    /// The moves made since the root.
    undos: Vec<Undo>,
    /// Scratch memory of [`LeafPosition::set_priors_of`].
    sorted: Vec<Edge>,
}

impl LeafPosition {
    pub(super) fn new(root: &Position, handicap: Handicap) -> LeafPosition {
        LeafPosition {
            position: root.clone(),
            moves: MoveList::new(),
            edges: Vec::new(),
            handicap,
            undos: Vec::new(),
            sorted: Vec::new(),
        }
    }

    pub(super) fn reset(&mut self, root: &Position, handicap: Handicap) {
        self.handicap = handicap;
        self.position.clone_from(root);
        self.undos.clear();
    }

    /// Goes to the end of a path that shares its beginning with the present one: moves are only added at its end, or
    /// taken from its end by [`LeafPosition::undo_to`].
    pub(super) fn make_moves(&mut self, path: &[Step]) {
        for step in &path[self.undos.len()..] {
            self.undos.push(self.position.play_unchecked(step.mv));
        }
    }

    /// Takes back moves until the path has `len` moves.
    pub(super) fn undo_to(&mut self, len: usize) {
        while self.undos.len() > len
            && let Some(undo) = self.undos.pop()
        {
            self.position.undo(undo);
        }
    }

    /// Lists the moves of the position and tests each for an immediate end. Returns the position's result if that
    /// settles it; a root's result is known already, and its moves are `among` those given, unless these are none.
    pub(super) fn list_moves(&mut self, is_root: bool, among: &[Move]) -> Option<Proven> {
        self.position.legal_moves(&mut self.moves);
        if is_root && !among.is_empty() {
            self.moves.retain(|mv| among.contains(&mv));
        }
        edges_with_results(&self.position, &self.moves, &mut self.edges).filter(|_| !is_root)
    }

    /// Takes in the priors of the moves, in generation order, and orders the edges as the search wants them.
    ///
    /// # Panics
    /// When the number of priors is not the number of moves.
    pub(super) fn set_priors(&mut self, priors: &[f32], config: &SearchConfig) {
        assert_eq!(priors.len(), self.edges.len(), "one prior for each legal move of the leaf");
        for (edge, &prior) in self.edges.iter_mut().zip(priors) {
            edge.prior = prior;
        }
        if config.root.orders_moves() {
            apply_temperature(&mut self.edges, 1.0 / config.prior_temperature);
            order_edges(&mut self.edges);
        }
    }

    /// Takes in the priors of another node of this board and side to move, whose edges are `known`. Returns false if it
    /// has other moves, because a repetition forbids one there or here.
    fn set_priors_of(&mut self, known: &[Edge]) -> bool {
        self.sorted.clear();
        self.sorted.extend_from_slice(known);
        self.sorted.sort_unstable_by_key(|edge| generation_order(edge.mv()));
        if !self.edges.iter().map(|edge| edge.mv()).eq(self.sorted.iter().map(|edge| edge.mv())) {
            return false;
        }
        for (edge, known) in self.edges.iter_mut().zip(&self.sorted) {
            edge.prior = known.prior;
        }
        order_edges(&mut self.edges);
        true
    }

    /// Value and plies to the end of this position, if another order of moves has reached it before; the edges get its
    /// priors. They are means over the subtree there, so they are worth more than the network's opinion of one
    /// position. Last move and clocks may differ. The history that legality and the end of the game depend on is this
    /// position's own.
    pub(super) fn transposition(&mut self, tree: &Tree) -> Option<(Wdl, f32)> {
        let id = tree.position(self.position.hash())?;
        let known = tree.node(id);
        self.set_priors_of(tree.edges(id)).then_some((known.value, known.moves_left))
    }

    pub(super) fn request(&self) -> EvalRequest<'_> {
        EvalRequest {
            position: &self.position,
            moves: self.moves.as_slice(),
            handicap: self.handicap,
            auxiliary: false,
        }
    }
}

/// All slots, reused from playout to playout.
#[derive(Default)]
pub(super) struct Leaves {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Leaves {
    /// Takes a slot with an empty path.
    pub(super) fn take(&mut self) -> LeafId {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { path: Vec::new(), node: None, position: None, serial: 0, taken: false });
            (self.slots.len() - 1) as u32
        });
        let slot = &mut self.slots[index as usize];
        slot.path.clear();
        slot.node = None;
        slot.taken = true;
        LeafId { slot: index, serial: slot.serial }
    }

    /// The slot of a leaf just taken.
    pub(super) fn slot_mut(&mut self, leaf: LeafId) -> &mut Slot {
        &mut self.slots[leaf.slot as usize]
    }

    pub(super) fn outstanding_slot(&self, leaf: LeafId) -> &Slot {
        let slot = &self.slots[leaf.slot as usize];
        assert!(slot.taken && slot.serial == leaf.serial, "{leaf:?} was answered or cancelled before");
        slot
    }

    pub(super) fn give_back(&mut self, leaf: LeafId) {
        let slot = self.slot_mut(leaf);
        slot.taken = false;
        slot.serial = slot.serial.wrapping_add(1);
        self.free.push(leaf.slot);
    }

    pub(super) fn abandon_all(&mut self) {
        for index in 0..self.slots.len() {
            let Slot { serial, taken, .. } = self.slots[index];
            if taken {
                self.give_back(LeafId { slot: index as u32, serial });
            }
        }
    }

    pub(super) fn outstanding(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
