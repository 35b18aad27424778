//! Outstanding leaves: positions that wait for evaluation, each with its path.

use hnefi_engine::{MoveList, Position, Undo};

use super::tree::NodeId;

/// Names an outstanding leaf of one search. It is void once the leaf is expanded or cancelled or a new search begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeafId {
    slot: u32,
    /// How often the slot was used before, to detect a stale id.
    serial: u32,
}

/// One move of a path: its node, its index among the node's edges, and its undo.
pub(super) struct Step {
    pub(super) node: NodeId,
    pub(super) edge: u16,
    pub(super) undo: Undo,
}

/// Memory for one path down the tree.
pub(super) struct Slot {
    pub(super) position: Position,
    pub(super) moves: MoveList,
    pub(super) path: Vec<Step>,
    pub(super) node: NodeId,
    serial: u32,
    taken: bool,
}

/// All slots, reused from playout to playout.
#[derive(Default)]
pub(super) struct Leaves {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Leaves {
    /// Takes a slot, at `root` with an empty path.
    pub(super) fn take(&mut self, root: &Position) -> LeafId {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                position: root.clone(),
                moves: MoveList::new(),
                path: Vec::new(),
                node: NodeId::ROOT,
                serial: 0,
                taken: false,
            });
            (self.slots.len() - 1) as u32
        });
        let slot = &mut self.slots[index as usize];
        slot.position.clone_from(root);
        slot.path.clear();
        slot.taken = true;
        LeafId { slot: index, serial: slot.serial }
    }

    /// The slot of a leaf just taken.
    pub(super) fn slot_mut(&mut self, leaf: LeafId) -> &mut Slot {
        &mut self.slots[leaf.slot as usize]
    }

    /// The slot of an outstanding leaf.
    pub(super) fn outstanding_slot(&self, leaf: LeafId) -> &Slot {
        let slot = &self.slots[leaf.slot as usize];
        assert!(slot.taken && slot.serial == leaf.serial, "{leaf:?} was answered or cancelled before");
        slot
    }

    /// Fills in the legal moves of a leaf's position.
    pub(super) fn list_moves(&mut self, leaf: LeafId) {
        let slot = self.slot_mut(leaf);
        slot.position.legal_moves(&mut slot.moves);
    }

    /// Frees a slot.
    pub(super) fn give_back(&mut self, leaf: LeafId) {
        let slot = self.slot_mut(leaf);
        slot.taken = false;
        slot.serial = slot.serial.wrapping_add(1);
        self.free.push(leaf.slot);
    }

    /// Frees all slots.
    pub(super) fn abandon_all(&mut self) {
        for (index, slot) in self.slots.iter_mut().enumerate().filter(|(_, slot)| slot.taken) {
            slot.taken = false;
            slot.serial = slot.serial.wrapping_add(1);
            self.free.push(index as u32);
        }
    }

    /// Number of outstanding leaves.
    pub(super) fn outstanding(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
