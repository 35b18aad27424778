//! Outstanding leaves: positions handed out for evaluation, each with the path that led there.

use hnefi_engine::{MoveList, Position, Undo};

use super::tree::NodeId;

/// Names an outstanding leaf of one search. Void once answered, cancelled, or the search begun anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeafId {
    slot: u32,
    /// How often the slot had been used before, so that a stale name is noticed.
    serial: u32,
}

/// One move of a path: the node it was made at, its place among that node's edges, and what takes it back.
pub(super) struct Step {
    pub(super) node: NodeId,
    pub(super) edge: u16,
    pub(super) undo: Undo,
}

/// Memory for one way down the tree.
pub(super) struct Slot {
    pub(super) position: Position,
    pub(super) moves: MoveList,
    pub(super) path: Vec<Step>,
    pub(super) node: NodeId,
    serial: u32,
    taken: bool,
}

/// All slots ever needed at once, used again and again.
#[derive(Default)]
pub(super) struct Leaves {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Leaves {
    /// A slot that stands at `root` with an empty path.
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

    /// The slot of a leaf that a caller names.
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

    /// Leaves waiting for an answer.
    pub(super) fn outstanding(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
