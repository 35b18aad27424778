//! A tree without branches, in place of the search's: leaves are handed out, at most a few at a time, and each of them
//! must come back once. It offers to the search on many threads as much as that uses of the real tree.

use hnefi_engine::{Move, MoveList, Position, Preset};
use hnefi_inference::{EvalRequest, Evaluation, Handicap, Wdl};

/// What a thread finds on its way down.
#[derive(Clone, Copy)]
pub(crate) enum Selection {
    Leaf(usize),
    Finished,
    Blocked,
    Settled,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Leaf {
    Untouched,
    Out,
    Back,
    Given,
}

/// The leaf that is proven without an evaluation.
const PROVEN: usize = 1;

/// The leaf that is known by another order of moves.
const KNOWN: usize = 3;

/// The playout that ends at once, without a leaf.
const SETTLED: usize = 2;

pub(crate) struct Search {
    pub(crate) root: Option<Position>,
    pub(crate) config: Config,
    pub(crate) among: Vec<Move>,
    pub(crate) handicap: Handicap,
    leaves: Vec<Leaf>,
    paths: Vec<[usize; 1]>,
    /// Leaves that may be out at one time.
    most: usize,
    has_settled: bool,
}

#[derive(Clone)]
pub(crate) struct Config;

impl Search {
    pub(crate) fn new(leaves: usize, most: usize) -> Search {
        Search {
            root: Some(Position::start(&Preset::Brandubh.rules())),
            config: Config,
            among: Vec::new(),
            handicap: Handicap::NONE,
            leaves: vec![Leaf::Untouched; leaves],
            paths: (0..leaves).map(|leaf| [leaf]).collect(),
            most,
            has_settled: false,
        }
    }

    fn count(&self, state: Leaf) -> usize {
        self.leaves.iter().filter(|&&leaf| leaf == state).count()
    }

    pub(crate) fn expanded(&self) -> usize {
        self.count(Leaf::Back)
    }

    pub(crate) fn out(&self) -> usize {
        self.count(Leaf::Out)
    }

    pub(crate) fn walk(&mut self) -> Selection {
        let Some(next) = self.leaves.iter().position(|&leaf| leaf == Leaf::Untouched) else {
            return if self.out() > 0 { Selection::Blocked } else { Selection::Finished };
        };
        if self.out() == self.most {
            return Selection::Blocked;
        }
        if next == SETTLED && !self.has_settled {
            self.has_settled = true;
            return Selection::Settled;
        }
        Selection::Leaf(next)
    }

    fn changes(&mut self, leaf: usize, from: Leaf, to: Leaf) {
        assert_eq!(self.leaves[leaf], from, "a leaf is handed out once and comes back once");
        self.leaves[leaf] = to;
    }

    pub(crate) fn reserve(&mut self, leaf: usize) {
        self.changes(leaf, Leaf::Untouched, Leaf::Out);
    }

    pub(crate) fn path(&self, leaf: usize) -> &[usize] {
        &self.paths[leaf]
    }

    pub(crate) fn release(&mut self, leaf: usize) {
        self.changes(leaf, Leaf::Out, Leaf::Given);
    }

    /// Notes a proven leaf and goes on from above it.
    pub(crate) fn resume(&mut self, leaf: usize, (): ()) -> Option<(Selection, usize)> {
        self.changes(leaf, Leaf::Given, Leaf::Back);
        Some((self.walk(), 0))
    }

    /// Value and plies to the end of a leaf that is known.
    pub(crate) fn transposition(&self, leaf_position: &mut LeafPosition) -> Option<(Wdl, f32)> {
        (leaf_position.at == Some(KNOWN)).then_some((Wdl::DRAW, 0.0))
    }

    pub(crate) fn attach(&mut self, leaf: usize, _: Wdl, _: f32, leaf_position: &LeafPosition) {
        assert_eq!(leaf_position.at, Some(leaf), "the value of another leaf");
        self.changes(leaf, Leaf::Out, Leaf::Back);
    }

    pub(crate) fn attach_evaluation(&mut self, leaf: usize, evaluation: &Evaluation, leaf_position: &LeafPosition) {
        assert_ne!(leaf, KNOWN, "it needs no evaluation");
        self.attach(leaf, evaluation.wdl, evaluation.moves_left, leaf_position);
    }

    pub(crate) fn cancel(&mut self, leaf: usize) {
        self.changes(leaf, Leaf::Out, Leaf::Given);
    }
}

/// What a thread makes of its leaf.
pub(crate) struct LeafPosition {
    root: Position,
    moves: Vec<Move>,
    at: Option<usize>,
}

impl LeafPosition {
    pub(crate) fn new(root: &Position, _: Handicap) -> LeafPosition {
        let mut moves = MoveList::new();
        root.legal_moves(&mut moves);
        LeafPosition { root: root.clone(), moves: moves.to_vec(), at: None }
    }

    pub(crate) fn reset(&mut self, _: &Position, _: Handicap) {
        self.at = None;
    }

    pub(crate) fn undo_to(&mut self, len: usize) {
        assert_eq!(len, 0);
        self.at = None;
    }

    pub(crate) fn make_moves(&mut self, path: &[usize]) {
        assert!(self.at.is_none() && path.len() == 1);
        self.at = path.first().copied();
    }

    pub(crate) fn list_moves(&mut self, is_root: bool, _: &[Move]) -> Option<()> {
        assert!(!is_root);
        (self.at == Some(PROVEN)).then_some(())
    }

    pub(crate) fn request(&self) -> EvalRequest<'_> {
        EvalRequest { position: &self.root, moves: &self.moves, handicap: Handicap::NONE, auxiliary: false }
    }

    pub(crate) fn set_priors(&mut self, priors: &[f32], _: &Config) {
        assert_eq!(priors.len(), self.moves.len());
    }
}
