//! The moves of a game as a tree: what was played, and what else was tried.

use std::collections::BTreeMap;

use hnefi_engine::{Ending, Move, Ply};

use crate::Chances;

/// Names a place in a tree: the position after a move. Removed places' numbers are not given again.
pub type Place = u32;

/// The place before the first move.
pub const START: Place = 0;

/// A position and the move that led to it.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// The move, none at the start.
    pub ply: Option<Ply>,
    /// The place before; of the start itself.
    pub parent: Place,
    /// What follows, the main continuation first.
    pub children: Vec<Place>,
    /// How the position is seen, and the playouts behind it.
    pub view: Option<(Chances, u32)>,
    /// What is said of it.
    pub comment: String,
    /// Marks by their numbers in PGN.
    pub nags: Vec<u8>,
    /// How the game ended here.
    pub ending: Option<Ending>,
}

/// All moves.
#[derive(Clone, Debug)]
pub struct MoveTree {
    nodes: BTreeMap<Place, Node>,
    next: Place,
}

impl MoveTree {
    pub(crate) fn new() -> MoveTree {
        MoveTree { nodes: BTreeMap::from([(START, Node::default())]), next: START + 1 }
    }

    /// Moves in the tree.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len() - 1
    }

    pub(crate) fn contains(&self, place: Place) -> bool {
        self.nodes.contains_key(&place)
    }

    /// The node of a place that is in the tree.
    pub fn node(&self, place: Place) -> &Node {
        &self.nodes[&place]
    }

    pub(crate) fn node_mut(&mut self, place: Place) -> &mut Node {
        self.nodes.get_mut(&place).expect("the place is in the tree")
    }

    /// The place that a move leads to, if it was made before.
    pub(crate) fn child(&self, parent: Place, mv: Move) -> Option<Place> {
        let leads = |place: &Place| self.node(*place).ply.is_some_and(|ply| ply.mv == mv);
        self.node(parent).children.iter().copied().find(leads)
    }

    /// Adds a move, behind earlier ones from here.
    pub(crate) fn add(&mut self, parent: Place, ply: Ply, ending: Option<Ending>) -> Place {
        let place = self.next;
        self.next += 1;
        self.nodes.insert(place, Node { ply: Some(ply), parent, ending, ..Node::default() });
        self.node_mut(parent).children.push(place);
        place
    }

    /// The places from the first move to this one.
    pub fn path(&self, place: Place) -> Vec<Place> {
        let mut path = Vec::new();
        let mut at = place;
        while at != START {
            path.push(at);
            at = self.node(at).parent;
        }
        path.reverse();
        path
    }

    /// The main continuation behind a place.
    pub fn onward(&self, place: Place) -> impl Iterator<Item = Place> + '_ {
        let next = |place: Place| self.node(place).children.first().copied();
        std::iter::successors(next(place), move |&place| next(place))
    }

    /// Whether a place is on the main line.
    pub fn is_main(&self, place: Place) -> bool {
        place == START || self.branch(place).is_none()
    }

    /// The last place on the way here that is not its parent's main continuation.
    fn branch(&self, place: Place) -> Option<Place> {
        let mut at = place;
        while at != START {
            let parent = self.node(at).parent;
            if self.node(parent).children.first() != Some(&at) {
                return Some(at);
            }
            at = parent;
        }
        None
    }

    /// Makes the variation that this place belongs to the first of its alternatives; false when it is on the main line.
    pub(crate) fn promote(&mut self, place: Place) -> bool {
        let Some(branch) = self.branch(place) else { return false };
        let parent = self.node(branch).parent;
        self.node_mut(parent).children.sort_by_key(|&child| child != branch);
        true
    }

    /// Makes the way to this place the main line.
    pub(crate) fn make_main(&mut self, place: Place) -> bool {
        let mut changed = false;
        while self.promote(place) {
            changed = true;
        }
        changed
    }

    /// Removes a place other than the start, with all that follows.
    pub(crate) fn remove(&mut self, place: Place) {
        let parent = self.node(place).parent;
        self.node_mut(parent).children.retain(|&child| child != place);
        let mut rest = vec![place];
        while let Some(place) = rest.pop() {
            rest.extend(self.nodes.remove(&place).map(|node| node.children).unwrap_or_default());
        }
    }

    /// All places but the start: behind each at once its main continuation with all that follows, then the others.
    pub fn in_order(&self) -> Vec<Place> {
        let mut order = Vec::with_capacity(self.len());
        let mut rest = vec![START];
        while let Some(place) = rest.pop() {
            if place != START {
                order.push(place);
            }
            rest.extend(self.node(place).children.iter().rev());
        }
        order
    }

    /// Bytes of all comments.
    pub(crate) fn words(&self) -> usize {
        self.nodes.values().map(|node| node.comment.len()).sum()
    }
}
